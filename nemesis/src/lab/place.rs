//! A place: one network namespace of the lab with an address of its own, for
//! a node or for clients. Processes are started in it, and sockets are made in
//! it for clients that live in the runner.

use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use super::steps::LabError;

/// One network namespace of the lab.
#[derive(Clone, Debug)]
pub struct Place {
    name: String,
    addr: Ipv4Addr,
    netns: Arc<File>,
}

impl Place {
    pub(super) fn open(name: &str, addr: Ipv4Addr) -> Result<Place, LabError> {
        let path = Path::new("/run/netns").join(name);
        let netns = File::open(path).map_err(LabError::Enter)?;
        Ok(Place {
            name: name.to_owned(),
            addr,
            netns: Arc::new(netns),
        })
    }

    /// The network namespace of a process that is none of the lab's.
    pub fn of_process(name: &str, addr: Ipv4Addr, pid: i32) -> Result<Place, LabError> {
        let path = format!("/proc/{pid}/ns/net");
        let netns = File::open(path).map_err(LabError::Enter)?;
        Ok(Place {
            name: name.to_owned(),
            addr,
            netns: Arc::new(netns),
        })
    }

    /// Whether both are one namespace.
    pub fn is_same(&self, other: &Place) -> bool {
        let of = |place: &Place| {
            rustix::fs::fstat(&*place.netns)
                .ok()
                .map(|stat| (stat.st_dev, stat.st_ino))
        };
        Arc::ptr_eq(&self.netns, &other.netns) || (of(self).is_some() && of(self) == of(other))
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn addr(&self) -> Ipv4Addr {
        self.addr
    }

    /// A command that will run in this place, for nodes and foreign clients.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        self.put(&mut command);
        command
    }

    /// Makes a command start in this place.
    pub fn put(&self, command: &mut Command) {
        let netns = Arc::clone(&self.netns);
        // SAFETY: setns is a single system call; the descriptor lives in the closure.
        unsafe {
            command.pre_exec(move || enter(netns.as_raw_fd()));
        }
    }

    /// A new non-blocking TCP socket that belongs to this place for good. It is
    /// made on a thread of its own, since entering a namespace is per thread.
    pub fn tcp_socket(&self) -> Result<OwnedFd, LabError> {
        self.within(|| {
            let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
            // SAFETY: socket touches no memory; the descriptor is new and ours.
            let fd = unsafe { libc::socket(libc::AF_INET, kind, 0) };
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: see above.
            Ok(unsafe { OwnedFd::from_raw_fd(fd) })
        })
    }

    /// Runs something short on a thread that has entered this place.
    pub fn within<T: Send>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> Result<T, LabError> {
        let fd = self.netns.as_raw_fd();
        std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                enter(fd)?;
                work()
            });
            thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the thread in a place died")))
        })
        .map_err(LabError::Enter)
    }
}

fn enter(netns: RawFd) -> io::Result<()> {
    // SAFETY: setns touches no memory of ours.
    if unsafe { libc::setns(netns, libc::CLONE_NEWNET) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
