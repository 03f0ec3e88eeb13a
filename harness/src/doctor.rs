//! `plimsoll doctor`: what this machine permits, step by step, and what to do
//! where it does not. It makes a real lab and lets it go again, since nothing
//! else tells for sure.

use std::io::Write;
use std::process::Command;

use plimsoll_nemesis::inject::CutTable;
use plimsoll_nemesis::lab::{self, Lab, LabPlan, Stage, Step};

use crate::exit::Exit;
use crate::trial::in_lab;

/// A line on stdout; where nobody reads it any more, the exit code still tells.
macro_rules! say {
    ($($text:tt)*) => {{
        let _closed = writeln!(std::io::stdout(), $($text)*);
    }};
}

/// Looks at everything; 0 when a lab can be made, else 3.
pub fn doctor() -> anyhow::Result<Exit> {
    if lab::stage() == Stage::Front {
        say!("user: {}", user());
        for (program, package) in [("ip", "iproute2"), ("nft", "nftables")] {
            say!("{program}: {}", program_state(program, package));
        }
        for (program, flag, wanted, package) in OPTIONAL {
            say!(
                "{program} (for {wanted}): {}",
                optional_state(program, flag, package)
            );
        }
    }
    match in_lab(inside) {
        Ok(exit) => Ok(exit),
        Err(error) => {
            if let Some(step) = error
                .downcast_ref::<lab::LabError>()
                .and_then(lab::LabError::failed_step)
            {
                print_steps_before(step);
            }
            say!("\n{error:#}");
            Ok(Exit::TestBed)
        }
    }
}

/// What only some jobs need: the program, how it tells its version, the job, Debian's package.
const OPTIONAL: [(&str, &str, &str, &str); 4] = [
    (
        "iptables",
        "-V",
        "--cut-with iptables and containers",
        "iptables",
    ),
    (
        "java",
        "-version",
        "--system kafka",
        "openjdk-17-jdk-headless",
    ),
    (
        "mvn",
        // -B: without colours.
        "-B -version",
        "--system kafka without --kafka-home",
        "maven",
    ),
    (
        "docker",
        // The engine itself, not only its command.
        "version --format {{.Server.Version}}",
        "--system compose:FILE",
        "docker.io docker-compose",
    ),
];

fn optional_state(program: &str, flag: &str, package: &str) -> String {
    match Command::new(program).args(flag.split(' ')).output() {
        Ok(output) if !output.status.success() => {
            format!("does not answer: {}", first_line(&output.stderr))
        }
        // Java tells its version on stderr.
        Ok(output) if output.stdout.is_empty() => first_line(&output.stderr),
        Ok(output) => first_line(&output.stdout),
        Err(_) => format!("not there; Debian: apt-get install {package}"),
    }
}

fn user() -> &'static str {
    if rustix::process::geteuid().is_root() {
        "root (no user namespace is needed)"
    } else {
        "not root (a user namespace is needed)"
    }
}

fn program_state(program: &str, package: &str) -> String {
    match Command::new(program).arg("-V").output() {
        Ok(output) => first_line(&output.stdout),
        Err(error) => format!("missing ({error}); Debian: apt-get install {package}"),
    }
}

fn first_line(output: &[u8]) -> String {
    String::from_utf8_lossy(output)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Steps up to the one that failed, in the order in which they are taken.
fn print_steps_before(failed: Step) {
    for step in Step::ALL {
        let state = if step == failed { "FAILED" } else { "ok" };
        say!("{state:>6}  {step}");
        if step == failed {
            return;
        }
    }
}

/// Inside the lab everything up to its pid 1 has worked already.
fn inside() -> anyhow::Result<Exit> {
    let plan = LabPlan::with_client_places(vec!["n1".to_owned(), "n2".to_owned()]);
    let made = Lab::build(&plan).and_then(|_| {
        CutTable::create().map_err(|e| lab::LabError::Refused {
            step: Step::Nft,
            program: "nft",
            said: e.to_string(),
        })
    });
    match made {
        Ok(_) => {
            for step in Step::ALL {
                say!("{:>6}  {step}", "ok");
            }
            say!("\nThe lab works here: kill, pause and partition are all possible.");
            Ok(Exit::Valid)
        }
        Err(error) => {
            error.failed_step().into_iter().for_each(print_steps_before);
            say!("\n{error}");
            Ok(Exit::TestBed)
        }
    }
}
