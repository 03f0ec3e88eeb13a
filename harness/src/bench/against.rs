//! Single-record produce requests a second at a cluster that runs already: the
//! whole client, from generator to journal, with producers only.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use plimsoll_nemesis::inject::Composed;
use plimsoll_nemesis::schedule::Schedule;

use super::{TOPIC, count, header, millis};
use crate::cli::BenchArgs;
use crate::clients::NewTopic;
use crate::journal::Recorder;
use crate::runner::real::{self, Run, StateSource, Watcher, Wiring};
use crate::session::{NodeInfo, SendPolicy, Session, SessionConfig};
use crate::systems::NodeSet;
use crate::workload::{ClientPlan, Role, Side};

/// Brokers may still be starting.
const SETUP_LIMIT_MS: u64 = 120_000;
const FIRST_ACK_S_MAX: f64 = 2.5;
const REQUEST_TIMEOUT_MS: u64 = 5000;

/// A broker of the cluster, `ID@ADDR:PORT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broker {
    id: i32,
    addr: SocketAddr,
}

/// Reads `1@127.0.0.1:9092,2@...`.
pub fn parse_brokers(text: &str) -> anyhow::Result<Vec<Broker>> {
    let one = |word: &str| {
        let (id, addr) = word.split_once('@').context("write ID@ADDR:PORT")?;
        Ok(Broker {
            id: id
                .parse()
                .with_context(|| format!("\"{id}\" is no broker's id"))?,
            addr: addr
                .parse()
                .with_context(|| format!("\"{addr}\" is no address with a port"))?,
        })
    };
    text.split(',').map(one).collect()
}

/// Counts acknowledgements between two moments, seen ten times a second.
struct Window {
    warm_up: Duration,
    seconds: Duration,
    first_ack: Option<Duration>,
    from: Option<(Duration, u64)>,
    to: Option<(Duration, u64)>,
}

impl Watcher for Window {
    fn watch(&mut self, session: &Session, elapsed: Duration) {
        let acked = session.stats().acked;
        if acked == 0 {
            return;
        }
        let begin = *self.first_ack.get_or_insert(elapsed) + self.warm_up;
        if elapsed < begin {
            return;
        }
        let (from, _) = *self.from.get_or_insert((elapsed, acked));
        if elapsed >= from + self.seconds && self.to.is_none() {
            self.to = Some((elapsed, acked));
        }
    }
}

/// Requests a second.
pub fn measure(args: &BenchArgs, brokers: &[Broker], folder: &Path) -> anyhow::Result<f64> {
    let session = Session::new(config(args, brokers)?);
    let start = Instant::now();
    let recorder = Recorder::create(&folder.join("history.jsonl"), &header(), start)?;
    let wiring = Wiring {
        client_addrs: brokers.iter().map(|broker| broker.addr).collect(),
        state: StateSource::default(),
        places: Vec::new(),
        topic: TOPIC.to_owned(),
        producers: None,
    };
    let mut window = Window {
        warm_up: Duration::from_secs_f64(args.warm_up),
        seconds: Duration::from_secs_f64(args.seconds),
        first_ack: None,
        from: None,
        to: None,
    };
    let ended = real::run(Run {
        session,
        nodes: &NodeSet::empty(),
        nemesis: Box::<Composed>::default(),
        wiring,
        producers: None,
        recorder,
        live: None,
        start,
        watcher: &mut window,
    })?;
    ended.recorder.close()?;
    if let Some(failure) = ended.failure {
        return Err(failure.into());
    }
    let (Some((from, before)), Some((to, after))) = (window.from, window.to) else {
        bail!("the run was too short to be measured");
    };
    Ok(count(after - before) / (to - from).as_secs_f64())
}

fn config(args: &BenchArgs, brokers: &[Broker]) -> anyhow::Result<SessionConfig> {
    let node = |broker: &Broker| NodeInfo {
        name: format!("n{}", broker.id),
        id: broker.id,
        is_broker: true,
    };
    let client = |number: usize| ClientPlan {
        name: format!("p{number}"),
        role: Role::Producer,
        side: Side::Everywhere,
    };
    // The window begins at the first acknowledgement, which may take a while.
    let whole = args.warm_up + args.seconds + FIRST_ACK_S_MAX;
    Ok(SessionConfig {
        seed: 1,
        topic: NewTopic {
            name: TOPIC.to_owned(),
            partitions: args.partitions,
            replication_factor: i16::try_from(brokers.len())?,
            configs: Vec::new(),
        },
        nodes: brokers.iter().map(node).collect(),
        clients: (1..=args.concurrency).map(client).collect(),
        send: SendPolicy {
            acks: args.acks.wire(),
            retries: 0,
            idempotent: false,
            by_library: false,
            request_timeout_ms: REQUEST_TIMEOUT_MS,
        },
        rate: f64::INFINITY,
        time_limit_ms: millis(whole),
        setup_limit_ms: SETUP_LIMIT_MS,
        starts_settled: false,
        settle_limit_ms: 0,
        schedule: Schedule::set(Vec::new()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brokers_are_ids_with_addresses() {
        let brokers = parse_brokers("1@127.0.0.1:9092,2@127.0.0.2:9092").expect("sound");
        assert_eq!((brokers[0].id, brokers[1].addr.port()), (1, 9092));
        for wrong in ["", "1", "x@127.0.0.1:9092", "1@localhost"] {
            assert!(parse_brokers(wrong).is_err(), "{wrong}");
        }
    }
}
