//! A container as a node: killed, paused and started by Docker; cut off in its
//! own network namespace.

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_nemesis::inject::Target;
use plimsoll_nemesis::lab::Place;

use super::docker::{self, Inspected, docker};
use crate::systems::NodeSpec;

const STATE_POLL_EVERY: Duration = Duration::from_millis(20);
const START_MAX: Duration = Duration::from_secs(60);

struct Inner {
    expected_down: bool,
    incarnation: u64,
}

/// One container; clones are the same container.
#[derive(Clone)]
pub struct Container {
    id: String,
    name: String,
    container: String,
    addr: Ipv4Addr,
    inner: Arc<Mutex<Inner>>,
}

impl Container {
    pub fn new(spec: &NodeSpec, inspected: &Inspected) -> Container {
        Container {
            id: inspected.id.clone(),
            name: spec.name.clone(),
            container: inspected.name.clone(),
            addr: spec.addr,
            inner: Arc::new(Mutex::new(Inner {
                expected_down: false,
                incarnation: 1,
            })),
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The node's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn incarnation(&self) -> u64 {
        self.lock().incarnation
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // The state is two plain fields: still sound if a holder panicked.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inspect(&self) -> io::Result<Inspected> {
        let found = docker::inspect(std::slice::from_ref(&self.id)).map_err(other)?;
        let gone = || io::Error::other(format!("container {} is gone", self.container));
        found.into_iter().next().ok_or_else(gone)
    }

    fn docker(&self, words: &[&str]) -> io::Result<()> {
        docker(words).map(drop).map_err(other)
    }

    /// A sentence, where the container ended though nobody meant it to.
    pub fn fallen(&self) -> Option<String> {
        if self.lock().expected_down {
            return None;
        }
        // A daemon that does not answer now is asked again soon.
        let inspected = self.inspect().ok()?;
        // It may have been killed on purpose meanwhile.
        (inspected.pid.is_none() && !self.lock().expected_down).then(|| {
            format!(
                "container {} of node {} ended by itself ({}); see docker logs {}",
                self.container, self.name, inspected.status, self.container
            )
        })
    }

    /// Lifts a pause and starts it, where a run ended in the midst of a fault.
    pub fn restore(&self) -> anyhow::Result<()> {
        let inspected = self.inspect()?;
        if inspected.paused {
            docker(&["unpause", &self.id])?;
        }
        if inspected.pid.is_none() {
            docker(&["start", &self.id])?;
        }
        Ok(())
    }
}

fn other(error: anyhow::Error) -> io::Error {
    io::Error::other(format!("{error:#}"))
}

impl Target for Container {
    fn pids(&self) -> Vec<i32> {
        let inspected = self.inspect().ok();
        inspected
            .and_then(|inspected| inspected.pid)
            .into_iter()
            .collect()
    }

    fn addr(&self) -> Ipv4Addr {
        self.addr
    }

    fn netns(&self) -> Option<Place> {
        let pid = self.inspect().ok()?.pid?;
        Place::of_process(&self.name, self.addr, pid).ok()
    }

    fn expect_down(&mut self) {
        self.lock().expected_down = true;
    }

    fn reaped(&mut self, within: Duration) -> io::Result<bool> {
        let until = Instant::now() + within;
        while self.inspect()?.pid.is_some() {
            if Instant::now() > until {
                return Ok(false);
            }
            std::thread::sleep(STATE_POLL_EVERY);
        }
        Ok(true)
    }

    fn restart(&mut self) -> io::Result<()> {
        self.docker(&["start", &self.id])?;
        let until = Instant::now() + START_MAX;
        let inspected = loop {
            let inspected = self.inspect()?;
            if inspected.pid.is_some() {
                break inspected;
            }
            if Instant::now() > until {
                return Err(io::Error::other(format!(
                    "container {} does not start",
                    self.container
                )));
            }
            std::thread::sleep(STATE_POLL_EVERY);
        };
        if inspected.addr != Some(self.addr) {
            return Err(io::Error::other(format!(
                "container {} had the address {} and came back with another; give it a fixed one (ipv4_address in the compose file)",
                self.container, self.addr
            )));
        }
        let mut inner = self.lock();
        inner.expected_down = false;
        inner.incarnation += 1;
        Ok(())
    }

    fn signal(&mut self, signal: i32) -> io::Result<()> {
        self.docker(&["kill", "--signal", &signal.to_string(), &self.id])
    }

    fn freeze(&mut self) -> io::Result<Option<String>> {
        self.docker(&["pause", &self.id])?;
        if self.inspect()?.paused {
            return Ok(Some(format!("Docker shows {} as paused", self.container)));
        }
        Err(io::Error::other(format!(
            "Docker does not show {} as paused",
            self.container
        )))
    }

    fn thaw(&mut self) -> io::Result<()> {
        let inspected = self.inspect()?;
        // It was killed while it was paused: there is nothing to let go on.
        if inspected.paused {
            self.docker(&["unpause", &self.id])?;
        }
        Ok(())
    }
}
