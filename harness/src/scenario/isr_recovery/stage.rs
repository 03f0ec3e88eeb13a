//! The stage: three nodes, one partition, and the few things that a story does
//! with them: send, hold, kill, start, look.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use plimsoll_nemesis::inject::Targets;
use plimsoll_nemesis::lab::{Lab, PLACE_EVERYWHERE};
use tokio::task::JoinHandle;

use super::view::{LogReport, Replica};
use crate::clients::{Broken, NewTopic, Produce, Request, Response};
use crate::runner::real::{Call, Connection, StateSource, Wiring};
use crate::session::NodeReport;
use crate::systems::{Layout, NodeSet, Ports};

const TOPIC: &str = "log";
const SET_UP_LIMIT: Duration = Duration::from_secs(20);
const RETRY_EVERY: Duration = Duration::from_millis(30);
const SEND_TIMEOUT: Duration = Duration::from_secs(20);

/// A record on its way.
pub struct Pending {
    value: i64,
    answer: JoinHandle<Result<Response, Broken>>,
}

impl Pending {
    /// The offset at which it was acknowledged, or why it was not.
    pub async fn acknowledged(self) -> Result<i64, String> {
        match self.answer.await {
            Ok(Ok(Response::Produced { code: 0, offset })) => Ok(offset),
            other => Err(format!("m{} got {other:?}", self.value)),
        }
    }
}

/// Tries again and again until there is something, within bounds.
async fn until<T>(what: &str, mut attempt: impl AsyncFnMut() -> Option<T>) -> anyhow::Result<T> {
    let deadline = Instant::now() + SET_UP_LIMIT;
    loop {
        if let Some(found) = attempt().await {
            return Ok(found);
        }
        if Instant::now() > deadline {
            bail!("{what} within {} s", SET_UP_LIMIT.as_secs());
        }
        tokio::time::sleep(RETRY_EVERY).await;
    }
}

/// Three replicas: A, B, C are positions 0, 1, 2.
pub struct Stage {
    wiring: Arc<Wiring>,
    admin_addrs: Vec<SocketAddr>,
    http: reqwest::Client,
    targets: Targets,
    /// Node positions in the order of the assignment.
    order: Vec<usize>,
    names: Vec<String>,
    ids: Vec<i32>,
}

impl Stage {
    /// Waits for the nodes and creates the topic.
    pub async fn set(
        layout: &Layout,
        ports: Ports,
        lab: Option<&Lab>,
        nodes: &NodeSet,
    ) -> anyhow::Result<Stage> {
        let sockets = |port: u16| -> Vec<SocketAddr> {
            layout.nodes.iter().map(|n| n.socket(port)).collect()
        };
        let place = lab
            .map(|lab| lab.place(PLACE_EVERYWHERE).cloned())
            .transpose()?;
        let wiring = Arc::new(Wiring {
            client_addrs: sockets(ports.client),
            state: StateSource::default(),
            places: vec![place; 16],
            topic: TOPIC.to_owned(),
            library: None,
        });
        let timeout = Duration::from_secs(2);
        let mut stage = Stage {
            wiring,
            admin_addrs: sockets(
                ports
                    .admin
                    .context("the built-in broker has an admin port")?,
            ),
            http: reqwest::Client::builder()
                .no_proxy()
                .timeout(timeout)
                .build()?,
            targets: nodes.targets(),
            order: Vec::new(),
            names: layout.names(),
            ids: layout.nodes.iter().map(|node| node.id).collect(),
        };
        stage.create_topic().await?;
        stage.order = stage.assignment().await?;
        Ok(stage)
    }

    async fn create_topic(&self) -> anyhow::Result<()> {
        let request = Request::CreateTopic(NewTopic {
            name: TOPIC.to_owned(),
            partitions: 1,
            replication_factor: 3,
            configs: vec![("min.insync.replicas".to_owned(), "1".to_owned())],
        });
        let deadline = Instant::now() + SET_UP_LIMIT;
        for node in (0..self.names.len()).cycle() {
            let call = Call {
                request: request.clone(),
                timeout: Duration::from_secs(3),
            };
            let answer = Connection::new(Arc::clone(&self.wiring), 0, node)
                .call(&call)
                .await;
            if matches!(answer, Ok(Response::TopicCreated { code: 0 | 36, .. })) {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("the topic could not be created: {answer:?}");
            }
            tokio::time::sleep(RETRY_EVERY).await;
        }
        Ok(())
    }

