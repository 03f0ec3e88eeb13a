//! plimsoll: shows how much a replicated log may suffer and still keep what it
//! acknowledged. This file parses, calls, and maps the exit code.

mod bench;
mod check;
mod cli;
mod clients;
mod compare;
mod doctor;
mod exit;
mod journal;
mod report;
mod runner;
mod scenario;
mod session;
mod store;
mod systems;
mod trial;
mod workload;

use std::process::ExitCode;

use clap::Parser;
use plimsoll_nemesis::lab;

use crate::cli::{Cli, Command, Invocation};
use crate::exit::Exit;

fn main() -> ExitCode {
    if lab::stage() == lab::Stage::Init {
        return match lab::run_init() {
            Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(Exit::TestBed.code())),
            Err(error) => failed(&error.into()),
        };
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return told(&error),
    };
    match dispatch(cli.command) {
        Ok(exit) => exit.into(),
        Err(error) => match error.downcast_ref::<clap::Error>() {
            Some(usage) => told(usage),
            None => failed(&error),
        },
    }
}

fn dispatch(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Test(_) => trial::test(&Invocation::parse(&cli::words())?),
        Command::Compare(_) => compare::compare(&cli::words()),
        Command::Doctor => doctor::doctor(),
        Command::Scenario(_) => run_scenario(&cli::words()),
        Command::Bench(args) => bench::bench(&args),
        Command::Broker(args) => {
            plimsoll_broker::server::run(*args)?;
            Ok(Exit::Valid)
        }
        Command::Check(args) => Ok(check::command(&args)),
    }
}

/// A scenario is a test with faults at set times, or one that is staged.
fn run_scenario(words: &[String]) -> anyhow::Result<Exit> {
    let Some((name, rest)) = words.split_first() else {
        anyhow::bail!("a scenario has a name")
    };
    if name == scenario::isr_recovery::NAME {
        return scenario::isr_recovery::run(rest);
    }
    let words = [&["--scenario".to_owned(), name.clone()], rest].concat();
    trial::test(&Invocation::parse(&words)?)
}

/// Help and version are no errors; everything else clap says is a usage error.
fn told(error: &clap::Error) -> ExitCode {
    // A closed pipe is no reason for another code.
    let _ = error.print();
    if error.use_stderr() {
        Exit::Usage.into()
    } else {
        Exit::Valid.into()
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    eprintln!("plimsoll: {error:#}");
    Exit::TestBed.into()
}
