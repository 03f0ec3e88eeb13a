//! Waiting for a child within its limits. The child is reaped here and nowhere
//! else, since its use of memory is told only once, at that moment.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use super::Bounds;

const POLL_EVERY: Duration = Duration::from_millis(20);

/// Why a child is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Ended(ExitStatus),
    OverTime(Duration),
    Abandoned,
}

/// Waits for the child, or kills it; gives the largest resident set in KiB.
pub(super) fn watch(child: &Child, bounds: &Bounds<'_>) -> io::Result<(End, u64)> {
    let pid = libc::pid_t::try_from(child.id())
        .map_err(|_| io::Error::other("the child's pid is out of range"))?;
    let start = Instant::now();
    loop {
        if let Some((status, max_rss_kib)) = reap(pid, libc::WNOHANG)? {
            return Ok((End::Ended(status), max_rss_kib));
        }
        let over = bounds.limit.filter(|limit| start.elapsed() > *limit);
        let end = match over {
            Some(limit) => End::OverTime(limit),
            None if (bounds.abandon)() => End::Abandoned,
            None => {
                std::thread::sleep(POLL_EVERY);
                continue;
            }
        };
        // SAFETY: signals a child that has not been reaped. A lab ends with its front.
        unsafe { libc::kill(pid, libc::SIGKILL) };
        let max_rss_kib = reap(pid, 0)?.map_or(0, |(_, kib)| kib);
        return Ok((end, max_rss_kib));
    }
}

fn reap(pid: libc::pid_t, flags: libc::c_int) -> io::Result<Option<(ExitStatus, u64)>> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: writes to the two places given, whose types are the call's own.
        let got = unsafe { libc::wait4(pid, &raw mut status, flags, usage.as_mut_ptr()) };
        match got {
            0 => return Ok(None),
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            _ => break,
        }
    }
    // SAFETY: every bit pattern is a sound rusage, and it began as zeros.
    let usage = unsafe { usage.assume_init() };
    let max_rss_kib = u64::try_from(usage.ru_maxrss).unwrap_or(0);
    Ok(Some((ExitStatus::from_raw(status), max_rss_kib)))
}
