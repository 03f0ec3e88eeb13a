//! The compose cluster of the built-in broker under kill, pause and cut, through
//! the real binary and a real Docker Engine. Without an engine the tests say so
//! and pass, except in CI, where there must be one.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(120);
const FAULTS: &str = r#"
title = "kill, pause and cut"
expect = "All that was acknowledged stays."
[test]
time-limit = "18s"
[[fault]]
at = "2s"
lasts = "3s"
kind = "kill"
target = "leader"
[[fault]]
at = "8s"
lasts = "2.5s"
kind = "pause"
target = "leader"
[[fault]]
at = "13s"
lasts = "2.5s"
kind = "partition"
shape = "isolate-leader"
target = "leader"
"#;

/// The file's addresses are fixed, so there is one cluster at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Docker {
    image: String,
    folder: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Docker {
    /// An engine with an image of the binary under test; none where there is no engine.
    fn start() -> Option<Docker> {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let reached = docker(&["info"]).is_ok_and(|output| output.status.success());
        if !reached {
            assert!(
                std::env::var_os("CI").is_none(),
                "CI needs a Docker Engine: is dockerd running?"
            );
            println!("skipped: no Docker Engine is reached");
            return None;
        }
        let image = format!("plimsoll-test:{}", std::process::id());
        let folder = tempfile::tempdir().unwrap();
        import(&image, folder.path());
        Some(Docker {
            image,
            folder,
            _alone: alone,
        })
    }

    fn test(&self, words: &[&str]) -> Command {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docker-compose.yml");
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command
            .args(["test", "--format", "json", "--out"])
            .arg(self.folder.path().join("results"));
        command
            .args(["--system", &format!("compose:{}", file.display())])
            .args(words);
        command
            .env("PLIMSOLL_IMAGE", &self.image)
            .env_remove("COMPOSE_PROFILES");
        command
    }

    fn left_behind(&self) -> String {
        let by_image = format!("ancestor={}", self.image);
        let containers = docker(&["ps", "-a", "-q", "--filter", &by_image]).unwrap();
        let networks = docker(&["network", "ls", "-q", "--filter", "name=plimsoll-"]).unwrap();
        let all = [containers.stdout, networks.stdout].concat();
        String::from_utf8_lossy(&all).trim().to_owned()
    }
}

impl Drop for Docker {
    fn drop(&mut self) {
        let _ = docker(&["rmi", "-f", &self.image]);
    }
}

fn docker(words: &[&str]) -> std::io::Result<Output> {
    Command::new("docker")
        .args(words)
        .stdin(Stdio::null())
        .output()
}

/// An image from nothing: the binary, and the libraries that it names.
fn import(image: &str, folder: &Path) {
    let root = folder.join("root");
    let binary = Path::new(env!("CARGO_BIN_EXE_plimsoll"));
    copy(binary, &root.join("plimsoll"));
    let libraries = Command::new("ldd").arg(binary).output().unwrap();
    for word in String::from_utf8_lossy(&libraries.stdout).split_whitespace() {
        if let Some(path) = word.strip_prefix('/') {
            copy(Path::new(word), &root.join(path));
        }
    }
    let archive = folder.join("root.tar");
    let packed = Command::new("tar")
        .arg("-cf")
        .arg(&archive)
        .arg("-C")
        .arg(&root)
        .arg(".")
        .status();
    assert!(packed.unwrap().success());
    let entry = r#"ENTRYPOINT ["/plimsoll"]"#;
    let imported = docker(&[
        "import",
        "--change",
        entry,
        archive.to_str().unwrap(),
        image,
    ])
    .unwrap();
    assert!(
        imported.status.success(),
        "{}",
        String::from_utf8_lossy(&imported.stderr)
    );
    fs::remove_dir_all(root).unwrap();
    fs::remove_file(archive).unwrap();
}

fn copy(from: &Path, to: &PathBuf) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
}

#[test]
fn a_compose_cluster_keeps_what_it_acknowledged_under_kill_pause_and_cut_and_nothing_is_left() {
    let Some(docker) = Docker::start() else {
        return;
    };
    let scenario = docker.folder.path().join("faults.toml");
    fs::write(&scenario, FAULTS).unwrap();
    let scenario = scenario.to_str().unwrap();
    let output = docker
        .test(&["--scenario", scenario, "--seed", "5"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&said);
    assert_eq!(verdict["valid"], true, "{said}\n{verdict:#}");
    assert!(verdict["acked"].as_u64().unwrap() > 500, "{verdict:#}");
    assert_eq!(verdict["faults"], 3, "{verdict:#}");
    assert_eq!(docker.left_behind(), "");
    let run = docker.folder.path().join("results/latest");
    let log = fs::read_to_string(run.join("nodes/n1/broker.log")).unwrap();
    assert!(!log.is_empty());
}

#[test]
fn a_harness_that_is_killed_leaves_no_containers() {
    let Some(docker) = Docker::start() else {
        return;
    };
    let mut command = docker.test(&["--faults", "none", "--time-limit", "300"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + PATIENCE;
    let by_image = format!("ancestor={}", docker.image);
    let running = || docker_count(&["ps", "-q", "--filter", &by_image]);
    while running() < 3 {
        assert!(Instant::now() < deadline, "the containers do not start");
        assert!(child.try_wait().unwrap().is_none(), "the run ended early");
        std::thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while !docker.left_behind().is_empty() {
        assert!(Instant::now() < deadline, "left: {}", docker.left_behind());
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn docker_count(words: &[&str]) -> usize {
    let output = docker(words).unwrap();
    String::from_utf8_lossy(&output.stdout).lines().count()
}

#[test]
fn a_compose_file_that_is_not_there_or_has_no_nodes_is_an_error_that_says_so() {
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["test", "--system", "compose:/nowhere/compose.yml"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("/nowhere/compose.yml"), "{said}");
}
