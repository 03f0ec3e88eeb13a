//! The harness itself: a whole session with generator, clients and journal, of
//! which all clients produce.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use plimsoll_nemesis::inject::Composed;
use plimsoll_nemesis::schedule::Schedule;

use super::{Kind, Measured, PARTITIONS, TOPIC};
use crate::bench::{Silent, header, millis};
use crate::clients::NewTopic;
use crate::journal::Recorder;
use crate::runner::real::{self, Run, StateSource, Wiring};
use crate::session::{NodeInfo, SendBy, SendPolicy, Session, SessionConfig};
use crate::systems::{Layout, NodeSet};
use crate::workload::{ClientPlan, Role, Side};

const SETUP_LIMIT_MS: u64 = 150_000;
const REQUEST_TIMEOUT_MS: u64 = 10_000;

/// One round.
pub fn round(
    kind: Kind,
    seconds: f64,
    layout: &Layout,
    addrs: &[SocketAddr],
    journal: &Path,
) -> anyhow::Result<Measured> {
    let session = Session::new(config(kind, seconds, layout));
    let start = Instant::now();
    let ended = real::run(Run {
        session,
        nodes: &NodeSet::empty(),
        nemesis: Box::<Composed>::default(),
        wiring: Wiring {
            client_addrs: addrs.to_vec(),
            state: StateSource::default(),
            places: Vec::new(),
            topic: TOPIC.to_owned(),
            library: None,
        },
        recorder: Recorder::create(journal, &header(), start)?,
        live: None,
        start,
        watcher: &mut Silent,
    })?;
    ended.recorder.close()?;
    if let Some(failure) = ended.failure {
        return Err(failure.into());
    }
    let stats = ended.session.stats();
    Ok(Measured {
        acked: stats.acked,
        failed: stats.failed + stats.indeterminate,
    })
}

fn config(kind: Kind, seconds: f64, layout: &Layout) -> SessionConfig {
    let node = |spec: &crate::systems::NodeSpec| NodeInfo {
        name: spec.name.clone(),
        id: spec.id,
        is_broker: spec.is_broker,
    };
    let client = |i: usize| ClientPlan {
        name: format!("p{i}"),
        role: Role::Producer,
        side: Side::Everywhere,
    };
    SessionConfig {
        seed: 1,
        topic: NewTopic {
            name: TOPIC.to_owned(),
            partitions: PARTITIONS,
            replication_factor: i16::try_from(layout.nodes.len()).unwrap_or(1),
            configs: Vec::new(),
        },
        nodes: layout.nodes.iter().map(node).collect(),
        clients: (1..=kind.connections).map(client).collect(),
        send: SendPolicy {
            by: SendBy::Request,
            acks: kind.acks,
            retries: 0,
            idempotent: false,
            request_timeout_ms: REQUEST_TIMEOUT_MS,
        },
        rate: f64::INFINITY,
        time_limit_ms: millis(seconds),
        setup_limit_ms: SETUP_LIMIT_MS,
        starts_settled: false,
        settle_limit_ms: 0,
        schedule: Schedule::set(Vec::new()),
    }
}
