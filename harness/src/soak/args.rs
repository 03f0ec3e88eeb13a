//! The options of `plimsoll soak`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::Format;

/// Longest soak, so that sums of times stay sound.
const TIME_MAX: Duration = Duration::from_secs(366 * 24 * 3600);
pub const TIME_LIMIT_DEFAULT: Duration = Duration::from_secs(3600);
pub const MAX_DISK_DEFAULT: u64 = 2_000_000_000;

/// A suite run over and over, and what bounds it.
#[derive(Clone, Debug, Args)]
pub struct SoakArgs {
    /// What to run [default: a suite for the built-in broker that is built in]
    #[arg(value_name = "SUITE.toml")]
    pub suite: Option<PathBuf>,
    /// No run begins later than this [default: 1h]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time_limit: Option<Duration>,
    /// Runs to make at the most, canaries not counted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// Runs at a time [default: half of the cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// End at the first violation instead of going on
    #[arg(long)]
    pub stop_on_violation: bool,
    /// Bytes that what is kept may take; the oldest failing runs are thinned [default: 2GB]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub max_disk: Option<u64>,
    /// A run that takes longer has failed [default: its own limits and two minutes]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub run_limit: Option<Duration>,
    /// Seed of the order of runs and of every run's seed [default: drawn and printed]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Where the soak's folder is made
    #[arg(long, default_value = "results")]
    pub out: PathBuf,
    /// Go on with the soak of this folder where it stopped
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["suite", "seed", "out"])]
    pub resume: Option<PathBuf>,
    #[arg(long, value_enum, default_value = "human")]
    pub format: Format,
}

/// Half of the cores: a run keeps a cluster and its clients busy.
pub fn default_jobs() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (cores / 2).max(1)
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let hint = "write 90, 90s, 30m, 8h or 2d";
    let time = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|e| format!("{e}; {hint}"))?,
        Err(_) => humantime::parse_duration(text).map_err(|e| format!("{e}; {hint}"))?,
    };
    if time < Duration::from_millis(100) || time > TIME_MAX {
        return Err(format!("a time from 0.1 s to a year; {hint}"));
    }
    Ok(time)
}

/// Reads `500000000`, `500MB`, `2GB`, `1.5 GiB`.
fn parse_bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 9] = [
        ("", 1.0),
        ("B", 1.0),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KIB", 1024.0),
        ("MIB", 1_048_576.0),
        ("GIB", 1_073_741_824.0),
    ];
    let hint = || format!("\"{text}\" is no size; write 500MB, 2GB or 1.5GiB");
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let unit = unit.trim().to_ascii_uppercase();
    let (_, scale) = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(hint)?;
    let bytes = number.parse::<f64>().map_err(|_| hint())? * scale;
    if !(1e6..=1e15).contains(&bytes) {
        return Err("a size from 1MB to 1000TB".to_owned());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1e6 and 1e15"
    )]
    let bytes = bytes as u64;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_with_units_and_nonsense_is_refused() {
        assert_eq!(parse_bytes("2GB"), Ok(2_000_000_000));
        assert_eq!(parse_bytes("1.5 MiB"), Ok(1_572_864));
        assert_eq!(parse_bytes("5000000"), Ok(5_000_000));
        for text in ["", "GB", "-1GB", "2 parsecs", "10", "1..2MB"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_soak_may_last_for_days_but_not_for_ever() {
        assert_eq!(parse_time("8h"), Ok(Duration::from_secs(8 * 3600)));
        assert_eq!(parse_time("90"), Ok(Duration::from_secs(90)));
        for text in ["", "0", "-3", "NaN", "1e300", "soon", "800d"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
