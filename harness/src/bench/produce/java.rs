//! kafka-clients' own producer, as a process that measures itself.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::Context;
use serde_json::json;

use super::{Kind, Measured, PARTITIONS, TOPIC};
use crate::clients::library::compile;
use crate::systems::{Kafka, die_with_parent};

const SOURCE: &str = include_str!("ProduceBench.java");
const CLASS: &str = "ProduceBench";

/// The process; it is ended when this is dropped.
pub struct JavaProducers {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl JavaProducers {
    pub fn start(kafka: &Kafka, bootstrap: &str) -> anyhow::Result<JavaProducers> {
        let classes = compile(kafka, CLASS, SOURCE)?;
        let mut command = Command::new(&kafka.java);
        command
            .args(["-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp"])
            .arg(format!("{}:{}/*", classes.display(), kafka.libs.display()))
            .args([CLASS, bootstrap, TOPIC])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        die_with_parent(&mut command);
        let mut child = command.spawn().context("starting the Java producers")?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.context("the Java producers have no pipes")?;
        Ok(JavaProducers {
            child,
            stdin,
            lines: BufReader::new(stdout).lines(),
        })
    }

    /// One round.
    pub fn round(&mut self, kind: Kind, seconds: f64) -> anyhow::Result<Measured> {
        let round = json!({
            "connections": kind.connections, "acks": kind.acks_name(),
            "partitions": PARTITIONS, "seconds": seconds,
        });
        writeln!(self.stdin, "{round}")?;
        let line = self.lines.next().context("the Java producers ended")??;
        serde_json::from_str(&line).with_context(|| format!("reading {line}"))
    }
}

impl Drop for JavaProducers {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
