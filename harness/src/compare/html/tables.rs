//! Every number, the ways out of each kind of fault, the pairs of cells, and the questions.

use std::fmt::Write;

use super::super::{Compared, advice, table, view};
use crate::report::parts::escaped;

pub(super) fn numbers(compared: &Compared) -> String {
    let (head, rows) = table::columns(&compared.cells, &compared.axes);
    let heads: String = head
        .iter()
        .map(|name| format!("<th>{}", escaped(name)))
        .collect();
    let mut body = String::new();
    for (index, row) in rows.iter().enumerate() {
        let _ = write!(body, "<tr><td data-h=cell>{}", index + 1);
        for (field, name) in row.iter().zip(&head) {
            let _ = write!(body, "<td data-h=\"{}\">{}", escaped(name), escaped(field));
        }
    }
    format!(
        "<section aria-labelledby=h-n><h2 id=h-n>Numbers</h2><div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Numbers by cell\"><table class=\"st wide-t\"><thead><tr><th>cell{heads}</thead>\
         <tbody>{body}</tbody></table></div></section>"
    )
}

pub(super) fn kinds(compared: &Compared) -> String {
    let mut body = String::new();
    for (index, cell) in compared.cells.iter().enumerate() {
        let measurable = cell["writes_measurable"] == true;
        for (kind, cost) in cell["by_kind"].as_object().into_iter().flatten() {
            let writes = |field: &str| match measurable {
                true => view::time(&cost[field]),
                false => "not measurable".to_owned(),
            };
            let _ = write!(
                body,
                "<tr><td>{}: {}<td class=n data-h=n>{}<td class=n data-h='to a new leader'>{}\
                 <td class=n data-h='to the first ack'>{}<td class=n data-h='heal to full ISR'>{}\
                 <td class=n data-h='no write meanwhile'>{}<td class=n data-h=lost>{}",
                index + 1,
                escaped(kind),
                view::number(&cost["faults"]),
                view::time(&cost["to_new_leader_ms_median"]),
                writes("to_first_ack_ms_median"),
                view::time(&cost["heal_to_full_isr_ms_median"]),
                writes("unavailable_ms_median"),
                view::number(&cost["lost"]),
            );
        }
    }
    if body.is_empty() {
        return String::new();
    }
    format!(
        "<section aria-labelledby=h-k><h2 id=h-k>By kind of fault</h2><p class=\"sub\">Medians over the faults \
         of all runs of a cell.</p><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Kinds of fault\">\
         <table class=\"st\"><thead><tr><th>cell: fault<th class=n>n<th class=n>to a new leader\
         <th class=n>to the first ack<th class=n>heal to full ISR<th class=n>no write meanwhile\
         <th class=n>lost</thead><tbody>{body}</tbody></table></div></section>"
    )
}

pub(super) fn pairs(compared: &Compared) -> String {
    if compared.pairs.is_empty() {
        return String::new();
    }
    let items: String = compared
        .pairs
        .iter()
        .take(advice::PAIRS_SHOWN)
        .map(|pair| {
            format!(
                "<li><b>Cells {} and {}</b>, {}. {}</li>",
                pair.cells.0 + 1,
                pair.cells.1 + 1,
                escaped(&pair.axis),
                escaped(&pair.sentence)
            )
        })
        .collect();
    let more = match compared.pairs.len().saturating_sub(advice::PAIRS_SHOWN) {
        0 => String::new(),
        more => format!("<p class=\"cap\">{more} more in compare.json.</p>"),
    };
    format!(
        "<section aria-labelledby=h-p><h2 id=h-p>Pairs that differ in one setting</h2>\
         <ul class=\"rest pairs\">{items}</ul>{more}</section>"
    )
}

pub(super) fn questions(compared: &Compared) -> String {
    if compared.questions.is_empty() {
        return String::new();
    }
    let items: String = compared
        .questions
        .iter()
        .map(|(question, answer)| {
            let answer = escaped(answer);
            format!("<div><dt>{question}</dt><dd>{answer}</dd></div>")
        })
        .collect();
    format!(
        "<section aria-labelledby=h-q><h2 id=h-q>Questions</h2><p class=\"sub\">As far as these runs bear them \
         out.</p><dl class=\"qa\">{items}</dl></section>"
    )
}
