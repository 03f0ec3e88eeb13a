//! A cluster of the real binary on loopback addresses of its own, for clients that are not ours.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Machines are slow and shared; nothing here waits this long unless something is wrong.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Each cluster of this test process has addresses of its own.
static NEXT: AtomicU8 = AtomicU8::new(1);

/// Brokers 1 to 3. They are killed when this is dropped.
pub struct Cluster {
    dir: TempDir,
    network: String,
    brokers: Vec<Option<Child>>,
}

impl Cluster {
    /// Starts three brokers and waits until each is up and unfenced.
    pub fn start() -> Self {
        let process = std::process::id() % 200 + 20;
        let network = format!("127.{process}.{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let mut cluster = Self {
            dir: TempDir::new().unwrap(),
            network,
            brokers: vec![None, None, None],
        };
        (1..=3).for_each(|node| cluster.start_broker(node));
        (1..=3).for_each(|node| cluster.wait_until_up(node));
        cluster
    }

    /// What a client is told to connect to.
    pub fn bootstrap(&self) -> String {
        let addrs: Vec<String> = (1..=3)
            .map(|node| format!("{}:9092", self.host(node)))
            .collect();
        addrs.join(",")
    }

    fn host(&self, node: usize) -> String {
        format!("{}.{node}", self.network)
    }

    /// Starts a broker on the data that it has.
    pub fn start_broker(&mut self, node: usize) {
        let controllers: Vec<String> = (1..=3)
            .map(|id| format!("{id}@{}:9094", self.host(id)))
            .collect();
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.dir.path().join(format!("n{node}.log")))
            .unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
            .arg("broker")
            .args(["--node-id", &node.to_string()])
            .args(["--listen", &format!("{}:9092", self.host(node))])
            .args(["--controllers", &controllers.join(",")])
            .arg("--data-dir")
            .arg(self.dir.path().join(format!("n{node}")))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.brokers[node - 1] = Some(child);
    }

    /// kill -9.
    pub fn kill_broker(&mut self, node: usize) {
        if let Some(mut child) = self.brokers[node - 1].take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Waits until the broker is registered and unfenced.
    pub fn wait_until_up(&self, node: usize) {
        self.wait_for(&format!("broker {node} up"), || {
            let health = self.admin(node, "/health");
            health["registered"] == true && health["fenced"] == false
        });
    }

    /// The node that leads partition 0 of `topic`, once there is one.
    pub fn leader_of(&self, topic: &str) -> usize {
        let mut leader = 0;
        self.wait_for(&format!("a leader of {topic}"), || {
            leader = (1..=3)
                .find(|node| {
                    let state = self.admin(*node, "/replicas");
                    state["partitions"].as_array().is_some_and(|partitions| {
                        partitions.iter().any(|partition| {
                            partition["topic"] == topic
                                && partition["partition"] == 0
                                && partition["role"] == "leader"
                        })
                    })
                })
                .unwrap_or(0);
            leader != 0
        });
        leader
    }

    /// Log end offset of partition 0 of `topic` on a node, where it has that replica.
    pub fn log_end(&self, node: usize, topic: &str) -> Option<i64> {
        let state = self.admin(node, "/replicas");
        let partitions = state["partitions"].as_array()?;
        let mut of_topic = partitions.iter().filter(|one| one["topic"] == topic);
        of_topic.find(|one| one["partition"] == 0)?["leo"].as_i64()
    }

    /// The values that a node has of partition 0 of `topic`, committed or not.
    pub fn values(&self, node: usize, topic: &str) -> Vec<String> {
        let answer = self.admin(node, &format!("/replicas/{topic}/0/records"));
        let records = answer["records"].as_array().cloned().unwrap_or_default();
        let value = |record: &serde_json::Value| record["value"].as_str().map(str::to_owned);
        records.iter().filter_map(value).collect()
    }

    /// Whether a node's disk has a replica's folder.
    pub fn has_folder(&self, node: usize, partition: &str) -> bool {
        let data = self.dir.path().join(format!("n{node}"));
        data.join("partitions").join(partition).exists()
    }

    fn admin(&self, node: usize, path: &str) -> serde_json::Value {
        get(&format!("{}:9095", self.host(node)), path).unwrap_or(serde_json::Value::Null)
    }

    /// Waits for a condition, and shows the brokers' logs where it does not come.
    pub fn wait_for(&self, what: &str, mut condition: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !condition() {
            assert!(
                begun.elapsed() < PATIENCE,
                "{what}: not within {PATIENCE:?}\n{}",
                self.logs()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The end of each broker's log.
    pub fn logs(&self) -> String {
        (1..=3)
            .map(|node| {
                let path = self.dir.path().join(format!("n{node}.log"));
                let text = std::fs::read_to_string(path).unwrap_or_default();
                let lines: Vec<&str> = text.lines().collect();
                let last = lines.len().saturating_sub(15);
                format!("--- n{node}\n{}\n", lines[last..].join("\n"))
            })
            .collect()
    }

    /// Whether any broker has panicked.
    pub fn has_panicked(&self) -> bool {
        (1..=3).any(|node| {
            let path: &Path = self.dir.path();
            std::fs::read_to_string(path.join(format!("n{node}.log")))
                .is_ok_and(|text| text.contains("panicked"))
        })
    }

    /// A raw connection to a port of a broker: 0 clients, 1 replication, 2 controllers, 3 admin.
    pub fn connect(&self, node: usize, plane: u16) -> TcpStream {
        let stream = TcpStream::connect(format!("{}:{}", self.host(node), 9092 + plane)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Resident memory of a broker, in bytes.
    pub fn memory_bytes(&self, node: usize) -> u64 {
        let pid = self.brokers[node - 1].as_ref().unwrap().id();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .unwrap();
        line.split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
            * 1024
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        (1..=3).for_each(|node| self.kill_broker(node));
    }
}

/// GET over a fresh connection; none where nobody answers.
fn get(addr: &str, path: &str) -> Option<serde_json::Value> {
    use std::io::{Read, Write};
    let mut stream = TcpStream::connect(addr).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
}
