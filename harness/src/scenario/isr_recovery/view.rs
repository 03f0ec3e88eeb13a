//! One replica as its admin port shows it, and the table that is printed at
//! each step.

use serde::Deserialize;
use tabled::builder::Builder;
use tabled::settings::Style;

use crate::session::NodeReport;

/// One record of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct LogRecord {
    pub offset: i64,
    pub epoch: i32,
    pub value: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct LogReport {
    pub records: Vec<LogRecord>,
}

/// One replica at one moment; none of it is known of a node that is down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replica {
    pub letter: char,
    pub node: String,
    pub up: bool,
    pub leads: bool,
    pub leader_epoch: i32,
    /// The values, m1 for 1 and so on.
    pub log: Vec<i64>,
    pub leo: i64,
    pub hw: i64,
    /// The ISR in letters, sorted.
    pub isr: String,
}

impl Replica {
    pub fn down(letter: char, node: &str) -> Replica {
        Replica {
            letter,
            node: node.to_owned(),
            ..Replica::default()
        }
    }

    /// Puts what a node says into the story's words.
    pub fn seen(
        letter: char,
        node: &str,
        report: &NodeReport,
        log: &LogReport,
        letter_of: impl Fn(i32) -> char,
    ) -> Option<Replica> {
        let replica = report.partitions.first()?;
        let mut isr: Vec<char> = replica.isr.iter().map(|id| letter_of(*id)).collect();
        isr.sort_unstable();
        Some(Replica {
            letter,
            node: node.to_owned(),
            up: true,
            leads: replica.role == "leader",
            leader_epoch: replica.leader_epoch,
            log: log
                .records
                .iter()
                .filter_map(|record| record.value.parse().ok())
                .collect(),
            leo: replica.leo,
            hw: replica.hw,
            isr: isr.into_iter().collect(),
        })
    }
}

/// The replicas as a table.
pub fn table(replicas: &[Replica]) -> String {
    let mut builder = Builder::default();
    builder.push_record(["replica", "role", "epoch", "log", "LEO", "HW", "ISR"]);
    for replica in replicas {
        let name = format!("{} ({})", replica.letter, replica.node);
        if !replica.up {
            builder.push_record([name.as_str(), "down", "", "", "", "", ""]);
            continue;
        }
        let log: Vec<String> = replica
            .log
            .iter()
            .map(|value| format!("m{value}"))
            .collect();
        let role = if replica.leads { "leader" } else { "follower" };
        builder.push_record([
            name,
            role.to_owned(),
            replica.leader_epoch.to_string(),
            log.join(" "),
            replica.leo.to_string(),
            replica.hw.to_string(),
            format!(
                "{{{}}}",
                replica
                    .isr
                    .chars()
                    .map(String::from)
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        ]);
    }
    builder.build().with(Style::sharp()).to_string()
}
