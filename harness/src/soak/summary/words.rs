//! Numbers and sentences as a summary shows them.

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

pub(super) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", ratio(bytes, 1_000_000))
}

pub(super) fn loud(count: u64) -> String {
    match count {
        0 => "0".to_owned(),
        count => format!("**{count}**"),
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
