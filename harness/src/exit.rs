//! Exit codes: one for each class of outcome, so that scripts need not read.

use std::process::ExitCode;

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
            Exit::Usage => 64,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn every_class_of_outcome_has_its_own_code() {
        let all = [
            Exit::Valid,
            Exit::Violation,
            Exit::Unknown,
            Exit::TestBed,
            Exit::Usage,
        ];
        assert_eq!(all.map(Exit::code), [0, 1, 2, 3, 64]);
    }
}
