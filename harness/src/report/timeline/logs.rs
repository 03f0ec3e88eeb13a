//! How far each replica's log went, as the monitor saw it: log ends, high
//! watermarks, leaders with their epochs, and where a log was cut back.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_checkers::Verdict;
use plimsoll_checkers::history::History;
use serde_json::{Map, Value as Json};

use super::fields;

/// Partitions that are drawn; those with something to tell come first.
pub const DRAWN_MAX: usize = 8;
/// Points of a curve: more than a wide screen has pixels for.
const POINTS: u64 = 1_500;

/// One partition over time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogLane {
    pub key: String,
    pub nodes: Vec<NodeLog>,
    /// As the leader of the newest epoch said.
    pub high_watermark: Curve,
    pub leaders: Vec<Leader>,
    pub truncations: Vec<Truncation>,
    /// Lost records by offset: when each was acknowledged, and where it was.
    pub lost: Vec<(u64, i64)>,
}

/// One replica's log end.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeLog {
    pub name: String,
    pub ends: Curve,
}

/// Moments with values; none while it is not known.
pub type Curve = Vec<(u64, Option<i64>)>;

/// Who led, and in which epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leader {
    pub node: String,
    pub epoch: i64,
    pub from_ns: u64,
    pub to_ns: u64,
}

/// A log that was shorter when it was seen again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truncation {
    pub node: String,
    pub seen_ns: u64,
    pub from: i64,
    pub to: i64,
}

impl LogLane {
    /// The greatest offset that it shows.
    pub fn top(&self) -> i64 {
        let ends = self.nodes.iter().flat_map(|node| &node.ends);
        let all = ends.chain(&self.high_watermark);
        let known = all.filter_map(|(_, value)| *value);
        known
            .chain(self.lost.iter().map(|(_, offset)| offset + 1))
            .max()
            .unwrap_or(0)
    }

    fn tells(&self) -> (usize, usize) {
        (self.lost.len(), self.truncations.len())
    }
}

/// The partitions to be drawn, in order of their names, and of how many.
pub fn log_lanes(history: &History, verdict: &Verdict, end_ns: u64) -> (Vec<LogLane>, usize) {
    let mut watch = Watch::default();
    for op in history.ops().iter().filter(|op| op.f == "observe") {
        if let Some(fields) = fields(op) {
            watch.learn(op.time, fields);
        }
    }
    let mut lanes = watch.finish(end_ns);
    for record in &verdict.measures.lost {
        let lane = lanes.get_mut(&record.key);
        if let (Some(lane), Some(offset)) = (lane, record.offset) {
            lane.lost.push((record.acked_ns, offset));
        }
    }
    let known = |lane: &LogLane| lane.nodes.iter().any(|node| node.ends.len() > 1);
    let mut lanes: Vec<LogLane> = lanes.into_values().filter(known).collect();
    let all = lanes.len();
    // The sort is stable: among equals the order of names stays.
    lanes.sort_by_key(|lane| std::cmp::Reverse(lane.tells()));
    lanes.truncate(DRAWN_MAX);
    lanes.sort_by_key(|lane| (lane.key.len(), lane.key.clone()));
    for lane in &mut lanes {
        lane.nodes
            .sort_by_key(|node| (node.name.len(), node.name.clone()));
        lane.lost
            .sort_unstable_by_key(|(time_ns, offset)| (*offset, *time_ns));
        for node in &mut lane.nodes {
            thin(&mut node.ends, end_ns);
        }
        thin(&mut lane.high_watermark, end_ns);
    }
    (lanes, all)
}

#[derive(Debug, Default)]
struct Watch {
    lanes: BTreeMap<String, LogLane>,
    /// What each node spoke of, so that its curves end when it falls silent.
    spoke: BTreeMap<String, BTreeSet<String>>,
}

