//! `plimsoll soak`: a suite run over and over for hours, a new seed for each
//! run. Each run is a process of its own; what passes is kept as a line, what
//! fails is kept whole within a bound. At set intervals a canary, a broker
//! with a known bug, must be caught, or the soak itself is called blind.
//!
//! Everything that the soak knows it knows from the lines of `soak.jsonl`, so
//! one that was killed goes on where it stopped.

mod args;
mod folder;
mod junit;
mod ledger;
mod memory;
mod plan;
mod record;
mod run;
mod series;
mod suite;
mod summary;
mod terms;
mod worker;

pub use args::SoakArgs;

use std::io::Write;

use anyhow::Context;

use crate::cli::{Format, usage};
use crate::exit::Exit;
use crate::report::numbers::counted;
use crate::trial::{drawn_seed, own_exe};

use self::folder::SoakFolder;
use self::ledger::Ledger;
use self::plan::Plan;
use self::record::Ending;
use self::suite::{Suite, SuiteError};
use self::terms::Terms;
use self::worker::{Soak, SoakParts};

const TERMS: &str = "soak.json";
const SUITE: &str = "suite.toml";

/// Runs a soak, or goes on with one.
pub fn soak(args: &SoakArgs) -> anyhow::Result<Exit> {
    let (folder, suite, terms) = match &args.resume {
        Some(path) => taken_up(args, path)?,
        None => begun(args)?,
    };
    let mut terms_text = serde_json::to_string_pretty(&terms)?;
    terms_text.push('\n');
    folder.replace(TERMS, &terms_text)?;
    let (records, log) = folder.records().context("reading the soak's lines")?;
    let mut ledger = Ledger::new(&suite);
    records.iter().for_each(|record| ledger.add(record));
    announce(&folder, &suite, &terms, records.len());
    let soak = Soak::new(SoakParts {
        exe: own_exe()?,
        plan: Plan::new(terms.seed, suite.cells.iter().map(|cell| cell.weight)),
        suite,
        terms,
        folder,
        ledger,
        log,
    });
    soak.run()?;
    let (ledger, text, json) = soak.into_summary();
    say!("{}", text.trim_end_matches('\n'));
    if args.format == Format::Json {
        writeln!(std::io::stdout(), "{json}").context("writing the summary to stdout")?;
    }
    Ok(exit_of(&ledger))
}

fn begun(args: &SoakArgs) -> anyhow::Result<(SoakFolder, Suite, Terms)> {
    let (suite, name, text) = Suite::load(args.suite.as_deref()).map_err(unusable)?;
    let seed = args.seed.unwrap_or_else(drawn_seed);
    let (folder, started_utc) = SoakFolder::create(&args.out, seed)
        .with_context(|| format!("making a folder for the soak in {}", args.out.display()))?;
    folder.replace(SUITE, &text)?;
    Ok((folder, suite, Terms::new(args, name, seed, started_utc)))
}

fn taken_up(args: &SoakArgs, path: &std::path::Path) -> anyhow::Result<(SoakFolder, Suite, Terms)> {
    if !path.join(TERMS).exists() {
        let why = format!(
            "--resume {}: there is no {TERMS}; give the folder that a soak has made",
            path.display()
        );
        return Err(usage(&why).into());
    }
    let folder = SoakFolder::open(path).with_context(|| format!("opening {}", path.display()))?;
    let terms: Terms = serde_json::from_str(&folder.read(TERMS)?)
        .with_context(|| format!("reading {TERMS} in {}", path.display()))?;
    let name = format!("{} of {}", terms.suite, path.display());
    let suite = Suite::parse(&name, &folder.read(SUITE)?).map_err(unusable)?;
    Ok((folder, suite, terms.again(args)))
}

/// A suite that cannot be used is a usage error.
fn unusable(error: SuiteError) -> anyhow::Error {
    usage(&error.to_string()).into()
}

fn announce(folder: &SoakFolder, suite: &Suite, terms: &Terms, lines: usize) {
    let title = match suite.title.is_empty() {
        true => String::new(),
        false => format!(" ({})", suite.title),
    };
    say!("soak: suite {}{title}", terms.suite);
    say!(
        "soak: {}, {}, seed {}, {} at a time, in {}",
        counted(suite.cells.len() as u64, "cell"),
        match suite.canaries.len() {
            1 => "1 canary".to_owned(),
            number => format!("{number} canaries"),
        },
        terms.seed,
        terms.jobs,
        folder.path().display()
    );
    if lines > 0 {
        say!("soak: goes on after {}", counted(lines as u64, "run"));
    }
}

/// Only a violation fails a soak that can see. One that is blind has its own
/// code; single failures of the test bed are counted and shown.
fn exit_of(ledger: &Ledger) -> Exit {
    if ledger.count(Ending::Invalid) > 0 {
        Exit::Violation
    } else if ledger.is_blind() {
        Exit::Blind
    } else if ledger.only_failures() {
        Exit::TestBed
    } else if ledger.lines == 0 {
        Exit::Unknown
    } else {
        Exit::Valid
    }
}

#[cfg(test)]
mod tests {
    use super::record::tests::passed;
    use super::record::{Record, Trial};
    use super::*;

    fn ledger_of(endings: &[Ending], missed: bool) -> Ledger {
        let text =
            "[[run]]\nname='a'\n[[canary]]\nbug='ignores-deposition'\nexpect='two-leaders'\n";
        let mut ledger = Ledger::new(&Suite::parse("mine", text).expect("sound"));
        for (ending, run) in endings.iter().zip(0..) {
            let ending = *ending;
            ledger.add(&Record {
                ending,
                ..passed(run, "a")
            });
        }
        if missed {
            let canary = Some(Trial {
                bug: "ignores-deposition".to_owned(),
                round: 0,
                trial: 1,
                trials_max: 1,
                caught: false,
            });
            ledger.add(&Record {
                canary,
                ..passed(0, "canary")
            });
        }
        ledger
    }

    #[test]
    fn only_violations_blindness_and_nothing_but_failures_fail_a_soak() {
        use Ending::{Invalid, PermittedLoss, TestBed, Unknown, Valid};
        for (endings, missed, exit) in [
            (
                &[Valid, PermittedLoss, Unknown, TestBed][..],
                false,
                Exit::Valid,
            ),
            (&[Valid, Invalid], false, Exit::Violation),
            (&[Valid, Invalid], true, Exit::Violation),
            (&[Valid, Unknown], true, Exit::Blind),
            (&[TestBed, TestBed], false, Exit::TestBed),
            (&[], false, Exit::Unknown),
        ] {
            assert_eq!(exit_of(&ledger_of(endings, missed)), exit, "{endings:?}");
        }
    }
}
