//! librdkafka as a producer process that speaks JSON lines (`lines`). Its own
//! process, since its threads and sockets must live in the place of its clients.

use std::io::{BufRead, Write};
use std::time::Duration;

use anyhow::Context;
use rdkafka::ClientContext;
use rdkafka::Message;
use rdkafka::config::ClientConfig;
use rdkafka::producer::{BaseRecord, DeliveryResult, Producer, ProducerContext, ThreadedProducer};
use serde::Deserialize;

use crate::cli::ProducerArgs;
use crate::exit::Exit;

const FLUSH_MAX: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
struct Send {
    id: u64,
    partition: i32,
    value: i64,
}

/// Says what became of each record.
struct Reports;

impl ClientContext for Reports {}

impl ProducerContext for Reports {
    type DeliveryOpaque = Box<u64>;

    fn delivery(&self, delivered: &DeliveryResult<'_>, id: Box<u64>) {
        match delivered {
            Ok(message) => say(&format!("{{\"id\":{id},\"offset\":{}}}", message.offset())),
            // Whether it was never sent is not told here, so nobody knows.
            Err((error, _)) => fail(*id, &error.to_string(), false),
        }
    }
}

/// Produces what stdin asks for, until it ends.
pub fn run(args: &ProducerArgs) -> anyhow::Result<Exit> {
    let producer: ThreadedProducer<Reports> = ClientConfig::new()
        .set("bootstrap.servers", &args.bootstrap)
        .set("acks", &args.acks)
        .set("enable.idempotence", &args.idempotent)
        .set("delivery.timeout.ms", &args.delivery_timeout_ms)
        .set("request.timeout.ms", "2000")
        .set("socket.timeout.ms", "3000")
        .set("linger.ms", "0")
        .set("topic.metadata.refresh.interval.ms", "5000")
        .create_with_context(Reports)
        .context("making a librdkafka producer")?;
    say("{\"ready\":true}");
    for line in std::io::stdin().lines() {
        let line = line?;
        let send: Send = serde_json::from_str(&line).with_context(|| format!("{line:?}"))?;
        let value = send.value.to_string();
        let record: BaseRecord<'_, (), str, Box<u64>> =
            BaseRecord::with_opaque_to(&args.topic, Box::new(send.id))
                .partition(send.partition)
                .payload(&value);
        // Refused before it was taken: nothing was sent.
        if let Err((error, _)) = producer.send(record) {
            fail(send.id, &error.to_string(), true);
        }
    }
    // The harness is gone, or does not want to know any more.
    let _unfinished = producer.flush(FLUSH_MAX);
    Ok(Exit::Valid)
}

fn fail(id: u64, error: &str, certain: bool) {
    let line = serde_json::json!({ "id": id, "error": error, "certain": certain });
    say(&line.to_string());
}

/// A line at a time, whichever thread says it; without a reader the end is near.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _closed = writeln!(out, "{line}").and_then(|()| out.flush());
}