impl Watch {
    fn learn(&mut self, time_ns: u64, fields: &Map<String, Json>) {
        let Some(node) = fields.get("node").and_then(Json::as_str) else {
            return;
        };
        if fields.get("up").and_then(Json::as_bool) == Some(false) {
            return self.silence(time_ns, node);
        }
        let partitions = fields.get("partitions").and_then(Json::as_array);
        for partition in partitions.into_iter().flatten() {
            let Some(key) = partition.get("key").and_then(Json::as_str) else {
                continue;
            };
            let spoke = self.spoke.entry(node.to_owned()).or_default();
            if !spoke.contains(key) {
                spoke.insert(key.to_owned());
            }
            let lane = self.lanes.entry(key.to_owned()).or_default();
            lane.key = key.to_owned();
            lane.see(time_ns, node, partition);
        }
    }

    fn silence(&mut self, time_ns: u64, node: &str) {
        for key in self.spoke.get(node).into_iter().flatten() {
            if let Some(lane) = self.lanes.get_mut(key) {
                push(lane.ends_of(node), time_ns, None);
            }
        }
    }

    fn finish(mut self, end_ns: u64) -> BTreeMap<String, LogLane> {
        for lane in self.lanes.values_mut() {
            if let Some(last) = lane.leaders.last_mut() {
                last.to_ns = end_ns;
            }
            // A log that moves no more is not noted again, but it is known to stand there.
            let curves = lane.nodes.iter_mut().map(|node| &mut node.ends);
            for curve in curves.chain([&mut lane.high_watermark]) {
                if let Some((_, Some(value))) = curve.last().copied() {
                    curve.push((end_ns, Some(value)));
                }
            }
        }
        self.lanes
    }
}

impl LogLane {
    fn ends_of(&mut self, node: &str) -> &mut Curve {
        let known = self.nodes.iter().position(|one| one.name == node);
        let at = known.unwrap_or_else(|| {
            self.nodes.push(NodeLog {
                name: node.to_owned(),
                ends: Curve::new(),
            });
            self.nodes.len() - 1
        });
        &mut self.nodes[at].ends
    }

    fn see(&mut self, time_ns: u64, node: &str, partition: &Json) {
        let number = |name: &str| partition.get(name).and_then(Json::as_i64);
        let offset = |name: &str| number(name).filter(|offset| *offset >= 0);
        if let Some(end) = offset("leo") {
            let before = self
                .ends_of(node)
                .iter()
                .rev()
                .find_map(|(_, value)| *value);
            if let Some(from) = before.filter(|from| *from > end) {
                self.truncations.push(Truncation {
                    node: node.to_owned(),
                    seen_ns: time_ns,
                    from,
                    to: end,
                });
            }
            push(self.ends_of(node), time_ns, Some(end));
        }
        let leads = partition.get("role").and_then(Json::as_str) == Some("leader");
        let Some(epoch) = number("leader_epoch").filter(|_| leads) else {
            return;
        };
        let newest = self.leaders.last().map(|leader| leader.epoch);
        if newest.is_none_or(|newest| newest < epoch) {
            if let Some(last) = self.leaders.last_mut() {
                last.to_ns = time_ns;
            }
            self.leaders.push(Leader {
                node: node.to_owned(),
                epoch,
                from_ns: time_ns,
                to_ns: time_ns,
            });
        }
        // A deposed leader's own word is not the partition's.
        if newest.is_none_or(|newest| newest <= epoch)
            && let Some(mark) = offset("hw")
        {
            push(&mut self.high_watermark, time_ns, Some(mark));
        }
    }
}

fn push(curve: &mut Curve, time_ns: u64, value: Option<i64>) {
    if value.is_some() || curve.last().is_some_and(|(_, last)| last.is_some()) {
        curve.push((time_ns, value));
    }
}

/// Leaves out points that would fall on the last one; falls and gaps stay as they are.
fn thin(curve: &mut Curve, end_ns: u64) {
    let apart_ns = end_ns / POINTS;
    let mut kept: Curve = Vec::new();
    for (at, point) in curve.iter().enumerate() {
        let falls = |next: &(u64, Option<i64>)| next.1.is_none_or(|next| Some(next) < point.1);
        let near = kept.last().is_some_and(|last| point.0 < last.0 + apart_ns);
        let after_gap = kept
            .last()
            .is_none_or(|last| last.1.is_none() || last.1 > point.1);
        let before_fall = curve.get(at + 1).is_none_or(falls);
        if !near || after_gap || before_fall || point.1.is_none() {
            kept.push(*point);
        }
    }
    *curve = kept;
}

