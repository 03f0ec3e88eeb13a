//! A node as a process: started, watched, killed and started again. A node
//! that ends without the nemesis having a hand in it is a failure of the test
//! bed, reported with the tail of its log.

use std::fs::{self, OpenOptions};
use std::io;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_nemesis::inject::{Target, family};
use plimsoll_nemesis::lab::{Lab, Place};

use super::last_words::last_words;
use super::{NodeSpec, System};

const REAP_POLL_EVERY: Duration = Duration::from_millis(1);

struct Inner {
    child: Option<Child>,
    /// The process that was started last, until its whole family has ended: it leads a group of its own.
    leader: Option<i32>,
    expected_down: bool,
    incarnation: u64,
}

impl Inner {
    /// All its living processes: what was started, and what that started in turn.
    fn family(&self) -> Vec<i32> {
        self.leader.map(family).unwrap_or_default()
    }

    /// Once all is over, the number may become somebody else's.
    fn forget(&mut self) {
        self.child = None;
        self.leader = None;
    }

    fn kill_family(&self) {
        let pids = self.family().into_iter();
        for pid in pids.filter_map(rustix::process::Pid::from_raw) {
            // One that has ended already is what is wanted.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// One node; clones are the same node.
#[derive(Clone)]
pub struct Node {
    spec: NodeSpec,
    place: Option<Place>,
    log: PathBuf,
    system: Arc<dyn System>,
    inner: Arc<Mutex<Inner>>,
}

impl Node {
    /// A node with its folder; nothing is started yet.
    pub(super) fn new(
        system: &Arc<dyn System>,
        spec: &NodeSpec,
        lab: Option<&Lab>,
        folder: &Path,
    ) -> anyhow::Result<Node> {
        let own = folder.join(&spec.name);
        fs::create_dir_all(&own)?;
        let place = lab.map(|lab| lab.place(&spec.name).cloned()).transpose()?;
        Ok(Node {
            spec: spec.clone(),
            place,
            log: own.join("broker.log"),
            system: Arc::clone(system),
            inner: Arc::new(Mutex::new(Inner {
                child: None,
                leader: None,
                expected_down: false,
                incarnation: 0,
            })),
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.spec.name
    }

    pub(super) fn prepare(&self) -> anyhow::Result<()> {
        self.system.prepare(&self.spec)
    }

    /// How often it was started.
    pub(super) fn incarnation(&self) -> u64 {
        self.lock().incarnation
    }

    /// A sentence with its last words, where it ended by itself.
    pub(super) fn fallen(&self) -> Option<String> {
        let status = self.ended_by_itself().ok().flatten()?;
        Some(format!(
            "node {} ended by itself ({status}); {}",
            self.spec.name,
            self.log_tails()
        ))
    }

    /// Ends it and reaps it.
    pub(super) fn end(&self) {
        let mut inner = self.lock();
        inner.expected_down = true;
        inner.kill_family();
        if let Some(child) = &mut inner.child {
            let _ = child.wait();
        }
        // What it was just starting when it was killed.
        inner.kill_family();
        inner.forget();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // The state is a few plain fields: still sound if a holder panicked.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn start(&self) -> io::Result<()> {
        let system = &self.system;
        let mut command = system
            .command(&self.spec)
            .map_err(|e| io::Error::other(format!("{e:#}")))?;
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.log)?;
        // A group of its own: a terminal's Ctrl-C is for the harness only.
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0);
        match &self.place {
            Some(place) => place.put(&mut command),
            None => die_with_parent(&mut command),
        }
        let program = command.get_program().to_string_lossy().into_owned();
        let starting = |e: io::Error| io::Error::new(e.kind(), format!("{program}: {e}"));
        let child = command.spawn().map_err(starting)?;
        let mut inner = self.lock();
        inner.leader = i32::try_from(child.id()).ok();
        inner.child = Some(child);
        inner.expected_down = false;
        inner.incarnation += 1;
        Ok(())
    }

    /// The exit status, when the node ended though nobody meant it to.
    fn ended_by_itself(&self) -> io::Result<Option<ExitStatus>> {
        let mut inner = self.lock();
        if inner.expected_down {
            return Ok(None);
        }
        match &mut inner.child {
            Some(child) => child.try_wait(),
            None => Ok(None),
        }
    }

    /// The last lines of what it printed, and of its own log files.
    fn log_tails(&self) -> String {
        let own = self.system.logs(&self.spec);
        let tails = std::iter::once(&self.log)
            .chain(&own)
            .map(|log| format!("the end of {}:\n{}", log.display(), last_words(log)));
        tails.collect::<Vec<_>>().join("\n")
    }
}

/// Ends what is started when the thread that started it ends, and so when the
/// harness is killed. For threads only that live as long as what they start.
pub fn die_with_parent(command: &mut std::process::Command) {
    let harness = std::process::id();
    // SAFETY: prctl and getppid are single system calls that touch no memory.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0 {
                return Err(io::Error::last_os_error());
            }
            // Where the harness died between fork and prctl, the signal never comes.
            if u32::try_from(libc::getppid()) != Ok(harness) {
                return Err(io::Error::other("the harness is gone"));
            }
            Ok(())
        });
    }
}

impl Target for Node {
    fn pids(&self) -> Vec<i32> {
        self.lock().family()
    }

    fn addr(&self) -> Ipv4Addr {
        self.spec.addr
    }

