//! The command line: names, defaults and what may be combined. Whatever is
//! wrong here is a usage error (64) that says what to do instead.

mod invocation;
mod test_args;
mod validate;
mod values;

pub use invocation::{Invocation, option_word, test_command, usage};
pub use test_args::{Acks, CutWith, FlushPolicy, Format, TestArgs, Where};
pub use values::{Duration, parse_duration};

use clap::{Args, Parser, Subcommand};

/// Shows how much a replicated log may suffer and still keep what it acknowledged.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a cluster under faults and judge what it kept
    Test(Box<TestArgs>),
    /// Run the same workload, faults and seeds over several settings (repeat an option to vary it)
    Compare(CompareArgs),
    /// Run a suite over and over for hours, each run with a seed of its own
    Soak(crate::soak::SoakArgs),
    /// Run a scenario: a name from `harness/scenarios`, or isr-recovery
    Scenario(ScenarioArgs),
    /// Judge a stored history again
    Check(crate::check::CheckArgs),
    /// Write a history in another format, for Elle and Knossos or from them
    Convert(crate::convert::ConvertArgs),
    /// Say what this machine permits and what to do about it
    Doctor,
    /// Run one broker under test
    Broker(Box<plimsoll_broker::server::BrokerArgs>),
    /// Send records with librdkafka, as standard input says (docs/CLIENTS.md)
    #[command(hide = true)]
    Producer,
    /// Measure how many operations a second the harness can record
    #[command(hide = true)]
    Bench(BenchArgs),
}

/// Options of `compare` beside those of `test`.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct CompareArgs {
    /// Options of `test`; repeat one to make a cell for each value. Also `--runs`, `--min-runs`,
    /// `--precision`, `--budget`, `--jobs`, `--out` and `--resume` (`plimsoll compare --help`)
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "OPTIONS"
    )]
    pub rest: Vec<String>,
}

/// A scenario by name or file, with options of `test` that override its own.
#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// isr-recovery, a name from `harness/scenarios`, or a TOML file
    pub name: String,
    /// Options of `test`
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "OPTIONS"
    )]
    pub rest: Vec<String>,
}

/// How long and how wide to measure.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArgs {
    #[command(subcommand)]
    pub what: Option<BenchWhat>,
    #[arg(long, default_value_t = 5.0)]
    pub seconds: f64,
    #[arg(long, default_value_t = 64)]
    pub concurrency: usize,
}

/// What else can be measured.
#[derive(Debug, Subcommand)]
pub enum BenchWhat {
    /// Produce requests a second at real Kafka, beside kafka-clients' own producer
    Produce(crate::bench::ProduceArgs),
}

/// The words after the subcommand, as the user wrote them.
pub fn words() -> Vec<String> {
    std::env::args().skip(2).collect()
}
