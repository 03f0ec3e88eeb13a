//! The docker command, and compose in either of its two forms. Every call is
//! bounded and says what it was when it fails.

use std::io::Read;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use serde_json::Value;

/// An image may have to be built or fetched first.
const UP_MAX: Duration = Duration::from_secs(900);
const CALL_MAX: Duration = Duration::from_secs(90);
/// An engine that is there tells its version at once.
const ENGINE_MAX: Duration = Duration::from_secs(30);
/// Of what a command said before it failed.
const LAST_LINES: usize = 5;
/// Which of a file's clusters is meant; a file without profiles does not mind.
const PROFILES: &str = "COMPOSE_PROFILES";
const PROFILE_DEFAULT: &str = "builtin";
const POLL_EVERY: Duration = Duration::from_millis(5);

/// A container as Docker shows it.
#[derive(Clone, Debug)]
pub struct Inspected {
    pub id: String,
    pub name: String,
    /// Of its main process, while it runs.
    pub pid: Option<i32>,
    pub paused: bool,
    pub status: String,
    pub addr: Option<Ipv4Addr>,
    pub labels: serde_json::Map<String, Value>,
}

/// One compose file and how to call compose for it.
#[derive(Clone, Debug)]
pub struct Compose {
    program: Vec<String>,
    file: PathBuf,
    project: Option<String>,
    settings: Vec<(String, String)>,
}

impl Compose {
    /// Finds compose: the plugin of the docker command, or the program of its own.
    pub fn find(file: &Path, settings: &[(String, String)]) -> anyhow::Result<Compose> {
        let forms = [vec!["docker", "compose"], vec!["docker-compose"]];
        let works = |form: &Vec<&str>| {
            let mut command = Command::new(form[0]);
            command.args(&form[1..]).arg("version").stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let form = forms.iter().find(|form| works(form)).context(
            "neither `docker compose` nor `docker-compose` can be run; install Docker with compose (Debian: docker.io docker-compose)",
        )?;
        Ok(Compose {
            program: form.iter().map(|word| (*word).to_owned()).collect(),
            file: file.to_owned(),
            project: None,
            settings: settings.to_vec(),
        })
    }

    pub fn with_project(mut self, project: String) -> Compose {
        self.project = Some(project);
        self
    }

    fn words(&self, rest: &[&str]) -> Vec<String> {
        let mut words = self.program.clone();
        words.extend(["-f".to_owned(), self.file.display().to_string()]);
        if let Some(project) = &self.project {
            words.extend(["-p".to_owned(), project.clone()]);
        }
        words.extend(rest.iter().map(|word| (*word).to_owned()));
        words
    }

    fn call(&self, rest: &[&str], within: Duration) -> anyhow::Result<Output> {
        let words = self.words(rest);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        if std::env::var_os(PROFILES).is_none() {
            command.env(PROFILES, PROFILE_DEFAULT);
        }
        run(command, &words.join(" "), within)
    }

    /// The command line that takes the cluster down, for whoever must do it.
    pub fn down_words(&self) -> Vec<String> {
        self.words(&["down", "-v", "--timeout", "1"])
    }

    pub fn up(&self) -> anyhow::Result<()> {
        self.call(&["up", "-d"], UP_MAX).map(drop)
    }

    pub fn down(&self) -> anyhow::Result<()> {
        self.call(&["down", "-v", "--timeout", "1"], CALL_MAX)
            .map(drop)
    }

    /// The ids of the containers that run.
    pub fn containers(&self) -> anyhow::Result<Vec<String>> {
        let output = self.call(&["ps", "-q"], CALL_MAX)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.split_whitespace().map(str::to_owned).collect())
    }

    pub fn logs_hint(&self) -> String {
        format!("see {}", self.words(&["logs"]).join(" "))
    }
}

/// Why no containers can be started, in a sentence, where no engine answers: compose itself would
/// say it in a page.
pub fn engine_answers() -> anyhow::Result<()> {
    let mut command = Command::new("docker");
    command.args(["version", "--format", "{{.Server.Version}}"]);
    let Err(error) = run(command, "docker version", ENGINE_MAX) else {
        return Ok(());
    };
    let place = match std::env::var("DOCKER_HOST") {
        Ok(host) if !host.is_empty() => format!("at DOCKER_HOST={host}"),
        _ => "at docker's default address, since DOCKER_HOST is not set".to_owned(),
    };
    bail!(
        "no Docker engine answers {place}; start one (systemctl start docker, or dockerd), or set DOCKER_HOST to where one listens ({error:#})"
    )
}

/// Calls the docker command.
pub fn docker(words: &[&str]) -> anyhow::Result<Output> {
    let mut command = Command::new("docker");
    command.args(words);
    run(command, &format!("docker {}", words.join(" ")), CALL_MAX)
}

