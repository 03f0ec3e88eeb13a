//! Clients that people really use, against a cluster of ours: kcat, confluent-kafka, kafka-python;
//! and bytes that no client would send.
//!
//! Where such a client is not installed, its test says so and passes, unless CI is set: there its
//! absence is a failure.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod admin;
mod cluster;
mod hostile;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cluster::Cluster;

/// Whether to go on; what is missing fails under CI and is told elsewhere.
fn available(what: &str, found: bool) -> bool {
    let required = std::env::var_os("CI").is_some();
    assert!(
        found || !required,
        "{what} is not installed; .ci/run installs it"
    );
    if !found {
        eprintln!("skipped: {what} is not installed");
    }
    found
}

fn kcat(cluster: &Cluster, args: &[&str], input: Option<&str>) -> String {
    let mut child = Command::new("kcat")
        .args(["-b", &cluster.bootstrap(), "-q"])
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(input.unwrap_or_default().as_bytes())
        .unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "kcat {args:?}: {errors}\n{}",
        cluster.logs()
    );
    String::from_utf8(output.stdout).unwrap()
}

fn has_kcat() -> bool {
    Command::new("kcat")
        .arg("-V")
        .output()
        .is_ok_and(|output| output.status.success())
}

#[test]
fn kcat_reads_back_what_it_wrote_in_every_codec_while_a_broker_is_killed_and_comes_back() {
    if !available("kcat", has_kcat()) {
        return;
    }
    let mut cluster = Cluster::start();
    let lines: String = (0..200)
        .map(|n| format!("line {n} {}\n", "x".repeat(50)))
        .collect();
    let produce = |cluster: &Cluster, codec: &str| {
        let args = [
            "-P",
            "-t",
            "kcat",
            "-z",
            codec,
            "-X",
            "request.required.acks=-1",
        ];
        kcat(cluster, &args, Some(&lines));
    };
    produce(&cluster, "none");
    let victim = cluster.leader_of("kcat");
    cluster.kill_broker(victim);
    for codec in ["gzip", "snappy", "lz4"] {
        produce(&cluster, codec);
    }
    cluster.start_broker(victim);
    cluster.wait_until_up(victim);
    produce(&cluster, "zstd");
    let read = kcat(
        &cluster,
        &["-C", "-t", "kcat", "-o", "beginning", "-e"],
        None,
    );
    assert_eq!(read, lines.repeat(5), "{}", cluster.logs());
}

/// The Python that has the clients: PLIMSOLL_TEST_PYTHON, or the venv that .ci/run makes.
fn python() -> PathBuf {
    std::env::var_os("PLIMSOLL_TEST_PYTHON").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../.venv/bin/python"),
        PathBuf::from,
    )
}

fn has_module(module: &str) -> bool {
    Command::new(python())
        .args(["-c", &format!("import {module}")])
        .output()
        .is_ok_and(|output| output.status.success())
}

/// The path of a script beside this file.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/foreign_clients")
        .join(name)
}

/// Runs a script that produces until it is told to finish, and kills a broker meanwhile.
fn survives_a_killed_broker(script: &str, topic: &str) {
    let mut cluster = Cluster::start();
    let mut child = Command::new(python())
        .arg(self::script(script))
        .args([cluster.bootstrap().as_str(), topic])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = |wanted: &str| {
        let line = lines
            .next()
            .unwrap_or_else(|| panic!("{script} ended before {wanted}"))
            .unwrap();
        assert!(
            line.starts_with(wanted),
            "{script} said {line:?}, not {wanted:?}"
        );
        line
    };
    next("delivered");
    let victim = cluster.leader_of(topic);
    cluster.kill_broker(victim);
    writeln!(stdin, "more").unwrap();
    next("delivered");
    cluster.start_broker(victim);
    cluster.wait_until_up(victim);
    writeln!(stdin, "more").unwrap();
    next("delivered");
    writeln!(stdin, "finish").unwrap();
    let verdict = next("read");
    assert_eq!(verdict, "read missing=0 duplicated=0", "{}", cluster.logs());
    assert!(child.wait().unwrap().success());
    assert!(!cluster.has_panicked(), "{}", cluster.logs());
}

#[test]
fn confluent_kafka_loses_and_doubles_nothing_while_a_broker_is_killed_and_comes_back() {
    if available("confluent-kafka (Python)", has_module("confluent_kafka")) {
        survives_a_killed_broker("confluent.py", "confluent");
    }
}

#[test]
fn kafka_python_loses_and_doubles_nothing_while_a_broker_is_killed_and_comes_back() {
    if available("kafka-python", has_module("kafka")) {
        survives_a_killed_broker("kafka_python.py", "kafka-python");
    }
}

#[test]
fn a_replication_factor_above_the_number_of_brokers_is_refused_with_both_numbers() {
    if !available("confluent-kafka (Python)", has_module("confluent_kafka")) {
        return;
    }
    let cluster = Cluster::start();
    let script = "import sys\n\
        from confluent_kafka.admin import AdminClient, NewTopic\n\
        admin = AdminClient({'bootstrap.servers': sys.argv[1]})\n\
        future = admin.create_topics([NewTopic('wide', 1, 4)])['wide']\n\
        try:\n    future.result(60)\nexcept Exception as error:\n    print(error)\n";
    let output = Command::new(python())
        .args(["-c", script, &cluster.bootstrap()])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let wanted = "Replication factor: 4 larger than available brokers: 3";
    assert!(
        text.contains(wanted),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
