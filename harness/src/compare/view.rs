//! A cell's numbers as every table words them, so that no two tables differ.

use serde_json::Value;

use crate::report::numbers::{count, duration_ms};

/// How a cell came out, for a mark and a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing lost, nothing forbidden.
    Kept,
    /// Lost, or otherwise at a price that the settings permit.
    Permitted,
    /// Something that the settings forbid.
    Broken,
    /// Some run could not be judged, or there was none.
    Unknown,
}

impl Fate {
    pub fn of(cell: &Value) -> Fate {
        let number = |name: &str| cell[name].as_u64().unwrap_or(0);
        if number("invalid") > 0 {
            return Fate::Broken;
        }
        if number("unknown") > 0 || number("runs") == 0 {
            return Fate::Unknown;
        }
        match number("runs_with_loss") {
            0 => Fate::Kept,
            _ => Fate::Permitted,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Fate::Kept => "kept",
            Fate::Permitted => "permitted",
            Fate::Broken => "broken",
            Fate::Unknown => "unknown",
        }
    }
}

pub fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Options of which a cell varies beyond the usual three, with their places among its values.
pub fn further_axes(axes: &[String]) -> Vec<(usize, &String)> {
    let shown = ["acks", "min-insync", "unclean-elections"];
    let axes = axes.iter().enumerate();
    axes.filter(|(_, name)| !shown.contains(&name.as_str()))
        .collect()
}

pub fn unclean(cell: &Value) -> &'static str {
    match cell["unclean_elections"] == Value::Bool(true) {
        true => "on",
        false => "off",
    }
}

/// A share in percent, with as many digits as it needs.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        _ if percent == 0.0 => "0".to_owned(),
        _ if percent >= 10.0 => format!("{percent:.1}"),
        _ if percent >= 0.1 => format!("{percent:.2}"),
        _ => format!("{percent:.3}"),
    }
}

/// "0.4 % [0.1, 0.9]", or what nothing lost is worth.
pub fn lost_share(cell: &Value) -> String {
    let share = cell["lost_share"].as_f64().unwrap_or(0.0);
    let bound = |index: usize| cell["lost_share_interval"][index].as_f64().unwrap_or(0.0);
    match cell["runs"].as_u64().unwrap_or(0) {
        0 => "no run".to_owned(),
        _ if cell["runs_with_loss"] == 0 => format!("0; {}", at_most(cell)),
        1 => format!("{} % [one run]", percent(share)),
        _ => format!(
            "{} % [{}, {}]",
            percent(share),
            percent(bound(0)),
            percent(bound(1))
        ),
    }
}

/// "at most 63 % of runs lose any".
pub fn at_most(cell: &Value) -> String {
    let bound = cell["none_of_these_runs_bound"].as_f64().unwrap_or(1.0);
    format!("at most {:.0} % of runs lose any", bound * 100.0)
}

/// "1.5 s [1.2, 1.8]", or that it cannot be measured.
pub fn outage(cell: &Value) -> String {
    let Some(mean) = cell["unavailable_ms_mean"].as_f64() else {
        return "not measurable".to_owned();
    };
    let bound = |index: usize| {
        cell["unavailable_ms_interval"][index]
            .as_f64()
            .unwrap_or(0.0)
    };
    match cell["runs"].as_u64().unwrap_or(0) {
        0 | 1 => duration_ms(mean),
        _ => format!(
            "{} [{:.1}, {:.1}]",
            duration_ms(mean),
            bound(0) / 1000.0,
            bound(1) / 1000.0
        ),
    }
}

/// A time that some runs may lack.
pub fn time(value: &Value) -> String {
    value.as_f64().map_or("none".to_owned(), duration_ms)
}

pub fn number(value: &Value) -> String {
    value.as_u64().map_or_else(|| text(value), count)
}

/// "3 valid, 2 with permitted losses", and each other kind that there is.
pub fn verdicts(cell: &Value) -> String {
    let mut kinds = Vec::new();
    for (kind, words) in [
        ("valid", "valid"),
        ("valid_with_losses", "with permitted losses"),
        ("invalid", "invalid"),
        ("unknown", "unknown"),
    ] {
        match cell[kind].as_u64() {
            None | Some(0) => {}
            Some(number) => kinds.push(format!("{} {words}", count(number))),
        }
    }
    kinds.join(", ")
}

/// Lost, or missing where no acknowledgement was asked for, and of how many.
pub fn lost_of(cell: &Value) -> (String, String) {
    match cell["unacknowledged"].as_u64().unwrap_or(0) {
        0 => (number(&cell["lost_acked"]), number(&cell["acked"])),
        sent => (
            format!("{} missing", number(&cell["missing_unacknowledged"])),
            format!("0 ({} sent)", count(sent)),
        ),
    }
}

/// Why it got no further run.
pub fn stopped(cell: &Value) -> String {
    match text(&cell["stopped"]).as_str() {
        "runs" => "all runs".to_owned(),
        other => format!("stopped: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn valid_runs_with_permitted_losses_are_said_to_have_them() {
        let cell = json!({"valid": 2, "valid_with_losses": 2, "invalid": 0, "unknown": 1});
        assert_eq!(
            verdicts(&cell),
            "2 valid, 2 with permitted losses, 1 unknown"
        );
        assert_eq!(
            verdicts(&json!({"valid": 3, "valid_with_losses": 0})),
            "3 valid"
        );
    }
}
