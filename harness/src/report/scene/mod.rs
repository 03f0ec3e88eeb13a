//! What stood around a finding: the ops that prove it, some neighbours of each, the faults that
//! were on, and the axis on which all of them are well apart. No pixels here, and no judgement.

pub mod axis;
pub mod elements;
pub mod focus;
mod lanes;
mod neighbours;
mod span;

use plimsoll_checkers::FaultWindow;
use plimsoll_checkers::history::{History, Process};

pub use axis::Axis;
pub use focus::Focus;
pub use lanes::{Bar, Lane};
pub use span::Span;

/// Witness ops that are drawn; more would be no picture.
const WITNESSES: usize = 24;
/// An op of at most so many times a witness's length may widen the axis.
const LONG: f64 = 2.0;
/// Faults that are named though they were on only in gaps.
const FAULTS_IN_GAPS: usize = 4;

/// What the axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Nanoseconds since the run's start.
    Time,
    /// Positions, where the recorder kept no times.
    Order,
}

impl Clock {
    /// Room around a moment that stands alone: a millisecond, or one op on either side.
    fn alone(self) -> f64 {
        match self {
            Clock::Time => 1e6,
            Clock::Order => 2.0,
        }
    }

    /// The moment of the op at a position.
    pub fn of(self, history: &History, position: usize) -> f64 {
        match self {
            Clock::Time => history.ops()[position].time as f64,
            Clock::Order => position as f64,
        }
    }
}

/// One finding's picture.
#[derive(Debug)]
pub struct Scene<'h> {
    pub history: &'h History,
    pub clock: Clock,
    pub axis: Axis,
    /// Lanes with witnesses first.
    pub lanes: Vec<Lane>,
    pub windows: Vec<&'h FaultWindow>,
    /// Positions of the witness ops, in order of time, each with the number of its bar.
    pub witnesses: Vec<(usize, usize)>,
    /// The single values that the witnesses name.
    pub elements: Vec<&'h serde_json::Value>,
    /// Witness ops that are not drawn.
    pub left_out: usize,
}

impl<'h> Scene<'h> {
    /// The scene of a finding that these op indices prove; `None` where the history has none of
    /// them.
    pub fn new(
        history: &'h History,
        windows: &'h [FaultWindow],
        ops: &[u64],
        focus: Focus<'_>,
    ) -> Option<Self> {
        let position = |index: &u64| {
            let found = history.ops().binary_search_by_key(index, |op| op.index);
            found.ok()
        };
        let mut positions: Vec<usize> = ops.iter().filter_map(position).collect();
        positions.sort_unstable();
        positions.dedup();
        let left_out = positions.len().saturating_sub(WITNESSES);
        positions.truncate(WITNESSES);
        let mut spans: Vec<Span> = positions
            .iter()
            .map(|position| Span::at(history, *position))
            .collect();
        spans.sort_unstable();
        spans.dedup();
        let number = |position: &usize| {
            let span = Span::at(history, *position);
            spans.iter().position(|one| *one == span).unwrap_or(0) + 1
        };
        let witnesses: Vec<(usize, usize)> = positions
            .iter()
            .map(|position| (*position, number(position)))
            .collect();
        if witnesses.is_empty() {
            return None;
        }
        let clock = match history.ops().last().is_some_and(|op| op.time > 0) {
            true => Clock::Time,
            false => Clock::Order,
        };
        let neighbours = neighbours::neighbours(history, &spans, focus);
        let mut lanes = lanes::lanes(history, &spans, &neighbours);
        let axis = Axis::new(moments(history, clock, &lanes), clock.alone());
        for lane in &mut lanes {
            let shown = |bar: &Bar| bar.witness.is_some() || is_shown(history, clock, &axis, bar);
            lane.bars.retain(shown);
        }
        lanes.retain(|lane| !lane.bars.is_empty());
        Some(Self {
            history,
            clock,
            windows: shown_windows(history, clock, &axis, windows),
            axis,
            lanes,
            witnesses,
            elements: elements::elements(history, &spans),
            left_out,
        })
    }

