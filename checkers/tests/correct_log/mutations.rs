//! One fault planted into a long correct history is always found, and its ops are in the witness.

#![expect(
    clippy::ptr_arg,
    reason = "all plants have one shape, and one of them inserts a line"
)]

use plimsoll_checkers::history::{Header, History, Op, OpType, Process, Value};
use plimsoll_checkers::promise::Acks;
use plimsoll_checkers::stream::LogStream;
use plimsoll_checkers::{Validity, check, judge};

use crate::model::{Chance, KEY, Model};

/// A changed history: the anomaly that was planted, and the ops that must be in its witness.
struct Planted {
    anomaly: &'static str,
    ops: Vec<usize>,
}

type Plant = fn(&mut Vec<Op>, &mut Chance) -> Option<Planted>;

const PLANTS: [(&str, Plant); 13] = [
    (
        "an acknowledged record gone from every final log",
        lose_acked,
    ),
    ("a consumed record gone from every final log", lose_consumed),
    ("a value that nobody sent", invent),
    ("a failed send that is read", fail),
    ("one replica's final log differs", diverge),
    ("two reads disagree about an offset", disagree),
    ("a value at two offsets", double),
    ("two acknowledged records change places", reorder),
    ("a consumer is taken past its first record", skip_first),
    ("a reply lacks a record in its middle", skip_middle),
    ("a reply shows records in the wrong order", turn_round),
    ("a high watermark falls", lower_hw),
    ("a broker leads an old epoch after the heal", two_leaders),
];

fn records(op: &Op) -> &[(i64, i64)] {
    let list = op.value.polled().and_then(|polled| polled.get(KEY));
    list.map_or(&[], Vec::as_slice)
}

fn records_mut(op: &mut Op) -> Option<&mut Vec<(i64, i64)>> {
    match &mut op.value {
        Value::Poll(Some(polled)) => polled.get_mut(KEY),
        _ => None,
    }
}

fn is_final(op: &Op) -> bool {
    op.reads.get(KEY).is_some_and(|info| info.is_final)
}

fn pick<T: Copy>(list: &[T], chance: &mut Chance) -> Option<T> {
    match list.is_empty() {
        true => None,
        false => Some(list[chance.below(list.len())]),
    }
}

/// Positions of consumers' ok reads with at least so many records.
fn consumed(ops: &[Op], least: usize) -> Vec<usize> {
    let fits = |op: &Op| op.kind == OpType::Ok && !is_final(op) && records(op).len() >= least;
    (0..ops.len()).filter(|&at| fits(&ops[at])).collect()
}

/// Acknowledged records: (position of the answer, value, offset).
fn acked(ops: &[Op]) -> Vec<(usize, i64, i64)> {
    let all = ops.iter().enumerate();
    let sends = all.filter(|(_, op)| op.kind == OpType::Ok && op.f == "send");
    let named = sends.filter_map(|(at, op)| {
        let send = op.value.sends().first()?;
        Some((at, send.value, send.offset?))
    });
    named.collect()
}

/// A reply that ends before a record says nothing of it, and the next one begins after it: then
/// nothing is proved, and nothing is planted.
fn remove_from_finals(ops: &mut [Op], value: i64) -> Option<()> {
    let ends = |op: &Op| is_final(op) && records(op).last().is_some_and(|last| last.1 == value);
    if ops.iter().any(ends) {
        return None;
    }
    for op in ops.iter_mut().filter(|op| is_final(op)) {
        if let Some(list) = records_mut(op) {
            list.retain(|record| record.1 != value);
        }
    }
    Some(())
}

fn lose_acked(ops: &mut Vec<Op>, chance: &mut Chance) -> Option<Planted> {
    let (at, value, _) = pick(&acked(ops), chance)?;
    remove_from_finals(ops, value)?;
    Some(Planted {
        anomaly: "lost-write",
        ops: vec![at],
    })
}

