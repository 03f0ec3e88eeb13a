//! How a library is to send, by Kafka's own names of settings, which
//! librdkafka and kafka-clients both know.

use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The library gives a record up after this long; an op stays open meanwhile.
pub const DELIVERY_TIMEOUT_MS: u64 = 10_000;
/// A process that has not reported a record after this long never will. Beside the time-out above
/// a record may wait behind others for metadata, and machines are slow.
pub const REPORT_LIMIT_MS: u64 = 30_000;

/// What a run chooses.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    pub acks: i16,
    pub idempotent: bool,
    /// None leaves it to the library.
    pub retries: Option<u32>,
    pub request_timeout_ms: u64,
}

/// The settings, with all brokers to start from.
pub fn config(tuning: Tuning, brokers: &[SocketAddr]) -> BTreeMap<String, String> {
    let brokers: Vec<String> = brokers.iter().map(SocketAddr::to_string).collect();
    let acks = match tuning.acks {
        -1 => "all".to_owned(),
        acks => acks.to_string(),
    };
    let mut config = BTreeMap::from(
        [
            ("bootstrap.servers", brokers.join(",")),
            ("client.id", "plimsoll".to_owned()),
            ("acks", acks),
            ("enable.idempotence", tuning.idempotent.to_string()),
            // As the raw client does; the library still batches what waits for its turn.
            ("linger.ms", "0".to_owned()),
            ("compression.type", "none".to_owned()),
            ("request.timeout.ms", tuning.request_timeout_ms.to_string()),
            ("delivery.timeout.ms", DELIVERY_TIMEOUT_MS.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    );
    if let Some(retries) = tuning.retries {
        config.insert("retries".to_owned(), retries.to_string());
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_left_to_the_library_unless_they_are_given() {
        let tuning = Tuning {
            acks: -1,
            idempotent: true,
            retries: None,
            request_timeout_ms: 1500,
        };
        let brokers = ["127.0.0.1:9092", "127.0.0.2:9092"].map(|addr| addr.parse().expect(addr));
        let own = config(tuning, &brokers);
        assert_eq!(own["bootstrap.servers"], "127.0.0.1:9092,127.0.0.2:9092");
        assert_eq!((&*own["acks"], own.get("retries")), ("all", None));
        let retries = Some(3);
        let given = config(Tuning { retries, ..tuning }, &brokers);
        assert_eq!(given["retries"], "3");
    }
}
