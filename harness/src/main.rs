//! plimsoll: shows how much a replicated log may suffer and still keep what it
//! acknowledged. This file parses, calls, and maps the exit code.

#[macro_use]
mod say;

mod bench;
mod check;
mod child_run;
mod cli;
mod clients;
mod compare;
mod convert;
mod doctor;
mod evidence;
mod exit;
mod journal;
mod report;
mod runner;
mod scenario;
mod session;
mod soak;
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
    if std::env::args_os().any(|arg| arg.to_str().is_none()) {
        say!("plimsoll: the arguments must be UTF-8");
        return Exit::Usage.into();
    }
    let ended = match lab::stage() {
        // Pid 1 of a lab; it has no command line of its own.
        lab::Stage::Init => {
            return match lab::run_init() {
                Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(Exit::TestBed.code())),
                Err(error) => exit::explain(&error.into()).into(),
            };
        }
        _ => Cli::try_parse()
            .map_err(anyhow::Error::from)
            .and_then(|cli| run(cli.command)),
    };
    match ended {
        Ok(exit) => exit.into(),
        Err(error) => exit::explain(&error).into(),
    }
}

fn run(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Test(_) => trial::test(&Invocation::parse(&cli::words())?),
        Command::Compare(_) => compare::compare(&cli::words()),
        Command::Soak(args) => soak::soak(&args),
        Command::Doctor => doctor::doctor(),
        Command::Scenario(_) => scenario::run(&cli::words()),
        Command::Check(args) => Ok(check::command(&args)),
        Command::Convert(args) => Ok(convert::command(&args)),
        Command::Producer => clients::library::serve(),
        Command::Bench(args) => bench::bench(&args),
        Command::Broker(args) => {
            plimsoll_broker::server::run(*args)?;
            Ok(Exit::Valid)
        }
    }
}