fn lose_consumed(ops: &mut Vec<Op>, chance: &mut Chance) -> Option<Planted> {
    let at = pick(&consumed(ops, 1), chance)?;
    let (_, value) = records(&ops[at])[0];
    // The first read that shows it is the witness.
    let shows = |op: &Op| !is_final(op) && records(op).iter().any(|record| record.1 == value);
    let first = ops.iter().position(shows)?;
    remove_from_finals(ops, value)?;
    Some(Planted {
        anomaly: "vanished-read",
        ops: vec![first],
    })
}

fn invent(ops: &mut Vec<Op>, chance: &mut Chance) -> Option<Planted> {
    let at = pick(&consumed(ops, 1), chance)?;
    records_mut(&mut ops[at])?[0].1 = 999_999;
    Some(Planted {
        anomaly: "phantom-read",
        ops: vec![at],
    })
}

fn fail(ops: &mut Vec<Op>, chance: &mut Chance) -> Option<Planted> {
    let (at, ..) = pick(&acked(ops), chance)?;
    ops[at].kind = OpType::Fail;
    Some(Planted {
        anomaly: "G1a",
        ops: vec![at],
    })
}

fn diverge(ops: &mut Vec<Op>, chance: &mut Chance) -> Option<Planted> {
    let finals: Vec<usize> = (0..ops.len())
        .filter(|&at| is_final(&ops[at]) && records(&ops[at]).len() > 2)
        .collect();
    let at = pick(&finals, chance)?;
    let list = records_mut(&mut ops[at])?;
    let (one, other) = (list[0].1, list[1].1);
    (list[0].1, list[1].1) = (other, one);
    // Which replica stands for the partition decides whether the other op is named beside it.
    Some(Planted {
        anomaly: "divergent-replicas",
        ops: vec![at],
    })
}

fn disagree(ops: &mut Vec<Op>, chance: &mut Chance) -> Option<Planted> {
    let at = pick(&consumed(ops, 2), chance)?;
    let list = records_mut(&mut ops[at])?;
    let (one, other) = (list[0].1, list[1].1);
    (list[0].1, list[1].1) = (other, one);
    Some(Planted {
        anomaly: "inconsistent-offsets",
        ops: vec![at],
    })
}

fn double(ops: &mut Vec<Op>, chance: &mut Chance) -> Option<Planted> {
    let at = pick(&consumed(ops, 2), chance)?;
    let list = records_mut(&mut ops[at])?;
    list[1].1 = list[0].1;
    Some(Planted {
        anomaly: "duplicate",
        ops: vec![at],
    })
}

fn reorder(ops: &mut Vec<Op>, chance: &mut Chance) -> Option<Planted> {
    let acked = acked(ops);
    let (one, first, low) = pick(&acked, chance)?;
    let began = |at: usize| {
        let process = ops[at].process;
        (0..at).rev().find(|&other| ops[other].process == process)
    };
    let later = acked
        .iter()
        .find(|(at, ..)| began(*at).is_some_and(|began| began > one))?;
    let &(other, second, high) = later;
    for op in ops.iter_mut() {
        if let Some(list) = records_mut(op) {
            for record in list.iter_mut() {
                record.1 = match record.1 {
                    value if value == first => second,
                    value if value == second => first,
                    value => value,
                };
            }
        }
        if let Value::Send(sends) = &mut op.value
            && op.kind == OpType::Ok
        {
            match sends[0].value {
                value if value == first => sends[0].offset = Some(high),
                value if value == second => sends[0].offset = Some(low),
                _ => {}
            }
        }
    }
    // Others that were acknowledged between may be the witness as well; the late one is in it.
    Some(Planted {
        anomaly: "realtime-order",
        ops: vec![other],
    })
}

fn skip_first(ops: &mut Vec<Op>, chance: &mut Chance) -> Option<Planted> {
    let at = pick(&consumed(ops, 2), chance)?;
    records_mut(&mut ops[at])?.remove(0);
    Some(Planted {
        anomaly: "poll-skip",
        ops: vec![at],
    })
}

fn skip_middle(ops: &mut Vec<Op>, chance: &mut Chance) -> Option<Planted> {
    let at = pick(&consumed(ops, 3), chance)?;
    records_mut(&mut ops[at])?.remove(1);
    Some(Planted {
        anomaly: "int-poll-skip",
        ops: vec![at],
    })
}

