//! The questions that people ask, answered as far as the run bears it out.

use super::escape::escaped;
use crate::report::losses::Answer;

/// Nothing where the run says nothing to any of them.
pub fn section(answers: &[Answer]) -> String {
    if answers.is_empty() {
        return String::new();
    }
    let items: String = answers
        .iter()
        .map(|one| {
            format!(
                "<div><dt>{}</dt><dd>{}</dd></div>",
                escaped(one.question),
                escaped(&one.answer)
            )
        })
        .collect();
    format!(
        "<section aria-labelledby=h-q><h2 id=h-q>Questions</h2><p class=\"sub\">As far as this run \
         bears it out: one run that lost nothing proves no absence.</p><dl class=\"qa\">{items}</dl></section>"
    )
}
