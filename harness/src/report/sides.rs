//! Who could not write or read, by the side of the network on which clients were.

use plimsoll_checkers::Verdict;

/// Outages as the clients of one side met them, on their worst partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    pub name: String,
    pub writes_ms: u64,
    pub reads_ms: u64,
}

/// All clients together, then each side; nothing where all were on one side, or nobody met an outage.
///
/// Together they are served as soon as one of them is, so that the first row is often the shortest.
pub fn sides(verdict: &Verdict) -> Vec<Side> {
    let unavailable = &verdict.measures.unavailable;
    let mut sides = vec![Side {
        name: "all clients together".to_owned(),
        writes_ms: unavailable.writes.worst_ms,
        reads_ms: unavailable.reads.worst_ms,
    }];
    sides.extend(unavailable.by_place.iter().map(|(place, at)| Side {
        name: match place.as_str() {
            "everywhere" => "never cut off".to_owned(),
            node => format!("on the side of {node}"),
        },
        writes_ms: at.writes.worst_ms,
        reads_ms: at.reads.worst_ms,
    }));
    let met = sides.iter().any(|side| side.writes_ms + side.reads_ms > 0);
    match met && sides.len() > 1 {
        true => sides,
        false => Vec::new(),
    }
}