fn turn_round(ops: &mut Vec<Op>, chance: &mut Chance) -> Option<Planted> {
    let at = pick(&consumed(ops, 2), chance)?;
    records_mut(&mut ops[at])?.swap(0, 1);
    Some(Planted {
        anomaly: "int-nonmonotonic-poll",
        ops: vec![at],
    })
}

fn lower_hw(ops: &mut Vec<Op>, chance: &mut Chance) -> Option<Planted> {
    let reign = |op: &Op| {
        let info = op
            .reads
            .get(KEY)
            .filter(|info| info.leader_epoch >= 0 && info.hw > 0)?;
        Some((info.replica, info.incarnation, info.leader_epoch))
    };
    let reads = consumed(ops, 0);
    let second = |at: usize| {
        let before = |&&other: &&usize| other < at && reign(&ops[other]) == reign(&ops[at]);
        reign(&ops[at]).is_some() && reads.iter().any(|other| before(&other))
    };
    let seconds: Vec<usize> = reads.iter().copied().filter(|&at| second(at)).collect();
    let at = pick(&seconds, chance)?;
    ops[at].reads.get_mut(KEY)?.hw = 0;
    Some(Planted {
        anomaly: "hw-regression",
        ops: vec![at],
    })
}

fn two_leaders(ops: &mut Vec<Op>, _: &mut Chance) -> Option<Planted> {
    let at = ops.iter().position(is_final)? - 1;
    let claim = serde_json::json!({"settled": true, "unsettled": [], "two_leaders": [
        {"key": KEY, "node": "n1", "leader_epoch": 1, "newest_epoch": 9}
    ]});
    let line = Op::new(
        Process::Nemesis,
        OpType::Info,
        "settled",
        Value::Other(claim),
    );
    ops.insert(at, line);
    Some(Planted {
        anomaly: "two-leaders",
        ops: vec![at],
    })
}

fn renumbered(header: &Header, mut ops: Vec<Op>) -> History {
    for (index, op) in ops.iter_mut().enumerate() {
        op.index = index as u64;
        op.time = index as u64 * 1_000_000;
    }
    History::new(Some(header.clone()), ops).expect("still well-formed")
}

#[test]
fn one_planted_fault_of_each_kind_is_always_found_with_its_ops() {
    let mut planted = [0; PLANTS.len()];
    for seed in 0..4 {
        let history = Model::new(seed, Acks::All, false).run(2000);
        let header = history.header().expect("a header");
        let promise = header.promise.clone();
        assert!(check(&history).findings.is_empty(), "seed {seed}");
        for (kind, (name, plant)) in PLANTS.iter().enumerate() {
            for try_ in 0..4 {
                let mut chance = Chance(seed * 1000 + try_);
                let mut ops = history.ops().to_vec();
                let Some(fault) = plant(&mut ops, &mut chance) else {
                    continue;
                };
                let changed = renumbered(header, ops);
                let verdict = judge(check(&changed), &promise);
                let what = format!("seed {seed} try {try_}: {name}");
                assert_eq!(verdict.valid, Validity::Invalid, "{what}");
                let of_kind = |anomaly: &str| anomaly == fault.anomaly;
                let found = verdict.anomalies.iter().any(|one| {
                    let has = |op: &usize| one.finding.ops.contains(&(*op as u64));
                    of_kind(one.finding.anomaly) && fault.ops.iter().all(has)
                });
                let all: Vec<_> = verdict
                    .anomalies
                    .iter()
                    .map(|one| (&one.finding.sentence, &one.finding.ops))
                    .collect();
                assert!(
                    found,
                    "{what}: {} {:?} in {all:?}",
                    fault.anomaly, fault.ops
                );
                assert!(is_suspected(&changed), "{what}: the stream passed it");
                planted[kind] += 1;
            }
        }
    }
    assert!(planted.iter().all(|&count| count >= 3), "{planted:?}");
}

fn is_suspected(history: &History) -> bool {
    let mut stream = LogStream::new(history.header().cloned());
    for op in history.ops() {
        stream.push(op).expect("well-formed");
    }
    !stream.finish().suspicions.is_empty()
}