#[cfg(test)]
mod tests {
    use plimsoll_checkers::formats;
    use plimsoll_checkers::promise::Promise;
    use plimsoll_checkers::{check, judge};

    use super::*;

    const MS: u64 = 1_000_000;

    fn observed(lines: &[(u64, &str)]) -> History {
        let mut text = String::new();
        for (index, (at_ms, value)) in lines.iter().enumerate() {
            text.push_str(&format!(
                "{{\"index\":{index},\"time\":{},\"process\":\"nemesis\",\"type\":\"info\",\"f\":\"observe\",\"value\":{value}}}\n",
                at_ms * MS
            ));
        }
        formats::read(text.as_bytes()).expect("a history")
    }

    fn replica(node: u64, leader: u64, epoch: u64, leo: i64, hw: i64) -> String {
        let role = if node == leader { "leader" } else { "follower" };
        format!(
            r#"{{"node":"n{node}","up":true,"partitions":[{{"key":"log-0","role":"{role}","leader":{leader},"leader_epoch":{epoch},"leo":{leo},"hw":{hw},"isr":[1,2]}}]}}"#
        )
    }

    fn lanes(lines: &[(u64, String)]) -> Vec<LogLane> {
        let lines: Vec<(u64, &str)> = lines
            .iter()
            .map(|(at, line)| (*at, line.as_str()))
            .collect();
        let history = observed(&lines);
        let verdict = judge(check(&history), &Promise::unstated());
        log_lanes(&history, &verdict, 10_000 * MS).0
    }

    #[test]
    fn a_deposed_leader_s_log_is_drawn_until_it_is_cut_back_but_its_high_watermark_is_not() {
        let found = lanes(&[
            (100, replica(1, 1, 0, 5, 5)),
            (110, replica(2, 1, 0, 5, 4)),
            (1000, replica(2, 2, 1, 5, 5)),
            (1500, replica(1, 1, 0, 9, 9)),
            (2000, replica(2, 2, 1, 7, 6)),
            (3000, r#"{"node":"n1","up":false}"#.to_owned()),
            (4000, replica(1, 2, 1, 6, 6)),
        ]);
        let [lane] = found.as_slice() else {
            panic!("{found:?}")
        };
        let leaders: Vec<(&str, i64, u64)> = lane
            .leaders
            .iter()
            .map(|leader| (leader.node.as_str(), leader.epoch, leader.to_ns / MS))
            .collect();
        assert_eq!(leaders, [("n1", 0, 1000), ("n2", 1, 10_000)]);
        let marks: Vec<Option<i64>> = lane.high_watermark.iter().map(|point| point.1).collect();
        assert_eq!(marks, [Some(5), Some(5), Some(6), Some(6)]);
        let old: Vec<Option<i64>> = lane.nodes[0].ends.iter().map(|point| point.1).collect();
        assert_eq!(old, [Some(5), Some(9), None, Some(6), Some(6)]);
        let cut = Truncation {
            node: "n1".to_owned(),
            seen_ns: 4000 * MS,
            from: 9,
            to: 6,
        };
        assert_eq!(lane.truncations, [cut]);
        assert_eq!(lane.top(), 9);
    }

    #[test]
    fn log_ends_that_nobody_knows_make_no_lane() {
        let found = lanes(&[
            (100, replica(1, 1, 0, -1, -1)),
            (900, replica(1, 1, 0, -1, -1)),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_long_curve_is_thinned_but_keeps_its_falls() {
        let mut curve: Curve = (0..100_000).map(|at| (at, Some(at as i64))).collect();
        curve[50_001].1 = Some(7);
        thin(&mut curve, 100_000);
        assert!(curve.len() < 1_600, "{}", curve.len());
        assert!(curve.contains(&(50_000, Some(50_000))));
        assert!(curve.contains(&(50_001, Some(7))));
        assert_eq!(curve.last(), Some(&(99_999, Some(99_999))));
    }
}
