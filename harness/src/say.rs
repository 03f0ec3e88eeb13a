//! Words for people, on stderr. Where nobody is left to read them (`... 2>&1 |
//! head -1`), the work goes on and its exit code still tells what came of it.

/// Prints a line on stderr, and does without where that is closed.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}
