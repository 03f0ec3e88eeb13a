//! Where a run was made: what a reader needs to weigh its times.

use std::fs;

/// Facts about this program and this machine, in reading order; what cannot be found out is left out.
pub fn of_this_machine() -> Vec<(String, String)> {
    let profile = match cfg!(debug_assertions) {
        true => "debug build",
        false => "release build",
    };
    let cpus = std::thread::available_parallelism().map(|cpus| match cpus.get() {
        1 => "1 core".to_owned(),
        cpus => format!("{cpus} cores"),
    });
    let kernel = first_line("/proc/sys/kernel/osrelease").map(|release| format!("Linux {release}"));
    let facts = [
        (
            "plimsoll",
            Some(format!("{}, {profile}", env!("CARGO_PKG_VERSION"))),
        ),
        ("kernel", kernel),
        ("processors", cpus.ok()),
        ("memory", memory()),
        ("load", first_line("/proc/loadavg").map(load)),
        (
            "clock",
            Some("monotonic, one for all nodes and clients".to_owned()),
        ),
    ];
    let known = facts.into_iter();
    known
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

fn first_line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().next().map(str::to_owned)
}

fn memory() -> Option<String> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = total.split_whitespace().next()?.parse().ok()?;
    Some(format!("{:.1} GiB", kib as f64 / f64::from(1 << 20)))
}

/// The averages alone: other programs' work makes times longer.
fn load(line: String) -> String {
    let averages: Vec<&str> = line.split(' ').take(3).collect();
    format!("{} (1, 5, 15 min)", averages.join(" "))
}
