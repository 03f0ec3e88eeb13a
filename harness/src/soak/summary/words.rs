//! Numbers and sentences as a summary shows them.

use crate::report::numbers::{count, counted};

/// Longest finding that is shown.
const FINDING_CHARS_MAX: usize = 300;

#[expect(clippy::cast_precision_loss, reason = "counts for display")]
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

pub(super) fn seconds(ms: u64) -> f64 {
    ratio(ms, 1000)
}

pub(super) fn mib_of_kib(kib: u64) -> String {
    format!("{:.1} MiB", ratio(kib, 1024))
}

/// Bytes in a unit that fits, as an option would be given them.
pub(super) fn bytes(bytes: u64) -> String {
    let (number, unit) = match bytes {
        0..1_000_000_000 => (ratio(bytes, 1_000_000), "MB"),
        _ => (ratio(bytes, 1_000_000_000), "GB"),
    };
    let number = format!("{number:.1}");
    format!("{} {unit}", number.trim_end_matches(".0"))
}

/// "1 cell has", "2 cells have".
pub(super) fn have(number: u64, thing: &str) -> String {
    let verb = if number == 1 { "has" } else { "have" };
    format!("{} {verb}", counted(number, thing))
}

pub(super) fn loud(number: u64) -> String {
    match number {
        0 => "0".to_owned(),
        number => format!("**{}**", count(number)),
    }
}

pub(super) fn duration(ms: u64) -> String {
    let whole = std::time::Duration::from_secs(ms / 1000);
    humantime::format_duration(whole).to_string()
}

/// Text that cannot end a table's cell or a line.
pub(super) fn cell_text(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    plain.replace('|', "\\|").replace('<', "&lt;")
}

pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(FINDING_CHARS_MAX) {
        None => text.to_owned(),
        Some((at, _)) => format!("{} ...", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_as_they_would_be_asked_for() {
        assert_eq!(bytes(2_000_000_000), "2 GB");
        assert_eq!(bytes(1_540_000_000), "1.5 GB");
        assert_eq!(bytes(123_456_789), "123.5 MB");
        assert_eq!(bytes(0), "0 MB");
    }
}
