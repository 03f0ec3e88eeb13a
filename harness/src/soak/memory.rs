//! How much memory this process takes.

/// Resident set of this process in KiB, from /proc; 0 where it cannot be told.
pub fn own_rss_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    parse(&status).unwrap_or(0)
}

fn parse(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_takes_some_memory() {
        assert!(own_rss_kib() > 100);
        assert_eq!(parse("Name:\tx\nVmRSS:\t  1234 kB\n"), Some(1234));
        assert_eq!(parse("Name:\tx\n"), None);
    }
}
