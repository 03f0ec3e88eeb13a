//! A session against a cluster of a few lines in virtual time: what it sends,
//! what it records, and that it always comes to an end.

use std::collections::BTreeMap;

use plimsoll_checkers::history::{History, Op, OpType, Process, Value};
use plimsoll_nemesis::faults::{Aim, AimAt, Fault, Kill, KillHow};
use plimsoll_nemesis::schedule::{Planned, Schedule};

use super::messages::ReplicaReport;
use super::*;
use crate::clients::{Fetched, NewTopic, PartitionMetadata, Request};
use crate::workload::{Placement, plan_clients};

const MS: u64 = 1_000_000;

/// One log a partition, one leader for all of them, and knobs that misbehave.
struct Fake {
    logs: BTreeMap<i32, Vec<i64>>,
    /// Answers this code to every n-th produce request.
    refuse: Option<(u64, i16)>,
    /// How attempts to make the topic end, one after another; then it is made.
    create: Vec<Reply>,
    produced: u64,
    settles: bool,
    sequences: Vec<(i64, i32)>,
}

impl Fake {
    fn sound() -> Fake {
        Fake {
            logs: BTreeMap::new(),
            refuse: None,
            create: vec![],
            produced: 0,
            settles: true,
            sequences: vec![],
        }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        Ok(match request {
            Request::CreateTopic(_) if !self.create.is_empty() => return self.create.remove(0),
            Request::CreateTopic(_) => Response::TopicCreated {
                code: 0,
                message: String::new(),
            },
            Request::Metadata => {
                let partitions = (0..2).map(|partition| PartitionMetadata {
                    partition,
                    leader: 1,
                    leader_epoch: 1,
                    replicas: vec![1, 2, 3],
                    isr: vec![1, 2, 3],
                });
                Response::Metadata {
                    partitions: partitions.collect(),
                }
            }
            Request::InitProducerId => Response::ProducerId {
                code: 0,
                producer_id: 9,
                producer_epoch: 0,
            },
            Request::Produce(send) => {
                self.produced += 1;
                self.sequences
                    .extend(send.sequence.map(|s| (send.value, s.sequence)));
                if let Some((every, code)) = self.refuse
                    && self.produced.is_multiple_of(every)
                    && send.value > 0
                {
                    return Ok(Response::Produced { code, offset: -1 });
                }
                let log = self.logs.entry(send.partition).or_default();
                log.push(send.value);
                Response::Produced {
                    code: 0,
                    offset: i64::try_from(log.len()).expect("small") - 1,
                }
            }
            Request::Fetch(read) => {
                let log = self.logs.entry(read.partition).or_default();
                let records: Vec<(i64, i64)> = (0..)
                    .zip(log.iter().copied())
                    .filter(|(o, _)| *o >= read.offset)
                    .collect();
                let end = i64::try_from(log.len()).expect("small");
                let (high_watermark, next_offset) = (end, end.max(read.offset));
                let fetched = Fetched {
                    high_watermark,
                    log_start: 0,
                    records,
                    next_offset,
                };
                Response::Fetched { code: 0, fetched }
            }
            other => panic!("a session never asks this: {other:?}"),
        })
    }

    fn report(&self, node: NodeIndex) -> NodeReport {
        let node_id = i32::try_from(node).expect("small") + 1;
        let role = if node_id == 1 { "leader" } else { "follower" };
        let isr = if self.settles { vec![1, 2, 3] } else { vec![1] };
        let partitions = (0..2).map(|partition| ReplicaReport {
            topic: "log".into(),
            partition,
            role: role.into(),
            leader: 1,
            leader_epoch: 1,
            isr: isr.clone(),
            replicas: vec![1, 2, 3],
            ..ReplicaReport::default()
        });
        NodeReport {
            node_id,
            controller_leader: Some(1),
            partitions: partitions.collect(),
            ..NodeReport::default()
        }
    }
}

