//! Operators' clients: topics that come and go, their settings, elections, log directories.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::cluster::Cluster;
use crate::{available, has_module, python, script};

/// confluent-kafka's AdminClient, one step at a time.
struct Operator {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Operator {
    fn start(cluster: &Cluster, topic: &str) -> Self {
        let mut child = Command::new(python())
            .arg(script("admin.py"))
            .args([cluster.bootstrap().as_str(), topic])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take().unwrap(),
            lines: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
        }
    }

    /// Takes a step and gives the line that it ends in.
    fn step(&mut self, cluster: &Cluster, step: &str) -> String {
        writeln!(self.stdin, "{step}").unwrap();
        match self.lines.next() {
            Some(line) => line.unwrap(),
            None => panic!("{step:?} failed\n{}", cluster.logs()),
        }
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        // Where it has ended by itself there is nothing to kill.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

fn has_confluent() -> bool {
    available("confluent-kafka (Python)", has_module("confluent_kafka"))
}

#[test]
fn a_topic_that_was_deleted_while_a_node_was_down_and_created_again_has_no_old_records() {
    if !has_confluent() {
        return;
    }
    let mut cluster = Cluster::start();
    let mut operator = Operator::start(&cluster, "reborn");
    assert_eq!(operator.step(&cluster, "create"), "created");
    assert_eq!(operator.step(&cluster, "produce old"), "produced");
    cluster.wait_for("the old records everywhere", || {
        (1..=3).all(|node| cluster.log_end(node, "reborn") == Some(50))
    });
    cluster.kill_broker(3);
    assert!(cluster.has_folder(3, "reborn-0"));
    assert_eq!(operator.step(&cluster, "delete"), "deleted None");
    cluster.wait_for("the folders of the nodes that are up gone", || {
        (1..=2).all(|node| !cluster.has_folder(node, "reborn-0"))
    });
    assert_eq!(operator.step(&cluster, "delete"), "deleted 3");
    assert_eq!(operator.step(&cluster, "create"), "created");
    // More than the old log has, in the same epoch: only the topic's id tells node 3 that its log
    // is not the beginning of this one.
    assert_eq!(operator.step(&cluster, "produce new"), "produced");
    cluster.start_broker(3);
    cluster.wait_until_up(3);
    cluster.wait_for("the new records and no others everywhere", || {
        (1..=3).all(|node| cluster.values(node, "reborn") == vec!["new"; 60])
    });
    assert_eq!(operator.step(&cluster, "read"), "read Counter({'new': 60})");
    assert!(!cluster.has_panicked(), "{}", cluster.logs());
}

#[test]
fn a_topic_that_was_deleted_while_a_node_was_down_leaves_no_folder_there() {
    if !has_confluent() {
        return;
    }
    let mut cluster = Cluster::start();
    let mut operator = Operator::start(&cluster, "stray");
    operator.step(&cluster, "create");
    operator.step(&cluster, "produce old");
    cluster.wait_for("a replica on every node", || {
        (1..=3).all(|node| cluster.has_folder(node, "stray-0"))
    });
    cluster.kill_broker(2);
    assert_eq!(operator.step(&cluster, "delete"), "deleted None");
    assert!(cluster.has_folder(2, "stray-0"));
    cluster.start_broker(2);
    cluster.wait_for("no folder on any node", || {
        (1..=3).all(|node| !cluster.has_folder(node, "stray-0"))
    });
}

#[test]
fn confluent_kafkas_admin_client_describes_configures_and_elects() {
    if !has_confluent() {
        return;
    }
    let mut cluster = Cluster::start();
    let mut operator = Operator::start(&cluster, "operated");
    assert_eq!(operator.step(&cluster, "cluster"), "brokers 1 2 3");
    assert_eq!(operator.step(&cluster, "configs"), "configured");
    let not_needed = "elected ELECTION_NOT_NEEDED";
    assert_eq!(operator.step(&cluster, "elect preferred"), not_needed);
    assert_eq!(operator.step(&cluster, "elect unclean"), not_needed);
    cluster.kill_broker(1);
    cluster.wait_for("another leader", || cluster.leader_of("operated") != 1);
    let unavailable = "elected PREFERRED_LEADER_NOT_AVAILABLE";
    assert_eq!(operator.step(&cluster, "elect preferred"), unavailable);
    cluster.start_broker(1);
    cluster.wait_until_up(1);
    cluster.wait_for("broker 1 elected", || {
        match operator.step(&cluster, "elect preferred").as_str() {
            "elected no error" => true,
            answer => {
                assert_eq!(answer, unavailable);
                false
            }
        }
    });
    cluster.wait_for("broker 1 leading", || cluster.leader_of("operated") == 1);
    assert!(!cluster.has_panicked(), "{}", cluster.logs());
}

#[test]
fn kafka_pythons_admin_client_sees_log_directories_and_deletes_a_topic() {
    if !available("kafka-python", has_module("kafka")) {
        return;
    }
    let cluster = Cluster::start();
    let output = Command::new(python())
        .arg(script("kafka_python_admin.py"))
        .args([cluster.bootstrap().as_str(), "measured"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}{}", cluster.logs());
    assert!(
        text.contains("measured") && text.contains("deleted"),
        "{text}"
    );
}
