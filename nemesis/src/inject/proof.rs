//! The proof that a cut holds: from the place that is cut off, a connection to
//! every cut port is tried; the kernel must count it as dropped, and it must
//! neither succeed nor be refused.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::mem::MaybeUninit;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use super::InjectError;
use super::links::{Link, Links};
use super::table::CutMeans;
use crate::lab::Place;

const PROOF_MAX: Duration = Duration::from_secs(3);
const READ_BACK_EVERY: Duration = Duration::from_millis(5);

/// Tries every cut link, while the kernel must hold all that is `wanted`; gives the number tried, or
/// why one does not hold.
pub(super) fn prove(
    means: &dyn CutMeans,
    places: &BTreeMap<Ipv4Addr, Place>,
    links: &BTreeSet<Link>,
    wanted: &Links,
) -> Result<Result<usize, String>, InjectError> {
    let probes = start_probes(places, links)?;
    let deadline = Instant::now() + PROOF_MAX;
    loop {
        let counted = means.read_back()?;
        if !counted.holds_just(wanted) {
            return Ok(Err(
                "the kernel's set does not hold the cuts that were asked for".to_owned(),
            ));
        }
        if let Some((link, _)) = probes.iter().find(|(_, probe)| answered(probe)) {
            let why = format!("{} still reaches {}:{}", link.from, link.to, link.port);
            return Ok(Err(why));
        }
        let dropped = |link: &Link| {
            counted
                .requests
                .get(link)
                .is_some_and(|packets| *packets > 0)
        };
        match probes.iter().find(|(link, _)| !dropped(link)) {
            None => return Ok(Ok(probes.len())),
            Some((link, _)) if Instant::now() >= deadline => {
                let why = format!(
                    "no packet from {} to {}:{} was seen to be dropped",
                    link.from, link.to, link.port
                );
                return Ok(Err(why));
            }
            Some(_) => std::thread::sleep(READ_BACK_EVERY),
        }
    }
}

type Probes = Vec<(Link, OwnedFd)>;

/// One thread a place starts all of its connections at once.
fn start_probes(
    places: &BTreeMap<Ipv4Addr, Place>,
    links: &BTreeSet<Link>,
) -> Result<Probes, InjectError> {
    let mut probes = Probes::new();
    for (addr, place) in places {
        let own: Vec<Link> = links
            .iter()
            .filter(|link| link.from == *addr)
            .copied()
            .collect();
        if own.is_empty() {
            continue;
        }
        probes.extend(place.within(move || {
            own.into_iter()
                .map(|link| Ok((link, start_connect(link)?)))
                .collect::<io::Result<Probes>>()
        })?);
    }
    Ok(probes)
}

fn start_connect(link: Link) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: the descriptor is new and ours; connect reads only the address given.
    unsafe {
        let fd = libc::socket(libc::AF_INET, kind, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let fd = OwnedFd::from_raw_fd(fd);
        let address = socket_address(link);
        let size = libc::socklen_t::try_from(size_of::<libc::sockaddr_in>()).unwrap_or(0);
        let code = libc::connect(fd.as_raw_fd(), (&raw const address).cast(), size);
        let error = io::Error::last_os_error();
        if code < 0 && error.raw_os_error() != Some(libc::EINPROGRESS) {
            return Err(error);
        }
        Ok(fd)
    }
}

fn socket_address(link: Link) -> libc::sockaddr_in {
    // SAFETY: a sockaddr_in of zeros is valid.
    let mut address: libc::sockaddr_in = unsafe { MaybeUninit::zeroed().assume_init() };
    address.sin_family = libc::sa_family_t::try_from(libc::AF_INET).unwrap_or(2);
    address.sin_port = link.port.to_be();
    address.sin_addr.s_addr = u32::from(link.to).to_be();
    address
}

/// A connection that was made or refused got through; one in progress did not.
fn answered(probe: &OwnedFd) -> bool {
    let events = rustix::event::PollFlags::OUT;
    let mut fds = [rustix::event::PollFd::new(probe, events)];
    let now = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    matches!(rustix::event::poll(&mut fds, Some(&now)), Ok(ready) if ready > 0)
}
