//! The table of cuts: one nft table of the bridge family in the lab's outer
//! namespace, with one set of (source, destination, destination port), its
//! mirror for replies, and a drop for each.
//!
//! Every change replaces both sets in one transaction. Packets are dropped,
//! not rejected, since a reset looks like a dead process; and nothing accepts
//! established connections before the drop, since those would stay uncut.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::process::Command;

use super::InjectError;
use super::feed::feed;
use super::links::{Link, Links};
use crate::lab::Place;

const TABLE: &str = "bridge plimsoll";
const REQUESTS: &str = "requests";
const REPLIES: &str = "replies";

/// A way to drop packets.
pub trait CutMeans: Send {
    /// Makes these the links that are cut, and no others. `places` are the namespaces that stand
    /// now; one that is new has nothing of what was applied before.
    fn apply(
        &mut self,
        links: &Links,
        places: &BTreeMap<Ipv4Addr, Place>,
    ) -> Result<(), InjectError>;
    /// What the kernel has, with the packets dropped by each rule.
    fn read_back(&self) -> Result<Counted, InjectError>;
}

/// The table, made.
#[derive(Debug)]
pub struct CutTable(());

impl CutTable {
    /// Makes the table; the lab must stand.
    pub fn create() -> Result<CutTable, InjectError> {
        let set = "{ type ipv4_addr . ipv4_addr . inet_service; counter; }";
        nft(&format!(
            "add table {TABLE}\n\
             add set {TABLE} {REQUESTS} {set}\n\
             add set {TABLE} {REPLIES} {set}\n\
             add chain {TABLE} forward {{ type filter hook forward priority 0; policy accept; }}\n\
             add rule {TABLE} forward ip saddr . ip daddr . tcp dport @{REQUESTS} drop\n\
             add rule {TABLE} forward ip saddr . ip daddr . tcp sport @{REPLIES} drop\n"
        ))?;
        Ok(CutTable(()))
    }
}

impl CutMeans for CutTable {
    /// The bridge sees every place, whichever stand.
    fn apply(
        &mut self,
        links: &Links,
        _places: &BTreeMap<Ipv4Addr, Place>,
    ) -> Result<(), InjectError> {
        let mut script = String::new();
        for (name, set) in [(REQUESTS, &links.requests), (REPLIES, &links.replies)] {
            let _ = writeln!(script, "flush set {TABLE} {name}");
            if !set.is_empty() {
                let _ = writeln!(script, "add element {TABLE} {name} {{ {} }}", elements(set));
            }
        }
        nft(&script)
    }

    fn read_back(&self) -> Result<Counted, InjectError> {
        Ok(Counted {
            requests: read_set(REQUESTS)?,
            replies: read_set(REPLIES)?,
        })
    }
}

/// The kernel's sets: packets dropped, by link.
#[derive(Debug, Default)]
pub struct Counted {
    pub requests: BTreeMap<Link, u64>,
    pub replies: BTreeMap<Link, u64>,
}

impl Counted {
    pub fn holds_just(&self, wanted: &Links) -> bool {
        self.requests.keys().eq(wanted.requests.iter())
            && self.replies.keys().eq(wanted.replies.iter())
    }
}

fn elements(set: &BTreeSet<Link>) -> String {
    let each = set
        .iter()
        .map(|l| format!("{} . {} . {}", l.from, l.to, l.port));
    each.collect::<Vec<_>>().join(", ")
}

fn nft(script: &str) -> Result<(), InjectError> {
    let missing = |e| InjectError::io("running nft (Debian: apt-get install nftables)", e);
    let mut command = Command::new("nft");
    command.args(["-f", "-"]);
    match feed(command, script).map_err(missing)? {
        None => Ok(()),
        Some(refusal) => Err(InjectError::Nft(refusal)),
    }
}

fn read_set(name: &str) -> Result<BTreeMap<Link, u64>, InjectError> {
    let output = Command::new("nft")
        .args(["-j", "list", "set", "bridge", "plimsoll", name])
        .output()
        .map_err(|e| InjectError::io("running nft", e))?;
    if !output.status.success() {
        return Err(InjectError::Nft(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        ));
    }
    parse_set(&output.stdout)
        .ok_or_else(|| InjectError::Nft(format!("the set {name} could not be read back")))
}

fn parse_set(json: &[u8]) -> Option<BTreeMap<Link, u64>> {
    let value: serde_json::Value = serde_json::from_slice(json).ok()?;
    let set = value
        .get("nftables")?
        .as_array()?
        .iter()
        .find_map(|item| item.get("set"))?;
    let Some(elements) = set.get("elem") else {
        return Some(BTreeMap::new());
    };
    elements.as_array()?.iter().map(parse_element).collect()
}

fn parse_element(element: &serde_json::Value) -> Option<(Link, u64)> {
    let inner = element.get("elem").unwrap_or(element);
    let parts = inner
        .get("val")
        .unwrap_or(inner)
        .get("concat")?
        .as_array()?;
    let addr = |i: usize| parts.get(i)?.as_str()?.parse::<Ipv4Addr>().ok();
    let port = u16::try_from(parts.get(2)?.as_u64()?).ok()?;
    let packets = inner
        .pointer("/counter/packets")
        .and_then(serde_json::Value::as_u64);
    Some((
        Link {
            from: addr(0)?,
            to: addr(1)?,
            port,
        },
        packets.unwrap_or(0),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_read_back_with_the_packets_it_dropped() {
        let json = br#"{"nftables":[{"metainfo":{}},{"set":{"family":"bridge","name":"requests",
            "elem":[{"elem":{"val":{"concat":["10.77.1.1","10.77.1.2",9092]},
            "counter":{"packets":3,"bytes":180}}}]}}]}"#;
        let set = parse_set(json).expect("this is what nft prints");
        assert_eq!(set.values().copied().collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn an_empty_set_reads_back_as_empty() {
        let json = br#"{"nftables":[{"set":{"name":"requests"}}]}"#;
        assert_eq!(parse_set(json), Some(BTreeMap::new()));
    }
}
