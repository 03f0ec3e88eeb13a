//! The way into the lab: the same command line is run again inside it.

use std::path::PathBuf;

use anyhow::Context;
use plimsoll_nemesis::lab::{Launch, Stage, launch, stage};

use crate::exit::Exit;

/// This program's own path, which is also the broker's.
pub fn own_exe() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("finding this program's own path")
}

/// Does the work inside a lab; outside, makes the lab and waits for it.
pub fn in_lab(work: impl FnOnce() -> anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    if stage() == Stage::Runner {
        return work();
    }
    let args = std::env::args_os().skip(1).collect();
    let code = launch(&Launch {
        exe: own_exe()?,
        args,
    })?;
    let known = [
        Exit::Valid,
        Exit::Violation,
        Exit::Unknown,
        Exit::TestBed,
        Exit::Usage,
    ];
    let exit = known
        .into_iter()
        .find(|exit| i32::from(exit.code()) == code);
    exit.with_context(|| format!("the lab's runner ended with the unknown code {code}"))
}
