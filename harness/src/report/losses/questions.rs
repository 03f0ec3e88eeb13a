//! The questions that people ask of such a log, answered as far as this run bears it out. What a run
//! did not try is left out; one run that lost nothing proves no absence.

use plimsoll_checkers::promise::{Acks, Settings};
use plimsoll_checkers::{Measures, Verdict};
use serde::Serialize;

use super::LossReport;
use crate::report::numbers::{count, counted, duration_ms, share};

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    pub question: &'static str,
    pub answer: String,
}

/// What this run can say something to.
pub fn answers(verdict: &Verdict, losses: &LossReport) -> Vec<Answer> {
    let Some(settings) = &verdict.promise.settings else {
        return Vec::new();
    };
    let run = Run {
        settings,
        measures: &verdict.measures,
        verdict,
        losses,
    };
    let asked: [(&'static str, Option<String>); 6] = [
        ("Does acks=all mean all?", run.acks_all()),
        (
            "Is min.insync.replicas=1 safe with three replicas?",
            run.min_insync_one(),
        ),
        ("Does idempotence survive a fail-over?", run.idempotence()),
        ("What does unclean election buy?", run.unclean()),
        ("Are rolling restarts safe?", run.restarts()),
        ("A success callback, and yet missing?", run.missing()),
    ];
    let answered = asked
        .into_iter()
        .filter_map(|(question, answer)| answer.map(|answer| Answer { question, answer }));
    answered.collect()
}

struct Run<'a> {
    settings: &'a Settings,
    measures: &'a Measures,
    verdict: &'a Verdict,
    losses: &'a LossReport,
}

impl Run<'_> {
    /// "0 of 5,000 acknowledged records were lost under 4 faults".
    fn lost(&self) -> String {
        let measures = self.measures;
        let unread = match measures.unverified {
            0 => String::new(),
            unverified => format!(" ({} were read by nobody)", count(unverified)),
        };
        format!(
            "{} of {} acknowledged records lost under {}{unread}",
            count(measures.lost_acked),
            count(measures.acked),
            counted(measures.faults, "fault")
        )
    }

    fn acks_all(&self) -> Option<String> {
        if self.settings.acks != Acks::All || self.measures.acked == 0 {
            return None;
        }
        let factor = usize::from(self.settings.replication_factor);
        let meant = match self.losses.smallest_isr {
            Some(size) if size < factor => format!(
                "It means all in-sync replicas, and a leader was seen with {size} of {factor} in sync, \
                 where min.insync.replicas={} bounds what is accepted",
                self.settings.min_insync
            ),
            Some(_) => format!("All {factor} replicas were in sync whenever the monitor looked"),
            None => "The in-sync sets were not watched".to_owned(),
        };
        Some(format!("{meant}. This run: {}.", self.lost()))
    }

    fn min_insync_one(&self) -> Option<String> {
        let asked = self.settings.acks == Acks::All
            && self.settings.min_insync == 1
            && self.settings.replication_factor >= 3;
        if !asked || self.measures.acked == 0 {
            return None;
        }
        let alone = match self.losses.smallest_isr {
            Some(1) => "an acknowledgement stood on one replica alone at times",
            Some(_) => {
                "the in-sync set was never seen to shrink to one, so this run did not try it"
            }
            None => "the in-sync sets were not watched",
        };
        let elections = match self.settings.unclean_elections {
            true => "with unclean elections allowed",
            false => "with clean elections only",
        };
        Some(format!("{}, {elections}; {alone}.", capital(&self.lost())))
    }

    fn idempotence(&self) -> Option<String> {
        if !self.settings.idempotent {
            return None;
        }
        let changes = counted(self.measures.leader_changes, "change");
        let retries = match self.settings.retries {
            0 => " No send was ever tried again, so this run says nothing.",
            _ => "",
        };
        Some(format!(
            "{} over {changes} of leader.{retries}",
            capital(&counted(self.measures.duplicates, "duplicate"))
        ))
    }

    fn unclean(&self) -> Option<String> {
        if !self.settings.unclean_elections {
            return None;
        }
        let outage = match self.losses.writes_measurable {
            true => format!(
                "the worst partition acknowledged nothing for {}",
                duration_ms(self.measures.unavailable_ms as f64)
            ),
            false => "an outage of writes cannot be measured with acks=0".to_owned(),
        };
        Some(format!(
            "The price here: {}; {outage}. What it bought shows only beside a run without it: \
             plimsoll compare --unclean-elections --unclean-elections=false.",
            self.lost()
        ))
    }

    fn restarts(&self) -> Option<String> {
        let restarts = self.losses.recoveries.iter();
        let restarts: Vec<_> = restarts.filter(|one| one.fault == "shutdown").collect();
        if restarts.is_empty() {
            return None;
        }
        let lost: u64 = restarts.iter().map(|one| one.all_lost()).sum();
        let outage = restarts
            .iter()
            .map(|one| one.unavailable_ms)
            .max()
            .unwrap_or(0);
        Some(format!(
            "{}: {} lost around them; at worst a partition acknowledged nothing for {} during one.",
            capital(&counted(restarts.len() as u64, "controlled shutdown")),
            counted(lost, "acknowledged record"),
            duration_ms(outage as f64)
        ))
    }

    fn missing(&self) -> Option<String> {
        let measures = self.measures;
        if measures.unacknowledged > 0 {
            return Some(format!(
                "With acks=0 success means that the request left: {} of {} sends are missing.",
                count(measures.missing_unacknowledged),
                count(measures.unacknowledged)
            ));
        }
        if measures.acked == 0 {
            return None;
        }
        if measures.lost_acked == 0 {
            return Some(format!("Not in this run: {}.", self.lost()));
        }
        let stages = self.losses.stages.iter();
        let stages: Vec<String> = stages
            .map(|(stage, number)| format!("{} {}", count(*number), stage.words()))
            .collect();
        let allowed = match self.verdict.violations.contains(&"lost-write") {
            true => "and the settings forbid it",
            false => "and the settings permit it",
        };
        Some(format!(
            "Yes: {} of {} ({}), {allowed}. By stage: {}.",
            count(measures.lost_acked),
            count(measures.acked),
            share(measures.lost_acked, measures.acked),
            stages.join(", ")
        ))
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
