//! A lane for each client or process that a scene shows.

use plimsoll_checkers::history::{History, Process};

use super::lane_name;
use super::neighbours::Neighbour;
use super::span::Span;

/// Lanes at most; those of neighbours are left out first.
const LANES: usize = 14;

/// One op of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    pub span: Span,
    /// Its number among the witnesses, from 1.
    pub witness: Option<usize>,
    /// Whether it is no witness, but has the value of one.
    pub same_value: bool,
}

/// One client's ops by the time of their invokes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    pub name: String,
    /// The numbers under which a client acted.
    pub processes: Vec<u64>,
    pub bars: Vec<Bar>,
}

impl Lane {
    pub fn has_witness(&self) -> bool {
        self.bars.iter().any(|bar| bar.witness.is_some())
    }
}

/// Lanes with witnesses first, each kind by the time at which it begins.
pub fn lanes(history: &History, witnesses: &[Span], neighbours: &[Neighbour]) -> Vec<Lane> {
    let numbered = witnesses.iter().enumerate();
    let mut bars: Vec<Bar> = numbered
        .map(|(index, span)| Bar {
            span: *span,
            witness: Some(index + 1),
            same_value: false,
        })
        .collect();
    let grey = neighbours.iter();
    bars.extend(grey.map(|one| Bar {
        span: one.span,
        witness: None,
        same_value: one.same_value,
    }));
    // Lanes are made in this order, so what counts most has a lane for certain.
    bars.sort_by_key(|bar| (bar.witness.is_none(), !bar.same_value));
    let mut lanes: Vec<Lane> = Vec::new();
    for bar in bars {
        let name = lane_name(history, &bar.span);
        let many = lanes.len();
        let found = lanes.iter_mut().find(|lane| lane.name == name);
        match found {
            Some(lane) => lane.bars.push(bar),
            None if many >= LANES && bar.witness.is_none() => {}
            None => lanes.push(Lane {
                name,
                processes: Vec::new(),
                bars: vec![bar],
            }),
        }
    }
    for lane in &mut lanes {
        lane.bars.sort_by_key(|bar| bar.span);
        let processes = lane.bars.iter().map(|bar| bar.span.invoke(history).process);
        let numbers = processes.filter_map(|process| match process {
            Process::Client(number) => Some(number),
            Process::Nemesis => None,
        });
        lane.processes = numbers.collect();
        lane.processes.sort_unstable();
        lane.processes.dedup();
    }
    lanes
}
