//! Sequential consistency over several partitions, against an exhaustive oracle.
//!
//! Small histories of two partitions and three clients, reads with high watermarks. The oracle tries
//! every order that each client's own order allows and replays it on logs with gaps: an append at
//! offset o needs a log that ends at or below o, a read with high watermark w one that ends at or
//! below w, and moves its end there. The level must be `linearizable` or `sequential` exactly where one fits.

use plimsoll_checkers::check;
use plimsoll_checkers::history::{History, Op, OpType, Process, ReadInfo, SendMop, Value};
use plimsoll_checkers::models::Level;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Kind {
    Append { offset: i64 },
    Read { hw: i64 },
}

#[derive(Debug, Clone)]
struct SmallOp {
    client: u64,
    partition: usize,
    kind: Kind,
}

fn key(partition: usize) -> String {
    format!("log-{partition}")
}

/// Offsets of the appends are distinct within a partition.
fn small_history() -> impl Strategy<Value = Vec<SmallOp>> {
    let op = (0..3_u64, 0..2_usize, any::<bool>(), 0..4_i64);
    prop::collection::vec(op, 2..7).prop_map(|raw| {
        let mut used = [0_i64; 2];
        let mut appends: Vec<(usize, usize)> = Vec::new();
        let mut ops: Vec<SmallOp> = Vec::new();
        for (client, partition, appends_here, number) in raw {
            let kind = match appends_here && used[partition] < 4 {
                true => {
                    appends.push((partition, ops.len()));
                    used[partition] += 1;
                    Kind::Append { offset: number }
                }
                false => Kind::Read { hw: number },
            };
            ops.push(SmallOp {
                client,
                partition,
                kind,
            });
        }
        // Ranks of the drawn numbers, so that offsets are 0, 1, 2, ... in some order.
        for partition in 0..2 {
            let mut here: Vec<(i64, usize)> = Vec::new();
            for (which, op) in ops.iter().enumerate() {
                if let (true, Kind::Append { offset }) = (op.partition == partition, &op.kind) {
                    here.push((*offset, which));
                }
            }
            here.sort_unstable();
            for (rank, (_, which)) in here.into_iter().enumerate() {
                ops[which].kind = Kind::Append {
                    offset: rank as i64,
                };
            }
        }
        ops
    })
}

fn fits(ops: &[SmallOp], used: u32, ends: [i64; 2]) -> bool {
    if used.count_ones() as usize == ops.len() {
        return true;
    }
    (0..ops.len()).any(|which| {
        let op = &ops[which];
        let free = used & (1 << which) == 0;
        let first =
            (0..which).all(|other| ops[other].client != op.client || used & (1 << other) != 0);
        if !free || !first {
            return false;
        }
        let mut ends = ends;
        match op.kind {
            Kind::Append { offset } => {
                if offset < ends[op.partition] {
                    return false;
                }
                ends[op.partition] = offset + 1;
            }
            Kind::Read { hw } => {
                if hw < ends[op.partition] {
                    return false;
                }
                ends[op.partition] = hw;
            }
        }
        fits(ops, used | 1 << which, ends)
    })
}

/// One after another, as real time has it; a read shows every record below its watermark that the
/// history has, so that nothing is missing from it.
fn recorded(ops: &[SmallOp]) -> History {
    let mut lines: Vec<Op> = Vec::new();
    let mut push = |process: u64, kind, f: &str, value, reads: Option<(String, ReadInfo)>| {
        let mut op = Op::new(Process::Client(process), kind, f, value);
        op.index = lines.len() as u64;
        op.time = op.index;
        op.acks = (f == "send").then_some(-1);
        op.reads.extend(reads);
        lines.push(op);
    };
    for (which, op) in ops.iter().enumerate() {
        let key = key(op.partition);
        match op.kind {
            Kind::Append { offset } => {
                let send = |offset| {
                    let (key, value) = (key.clone(), which as i64);
                    Value::Send(vec![SendMop { key, offset, value }])
                };
                push(op.client, OpType::Invoke, "send", send(None), None);
                push(op.client, OpType::Ok, "send", send(Some(offset)), None);
            }
            Kind::Read { hw } => {
                let info = ReadInfo {
                    from: 100,
                    hw,
                    ..ReadInfo::default()
                };
                push(op.client, OpType::Invoke, "poll", Value::Poll(None), None);
                let shown = Value::Poll(Some([(key.clone(), Vec::new())].into()));
                push(op.client, OpType::Ok, "poll", shown, Some((key, info)));
            }
        }
    }
    History::new(None, lines).expect("a well-formed history")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("PLIMSOLL_ORACLE_CASES").map_or(20_000, |n| n.parse().unwrap_or(20_000))
    ))]

    #[test]
    fn the_level_is_sequential_exactly_where_some_order_of_all_clients_fits(ops in small_history()) {
        let consistency = check(&recorded(&ops)).consistency;
        let any_read = ops.iter().any(|op| matches!(op.kind, Kind::Read { .. }));
        if !any_read {
            prop_assert_eq!(consistency.level, Level::Unknown);
        } else {
            let holds = matches!(consistency.level, Level::Linearizable | Level::Sequential);
            prop_assert_eq!(holds, fits(&ops, 0, [0, 0]), "{:?} {:?}", consistency, ops);
        }
    }
}
