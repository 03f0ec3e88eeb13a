//! The lab on this machine, as the user who runs the tests and, for root, as
//! an unprivileged user too. This program is its own front, pid 1 and runner,
//! so it has a `main` of its own instead of the test harness, which is threaded.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use plimsoll_nemesis::faults::{
    Aim, AimAt, ClusterView, Fault, GrudgeShape, Kill, KillHow, Partition, Pause, Plane, PlanePorts,
};
use plimsoll_nemesis::inject::{
    Composed, CutMeans, CutNemesis, CutTable, Injection, KillNemesis, Nemesis, PauseNemesis,
    RuleTable, Target, Targets,
};
use plimsoll_nemesis::lab::{self, Lab, LabPlan, Launch, Place, Stage};
use plimsoll_nemesis::schedule::Planned;

const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    match lab::stage() {
        Stage::Init => ExitCode::from(u8::try_from(lab::run_init().expect("pid 1")).unwrap_or(3)),
        Stage::Runner => {
            run_inside(&std::env::args().nth(1).unwrap_or_default());
            ExitCode::SUCCESS
        }
        Stage::Front => match std::env::args().nth(1).as_deref() {
            Some("--front") => front(&std::env::args().nth(2).unwrap_or_default()),
            _ => all_tests(),
        },
    }
}