    /// Waits until every node has its replica and the first one leads.
    async fn assignment(&self) -> anyhow::Result<Vec<usize>> {
        until("the replicas did not come up", async || {
            self.try_assignment().await
        })
        .await
    }

    async fn try_assignment(&self) -> Option<Vec<usize>> {
        let mut assigned = Vec::new();
        for node in 0..self.names.len() {
            let report = self.report(node).await?;
            let replica = report.partitions.first()?.clone();
            if replica.leader != *replica.replicas.first()? {
                return None;
            }
            assigned = replica.replicas;
        }
        assigned
            .iter()
            .map(|id| self.ids.iter().position(|own| own == id))
            .collect()
    }

    pub fn name(&self, replica: usize) -> &str {
        self.order
            .get(replica)
            .and_then(|node| self.names.get(*node))
            .map_or("?", String::as_str)
    }

    /// Starts to send one record to the node that a replica lives on.
    pub fn begin(&self, replica: usize, value: i64, acks: i16) -> Pending {
        let node = self.order[replica];
        let client = usize::try_from(value).unwrap_or(0) % 16;
        let request = Request::Produce(Produce {
            partition: 0,
            value,
            acks,
            timeout_ms: 15_000,
            sequence: None,
        });
        let call = Call {
            request,
            timeout: SEND_TIMEOUT,
        };
        let mut connection = Connection::new(Arc::clone(&self.wiring), client, node);
        Pending {
            value,
            answer: tokio::spawn(async move { connection.call(&call).await }),
        }
    }

    /// Waits until a replica holds this many records.
    pub async fn await_leo(&self, replica: usize, leo: i64) -> anyhow::Result<()> {
        let what = format!("{} did not come to hold {leo} records", self.name(replica));
        until(&what, async || {
            let all = self.look().await;
            all.get(replica).filter(|seen| seen.leo == leo).map(drop)
        })
        .await
    }

    /// Lets a follower fetch up to an offset only; none lifts it.
    pub async fn hold(&self, replica: usize, fetch_until: Option<i64>) -> anyhow::Result<()> {
        let url = format!("http://{}/hold", self.admin_addrs[self.order[replica]]);
        let body =
            serde_json::json!({ "topic": TOPIC, "partition": 0, "fetch_until": fetch_until });
        let answer = self.http.post(url).json(&body).send().await?;
        answer
            .error_for_status()
            .with_context(|| format!("holding {}", self.name(replica)))?;
        Ok(())
    }

    /// kill -9.
    pub fn kill(&mut self, replica: usize) -> anyhow::Result<()> {
        let name = self.name(replica).to_owned();
        let target = self.targets.get_mut(&name).context("no such node")?;
        target.expect_down();
        target.signal(rustix::process::Signal::KILL.as_raw())?;
        if !target.reaped(Duration::from_secs(5))? {
            bail!("{name} could not be killed");
        }
        Ok(())
    }

    pub fn start(&mut self, replica: usize) -> anyhow::Result<()> {
        let name = self.name(replica).to_owned();
        let target = self.targets.get_mut(&name).context("no such node")?;
        target.restart().with_context(|| format!("starting {name}"))
    }

    async fn report(&self, node: usize) -> Option<NodeReport> {
        let url = format!("http://{}/replicas", self.admin_addrs[node]);
        self.http
            .get(url)
            .send()
            .await
            .ok()?
            .error_for_status()
            .ok()?
            .json()
            .await
            .ok()
    }

    async fn log(&self, node: usize) -> Option<LogReport> {
        let addr = self.admin_addrs[node];
        let url = format!("http://{addr}/replicas/{TOPIC}/0/records?from=0&max=1000");
        self.http
            .get(url)
            .send()
            .await
            .ok()?
            .error_for_status()
            .ok()?
            .json()
            .await
            .ok()
    }

    /// All three replicas as they are now.
    pub async fn look(&self) -> Vec<Replica> {
        let mut all = Vec::new();
        for (node, letter) in self.order.iter().zip('A'..) {
            let name = &self.names[*node];
            let seen = match (self.report(*node).await, self.log(*node).await) {
                (Some(report), Some(log)) => {
                    Replica::seen(letter, name, &report, &log, |id| self.letter_of(id))
                }
                _ => None,
            };
            all.push(seen.unwrap_or_else(|| Replica::down(letter, name)));
        }
        all
    }

    fn letter_of(&self, id: i32) -> char {
        let position = self
            .order
            .iter()
            .position(|node| self.ids.get(*node) == Some(&id));
        position.and_then(|p| "ABC".chars().nth(p)).unwrap_or('?')
    }
}