    /// The moment of the op at a position.
    pub fn at(&self, position: usize) -> f64 {
        self.clock.of(self.history, position)
    }

    /// The place in percent of the op at a position.
    pub fn place(&self, position: usize) -> f64 {
        self.axis.place(self.at(position))
    }

    /// From where to where a fault was on, in percent.
    pub fn place_of(&self, window: &FaultWindow) -> (f64, f64) {
        let (from, to) = ends(self.history, window);
        (self.axis.place(from), self.axis.place(to))
    }
}

/// Moments that the axis must keep apart: those of the witnesses, and of neighbours that are not so
/// long that they would squeeze everything else.
fn moments(history: &History, clock: Clock, lanes: &[Lane]) -> Vec<f64> {
    let bars = || lanes.iter().flat_map(|lane| &lane.bars);
    let at = |position| clock.of(history, position);
    let length = |span: &Span| span.to.map(|to| at(to) - at(span.from));
    let lengths = |witness: bool| -> Vec<f64> {
        let of = bars().filter(|bar| bar.witness.is_some() == witness);
        of.filter_map(|bar| length(&bar.span)).collect()
    };
    // Where no witness lasted, such as a line of the nemesis, the usual op is the measure.
    let longest = lengths(true).into_iter().fold(0.0, f64::max);
    let mut usual = lengths(false);
    usual.sort_by(f64::total_cmp);
    let usual = usual.get(usual.len() / 2).copied().unwrap_or(0.0);
    let longest = if longest > 0.0 { longest } else { usual };
    let mut moments = Vec::new();
    for bar in bars() {
        let short = length(&bar.span).is_some_and(|length| length <= LONG * longest);
        match (bar.witness, bar.span.to) {
            (None, _) if !short && !bar.same_value => {}
            (_, to) => {
                moments.push(at(bar.span.from));
                moments.extend(to.map(at));
            }
        }
    }
    moments
}

fn is_shown(history: &History, clock: Clock, axis: &Axis, bar: &Bar) -> bool {
    let from = clock.of(history, bar.span.from);
    let to = bar.span.to.map(|to| clock.of(history, to));
    axis.shows(from, to.unwrap_or(f64::INFINITY))
}

/// Faults that were on while something is drawn, and of those that fall into a gap the nearest:
/// what was done between two ops often explains them. Without times nothing tells.
fn shown_windows<'h>(
    history: &History,
    clock: Clock,
    axis: &Axis,
    windows: &'h [FaultWindow],
) -> Vec<&'h FaultWindow> {
    if clock == Clock::Order {
        return Vec::new();
    }
    let (mut shown, mut left_out) = (Vec::new(), Vec::new());
    for window in windows {
        let (from, to) = ends(history, window);
        match axis.distance(from, to) {
            Some(0.0) => shown.push(window),
            Some(distance) => left_out.push((distance, window)),
            None => {}
        }
    }
    left_out.sort_by(|a, b| a.0.total_cmp(&b.0));
    let nearest = left_out.into_iter().take(FAULTS_IN_GAPS);
    shown.extend(nearest.map(|(_, window)| window));
    shown.sort_by_key(|window| (window.from_ns, window.id));
    shown
}

/// When a fault began and ended; one that was not healed lasted to the end.
fn ends(history: &History, window: &FaultWindow) -> (f64, f64) {
    let end = history.ops().last().map_or(0, |op| op.time);
    (window.from_ns as f64, window.to_ns.unwrap_or(end) as f64)
}

/// What a lane is called: the client where the recorder names it, else the process.
pub fn lane_name(history: &History, span: &Span) -> String {
    let invoke = span.invoke(history);
    let ends = [Some(invoke), span.completion(history)];
    let client = ends.into_iter().flatten().find_map(|op| op.client.clone());
    match (client, invoke.process) {
        (Some(client), _) => client,
        (None, Process::Nemesis) => "nemesis".to_owned(),
        (None, Process::Client(number)) => format!("process {number}"),
    }
}

#[cfg(test)]
mod tests;
