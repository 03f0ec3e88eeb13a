//! Histories made from a fixed seed, in the etcd logs' format.

use std::fmt::Write;

use plimsoll_checkers::search::register::{Decision, Meter, decide};

use crate::registers::parse;

const VALUES: u64 = 5;

struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

#[derive(Clone, Copy)]
enum Op {
    Read(u64),
    Write(u64),
    Cas(u64, u64),
}

impl Op {
    fn text(self) -> (&'static str, String) {
        match self {
            Op::Read(value) => (":read", value.to_string()),
            Op::Write(value) => (":write", value.to_string()),
            Op::Cas(from, to) => (":cas", format!("[{from} {to}]")),
        }
    }
}

/// One op as recorded: who, when it began and ended (by line), what.
#[derive(Clone, Copy)]
struct Recorded {
    process: usize,
    begin: usize,
    end: usize,
    op: Op,
}

/// A register of few values under reads, writes and read-modify-writes, with every process always
/// inside an op.
fn record(processes: usize, count: usize) -> Vec<Recorded> {
    let mut chance = Chance(processes as u64);
    let mut state = None;
    let mut lines = processes;
    let mut open: Vec<(usize, Option<Op>)> = (0..processes).map(|begin| (begin, None)).collect();
    let mut done = Vec::with_capacity(count);
    let mut began = processes;
    while done.len() < count {
        let process = chance.below(processes as u64) as usize;
        let (begin, effect) = open[process];
        if let Some(op) = effect {
            let end = lines;
            done.push(Recorded {
                process,
                begin,
                end,
                op,
            });
            lines += 2;
            let goes_on = began < count;
            began += usize::from(goes_on);
            // A process that is through has nothing open.
            open[process] = if goes_on {
                (end + 1, None)
            } else {
                (usize::MAX, None)
            };
        } else if begin != usize::MAX {
            open[process].1 = Some(step(&mut chance, &mut state));
        }
    }
    done
}

/// The next op to take effect; the first is a write.
fn step(chance: &mut Chance, state: &mut Option<u64>) -> Op {
    let value = chance.below(VALUES);
    let kind = chance.below(3);
    let op = match *state {
        Some(state) if kind == 0 => return Op::Read(state),
        Some(state) if kind == 1 => Op::Cas(state, value),
        _ => Op::Write(value),
    };
    *state = Some(value);
    op
}

fn lines(ops: &[Recorded]) -> String {
    let mut events: Vec<(usize, &Recorded, bool)> = Vec::new();
    for op in ops {
        events.push((op.begin, op, false));
        events.push((op.end, op, true));
    }
    events.sort_by_key(|(at, ..)| *at);
    let mut text = String::new();
    for (_, op, ends) in events {
        let (f, value) = op.op.text();
        let (kind, value) = match (ends, op.op) {
            (true, _) => (":ok", value),
            (false, Op::Read(_)) => (":invoke", "nil".to_owned()),
            (false, _) => (":invoke", value),
        };
        let process = op.process;
        writeln!(text, "INFO  jepsen.util - {process}\t{kind}\t{f}\t{value}").expect("memory");
    }
    text
}

/// The same with the first read after 95 % of the ops whose other value no order explains.
fn corrupt(ops: &[Recorded]) -> String {
    for at in ops.len() * 95 / 100..ops.len() {
        let Op::Read(value) = ops[at].op else {
            continue;
        };
        for shift in 1..VALUES {
            let mut wrong = ops.to_vec();
            wrong[at].op = Op::Read((value + shift) % VALUES);
            let text = lines(&wrong);
            let (ops, initial) = parse(&text);
            let mut meter = Meter::new(1 << 40, 1 << 32);
            if let Decision::Violation { op } = decide(&ops, initial, &mut meter) {
                let steps = meter.steps;
                eprintln!("read {at} made wrong: refused at op {op} after {steps} steps");
                return text;
            }
        }
    }
    panic!("no read can be made wrong");
}

/// A log under appends and reads of its last ten records, with eight processes. A line is the
/// process, invoke or ok, append or read, and numbers: `offset value` of an append's end, `from
/// values...` of a read's.
fn log(count: usize) -> String {
    let mut chance = Chance(8);
    let mut text = String::new();
    let mut log: Vec<u64> = Vec::new();
    let mut open: Vec<Option<(bool, u64, Option<String>)>> = vec![None; 8];
    let (mut begun, mut done, mut value) = (0, 0, 0);
    while done < count {
        let process = chance.below(8) as usize;
        match open[process].take() {
            None if begun < count => {
                let is_append = chance.below(2) == 0;
                value += 1;
                let argument = if is_append {
                    value
                } else {
                    (log.len() as u64).saturating_sub(10)
                };
                let f = if is_append { "append" } else { "read" };
                writeln!(text, "{process}\tinvoke\t{f}\t{argument}").expect("memory");
                open[process] = Some((is_append, argument, None));
                begun += 1;
            }
            None => {}
            Some((true, value, None)) => {
                let answer = format!("append\t{} {value}", log.len());
                log.push(value);
                open[process] = Some((true, value, Some(answer)));
            }
            Some((false, from, None)) => {
                let seen: Vec<String> = log[from as usize..].iter().map(u64::to_string).collect();
                let answer = format!("read\t{from} {}", seen.join(" "));
                open[process] = Some((false, from, Some(answer)));
            }
            Some((_, _, Some(answer))) => {
                writeln!(text, "{process}\tok\t{answer}").expect("memory");
                done += 1;
            }
        }
    }
    text
}

/// Writes every made history into `folder`.
pub fn all(folder: &str) {
    let write = |name: String, text: String| {
        let path = std::path::Path::new(folder).join(name);
        std::fs::write(path, text).expect("a folder that can be written");
    };
    write("log.txt".to_owned(), log(100_000));
    for processes in [4, 8, 16] {
        write(
            format!("rmw-valid-{processes}.log"),
            lines(&record(processes, 100_000)),
        );
        let ops = record(processes, 20_000);
        write(format!("rmw-corrupted-{processes}.log"), corrupt(&ops));
    }
}
