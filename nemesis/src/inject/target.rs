//! What a nemesis knows of a node. The harness implements it for each system
//! that it can run.

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use crate::lab::Place;

/// A node that faults can be aimed at.
pub trait Target: Send {
    /// The processes that run now; none when the node is down.
    fn pids(&self) -> Vec<i32>;
    fn addr(&self) -> Ipv4Addr;
    /// The node's place, where it has a namespace of its own and lives now.
    fn netns(&self) -> Option<Place>;
    /// The node's end is about to be brought about: it is no failure of its own.
    fn expect_down(&mut self);
    /// Waits until the processes have ended and are reaped; false when they live on.
    fn reaped(&mut self, within: Duration) -> io::Result<bool>;
    fn restart(&mut self) -> io::Result<()>;
    /// Sends a signal to all that runs.
    fn signal(&mut self, signal: i32) -> io::Result<()> {
        let send = |pid| match super::pause::signal(pid, signal) {
            // It ended meanwhile.
            Err(e) if e.raw_os_error() == Some(libc::ESRCH) => Ok(()),
            other => other,
        };
        self.pids().into_iter().try_for_each(send)
    }
    /// Pauses the node by other means than signals, and says how that was proved; none where
    /// signals are the means.
    fn freeze(&mut self) -> io::Result<Option<String>> {
        Ok(None)
    }
    /// Lets a node that was frozen go on.
    fn thaw(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// The signal that asks the node to end cleanly.
    fn stop_signal(&self) -> i32 {
        libc::SIGTERM
    }
}

/// Targets by the node's name.
pub type Targets = BTreeMap<String, Box<dyn Target>>;
