//! Exit codes: one for each class of outcome, so that scripts need not read.

use std::process::ExitCode;

use plimsoll_broker::server::BrokerError;
use plimsoll_checkers::Validity;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing that the settings forbid was seen.
    Valid,
    /// A violation was found.
    Violation,
    /// It could not be told.
    Unknown,
    /// The test bed failed; this says nothing about the system under test.
    TestBed,
    /// A soak missed a bug that it must catch: what it did not find says nothing.
    Blind,
    /// The command line is wrong.
    Usage,
}

impl Exit {
    /// The outcome of a run that was judged.
    pub fn of(validity: Validity) -> Exit {
        match validity {
            Validity::Valid => Exit::Valid,
            Validity::Invalid => Exit::Violation,
            Validity::Unknown => Exit::Unknown,
        }
    }

    pub fn code(self) -> u8 {
        match self {
            Exit::Valid => 0,
            Exit::Violation => 1,
            Exit::Unknown => 2,
            Exit::TestBed => 3,
            Exit::Blind => 4,
            Exit::Usage => 64,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Says what went wrong, and gives the class that it belongs to: the command
/// line's, or the test bed's. Help and version are no errors.
pub fn explain(error: &anyhow::Error) -> Exit {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        // A closed pipe is no reason for another code.
        let _ = usage.print();
        return if usage.use_stderr() {
            Exit::Usage
        } else {
            Exit::Valid
        };
    }
    say!("plimsoll: {}", sentence(error));
    match error.downcast_ref::<BrokerError>() {
        Some(BrokerError::Usage(_)) => Exit::Usage,
        _ => Exit::TestBed,
    }
}

/// The error and its causes; errors that name their cause themselves do not have it twice.
fn sentence(error: &anyhow::Error) -> String {
    let mut causes = error.chain().map(ToString::to_string);
    let first = causes.next().unwrap_or_default();
    causes.fold(first, |said, cause| match said.ends_with(&cause) {
        true => said,
        false => format!("{said}: {cause}"),
    })
}

#[cfg(test)]
mod tests {
    use super::{BrokerError, Exit, sentence};

    #[test]
    fn a_cause_is_told_once() {
        let source = std::io::Error::other("nobody is there");
        let listen = BrokerError::Listen {
            plane: "clients",
            addr: "127.0.0.1:1".to_owned(),
            source,
        };
        let error = anyhow::Error::new(listen).context("starting the broker");
        assert_eq!(
            sentence(&error),
            "starting the broker: cannot listen on 127.0.0.1:1 for clients: nobody is there"
        );
    }

    #[test]
    fn every_class_of_outcome_has_its_own_code() {
        let all = [
            Exit::Valid,
            Exit::Violation,
            Exit::Unknown,
            Exit::TestBed,
            Exit::Blind,
            Exit::Usage,
        ];
        assert_eq!(all.map(Exit::code), [0, 1, 2, 3, 4, 64]);
    }
}
