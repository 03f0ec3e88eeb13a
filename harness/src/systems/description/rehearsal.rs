//! What the templates of a description come to with values such as a run
//! gives: some mistakes show only where names are filled in, and are to be
//! found before a run, with their line.

use super::template::{Template, Values};

/// What every description may use in braces, beside its own `[vars]`, each with a value such as
/// the first node of a run has. Those that may have none have none here.
pub(super) const PLACEHOLDERS: [(&str, &str); 32] = [
    ("id", "1"),
    ("name", "n1"),
    ("addr", "127.0.0.1"),
    ("first_addr", "127.0.0.1"),
    ("dir", "/nodes/n1"),
    ("data", "/nodes/n1/data"),
    ("roles", "broker,controller"),
    ("quorum", "1@127.0.0.1:9094"),
    ("bootstrap", "127.0.0.1:9092"),
    ("cluster_id", "AAAAAAAAAAAAAAAAAAAAAA"),
    ("client_port", "9092"),
    ("replication_port", "9093"),
    ("controller_port", ""),
    ("admin_port", ""),
    ("nodes", "3"),
    ("session_timeout_ms", "1500"),
    ("heartbeat_ms", "375"),
    ("replica_lag_time_max_ms", "2000"),
    ("replica_lag_max_messages", ""),
    ("min_insync", "2"),
    ("replication_factor", "3"),
    ("unclean_elections", "false"),
    ("flush", "never"),
    ("flush_messages", "1"),
    ("elr", "false"),
    ("elr_version", "0"),
    ("bug", ""),
    ("plimsoll", "/bin/plimsoll"),
    ("java", ""),
    ("kafka_libs", ""),
    ("version", ""),
    ("seed", "1"),
];
/// What is found where Kafka is needed.
const OF_KAFKA: [(&str, &str); 3] = [
    ("java", "/bin/java"),
    ("kafka_libs", "/kafka/libs/*"),
    ("version", "4.4.0"),
];

/// Values of the first node of some run, with the description's own in their order.
pub(super) fn values(vars: &[(String, Template)], needs_kafka: bool) -> Values {
    let found = OF_KAFKA.iter().filter(|_| needs_kafka);
    let known = PLACEHOLDERS.iter().chain(found);
    let mut values: Values = known
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    for (name, template) in vars {
        // One whose names are not known was refused before.
        let value = template.fill(&values).unwrap_or_default();
        values.insert(name.clone(), value);
    }
    values
}
