//! The verdict in plain words: one sentence, and why.

use plimsoll_checkers::promise::{Acks, Promise};
use plimsoll_checkers::{Validity, Verdict};

use super::numbers::{count, counted};

/// What the outcome means for the promise; each has a shape of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was found.
    Kept,
    /// Something was found, and it is a known price of the settings.
    Permitted,
    /// Something was found that the settings forbid.
    Broken,
    /// It cannot be told.
    Unknown,
}

/// A verdict for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    pub outcome: Outcome,
    /// A word or two.
    pub tag: &'static str,
    /// The number that the sentence begins with, if one is lost.
    pub lost: Option<String>,
    /// The sentence, or what follows that number.
    pub sentence: String,
    /// The second sentence, if there is more to say.
    pub why: String,
}

impl Headline {
    /// The whole sentence.
    pub fn text(&self) -> String {
        match &self.lost {
            Some(lost) => format!("{lost} {}", self.sentence),
            None => self.sentence.clone(),
        }
    }
}

/// Puts a verdict into words.
pub fn headline(verdict: &Verdict) -> Headline {
    match verdict.valid {
        Validity::Invalid => broken(verdict),
        Validity::Unknown => unknown(verdict),
        Validity::Valid if verdict.permitted.is_empty() => kept(verdict),
        Validity::Valid => permitted(verdict),
    }
}

fn lost_of_acked(verdict: &Verdict) -> Option<String> {
    let measures = &verdict.measures;
    let text = format!(
        "{} of {}",
        count(measures.lost_acked),
        count(measures.acked)
    );
    (measures.lost_acked > 0).then_some(text)
}

fn are_gone(verdict: &Verdict) -> &'static str {
    match verdict.measures.lost_acked {
        1 => "acknowledged records is gone.",
        _ => "acknowledged records are gone.",
    }
}

fn broken(verdict: &Verdict) -> Headline {
    let lost = lost_of_acked(verdict).filter(|_| verdict.violations.contains(&"lost-write"));
    let first = verdict.anomalies.iter().find(|one| !one.permitted);
    let why = first.map_or(String::new(), |one| one.finding.sentence.clone());
    let sentence = match lost {
        Some(_) => format!("{} {}", are_gone(verdict), forbids(&verdict.promise)),
        None => format!("The log broke its promise: {}.", violations(verdict)),
    };
    Headline {
        outcome: Outcome::Broken,
        tag: "Invalid",
        lost,
        sentence,
        why,
    }
}

fn violations(verdict: &Verdict) -> String {
    let names: Vec<String> = verdict
        .looked_for
        .iter()
        .filter(|one| one.violations > 0)
        .map(|one| format!("{} ({})", one.anomaly, count(one.violations)))
        .collect();
    names.join(", ")
}

fn permitted(verdict: &Verdict) -> Headline {
    let lost = lost_of_acked(verdict);
    let price = verdict.anomalies.iter().find(|one| one.permitted);
    let because = price.and_then(|one| one.because.clone());
    let sentence = match lost {
        Some(_) => format!("{} {}", are_gone(verdict), permits(&verdict.promise)),
        None => format!(
            "Seen and permitted by the settings: {}.",
            verdict.permitted.join(", ")
        ),
    };
    Headline {
        outcome: Outcome::Permitted,
        tag: match lost {
            Some(_) => "Loss, permitted",
            None => "Valid, at a known price",
        },
        lost,
        sentence,
        why: because.map_or(String::new(), |because| sentence_of(&because)),
    }
}

fn kept(verdict: &Verdict) -> Headline {
    let measures = &verdict.measures;
    let sentence = match measures.acked {
        0 => format!(
            "Nothing was acknowledged; {} sent without an answer are missing.",
            counted(measures.missing_unacknowledged, "record")
        ),
        1 => "The one acknowledged record is there.".to_owned(),
        acked => format!("All {} acknowledged records are there.", count(acked)),
    };
    let why = match measures.faults {
        0 => "No fault was injected, so this says little.".to_owned(),
        faults => format!(
            "{} took hold, {} while one was on.",
            match faults {
                1 => "1 fault".to_owned(),
                faults => format!("{} faults", count(faults)),
            },
            counted(measures.acks_in_fault_windows, "acknowledgement"),
        ),
    };
    Headline {
        outcome: Outcome::Kept,
        tag: "Valid",
        lost: None,
        sentence,
        why,
    }
}

fn unknown(verdict: &Verdict) -> Headline {
    let reason = verdict.reason.clone().unwrap_or_default();
    Headline {
        outcome: Outcome::Unknown,
        tag: "Unknown",
        lost: None,
        sentence: "It cannot be told whether the promise was kept.".to_owned(),
        why: sentence_of(&reason),
    }
}

fn permits(promise: &Promise) -> String {
    match cause(promise) {
        Some(cause) => format!("{cause} permits this."),
        None => "The settings permit this.".to_owned(),
    }
}

fn forbids(promise: &Promise) -> String {
    match (&promise.settings, promise.strict) {
        (Some(_), true) => "Every loss counts, as --strict asks.".to_owned(),
        (None, true) => "Every loss counts, since no settings are known.".to_owned(),
        (Some(settings), false) => format!("acks={} forbids this.", settings.acks),
        (None, false) => "No promise permits this.".to_owned(),
    }
}

/// The setting that a loss is the price of.
fn cause(promise: &Promise) -> Option<&'static str> {
    let settings = promise.settings.as_ref()?;
    if settings.unclean_elections {
        return Some("Unclean leader election");
    }
    match settings.acks {
        Acks::Leader => Some("acks=1"),
        Acks::None => Some("acks=0"),
        Acks::All if promise.classes.disk => Some("A disk fault"),
        Acks::All => None,
    }
}

/// A clause as a sentence. The name of a setting keeps its spelling.
fn sentence_of(clause: &str) -> String {
    let mut letters = clause.chars();
    let first_word = clause.split(' ').next().unwrap_or("");
    let mut sentence = match letters.next() {
        Some(first) if !first_word.contains(['=', '-']) => {
            first.to_uppercase().to_string() + letters.as_str()
        }
        _ => clause.to_owned(),
    };
    if !sentence.is_empty() && !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}