fn config(retries: u32, idempotent: bool) -> SessionConfig {
    let aim = Aim::new(AimAt::Leader, 0);
    let kill = Fault::Kill(Kill {
        aim,
        how: KillHow::Kill,
    });
    let planned = Planned {
        id: 1,
        at_ms: 400,
        lasts_ms: 300,
        fault: kill,
    };
    SessionConfig {
        seed: 1,
        topic: NewTopic {
            name: "log".into(),
            partitions: 2,
            replication_factor: 3,
            configs: Vec::new(),
        },
        nodes: (1..=3)
            .map(|id| NodeInfo {
                name: format!("n{id}"),
                id,
                is_broker: true,
            })
            .collect(),
        clients: plan_clients(8, Placement::Mixed, 3),
        send: SendPolicy {
            by: SendBy::Request,
            acks: 1,
            retries,
            idempotent,
            request_timeout_ms: 1000,
        },
        rate: 500.0,
        time_limit_ms: 2000,
        setup_limit_ms: 20_000,
        starts_settled: false,
        settle_limit_ms: 4000,
        schedule: Schedule::set(vec![planned]),
    }
}

/// Runs a session to its end in virtual time; gives the journal.
fn run(config: SessionConfig, fake: &mut Fake) -> Vec<Op> {
    let mut ops = Vec::new();
    drive(&mut Session::new(config), fake, &mut ops);
    ops
}

fn drive(session: &mut Session, fake: &mut Fake, ops: &mut Vec<Op>) {
    let finished = drive_until(60_000 * MS, session, fake, ops);
    assert!(finished, "the run does not end");
}

/// Whether the session came to its end before that time.
fn drive_until(end_ns: u64, session: &mut Session, fake: &mut Fake, ops: &mut Vec<Op>) -> bool {
    let mut queue: BTreeMap<(u64, usize), Event> = BTreeMap::new();
    let mut sequence = 0;
    let mut put = |queue: &mut BTreeMap<(u64, usize), Event>, at: u64, event: Event| {
        sequence += 1;
        queue.insert((at, sequence), event);
    };
    put(&mut queue, 0, Event::Timer);
    for node in 0..3 {
        put(&mut queue, 50 * MS, Event::Node { node, report: None });
    }
    let mut out = Vec::new();
    while let Some(((now, _), event)) = queue.pop_first() {
        if now >= end_ns {
            return false;
        }
        let event = match event {
            Event::Node { node, .. } => {
                put(
                    &mut queue,
                    now + 100 * MS,
                    Event::Node { node, report: None },
                );
                Event::Node {
                    node,
                    report: Some(fake.report(node)),
                }
            }
            other => other,
        };
        session.step(now, event, &mut out);
        for command in out.drain(..) {
            match command {
                Command::Send {
                    client, request, ..
                } => {
                    let result = fake.answer(&request);
                    put(&mut queue, now + MS, Event::Reply { client, result });
                }
                Command::HandOver { client, produce } => {
                    let result = fake.answer(&Request::Produce(produce));
                    put(&mut queue, now + MS, Event::Reply { client, result });
                }
                Command::Inject { planned, view } => {
                    let Fault::Kill(kill) = &planned.fault else {
                        panic!("only kills")
                    };
                    let targets = kill.aim.resolve(&view).expect("a leader is known");
                    let step = FaultStep::Installed {
                        targets,
                        cuts: Vec::new(),
                        proof: String::new(),
                    };
                    put(
                        &mut queue,
                        now + MS,
                        Event::Fault {
                            id: planned.id,
                            step,
                        },
                    );
                }
                Command::Heal { id } => {
                    let step = FaultStep::Healed {
                        started: vec![("n1".to_owned(), 2)],
                    };
                    put(&mut queue, now + MS, Event::Fault { id, step });
                }
                Command::Record(mut op) => {
                    op.index = u64::try_from(ops.len()).expect("small");
                    op.time = now;
                    ops.push(*op);
                }
                Command::WakeAt(at) => put(&mut queue, at.max(now), Event::Timer),
                Command::GiveUp(why) => panic!("{why}"),
                Command::Finished => return true,
            }
        }
    }
    panic!("the session fell asleep before its end");
}

fn sends(ops: &[Op], kind: OpType) -> usize {
    ops.iter()
        .filter(|op| op.f == "send" && op.kind == kind)
        .count()
}

