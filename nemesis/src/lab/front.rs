//! The front: starts the lab, waits for it, passes signals on and hands back
//! its exit code. It must run before any thread is started.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::entry::Entry;
use super::init::{SignalFd, exit_code_of};
use super::steps::{LabError, Step};

pub(super) const STAGE_VARIABLE: &str = "PLIMSOLL_LAB_STAGE";
pub(super) const PIPE_VARIABLE: &str = "PLIMSOLL_LAB_PIPE";

/// Which of the lab's three processes this one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Not in a lab: what the user started.
    Front,
    /// Pid 1 of a lab: call [`super::run_init`] and nothing else.
    Init,
    /// Inside the lab's outer namespaces: do the work.
    Runner,
}

/// Tells from the environment which process this is.
pub fn stage() -> Stage {
    match std::env::var(STAGE_VARIABLE).as_deref() {
        Ok("init") => Stage::Init,
        Ok("runner") => Stage::Runner,
        _ => Stage::Front,
    }
}

/// What to start inside the lab. The executable is a parameter, since under
/// `cargo test` the current one is the test binary.
#[derive(Clone, Debug)]
pub struct Launch {
    pub exe: PathBuf,
    pub args: Vec<OsString>,
}

/// Starts the lab and waits until its runner has ended.
///
/// Gives the runner's exit code, or the step at which the lab could not be
/// made. Must be called from a process with one thread.
pub fn launch(launch: &Launch) -> Result<i32, LabError> {
    let (watch, hold) = pipe()?;
    let (status_read, status_write) = pipe()?;
    let signals = SignalFd::block(&[libc::SIGINT, libc::SIGTERM, libc::SIGCHLD])
        .map_err(|e| LabError::step(Step::Pipe, e))?;
    let entry = Entry::new(
        c_string(launch.exe.as_os_str().as_bytes())?,
        argv(launch)?,
        environment(watch.as_raw_fd())?,
        watch.as_fd(),
        status_write.as_fd(),
    );
    let pid = clone_into(&entry)?;
    drop(status_write);
    drop(watch);
    read_status(status_read)?;
    let code = wait(pid, &signals);
    drop(hold);
    code
}

fn clone_into(entry: &Entry) -> Result<libc::pid_t, LabError> {
    let flags = libc::c_long::from(entry.clone_flags() | libc::SIGCHLD);
    // SAFETY: a fork-like clone without a stack of its own from a process with
    // one thread; the child only makes system calls on data made before, then execs.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match pid {
        -1 => Err(LabError::step(Step::Clone, io::Error::last_os_error())),
        0 => entry.run(),
        pid => libc::pid_t::try_from(pid)
            .map_err(|_| LabError::Environment(format!("clone gave the pid {pid}"))),
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), LabError> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|e| LabError::step(Step::Pipe, e.into()))
}

/// End of file means that the child has become pid 1; five bytes say what failed.
fn read_status(fd: OwnedFd) -> Result<(), LabError> {
    let mut report = [0u8; 5];
    let got = loop {
        match rustix::io::read(&fd, &mut report) {
            Err(rustix::io::Errno::INTR) => continue,
            other => break other.map_err(|e| LabError::step(Step::Pipe, e.into()))?,
        }
    };
    if got < report.len() {
        return Ok(());
    }
    let step = Step::from_byte(report[0]).unwrap_or(Step::Exec);
    let errno = i32::from_ne_bytes([report[1], report[2], report[3], report[4]]);
    Err(LabError::step(step, io::Error::from_raw_os_error(errno)))
}

fn wait(pid: libc::pid_t, signals: &SignalFd) -> Result<i32, LabError> {
    loop {
        if let Some(code) = exit_code_of(pid).map_err(|e| LabError::step(Step::Exec, e))? {
            return Ok(code);
        }
        match signals.read().map_err(|e| LabError::step(Step::Exec, e))? {
            // A terminal's Ctrl-C reaches the runner by itself, being of the same group.
            Some((libc::SIGINT, true)) | None => {}
            Some((signal @ (libc::SIGINT | libc::SIGTERM), _)) => {
                // SAFETY: signals a child that has not been reaped.
                unsafe { libc::kill(pid, signal) };
            }
            Some(_) => {}
        }
    }
}

fn argv(launch: &Launch) -> Result<Vec<CString>, LabError> {
    std::iter::once(launch.exe.as_os_str())
        .chain(launch.args.iter().map(OsString::as_os_str))
        .map(|arg| c_string(arg.as_bytes()))
        .collect()
}

fn environment(watch: i32) -> Result<Vec<CString>, LabError> {
    let own = [STAGE_VARIABLE, PIPE_VARIABLE];
    let mut all: Vec<CString> = std::env::vars_os()
        .filter(|(name, _)| !own.iter().any(|o| name == o))
        .map(|(name, value)| {
            let mut line = name.into_vec();
            line.push(b'=');
            line.extend_from_slice(value.as_bytes());
            c_string(&line)
        })
        .collect::<Result<_, _>>()?;
    all.push(c_string(format!("{STAGE_VARIABLE}=init").as_bytes())?);
    all.push(c_string(format!("{PIPE_VARIABLE}={watch}").as_bytes())?);
    Ok(all)
}

fn c_string(bytes: &[u8]) -> Result<CString, LabError> {
    CString::new(bytes)
        .map_err(|_| LabError::Environment("an argument holds a zero byte".to_owned()))
}
