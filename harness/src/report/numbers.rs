//! Numbers as a person reads them.

/// With a comma at every third digit.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count of things: "1 record", "2 records".
pub fn counted(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{} {thing}s", count(number)),
    }
}

/// A share in percent; never 100 or 0 unless it is so.
pub fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "none".to_owned();
    }
    let percent = part as f64 / whole as f64 * 100.0;
    if part < whole && percent > 99.9 {
        return "over 99.9 %".to_owned();
    }
    if part > 0 && percent < 0.1 {
        return "under 0.1 %".to_owned();
    }
    format!("{percent:.1} %")
}

/// The middle of numbers in order; of two in the middle their mean.
pub fn median(ordered: &[u64]) -> Option<u64> {
    let half = ordered.len() / 2;
    let upper = *ordered.get(half)?;
    match ordered.len() % 2 {
        1 => Some(upper),
        _ => Some(ordered.get(half.checked_sub(1)?)?.midpoint(upper)),
    }
}

/// Milliseconds with a unit that fits.
pub fn duration_ms(ms: f64) -> String {
    match ms {
        _ if ms >= 100_000.0 => format!("{:.0} s", ms / 1000.0),
        _ if ms >= 1000.0 => format!("{:.1} s", ms / 1000.0),
        _ if ms >= 10.0 => format!("{ms:.0} ms"),
        _ if ms == 0.0 => "0".to_owned(),
        _ => format!("{ms:.1} ms"),
    }
}

/// A moment of the run in seconds, to the millisecond.
pub fn at(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e9)
}

/// A moment of the run in seconds, to a tenth.
pub fn about(ns: u64) -> String {
    format!("{:.1} s", ns as f64 / 1e9)
}

/// Bytes in a unit that fits.
pub fn size(bytes: u64) -> String {
    let kib = bytes as f64 / 1024.0;
    match bytes {
        0..=1023 => format!("{bytes} B"),
        1024..=1_048_575 => format!("{kib:.0} KiB"),
        1_048_576..=1_073_741_823 => format!("{:.1} MiB", kib / 1024.0),
        _ => format!("{:.1} GiB", kib / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_get_commas_and_durations_get_units() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_007), "1,007");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(duration_ms(1.72), "1.7 ms");
        assert_eq!(duration_ms(29.4), "29 ms");
        assert_eq!(duration_ms(3_512.0), "3.5 s");
        assert_eq!(at(6_090_000_000), "6.090");
    }

    #[test]
    fn sizes_have_the_unit_that_fits() {
        assert_eq!(size(900), "900 B");
        assert_eq!(size(200_000), "195 KiB");
        assert_eq!(size(5_000_000), "4.8 MiB");
        assert_eq!(size(3 << 30), "3.0 GiB");
    }

    #[test]
    fn a_median_is_the_middle_or_the_mean_of_the_two_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3]), Some(3));
        assert_eq!(median(&[2, 6]), Some(4));
        assert_eq!(median(&[1, 2, 9]), Some(2));
    }

    #[test]
    fn a_share_never_rounds_to_all_or_nothing() {
        assert_eq!(share(520, 987), "52.7 %");
        assert_eq!(share(999_999, 1_000_000), "over 99.9 %");
        assert_eq!(share(1, 1_000_000), "under 0.1 %");
        assert_eq!(share(5, 5), "100.0 %");
        assert_eq!(share(0, 0), "none");
    }
}
