//! Shapes that say what became of the promise, so that colour is not needed.

use crate::report::headline::Outcome;

const KEPT: &str = r#"<circle cx="8" cy="8" r="6" fill="currentColor"/>"#;
const PERMITTED: &str = r#"<path d="M8 1.5 14.5 8 8 14.5 1.5 8Z" fill="none" stroke="currentColor" stroke-width="2.2"/>"#;
const BROKEN: &str = r#"<path d="M2 2h12v12H2ZM5 5l6 6M11 5l-6 6" fill="none" stroke="currentColor" stroke-width="2.2"/>"#;
const UNKNOWN: &str = r#"<circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="2.6 2"/>"#;

/// The mark of an outcome.
pub fn mark(outcome: Outcome) -> String {
    let shape = match outcome {
        Outcome::Kept => KEPT,
        Outcome::Permitted => PERMITTED,
        Outcome::Broken => BROKEN,
        Outcome::Unknown => UNKNOWN,
    };
    format!(r#"<svg class="mk" viewBox="0 0 16 16" aria-hidden="true">{shape}</svg>"#)
}

/// The name by which the style sheet knows an outcome.
pub fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Kept => "o-kept",
        Outcome::Permitted => "o-permitted",
        Outcome::Broken => "o-broken",
        Outcome::Unknown => "o-unknown",
    }
}
