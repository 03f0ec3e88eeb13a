//! Values as people write them. A number without a unit is seconds.

use std::fmt;

/// A length of time in whole milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration {
    pub ms: u64,
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ms.is_multiple_of(1000) {
            write!(f, "{}s", self.ms / 1000)
        } else {
            write!(f, "{}ms", self.ms)
        }
    }
}

/// Reads `30`, `1.5`, `1500ms`, `2s`, `1m`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let bare: Result<f64, _> = text.parse();
    let millis = match bare {
        Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => (seconds * 1000.0).round(),
        Ok(_) => return Err("a time is a finite number, not below zero".to_owned()),
        Err(_) => {
            let parsed = humantime::parse_duration(text)
                .map_err(|e| format!("{e}; write 30, 30s, 1500ms or 2m"))?;
            parsed.as_secs_f64() * 1000.0
        }
    };
    if millis > 86_400_000.0 {
        return Err("more than a day; write 30, 30s, 1500ms or 2m".to_owned());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between zero and a day of milliseconds"
    )]
    let ms = millis.round() as u64;
    Ok(Duration { ms })
}

/// Operations a second.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text
        .parse()
        .map_err(|_| "a number of operations a second".to_owned())?;
    if rate.is_finite() && (0.1..=1_000_000.0).contains(&rate) {
        return Ok(rate);
    }
    Err("between 0.1 and 1000000 operations a second".to_owned())
}

/// A topic's name, as Kafka allows it; short enough for a folder's name with a partition's number.
pub fn parse_topic(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let fits = (1..=200).contains(&text.len()) && text.chars().all(plain);
    match fits && text != "." && text != ".." {
        true => Ok(text.to_owned()),
        false => Err("1 to 200 letters, digits, '.', '_' and '-'".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_without_a_unit_is_seconds() {
        let ms = |text: &str| parse_duration(text).map(|d| d.ms);
        assert_eq!(ms("30"), Ok(30_000));
        assert_eq!(ms("1.5"), Ok(1500));
        assert_eq!(ms("1500ms"), Ok(1500));
        assert_eq!(ms("2m"), Ok(120_000));
    }

    #[test]
    fn nonsense_is_refused_with_an_example() {
        for text in ["", "-1", "soon", "NaN", "1e9", "10 fortnights"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
