//! All nodes of a run, processes or containers; they end with it.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_nemesis::inject::{Target, Targets};
use plimsoll_nemesis::lab::Lab;

use super::compose::Container;
use super::process::Node;
use super::{Layout, System};

const CONTAINERS_WATCHED_EVERY: Duration = Duration::from_secs(1);

/// All nodes of a run.
pub struct NodeSet {
    members: Members,
}

#[derive(Clone)]
enum Members {
    Processes(Vec<Node>),
    Containers {
        containers: Vec<Container>,
        /// Of the first that ended by itself; Docker is asked beside the run, not within it.
        fallen: Arc<Mutex<Option<String>>>,
    },
}

impl NodeSet {
    /// Processes, each with a folder; nothing is started yet.
    pub fn new(
        system: &Arc<dyn System>,
        layout: &Layout,
        lab: Option<&Lab>,
        folder: &Path,
    ) -> anyhow::Result<NodeSet> {
        let nodes = layout.nodes.iter();
        let nodes = nodes.map(|spec| Node::new(system, spec, lab, folder));
        Ok(NodeSet {
            members: Members::Processes(nodes.collect::<anyhow::Result<_>>()?),
        })
    }

    /// Containers, which run already.
    pub fn of_containers(containers: Vec<Container>) -> NodeSet {
        let fallen = Arc::new(Mutex::new(None));
        watch(containers.clone(), &fallen);
        NodeSet {
            members: Members::Containers { containers, fallen },
        }
    }

    /// No nodes at all, for a server that is none of ours.
    pub fn empty() -> NodeSet {
        NodeSet {
            members: Members::Processes(Vec::new()),
        }
    }

    /// Prepares all nodes, side by side, and starts them.
    pub fn start_all(&self) -> anyhow::Result<()> {
        let Members::Processes(nodes) = &self.members else {
            return Ok(());
        };
        std::thread::scope(|scope| {
            let each: Vec<_> = nodes
                .iter()
                .map(|node| scope.spawn(|| node.prepare()))
                .collect();
            let done = each.into_iter().map(|thread| {
                let panicked = || Err(anyhow::anyhow!("preparing a node panicked"));
                thread.join().unwrap_or_else(|_| panicked())
            });
            done.collect::<anyhow::Result<Vec<()>>>()
        })?;
        Ok(nodes.iter().try_for_each(Node::start)?)
    }

    /// The nodes as what faults are aimed at.
    pub fn targets(&self) -> Targets {
        match &self.members {
            Members::Processes(nodes) => boxed(nodes, Node::name),
            Members::Containers { containers, .. } => boxed(containers, Container::name),
        }
    }

    /// How often each node was started.
    pub fn incarnations(&self) -> Vec<(String, u64)> {
        match &self.members {
            Members::Processes(nodes) => nodes
                .iter()
                .map(|n| (n.name().to_owned(), n.incarnation()))
                .collect(),
            Members::Containers { containers, .. } => containers
                .iter()
                .map(|c| (c.name().to_owned(), c.incarnation()))
                .collect(),
        }
    }

    /// A sentence about the first node that ended by itself, with its last words.
    pub fn fallen(&self) -> Option<String> {
        match &self.members {
            Members::Processes(nodes) => nodes.iter().find_map(Node::fallen),
            Members::Containers { fallen, .. } => fallen
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        }
    }

    pub fn handle(&self) -> NodeSet {
        NodeSet {
            members: self.members.clone(),
        }
    }

    /// Ends all processes and reaps them; containers are their cluster's matter.
    pub fn end_all(&self) {
        if let Members::Processes(nodes) = &self.members {
            nodes.iter().for_each(Node::end);
        }
    }
}

fn boxed<N: Target + Clone + 'static>(nodes: &[N], name: impl Fn(&N) -> &str) -> Targets {
    let target = |node: &N| -> Box<dyn Target> { Box::new(node.clone()) };
    nodes
        .iter()
        .map(|node| (name(node).to_owned(), target(node)))
        .collect()
}

/// Looks after containers for as long as anyone wants to know.
fn watch(containers: Vec<Container>, fallen: &Arc<Mutex<Option<String>>>) {
    let told = Arc::downgrade(fallen);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(CONTAINERS_WATCHED_EVERY);
            let found = containers.iter().find_map(Container::fallen);
            let Some(told) = told.upgrade() else { return };
            if found.is_some() {
                *told.lock().unwrap_or_else(PoisonError::into_inner) = found;
                return;
            }
        }
    });
}