#[test]
fn a_sound_run_ends_read_and_its_journal_is_a_history() {
    let ops = run(config(0, false), &mut Fake::sound());
    assert!(sends(&ops, OpType::Ok) > 300, "{}", sends(&ops, OpType::Ok));
    assert_eq!(sends(&ops, OpType::Invoke), sends(&ops, OpType::Ok));
    let finals = ops
        .iter()
        .filter(|op| op.reads.values().any(|read| read.is_final))
        .count();
    assert!(
        finals >= 6,
        "each replica of each partition is read: {finals}"
    );
    let barriers = ops
        .iter()
        .filter(|op| op.f == "barrier" && op.kind == OpType::Ok)
        .count();
    assert_eq!(barriers, 2);
    History::new(None, ops).expect("the journal validates");
}

fn not_created(code: i16) -> Reply {
    let message = String::new();
    Ok(Response::TopicCreated { code, message })
}

/// Why a run was given up, where it was.
fn given_up(create: Vec<Reply>) -> Option<String> {
    let mut fake = Fake {
        create,
        ..Fake::sound()
    };
    let (mut session, mut out) = (Session::new(config(0, false)), Vec::new());
    session.step(0, Event::Timer, &mut out);
    for round in 1..50 {
        let commands = std::mem::take(&mut out);
        for command in commands {
            match command {
                Command::GiveUp(why) => return Some(why),
                Command::Send {
                    client, request, ..
                } => {
                    let result = fake.answer(&request);
                    session.step(round * MS, Event::Reply { client, result }, &mut out);
                }
                _ => {}
            }
        }
        session.step(round * 20 * MS, Event::Timer, &mut out);
    }
    None
}

#[test]
fn a_topic_that_was_there_before_ends_the_run_unless_it_may_be_our_own() {
    let why = given_up(vec![not_created(38), not_created(36)]).expect("another's topic");
    assert!(why.contains("already has a topic log"), "{why}");
    let lost = Err(Broken::Lost("no answer".to_owned()));
    assert_eq!(given_up(vec![lost, not_created(36)]), None);
    assert_eq!(given_up(vec![not_created(7), not_created(36)]), None);
    let unsent = Err(Broken::NotSent("refused".to_owned()));
    assert!(given_up(vec![unsent, not_created(36)]).is_some());
}