/// The front's part of one test: launch a lab whose runner does the work.
fn front(name: &str) -> ExitCode {
    let exe = std::env::current_exe().expect("own path");
    match lab::launch(&Launch {
        exe,
        args: vec![name.into()],
    }) {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(3)),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

const INSIDE: [&str; 8] = [
    "a_process_of_the_lab_hears_sigterm",
    "nodes_reach_each_other_at_addresses_of_their_own",
    "a_one_way_cut_stops_open_connections_and_new_ones_until_it_heals",
    "a_cut_of_one_plane_leaves_the_other_ports_open",
    "a_one_way_cut_by_iptables_stops_open_connections_and_new_ones_until_it_heals",
    "a_cut_of_one_plane_by_iptables_leaves_the_other_ports_open",
    "a_paused_process_stands_still_and_a_killed_one_comes_back",
    "the_hosts_clock_cannot_be_set",
];

fn all_tests() -> ExitCode {
    let filter = std::env::args()
        .skip(1)
        .find(|arg| !arg.starts_with('-'))
        .unwrap_or_default();
    if std::env::args().any(|arg| arg == "--list") {
        INSIDE.iter().for_each(|name| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let own = std::env::current_exe().expect("own path");
    let wanted = |name: &&&str| name.contains(&filter);
    for name in INSIDE.iter().filter(wanted) {
        run(&mut front_of(&own, name), name, "this user");
    }
    nothing_is_left_after_the_front_is_killed(&own, None);
    if rustix::process::geteuid().is_root() {
        let folder = tempfile::tempdir().expect("a folder");
        let copy = world_readable_copy(&own, folder.path());
        for name in INSIDE.iter().filter(wanted) {
            run(&mut unprivileged(&copy, name), name, "uid 65534");
        }
        nothing_is_left_after_the_front_is_killed(&copy, Some(65534));
    }
    ExitCode::SUCCESS
}

fn run(command: &mut Command, name: &str, who: &str) {
    let status = command.status().expect("the test program runs");
    assert!(status.success(), "{name} as {who}: {status}");
    println!("test {name} as {who} ... ok");
}

fn front_of(exe: &Path, name: &str) -> Command {
    let mut command = Command::new(exe);
    command.args(["--front", name]);
    command
}

fn unprivileged(exe: &Path, name: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args([
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
        "--",
    ]);
    command.arg(exe).args(["--front", name]).current_dir("/");
    command
}

/// Root's home is closed to others, so an unprivileged user needs a copy.
fn world_readable_copy(exe: &Path, folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder, open.clone()).expect("open the folder");
    let copy = folder.join("lab-test");
    std::fs::copy(exe, &copy).expect("copy the program");
    std::fs::set_permissions(&copy, open).expect("open the copy");
    copy
}

fn run_inside(name: &str) {
    match name {
        "nodes_reach_each_other_at_addresses_of_their_own" => nodes_reach_each_other(),
        "a_one_way_cut_stops_open_connections_and_new_ones_until_it_heals" => one_way_cut(nft),
        "a_cut_of_one_plane_leaves_the_other_ports_open" => cut_of_one_plane(nft),
        "a_one_way_cut_by_iptables_stops_open_connections_and_new_ones_until_it_heals" => {
            one_way_cut(rules);
        }
        "a_cut_of_one_plane_by_iptables_leaves_the_other_ports_open" => {
            cut_of_one_plane(rules);
        }
        "a_paused_process_stands_still_and_a_killed_one_comes_back" => pause_and_kill(),
        "the_hosts_clock_cannot_be_set" => clock_cannot_be_set(),
        "a_process_of_the_lab_hears_sigterm" => sigterm_is_heard(),
        "hang" => hang(),
        other => panic!("no test {other}"),
    }
}

fn build() -> Lab {
    let nodes = vec!["n1".to_owned(), "n2".to_owned(), "n3".to_owned()];
    Lab::build(&LabPlan::with_client_places(nodes)).expect("the lab stands")
}

fn listen(place: &Place, port: u16) -> TcpListener {
    let addr = SocketAddr::from((place.addr(), port));
    place
        .within(move || TcpListener::bind(addr))
        .expect("a listener")
}

fn connect(place: &Place, to: Ipv4Addr, port: u16, within: Duration) -> std::io::Result<TcpStream> {
    let result = place.within(move || Ok(TcpStream::connect_timeout(&(to, port).into(), within)));
    result.expect("the place can be entered")
}

fn nodes_reach_each_other() {
    let lab = build();
    let (n1, n2) = (lab.place("n1").expect("n1"), lab.place("n2").expect("n2"));
    let listener = listen(n2, 9092);
    let stream = connect(n1, n2.addr(), 9092, PATIENCE).expect("n1 reaches n2");
    let (_, peer) = listener.accept().expect("a connection");
    assert_eq!(peer.ip(), n1.addr());
    drop(stream);
    let shown = n1
        .command("ip")
        .args(["-o", "addr"])
        .output()
        .expect("a foreign command in n1");
    assert!(String::from_utf8_lossy(&shown.stdout).contains(&n1.addr().to_string()));
}

fn ports() -> PlanePorts {
    PlanePorts {
        client: vec![9092],
        replication: vec![9093],
        controller: vec![9094],
    }
}

fn view() -> ClusterView {
    let nodes: Vec<String> = ["n1", "n2", "n3"].map(String::from).into();
    ClusterView {
        brokers: nodes.clone(),
        nodes,
        ..ClusterView::default()
    }
}

fn cut(shape: GrudgeShape, plane: Plane) -> Planned {
    let aim = Aim::new(AimAt::Node("n1".into()), 0);
    let fault = Fault::Partition(Partition { shape, aim, plane });
    Planned {
        id: 1,
        at_ms: 0,
        lasts_ms: 0,
        fault,
    }
}

fn install(nemesis: &mut dyn Nemesis, planned: &Planned, targets: &mut Targets) {
    match nemesis
        .inject(planned, &view(), targets)
        .expect("the fault can be tried")
    {
        Injection::Installed(_) => {}
        Injection::Skipped(reason) => panic!("skipped: {reason}"),
    }
}

/// What n1 sends is dropped; what it is sent still arrives. An open connection
/// is cut as well as a new one.
/// A way to cut, made once the lab stands.
type Means = fn() -> Box<dyn CutMeans>;

fn nft() -> Box<dyn CutMeans> {
    Box::new(CutTable::create().expect("a table of cuts"))
}

fn rules() -> Box<dyn CutMeans> {
    Box::<RuleTable>::default()
}

fn one_way_cut(means: Means) {
    let lab = build();
    let (n1, n2) = (lab.place("n1").expect("n1"), lab.place("n2").expect("n2"));
    let listener = listen(n2, 9092);
    let mut open = connect(n1, n2.addr(), 9092, PATIENCE).expect("before the cut");
    let (mut accepted, _) = listener.accept().expect("a connection");
    let mut nemesis = CutNemesis::new(means(), &lab, ports(), true);
    let mut targets = Targets::new();
    install(
        &mut nemesis,
        &cut(GrudgeShape::OneWay, Plane::All),
        &mut targets,
    );

    accepted.write_all(b"heard").expect("n2 sends");
    let mut got = [0; 5];
    open.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    open.read_exact(&mut got).expect("n1 still hears n2");
    open.write_all(b"unheard").expect("the kernel takes it");
    accepted
        .set_read_timeout(Some(Duration::from_millis(300)))
        .expect("a time-out");
    assert!(accepted.read(&mut got).is_err(), "n2 must not hear n1");
    let new = connect(n1, n2.addr(), 9092, Duration::from_millis(300));
    assert_eq!(new.expect_err("cut").kind(), std::io::ErrorKind::TimedOut);
    let pinned = lab.place("at-n1").expect("a place");
    assert!(connect(pinned, n2.addr(), 9092, Duration::from_millis(300)).is_err());
    let free = lab.place("everywhere").expect("a place");
    connect(free, n2.addr(), 9092, PATIENCE).expect("clients elsewhere are not cut off");

    nemesis.heal(1, &mut targets).expect("it heals");
    connect(n1, n2.addr(), 9092, PATIENCE).expect("after the heal");
}

fn cut_of_one_plane(means: Means) {
    let lab = build();
    let (n1, n2) = (lab.place("n1").expect("n1"), lab.place("n2").expect("n2"));
    let _replication = listen(n2, 9093);
    let _controller = listen(n2, 9094);
    let mut nemesis = CutNemesis::new(means(), &lab, ports(), false);
    let mut targets = Targets::new();
    install(
        &mut nemesis,
        &cut(GrudgeShape::IsolateOne, Plane::Replication),
        &mut targets,
    );
    assert!(connect(n1, n2.addr(), 9093, Duration::from_millis(300)).is_err());
    connect(n1, n2.addr(), 9094, PATIENCE).expect("the controller plane is whole");
    let client = cut(GrudgeShape::IsolateOne, Plane::Client);
    let skipped = nemesis
        .inject(&client, &view(), &mut targets)
        .expect("no failure");
    assert!(
        matches!(skipped, Injection::Skipped(_)),
        "nobody is there to be cut off"
    );
}

/// A node that is `sleep`: enough to be stopped, killed and started.
struct Sleeper {
    place: Place,
    child: Option<Child>,
}

impl Sleeper {
    fn start(place: &Place) -> Child {
        place
            .command("sleep")
            .arg("1000")
            .stdin(Stdio::null())
            .spawn()
            .expect("sleep starts")
    }
}

impl Target for Sleeper {
    fn pids(&self) -> Vec<i32> {
        self.child
            .iter()
            .map(|c| i32::try_from(c.id()).expect("a pid"))
            .collect()
    }
    fn addr(&self) -> Ipv4Addr {
        self.place.addr()
    }
    fn netns(&self) -> Option<Place> {
        Some(self.place.clone())
    }
    fn expect_down(&mut self) {}
    fn reaped(&mut self, within: Duration) -> std::io::Result<bool> {
        let until = Instant::now() + within;
        while let Some(child) = &mut self.child {
            if child.try_wait()?.is_some() {
                self.child = None;
            } else if Instant::now() > until {
                return Ok(false);
            } else {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(true)
    }
    fn restart(&mut self) -> std::io::Result<()> {
        self.child = Some(Sleeper::start(&self.place));
        Ok(())
    }
}

fn pause_and_kill() {
    let lab = build();
    let place = lab.place("n1").expect("n1").clone();
    let child = Some(Sleeper::start(&place));
    let mut targets = Targets::new();
    targets.insert("n1".into(), Box::new(Sleeper { place, child }));
    let members: Vec<Box<dyn Nemesis>> = vec![
        Box::<KillNemesis>::default(),
        Box::<PauseNemesis>::default(),
    ];
    let mut nemesis = Composed::new(members);
    let aim = Aim::new(AimAt::Node("n1".into()), 0);
    let pause = Fault::Pause(Pause { aim: aim.clone() });
    let pause = Planned {
        id: 1,
        at_ms: 0,
        lasts_ms: 0,
        fault: pause,
    };
    install(&mut nemesis, &pause, &mut targets);
    let before = targets["n1"].pids();
    let kill = Fault::Kill(Kill {
        aim,
        how: KillHow::Kill,
    });
    let kill = Planned {
        id: 2,
        at_ms: 0,
        lasts_ms: 0,
        fault: kill,
    };
    install(&mut nemesis, &kill, &mut targets);
    assert!(targets["n1"].pids().is_empty());
    let again = nemesis.inject(&Planned { id: 3, ..kill }, &view(), &mut targets);
    assert!(
        matches!(again, Ok(Injection::Skipped(_))),
        "a dead node cannot be killed"
    );
    nemesis
        .heal(1, &mut targets)
        .expect("a pause of a dead process heals");
    nemesis.heal(2, &mut targets).expect("a kill heals");
    assert_ne!(targets["n1"].pids(), before);
    assert_eq!(targets["n1"].pids().len(), 1);
}

fn clock_cannot_be_set() {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: both calls read or write only the timespec; setting is expected to be refused.
    let code = unsafe {
        libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now);
        libc::clock_settime(libc::CLOCK_REALTIME, &raw const now)
    };
    assert_eq!(code, -1);
    assert_eq!(
        std::io::Error::last_os_error().raw_os_error(),
        Some(libc::EPERM)
    );
}

fn sigterm_is_heard() {
    let lab = build();
    let mut child = Sleeper::start(lab.place("n1").expect("n1"));
    let pid = i32::try_from(child.id()).expect("a pid");
    // SAFETY: signals a child that has not been reaped.
    unsafe { libc::kill(pid, libc::SIGTERM) };
    let deadline = Instant::now() + PATIENCE;
    while child.try_wait().expect("a child").is_none() {
        assert!(Instant::now() < deadline, "SIGTERM is blocked in the lab");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Builds a lab with a process in it, says so, and waits to be killed.
fn hang() {
    let lab = build();
    let _cuts = CutNemesis::new(nft(), &lab, ports(), true);
    let place = lab.place("n1").expect("n1");
    let mut child = place
        .command("sleep")
        .arg("987654")
        .spawn()
        .expect("sleep starts");
    println!("ready");
    let _ = child.wait();
}

fn nothing_is_left_after_the_front_is_killed(exe: &Path, uid: Option<u32>) {
    let links_before = output("ip", &["-o", "link"]);
    let mut command = match uid {
        None => front_of(exe, "hang"),
        Some(_) => unprivileged(exe, "hang"),
    };
    let mut front = command
        .stdout(Stdio::piped())
        .spawn()
        .expect("the front starts");
    let mut line = [0; 6];
    front
        .stdout
        .take()
        .expect("piped")
        .read_exact(&mut line)
        .expect("the lab is ready");
    assert!(
        sleepers() > 0,
        "the lab's process must be seen from outside"
    );
    front.kill().expect("SIGKILL");
    front.wait().expect("reaped");
    let deadline = Instant::now() + PATIENCE;
    while sleepers() > 0 {
        assert!(Instant::now() < deadline, "processes of the lab live on");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(output("ip", &["-o", "link"]), links_before);
    assert!(!output("nft", &["list", "tables"]).contains("plimsoll"));
    assert!(!output("cat", &["/proc/mounts"]).contains("/run/netns"));
    println!("test nothing_is_left_after_the_front_is_killed {uid:?} ... ok");
}

fn output(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    output
        .map(|o| String::from_utf8_lossy(&o.stdout).into_owned())
        .unwrap_or_default()
}

/// Processes that run the sleep of [`hang`], anywhere on the machine.
fn sleepers() -> usize {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    all.filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line == b"sleep\0987654\0"
    })
    .count()
}
