//! Findings one by one: the first of each kind drawn, the rest as sentences.

use std::collections::BTreeMap;
use std::fmt::Write;

use plimsoll_checkers::FaultWindow;
use plimsoll_checkers::history::History;

use super::escape::escaped;
use super::scene::figure;
use crate::report::numbers::count;
use crate::report::scene::focus::cut;
use crate::report::scene::{Focus, Scene};

/// Findings that are drawn on a page, and of one kind.
const DRAWN: usize = 50;
const DRAWN_OF_KIND: usize = 10;
/// Drawn findings that are open from the start; a reader opens the others.
const OPEN: usize = 3;
/// Sentences of one kind below those that are drawn.
const LISTED: usize = 100;
/// Ops whose indices a sentence names, and the length of a sentence.
const OPS_NAMED: usize = 12;
const SENTENCE_CHARS: usize = 1_500;

/// What a log's finding and an object's anomaly have in common.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    pub kind: &'a str,
    pub sentence: &'a str,
    pub ops: &'a [u64],
    pub focus: Focus<'a>,
    /// What else is to be said about it, such as that it is permitted.
    pub note: &'a str,
}

/// Which cases are drawn, and with what.
pub struct Cases<'a> {
    history: &'a History,
    windows: &'a [FaultWindow],
    cases: Vec<Case<'a>>,
    /// Places in `cases` by kind.
    of_kind: BTreeMap<&'a str, Vec<usize>>,
    drawn: Vec<bool>,
}

impl<'a> Cases<'a> {
    /// The gravest cases come first.
    pub fn new(
        history: &'a History,
        windows: &'a [FaultWindow],
        cases: impl IntoIterator<Item = Case<'a>>,
    ) -> Self {
        let cases: Vec<Case<'a>> = cases.into_iter().collect();
        let mut of_kind: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut drawn = vec![false; cases.len()];
        let mut left = DRAWN;
        for (index, case) in cases.iter().enumerate() {
            let places = of_kind.entry(case.kind).or_default();
            drawn[index] = left > 0 && places.len() < DRAWN_OF_KIND;
            left -= usize::from(drawn[index]);
            places.push(index);
        }
        Self {
            history,
            windows,
            cases,
            of_kind,
            drawn,
        }
    }

    /// Whether there is anything to draw.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// All cases of a kind, of which there may be more than are known here.
    pub fn of(&self, kind: &str, found: u64) -> String {
        let places = self.of_kind.get(kind).map_or(&[][..], Vec::as_slice);
        let mut html = String::new();
        for index in places.iter().filter(|index| self.drawn[**index]) {
            let _ = write!(html, "{}", self.drawn_case(*index));
        }
        let listed = places.iter().filter(|index| !self.drawn[**index]);
        let listed: Vec<&usize> = listed.take(LISTED).collect();
        if !listed.is_empty() {
            let items: String = listed.iter().map(|index| self.item(**index)).collect();
            let _ = write!(
                html,
                "<details class=\"fd\"><summary>{} more as sentences</summary>\
                 <ul class=\"rest\">{items}</ul></details>",
                count(listed.len() as u64)
            );
        }
        let drawn = places.iter().filter(|index| self.drawn[**index]).count();
        let more = found.saturating_sub((drawn + listed.len()) as u64);
        if more > 0 {
            let _ = write!(
                html,
                "<p class=\"cap\">And {} more, which --format json lists.</p>",
                count(more)
            );
        }
        html
    }

    fn drawn_case(&self, index: usize) -> String {
        let case = &self.cases[index];
        let before = self.drawn.iter().take(index).filter(|drawn| **drawn);
        let open = if before.count() < OPEN { " open" } else { "" };
        let sentence = cut(case.sentence, SENTENCE_CHARS);
        let scene = Scene::new(self.history, self.windows, case.ops, case.focus);
        let figure = match &scene {
            Some(scene) => figure(scene, case.focus, &sentence),
            None => format!("<p class=\"cap\">{}</p>", named(case.ops)),
        };
        let note = match case.note {
            "" => String::new(),
            note => format!("<p class=\"cap\">{}</p>", escaped(note)),
        };
        format!(
            "<details class=\"fd\" id=\"finding-{}\"{open}><summary>{}</summary>{note}{figure}</details>",
            index + 1,
            escaped(&sentence),
        )
    }

    fn item(&self, index: usize) -> String {
        let case = &self.cases[index];
        format!(
            "<li>{} <span class=\"cap\">{}</span></li>",
            escaped(&cut(case.sentence, SENTENCE_CHARS)),
            named(case.ops)
        )
    }
}

fn named(ops: &[u64]) -> String {
    let named: Vec<String> = ops.iter().take(OPS_NAMED).map(u64::to_string).collect();
    let more = if ops.len() > OPS_NAMED { ", ..." } else { "" };
    match named.is_empty() {
        true => String::new(),
        false => format!("ops {}{more}", named.join(", ")),
    }
}