/// What a container printed, both streams in one file.
pub fn logs(id: &str, into: &Path) -> anyhow::Result<()> {
    let file = std::fs::File::create(into)?;
    let mut command = Command::new("docker");
    command
        .args(["logs", "--timestamps", id])
        .stdin(Stdio::null());
    command.stdout(file.try_clone()?).stderr(file);
    let status = command.status().context("running docker")?;
    if !status.success() {
        bail!("docker logs {id}: {status}");
    }
    Ok(())
}

pub fn inspect(ids: &[String]) -> anyhow::Result<Vec<Inspected>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let words: Vec<&str> = std::iter::once("inspect")
        .chain(ids.iter().map(String::as_str))
        .collect();
    let output = docker(&words)?;
    parse(&output.stdout).context("docker inspect did not answer with what was expected")
}

fn parse(json: &[u8]) -> Option<Vec<Inspected>> {
    let all: Value = serde_json::from_slice(json).ok()?;
    all.as_array()?.iter().map(one).collect()
}

fn one(container: &Value) -> Option<Inspected> {
    let text = |pointer: &str| container.pointer(pointer).and_then(Value::as_str);
    let networks = container
        .pointer("/NetworkSettings/Networks")
        .and_then(Value::as_object);
    let mut addrs = networks.into_iter().flat_map(|networks| networks.values());
    let addr = addrs.find_map(|network| network.get("IPAddress")?.as_str()?.parse().ok());
    let running = container.pointer("/State/Running").and_then(Value::as_bool) == Some(true);
    let pid = container.pointer("/State/Pid").and_then(Value::as_i64);
    Some(Inspected {
        id: text("/Id")?.to_owned(),
        name: text("/Name")?.trim_start_matches('/').to_owned(),
        pid: pid
            .filter(|pid| running && *pid > 0)
            .and_then(|pid| i32::try_from(pid).ok()),
        paused: container.pointer("/State/Paused").and_then(Value::as_bool) == Some(true),
        status: text("/State/Status").unwrap_or_default().to_owned(),
        addr,
        labels: container
            .pointer("/Config/Labels")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default(),
    })
}

fn run(mut command: Command, what: &str, within: Duration) -> anyhow::Result<Output> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("running {what}"))?;
    let readers = (reader(child.stdout.take()), reader(child.stderr.take()));
    let deadline = Instant::now() + within;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            bail!("{what}: not done after {} s", within.as_secs());
        }
        std::thread::sleep(POLL_EVERY);
    };
    let (stdout, stderr) = (readers.0.join(), readers.1.join());
    let died = |_| anyhow!("{what}: its output could not be read");
    let (stdout, stderr) = (stdout.map_err(died)?, stderr.map_err(died)?);
    if !status.success() {
        bail!("{what}: {status}: {}", last_lines(&stderr));
    }
    Ok(Output {
        status,
        stdout,
        stderr,
    })
}

/// The last lines of what was said; indented ones, such as the calls of a traceback, only where
/// there are no others.
fn last_lines(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let spoken: Vec<&str> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let mut telling = spoken.clone();
    telling.retain(|line| !line.starts_with([' ', '\t']) && !line.starts_with("Traceback"));
    let lines = if telling.is_empty() { spoken } else { telling };
    lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
}

fn reader(from: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            // What is missing shows when it is parsed.
            let _ = from.read_to_end(&mut bytes);
        }
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_is_read_with_its_address_and_process() {
        let json = br#"[{"Id":"ab","Name":"/x_broker-1_1","State":{"Running":true,"Paused":false,
            "Pid":71,"Status":"running"},"Config":{"Labels":{"plimsoll.node-id":"1"}},
            "NetworkSettings":{"Networks":{"x_log":{"IPAddress":"172.30.77.11"}}}}]"#;
        let read = parse(json).expect("sound");
        assert_eq!(
            (read[0].name.as_str(), read[0].pid),
            ("x_broker-1_1", Some(71))
        );
        assert_eq!(read[0].addr, Some(Ipv4Addr::new(172, 30, 77, 11)));
        assert!(parse(b"{}").is_none());
    }

    #[test]
    fn a_traceback_is_told_by_its_last_words() {
        let said = "Traceback (most recent call last):\n  File \"x.py\", line 7\n    call()\n\
                    ConnectionRefusedError: refused\n\nDuring handling of it:\n\n  File \"y.py\"\n\
                    DockerException: nobody is there\n";
        assert_eq!(
            last_lines(said.as_bytes()),
            "ConnectionRefusedError: refused\nDuring handling of it:\nDockerException: nobody is there"
        );
        assert_eq!(last_lines(b"  indented\n\n"), "  indented");
        let many: String = (0..100).map(|n| format!("line {n}\n")).collect();
        assert!(last_lines(many.as_bytes()).starts_with("line 95\n"));
    }

    #[test]
    fn a_command_that_fails_says_which_and_why() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo no such thing >&2; exit 3"]);
        let error = run(command, "a test", CALL_MAX)
            .expect_err("it fails")
            .to_string();
        assert!(
            error.contains("a test") && error.contains("no such thing"),
            "{error}"
        );
    }
}
