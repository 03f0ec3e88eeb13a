//! `plimsoll producer`: librdkafka in a process of its own. What the library
//! says of a record is believed, but for one thing: it takes an answer "no
//! longer the leader" for proof that nothing was appended, and with acks=all
//! that answer may also come after the append. So with acks=all only a record
//! that it never took in has certainly failed.

use crate::exit::Exit;

#[cfg(feature = "librdkafka")]
pub use serving::{serve, version};

/// Says how to get it.
#[cfg(not(feature = "librdkafka"))]
pub fn serve() -> anyhow::Result<Exit> {
    let why = super::ClientChoice::parse("librdkafka").err();
    Err(anyhow::Error::msg(why.unwrap_or_default()))
}

#[cfg(not(feature = "librdkafka"))]
pub fn version() -> String {
    "not built in".to_owned()
}

#[cfg(feature = "librdkafka")]
mod serving {
    use std::io::{BufRead, Write};
    use std::time::Duration;

    use anyhow::{Context, bail};
    use rdkafka::bindings::{rd_kafka_message_status, rd_kafka_msg_status_t};
    use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
    use rdkafka::error::{KafkaError, RDKafkaErrorCode};
    use rdkafka::message::Message;
    use rdkafka::producer::{
        BaseRecord, DeliveryResult, Producer, ProducerContext, ThreadedProducer,
    };
    use rdkafka::{ClientContext, util};
    use serde_json::{Value, json};

    use super::super::protocol::{Hello, PROTOCOL, SendLine};
    use super::Exit;
    use crate::clients::outcome;

    const FLUSH_MAX: Duration = Duration::from_secs(1);
    /// A broker whose disk failed says so; what it had written before is not known.
    const STORAGE_ERROR: i16 = 56;

    pub fn version() -> String {
        util::get_rdkafka_version().1
    }

    /// Sends what comes over stdin until it ends.
    pub fn serve() -> anyhow::Result<Exit> {
        let mut lines = std::io::stdin().lock().lines();
        let first = lines.next().context("no first line")??;
        let hello: Hello = serde_json::from_str(&first).context("reading the first line")?;
        if hello.plimsoll_producer != PROTOCOL {
            bail!("this producer speaks version {PROTOCOL} of the protocol");
        }
        let reports = Reports {
            acks_all: hello.config.get("acks").is_some_and(|acks| acks == "all"),
        };
        let mut config = ClientConfig::new();
        for (name, value) in &hello.config {
            config.set(name, value);
        }
        let producer: ThreadedProducer<Reports> = config
            .create_with_context(reports)
            .context("librdkafka does not take these settings")?;
        say(&json!({ "ready": format!("librdkafka {}", version()) }));
        for line in lines {
            let line = line?;
            let send: SendLine =
                serde_json::from_str(&line).with_context(|| format!("reading {line}"))?;
            let value = send.value.to_string();
            let id = usize::try_from(send.id)?;
            let record = BaseRecord::<(), str, usize>::with_opaque_to(&hello.topic, id)
                .partition(send.partition)
                .payload(&value);
            if let Err((error, _)) = producer.send(record) {
                let (error, code) = named(&error);
                say(&json!({ "id": send.id, "error": error, "code": code, "certain": true }));
            }
        }
        // Whoever closed the pipe no longer wants to know what becomes of the rest.
        let _ = producer.flush(FLUSH_MAX);
        Ok(Exit::Valid)
    }

    struct Reports {
        acks_all: bool,
    }

    impl ClientContext for Reports {
        fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
            say!("{level:?} {facility} {message}");
        }

        /// What makes an error is logged too; here it would only be said twice.
        fn error(&self, _: KafkaError, _: &str) {}
    }

    impl ProducerContext for Reports {
        type DeliveryOpaque = usize;

        fn delivery(&self, result: &DeliveryResult<'_>, id: usize) {
            match result {
                Ok(message) if message.offset() >= 0 => {
                    say(&json!({ "id": id, "ok": { "offset": message.offset() } }));
                }
                Ok(_) => say(&json!({ "id": id, "ok": {} })),
                Err((error, message)) => {
                    // SAFETY: the message is borrowed for the whole of this call.
                    let status = unsafe { rd_kafka_message_status(message.ptr()) };
                    let never = status == rd_kafka_msg_status_t::RD_KAFKA_MSG_STATUS_NOT_PERSISTED;
                    let (error, code) = named(error);
                    let certain = never && !self.acks_all && code != STORAGE_ERROR;
                    say(&json!({ "id": id, "error": error, "code": code, "certain": certain }));
                }
            }
        }
    }

    /// Kafka's name and code of an error; the library's own errors have negative codes.
    fn named(error: &KafkaError) -> (String, i16) {
        let code = error.rdkafka_error_code();
        let number = code.and_then(|code: RDKafkaErrorCode| i16::try_from(code as i32).ok());
        match (code, number) {
            (Some(_), Some(number)) if number > 0 => (outcome::name(number), number),
            (Some(code), number) => (format!("{code:?}"), number.unwrap_or(-1)),
            _ => (error.to_string(), -1),
        }
    }

    /// One line at a time, whichever thread says it. Where nobody listens any more, the end of
    /// stdin says so too.
    fn say(line: &Value) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}
