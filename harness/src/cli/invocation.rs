//! From words to a checked invocation of `test`: a scenario's options are
//! defaults, what the user wrote wins, and conflicts are usage errors.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use plimsoll_nemesis::faults::FaultKind;

use super::test_args::{TestArgs, Where};
use crate::scenario::{self, Scenario, Stage};
use crate::session::key;
use crate::systems::{Layout, SystemChoice};
use crate::workload::Placement;

/// One checked invocation of `test`.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub args: TestArgs,
    pub scenario: Option<Scenario>,
    /// The options as the user wrote them, for the command that repeats a run.
    pub words: Vec<String>,
}

/// The command whose options `test` has.
pub fn test_command() -> Command {
    let called = std::env::args().nth(1).unwrap_or_default();
    let command = Command::new("plimsoll test")
        .override_usage(usage_of(&called))
        .no_binary_name(true)
        .max_term_width(100);
    TestArgs::augment_args(command)
}

/// How the subcommand that was called is used: others than `test` have its options too, and a
/// mistake in them ends with their own usage.
fn usage_of(called: &str) -> &'static str {
    match called {
        "compare" => "plimsoll compare [OPTIONS]",
        "soak" => "plimsoll soak [OPTIONS] [SUITE.toml]",
        "scenario" => "plimsoll scenario <NAME> [OPTIONS]",
        _ => "plimsoll test [OPTIONS]",
    }
}

impl Invocation {
    pub fn parse(words: &[String]) -> Result<Invocation, clap::Error> {
        let matches = test_command().try_get_matches_from(words)?;
        let args = TestArgs::from_arg_matches(&matches)?;
        let Some(path) = &args.scenario else {
            return checked(matches, args, None, words);
        };
        let mut found = scenario::find(path).map_err(|e| usage(&e.to_string()))?;
        let mut merged: Vec<String> = found
            .options
            .iter()
            .filter(|(name, _)| !was_given(&matches, name))
            .filter_map(|(name, value)| option_word(name, value))
            .collect();
        merged.extend_from_slice(words);
        let matches = test_command().try_get_matches_from(&merged)?;
        let args = TestArgs::from_arg_matches(&matches)?;
        found.name_partitions(&args.topic);
        checked(matches, args, Some(found), words)
    }
}

/// Flags take no value in clap's eyes; in a scenario they are true or false.
pub fn option_word(name: &str, value: &str) -> Option<String> {
    let is_flag = test_command()
        .get_arguments()
        .any(|arg| arg.get_long() == Some(name) && !arg.get_action().takes_values());
    match (is_flag, value) {
        (true, "false") => None,
        (true, _) => Some(format!("--{name}")),
        (false, value) => Some(format!("--{name}={value}")),
    }
}

fn was_given(matches: &ArgMatches, option: &str) -> bool {
    let command = test_command();
    let arg = command
        .get_arguments()
        .find(|arg| arg.get_long() == Some(option));
    arg.is_some_and(|arg| {
        matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
    })
}

fn checked(
    matches: ArgMatches,
    mut args: TestArgs,
    scenario: Option<Scenario>,
    words: &[String],
) -> Result<Invocation, clap::Error> {
    if let Some(conflict) = args.conflict(was_given(&matches, "faults")) {
        return Err(usage(&conflict));
    }
    if let Err(error) = args.system.description() {
        return Err(usage(&error.to_string()));
    }
    if matches!(args.system, SystemChoice::Compose(_)) {
        if was_given(&matches, "clients") && args.clients != Placement::Everywhere {
            return Err(usage(
                "clients of a compose cluster live outside of it; leave --clients out",
            ));
        }
        args.clients = Placement::Everywhere;
    }
    if args.place == Where::Local {
        args.faults.0.retain(|kind| *kind != FaultKind::Partition);
        let cuts = |s: &Scenario| {
            s.faults
                .iter()
                .any(|f| f.fault.kind() == FaultKind::Partition)
        };
        if scenario.as_ref().is_some_and(cuts) {
            return Err(usage(
                "this scenario cuts the network, which needs --where lab",
            ));
        }
    }
    if let Some(why) = scenario.as_ref().and_then(|it| it.misfit(&stage(&args))) {
        return Err(usage(&why));
    }
    Ok(Invocation {
        args,
        scenario,
        words: words.to_vec(),
    })
}

fn stage(args: &TestArgs) -> Stage {
    // The nodes of containers are named by their file.
    let known = !matches!(args.system, SystemChoice::Compose(_));
    let layout = || Layout::new(args.nodes, args.controllers);
    let names = |layout: Layout| layout.nodes.into_iter().map(|node| node.name).collect();
    Stage {
        nodes: known.then(layout).map(names),
        partitions: (0..i32::from(args.partitions))
            .map(|partition| key(&args.topic, partition))
            .collect(),
        replication_factor: args.replication_factor,
        time_limit_ms: args.time_limit.ms,
    }
}

/// A usage error with a sentence of our own.
pub fn usage(message: &str) -> clap::Error {
    test_command().error(ErrorKind::ValueValidation, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Invocation, clap::Error> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Invocation::parse(&words)
    }

    #[test]
    fn the_defaults_are_acks_all_and_two_in_sync() {
        let args = parse("").expect("no options are needed").args;
        assert_eq!(
            (args.acks.wire(), args.min_insync(), args.nodes),
            (-1, 2, 3)
        );
        assert_eq!(
            (args.session_timeout.ms, args.replica_lag_time_max.ms),
            (1500, 2000)
        );
        assert_eq!(args.time_limit.ms, 30_000);
    }

    #[test]
    fn what_the_user_wrote_wins_over_the_scenario() {
        let name = "--scenario followers-cut-leader-lost";
        assert_eq!(parse(name).expect("known").args.min_insync, Some(1));
        let given = parse(&format!("{name} --min-insync 2")).expect("known");
        assert_eq!((given.args.min_insync, given.args.partitions), (Some(2), 1));
    }

    #[test]
    fn unclean_elections_may_be_a_flag_or_have_a_value() {
        assert!(
            parse("--unclean-elections")
                .expect("a flag")
                .args
                .unclean_elections
        );
        assert!(
            !parse("--unclean-elections=false")
                .expect("a value")
                .args
                .unclean_elections
        );
    }

    #[test]
    fn conflicts_say_what_to_do() {
        for (line, hint) in [
            ("--replication-factor 4", "larger than available brokers: 3"),
            ("--min-insync 3 --replication-factor 2", "lower the one"),
            ("--where local --faults partition", "--where lab"),
            ("--acks 1 --idempotent", "--acks all"),
            (
                "--client java --idempotent --retries 0",
                "leave --retries out",
            ),
            ("--client java --settle-limit 5", "20 s or more"),
            ("--client sarama", "exec:COMMAND"),
            ("--time-limit 0", "--time-limit"),
            ("--faults earthquake", "kill, pause, partition"),
            ("--scenario nowhere.toml", "built in are"),
            ("--system nowhere.toml", "nowhere.toml"),
            ("--system kafka:3.9.0", "4.0.0 or later"),
            ("--lost-nodes 2", "raise --nodes"),
            ("--nodes 5 --lost-nodes 2", "lower --min-insync"),
            ("--where local --cut-with iptables", "leave --cut-with out"),
            ("--topic a/b", "letters"),
            (
                "--scenario leader-alone-then-cut-off --time-limit 5",
                "raise --time-limit",
            ),
        ] {
            let error = parse(line).expect_err(line).to_string();
            assert!(error.contains(hint), "{line}: {error}");
        }
    }
}