    fn netns(&self) -> Option<Place> {
        self.place.clone()
    }

    fn expect_down(&mut self) {
        self.lock().expected_down = true;
    }

    fn reaped(&mut self, within: Duration) -> io::Result<bool> {
        let until = Instant::now() + within;
        loop {
            let mut inner = self.lock();
            if let Some(child) = &mut inner.child
                && child.try_wait()?.is_some()
            {
                inner.child = None;
            }
            // What it had started may live on for a moment.
            if inner.child.is_none() && inner.family().is_empty() {
                inner.forget();
                return Ok(true);
            }
            drop(inner);
            if Instant::now() > until {
                return Ok(false);
            }
            std::thread::sleep(REAP_POLL_EVERY);
        }
    }

    fn restart(&mut self) -> io::Result<()> {
        self.start()
    }

    fn stop_signal(&self) -> i32 {
        self.system.stop_signal()
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_nemesis::faults::{Aim, AimAt, ClusterView, Fault, Pause};
    use plimsoll_nemesis::inject::{Injection, Nemesis, PauseNemesis};
    use plimsoll_nemesis::schedule::Planned;

    use super::*;
    use crate::systems::{Layout, NodeSet};

    struct Echo;

    impl System for Echo {
        fn describe(&self) -> String {
            "echo".to_owned()
        }
        fn prepare(&self, _node: &NodeSpec) -> anyhow::Result<()> {
            Ok(())
        }
        fn command(&self, _node: &NodeSpec) -> anyhow::Result<std::process::Command> {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", "echo last words; exit 7"]);
            Ok(command)
        }
        fn partition_folder(&self, _: &NodeSpec, _: &str, _: i32) -> Option<PathBuf> {
            None
        }
    }

    struct Behind;

    impl System for Behind {
        fn describe(&self) -> String {
            "a broker behind a script".to_owned()
        }
        fn prepare(&self, _node: &NodeSpec) -> anyhow::Result<()> {
            Ok(())
        }
        fn command(&self, _node: &NodeSpec) -> anyhow::Result<std::process::Command> {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", "sleep 600; exit $?"]);
            Ok(command)
        }
        fn partition_folder(&self, _: &NodeSpec, _: &str, _: i32) -> Option<PathBuf> {
            None
        }
    }

    #[test]
    fn faults_reach_the_broker_behind_a_script_and_its_end_ends_it_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let system: Arc<dyn System> = Arc::new(Behind);
        let layout = Layout::new(1, 0);
        let nodes = NodeSet::new(&system, &layout, None, folder.path()).expect("folders");
        nodes.start_all().expect("sh starts");
        let mut targets = nodes.targets();
        let node = targets.get_mut("n1").expect("a node");
        let deadline = Instant::now() + Duration::from_secs(20);
        while node.pids().len() < 2 {
            assert!(Instant::now() < deadline, "the script starts nothing");
            std::thread::sleep(Duration::from_millis(2));
        }
        let all = node.pids();
        let states = || -> Vec<char> {
            let state = |pid: &i32| {
                let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
                stat.rsplit(')')
                    .next()
                    .and_then(|rest| rest.trim().chars().next())
            };
            all.iter().filter_map(state).collect()
        };
        let mut nemesis = PauseNemesis::default();
        let aim = Aim::new(AimAt::Node("n1".to_owned()), 0);
        let planned = Planned {
            id: 1,
            at_ms: 0,
            lasts_ms: 0,
            fault: Fault::Pause(Pause { aim }),
        };
        let view = ClusterView {
            nodes: vec!["n1".to_owned()],
            brokers: vec!["n1".to_owned()],
            ..ClusterView::default()
        };
        let injected = nemesis.inject(&planned, &view, &mut targets).expect("held");
        assert!(matches!(injected, Injection::Installed(_)), "{injected:?}");
        assert!(states().iter().all(|state| *state == 'T'), "{:?}", states());
        nemesis.heal(1, &mut targets).expect("healed");
        assert!(!states().contains(&'T'), "{:?}", states());
        let node = targets.get_mut("n1").expect("a node");
        node.expect_down();
        node.signal(libc::SIGKILL).expect("a signal");
        assert!(node.reaped(Duration::from_secs(20)).expect("reaped"));
        let lives = |pid: &i32| Path::new(&format!("/proc/{pid}")).exists();
        // The script's child is reaped by whoever adopts it.
        while all.iter().any(lives) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(node.pids().is_empty());
        node.restart().expect("sh starts again");
        nodes.end_all();
        assert!(node.pids().is_empty());
    }

    #[test]
    fn a_node_that_ends_by_itself_is_reported_with_its_last_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let system: Arc<dyn System> = Arc::new(Echo);
        let layout = Layout::new(1, 0);
        let nodes = NodeSet::new(&system, &layout, None, folder.path()).expect("folders");
        nodes.start_all().expect("sh starts");
        let deadline = Instant::now() + Duration::from_secs(20);
        let report = loop {
            if let Some(report) = nodes.fallen() {
                break report;
            }
            assert!(Instant::now() < deadline, "the node's end is not noticed");
            std::thread::sleep(Duration::from_millis(2));
        };
        assert!(
            report.contains("n1") && report.contains("last words"),
            "{report}"
        );
        assert!(folder.path().join("n1/broker.log").exists());
    }
}
