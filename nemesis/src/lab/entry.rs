//! The way into the namespaces: what the child does between `clone` and
//! `exec`. It reports the step that failed as one byte and an errno, since it
//! may neither allocate much nor unwind.
//!
//! The caller must be single-threaded: `CLONE_NEWUSER` fails otherwise, and a
//! child of a threaded process may hold locks that nobody will ever release.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr;

use super::steps::Step;

const CAP_SYS_TIME: libc::c_ulong = 25;

/// What the child needs, made before the fork.
pub(super) struct Entry {
    pub exe: CString,
    pub argv: Vec<CString>,
    pub envp: Vec<CString>,
    pub own_user_namespace: bool,
    pub watch: RawFd,
    pub status: RawFd,
    uid_map: CString,
    gid_map: CString,
}

impl Entry {
    pub fn new(
        exe: CString,
        argv: Vec<CString>,
        envp: Vec<CString>,
        watch: BorrowedFd<'_>,
        status: BorrowedFd<'_>,
    ) -> Entry {
        let uid = rustix::process::getuid().as_raw();
        let gid = rustix::process::getgid().as_raw();
        Entry {
            exe,
            argv,
            envp,
            own_user_namespace: !rustix::process::geteuid().is_root(),
            watch: watch.as_raw_fd(),
            status: status.as_raw_fd(),
            uid_map: map_line(uid),
            gid_map: map_line(gid),
        }
    }

    /// The flags of the clone call.
    pub fn clone_flags(&self) -> libc::c_int {
        let base = libc::CLONE_NEWPID | libc::CLONE_NEWNET | libc::CLONE_NEWNS;
        if self.own_user_namespace {
            base | libc::CLONE_NEWUSER
        } else {
            base
        }
    }

    /// Takes every step and becomes the lab's pid 1; never returns.
    pub fn run(&self) -> ! {
        let (step, error) = match self.steps() {
            Ok(()) => (Step::Exec, self.exec()),
            Err(failed) => failed,
        };
        let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
        let mut report = [step as u8, 0, 0, 0, 0];
        report[1..].copy_from_slice(&errno.to_ne_bytes());
        // SAFETY: writes five bytes from a live buffer to a pipe of ours; _exit never returns.
        unsafe {
            libc::write(self.status, report.as_ptr().cast(), report.len());
            libc::_exit(3)
        }
    }

    fn steps(&self) -> Result<(), (Step, io::Error)> {
        if self.own_user_namespace {
            self.map_ids().map_err(|e| (Step::UidMap, e))?;
        }
        drop_sys_time().map_err(|e| (Step::BoundingSet, e))?;
        let private = libc::MS_REC | libc::MS_PRIVATE;
        mount(c"none", c"/", None, private).map_err(|e| (Step::MountPrivate, e))?;
        let quiet = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
        mount(c"proc", c"/proc", Some(c"proc"), quiet).map_err(|e| (Step::MountProc, e))?;
        mount(
            c"tmpfs",
            c"/run",
            Some(c"tmpfs"),
            libc::MS_NOSUID | libc::MS_NODEV,
        )
        .map_err(|e| (Step::MountRun, e))?;
        loopback_up().map_err(|e| (Step::Loopback, e))?;
        keep_across_exec(self.watch).map_err(|e| (Step::Exec, e))
    }

    fn map_ids(&self) -> io::Result<()> {
        write_file(c"/proc/self/setgroups", c"deny")?;
        write_file(c"/proc/self/uid_map", &self.uid_map)?;
        write_file(c"/proc/self/gid_map", &self.gid_map)
    }

    fn exec(&self) -> io::Error {
        let argv = pointers(&self.argv);
        let envp = pointers(&self.envp);
        // SAFETY: both arrays are null-terminated and their strings outlive the call.
        unsafe { libc::execve(self.exe.as_ptr(), argv.as_ptr(), envp.as_ptr()) };
        io::Error::last_os_error()
    }
}

fn map_line(id: u32) -> CString {
    CString::new(format!("0 {id} 1")).unwrap_or_default()
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings
        .iter()
        .map(|s| s.as_ptr())
        .chain([ptr::null()])
        .collect()
}

fn check(code: libc::c_int) -> io::Result<()> {
    if code < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn write_file(path: &std::ffi::CStr, text: &std::ffi::CStr) -> io::Result<()> {
    // SAFETY: opens, writes from a live buffer and closes a descriptor of its own.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        check(fd)?;
        let bytes = text.to_bytes();
        let written = libc::write(fd, bytes.as_ptr().cast(), bytes.len());
        let result = if written < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        };
        libc::close(fd);
        result
    }
}

fn mount(
    source: &std::ffi::CStr,
    target: &std::ffi::CStr,
    kind: Option<&std::ffi::CStr>,
    flags: libc::c_ulong,
) -> io::Result<()> {
    let kind = kind.map_or(ptr::null(), |k| k.as_ptr());
    // SAFETY: all pointers are null or null-terminated strings that outlive the call.
    check(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind, flags, ptr::null()) })
}

/// Nothing in the lab may set the host's clock, not even as root.
fn drop_sys_time() -> io::Result<()> {
    // SAFETY: prctl with these arguments touches no memory.
    check(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, CAP_SYS_TIME, 0, 0, 0) })
}

fn loopback_up() -> io::Result<()> {
    // SAFETY: an ifreq of zeros is valid; the ioctls read and write only it.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        check(socket)?;
        let mut request: libc::ifreq = std::mem::zeroed();
        for (slot, byte) in request.ifr_name.iter_mut().zip(*b"lo") {
            *slot = byte as libc::c_char;
        }
        let flags = libc::IFF_UP | libc::IFF_RUNNING;
        request.ifr_ifru.ifru_flags = flags as libc::c_short;
        let result = check(libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request));
        libc::close(socket);
        result
    }
}

fn keep_across_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: fcntl on an open descriptor touches no memory.
    check(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) })
}
