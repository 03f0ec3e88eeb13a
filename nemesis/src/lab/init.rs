//! Pid 1 of the lab: starts the runner, reaps what is orphaned, passes signals
//! on, and ends when the runner ends or when the front's pipe closes. Its end
//! is what makes the kernel kill everything else in the lab.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, poll};

use super::front::{PIPE_VARIABLE, STAGE_VARIABLE};
use super::steps::LabError;

/// The exit code of a lab whose front has gone: nobody reads it.
const CODE_FRONT_GONE: i32 = 3;

/// Runs the life of pid 1 and gives the exit code to end with.
pub fn run_init() -> Result<i32, LabError> {
    let broken = |e: io::Error| LabError::Environment(format!("pid 1 of the lab: {e}"));
    let watch = watch_pipe()?;
    let signals = SignalFd::block(&[libc::SIGCHLD, libc::SIGINT, libc::SIGTERM]).map_err(broken)?;
    let exe = std::env::current_exe().map_err(broken)?;
    let mut runner = Command::new(exe);
    runner
        .args(std::env::args_os().skip(1))
        .env(STAGE_VARIABLE, "runner")
        .env_remove(PIPE_VARIABLE);
    hear_signals_again(&mut runner);
    let runner = runner.spawn().map_err(broken)?;
    let runner = libc::pid_t::try_from(runner.id())
        .map_err(|_| LabError::Environment("the runner's pid is out of range".to_owned()))?;
    watch_over(runner, &watch, &signals).map_err(broken)
}

/// What is blocked here would stay blocked in the runner and in all nodes,
/// which would then never hear a SIGTERM.
fn hear_signals_again(command: &mut Command) {
    // SAFETY: both calls are async-signal-safe and touch only the set given.
    unsafe {
        command.pre_exec(|| {
            let mut none = MaybeUninit::<libc::sigset_t>::uninit();
            libc::sigemptyset(none.as_mut_ptr());
            if libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut()) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        });
    }
}

fn watch_pipe() -> Result<OwnedFd, LabError> {
    let number = std::env::var(PIPE_VARIABLE)
        .ok()
        .and_then(|text| text.parse::<i32>().ok())
        .ok_or_else(|| LabError::Environment(format!("{PIPE_VARIABLE} is not set")))?;
    // SAFETY: the front passed this descriptor for us to own; nothing else uses it.
    let fd = unsafe { OwnedFd::from_raw_fd(number) };
    rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::CLOEXEC)
        .map_err(|e| LabError::Environment(format!("{PIPE_VARIABLE}={number}: {e}")))?;
    Ok(fd)
}

fn watch_over(runner: libc::pid_t, watch: &OwnedFd, signals: &SignalFd) -> io::Result<i32> {
    loop {
        if let Some(code) = reap(runner)? {
            return Ok(code);
        }
        let mut fds = [
            PollFd::new(watch, PollFlags::IN),
            PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        if !fds[0].revents().is_empty() {
            return Ok(CODE_FRONT_GONE);
        }
        if fds[1].revents().is_empty() {
            continue;
        }
        if let Some((signal @ (libc::SIGINT | libc::SIGTERM), false)) = signals.read()? {
            // SAFETY: signals a child that has not been reaped.
            unsafe { libc::kill(runner, signal) };
        }
    }
}

/// Reaps everything that has ended; gives the runner's code when it is among them.
fn reap(runner: libc::pid_t) -> io::Result<Option<i32>> {
    loop {
        let mut status = 0;
        // SAFETY: waitpid writes only to the status given.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        match pid {
            0 => return Ok(None),
            -1 => return Err(io::Error::last_os_error()),
            pid if pid == runner => return Ok(Some(code_from(status))),
            _ => {}
        }
    }
}

/// The exit code of one child, when it has ended.
pub(super) fn exit_code_of(pid: libc::pid_t) -> io::Result<Option<i32>> {
    let mut status = 0;
    // SAFETY: waitpid writes only to the status given.
    match unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(Some(code_from(status))),
    }
}

/// A runner that was killed is a test bed that failed; it could not say so itself.
fn code_from(status: libc::c_int) -> i32 {
    if libc::WIFEXITED(status) {
        return libc::WEXITSTATUS(status);
    }
    eprintln!(
        "plimsoll: the test bed failed: the run was killed by signal {}. Where it had begun, what \
         was recorded until then is in its folder; `plimsoll check FOLDER` judges that.",
        libc::WTERMSIG(status)
    );
    CODE_FRONT_GONE
}

/// Signals read as data instead of by handlers. They stay blocked in this
/// process and in its children, but for the runner (see above).
pub(super) struct SignalFd(OwnedFd);

impl SignalFd {
    pub fn block(signals: &[libc::c_int]) -> io::Result<SignalFd> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: the set is initialised before it is read; the descriptor is new and ours.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in signals {
                libc::sigaddset(set.as_mut_ptr(), *signal);
            }
            libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
            let fd = libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(SignalFd(OwnedFd::from_raw_fd(fd)))
        }
    }

    /// Waits for one signal; tells its number and whether the kernel sent it.
    pub fn read(&self) -> io::Result<Option<(libc::c_int, bool)>> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::uninit();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: reads at most one record into a buffer of its size.
        let got = unsafe { libc::read(self.0.as_raw_fd(), info.as_mut_ptr().cast(), size) };
        if got < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted {
                Ok(None)
            } else {
                Err(error)
            };
        }
        if usize::try_from(got) != Ok(size) {
            return Ok(None);
        }
        // SAFETY: the kernel filled the whole record.
        let info = unsafe { info.assume_init() };
        let by_kernel = info.ssi_code == libc::SI_KERNEL;
        Ok(libc::c_int::try_from(info.ssi_signo)
            .ok()
            .map(|signal| (signal, by_kernel)))
    }
}

impl AsFd for SignalFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
