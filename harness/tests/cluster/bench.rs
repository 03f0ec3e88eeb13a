//! What the cluster tests share: running this repository's program in a folder
//! of its own, as this user or as one without rights, and reading what it said.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Generous: a machine under load is no failure.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A folder for results, and a program that can be run from it.
pub struct Bench {
    folder: tempfile::TempDir,
    exe: PathBuf,
    uid: Option<u32>,
}

impl Bench {
    /// As the user who runs the tests.
    pub fn new() -> Bench {
        let folder = tempfile::tempdir().expect("a folder");
        Bench {
            folder,
            exe: env!("CARGO_BIN_EXE_plimsoll").into(),
            uid: None,
        }
    }

    /// As a user without rights, from a copy that others may read; only root
    /// can become one.
    pub fn unprivileged() -> Option<Bench> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(folder.path(), open).expect("open the folder");
        let exe = folder.path().join("plimsoll");
        std::fs::copy(env!("CARGO_BIN_EXE_plimsoll"), &exe).expect("copy the program");
        let run = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&exe, run).expect("make it executable");
        Some(Bench {
            folder,
            exe,
            uid: Some(65534),
        })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn results(&self) -> PathBuf {
        self.folder.path().join("results")
    }

    /// The program with words; results go into the bench's folder.
    pub fn command(&self, line: &str) -> Command {
        let mut command = match self.uid {
            None => Command::new(&self.exe),
            Some(uid) => {
                let mut command = Command::new("setpriv");
                let id = uid.to_string();
                command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]);
                command.arg(&self.exe);
                command
            }
        };
        command
            .args(line.split_whitespace())
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, line: &str) -> Output {
        self.command(line).output().expect("the program runs")
    }

    /// Runs `test` and gives its exit code and verdict.
    pub fn verdict(&self, line: &str) -> (i32, serde_json::Value) {
        let output = self.run(&format!("test --format json {line}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code().expect("it ends by itself");
        let verdict = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{line}: code {code}, {e}: {said}"));
        (code, verdict)
    }
}

/// Waits for a condition; panics with what was waited for when it does not come.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what} did not come to hold");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Command lines of all processes that mention a path.
pub fn processes_mentioning(path: &Path) -> Vec<String> {
    let wanted = path.display().to_string();
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    all.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(&wanted).then_some(line)
    })
    .collect()
}