#[test]
fn faults_and_starts_are_recorded_and_healed() {
    let ops = run(config(0, false), &mut Fake::sound());
    let kills: Vec<String> = ops
        .iter()
        .filter(|op| op.process == Process::Nemesis && op.f == "kill")
        .map(|op| match &op.value {
            Value::Other(value) => value["phase"].as_str().unwrap_or_default().to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kills, ["installed", "healed"]);
    assert_eq!(ops.iter().filter(|op| op.f == "start").count(), 4);
}

#[test]
fn a_run_that_cannot_go_on_leaves_no_op_open_and_its_sends_unknown() {
    let broken_off = |at_ms: u64| {
        let mut session = Session::new(config(0, false));
        let mut ops = Vec::new();
        assert!(!drive_until(
            at_ms * MS,
            &mut session,
            &mut Fake::sound(),
            &mut ops
        ));
        let open = sends(&ops, OpType::Invoke) - sends(&ops, OpType::Ok);
        (open > 0).then_some((session, ops, open, at_ms * MS))
    };
    let (mut session, mut ops, open, now_ns) = (1500..1600)
        .find_map(broken_off)
        .expect("a send is open at some time");
    let mut out = Vec::new();
    session.abandon(now_ns, &mut out);
    ops.extend(out.into_iter().filter_map(|command| match command {
        Command::Record(op) => Some(*op),
        _ => None,
    }));
    assert_eq!(sends(&ops, OpType::Info), open);
    let polls = |kind| {
        let of_kind = |op: &&Op| op.f == "poll" && op.kind == kind;
        ops.iter().filter(of_kind).count()
    };
    let ended = polls(OpType::Ok) + polls(OpType::Fail);
    assert_eq!(polls(OpType::Invoke), ended);
}

#[test]
fn a_process_that_got_an_indeterminate_answer_never_acts_again() {
    let mut fake = Fake {
        refuse: Some((5, 7)),
        ..Fake::sound()
    };
    let ops = run(config(0, false), &mut fake);
    assert!(sends(&ops, OpType::Info) > 20);
    for (position, op) in ops
        .iter()
        .enumerate()
        .filter(|(_, op)| op.kind == OpType::Info)
    {
        if op.process != Process::Nemesis {
            assert!(
                ops[position + 1..]
                    .iter()
                    .all(|later| later.process != op.process)
            );
        }
    }
}

#[test]
fn retries_are_attempts_of_one_op_under_one_sequence_number() {
    let mut fake = Fake {
        refuse: Some((4, 19)),
        ..Fake::sound()
    };
    let ops = run(config(3, true), &mut fake);
    let retried = ops
        .iter()
        .filter_map(|op| op.attempts.as_ref())
        .filter(|a| a.len() > 1)
        .count();
    assert!(retried > 20, "{retried} ops were sent more than once");
    let mut of_value: BTreeMap<i64, Vec<i32>> = BTreeMap::new();
    for (value, sequence) in fake.sequences {
        of_value.entry(value).or_default().push(sequence);
    }
    assert!(
        of_value
            .values()
            .all(|all| all.iter().all(|sequence| *sequence == all[0]))
    );
}

#[test]
fn a_library_gets_each_record_once_and_nobody_says_how_often_it_sent_it() {
    let mut fake = Fake {
        refuse: Some((4, 19)),
        ..Fake::sound()
    };
    let mut config = config(3, true);
    config.send.by = SendBy::Library { may_resend: true };
    let ops = run(config, &mut fake);
    assert!(sends(&ops, OpType::Ok) > 100);
    assert!(sends(&ops, OpType::Fail) > 20);
    assert!(fake.sequences.is_empty(), "numbers are the library's");
    let handed_over = u64::try_from(sends(&ops, OpType::Invoke)).expect("small");
    let barriers = 2;
    assert_eq!(fake.produced, handed_over + barriers);
    let mut ends = ops
        .iter()
        .filter(|op| op.f == "send" && op.kind != OpType::Invoke);
    assert!(ends.all(|op| op.attempts == Some(Vec::new())));
}

#[test]
fn a_cluster_that_does_not_settle_is_reported_at_the_limit() {
    let mut fake = Fake {
        settles: false,
        ..Fake::sound()
    };
    let ops = run(config(0, false), &mut fake);
    let settled = ops
        .iter()
        .find(|op| op.f == "settled")
        .expect("it is always said");
    let Value::Other(value) = &settled.value else {
        panic!("{settled:?}")
    };
    assert_eq!(value["settled"], false);
    assert_eq!(value["unsettled"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_same_seed_and_the_same_answers_give_the_same_journal() {
    let lines = || {
        let mut bytes = Vec::new();
        let mut fake = Fake {
            refuse: Some((7, 7)),
            ..Fake::sound()
        };
        for op in run(config(2, true), &mut fake) {
            op.write_json_line(&mut bytes);
        }
        bytes
    };
    assert!(lines() == lines(), "two runs with one seed differ");
}

/// The session, its clients and its workload must run in a simulator too.
#[test]
fn nothing_in_the_session_reads_a_clock_a_file_a_socket_or_a_thread() {
    const FORBIDDEN: [&str; 10] = [
        "tokio",
        "std::fs",
        "std::net",
        "std::thread",
        "std::process",
        "Instant",
        "SystemTime",
        "HashMap",
        "HashSet",
        "thread_rng",
    ];
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for folder in ["session", "workload", "clients", "clients/kafka"] {
        for entry in std::fs::read_dir(sources.join(folder))
            .expect("sources")
            .flatten()
        {
            let path = entry.path();
            if path.is_dir() || path.ends_with("tests.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source");
            for word in FORBIDDEN {
                assert!(!text.contains(word), "{} mentions {word}", path.display());
            }
        }
    }
}
