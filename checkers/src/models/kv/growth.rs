//! From strings that grow to a register of unique values.
//!
//! Every string that a key can hold is its last put, or nothing, and the appends after it. Where no
//! piece begins another, a string can be taken apart in one way only, and two strings after the same
//! put are both prefixes of the longer one. So the gets after one put lie on one line, and each
//! append that any of them shows has its place there.
//!
//! A piece may be written by several ops. Which of them a get shows is mostly settled by time (it
//! had begun, it had not ended before what it follows began, no put lay between); where it is not,
//! every choice is a reading of its own, and a history has an order iff one of its readings does.

use super::choices::Choices;
use super::growing::Growing;
use super::reading::{Entry, Kind};
use crate::search::register::{NEVER, NONE, RegisterOp, Unique, unique};

/// The value of a key that holds nothing.
pub(super) const EMPTY: u32 = 0;

/// Readings that are tried at most.
const MOST_READINGS: usize = 4_096;

/// The pieces of one key's strings, by text.
pub(super) struct Growth<'h> {
    texts: Vec<&'h str>,
    /// Entries that write the text at the same place.
    writers: Vec<Vec<u32>>,
    /// Entries that are puts.
    pub puts: Vec<u32>,
}

/// A history as it stood at one moment, as registers' histories.
pub(super) struct Readings {
    /// Index of each op in the entries.
    pub names: Vec<u32>,
    /// One with an order, or all, none of which has one.
    pub readings: Vec<Vec<RegisterOp>>,
}

impl<'h> Growth<'h> {
    /// `None` where a string could be taken apart in two ways.
    pub fn new(entries: &[Entry<'h>]) -> Option<Self> {
        let is_write = |(_, entry): &(u32, &Entry<'h>)| entry.kind != Kind::Get;
        let writes = (0..).zip(entries).filter(is_write);
        let mut pieces: Vec<(&str, u32)> = writes.map(|(at, entry)| (entry.text, at)).collect();
        pieces.sort_unstable();
        let is_put = |&(_, entry): &(u32, &Entry<'h>)| entry.kind == Kind::Put;
        let puts = (0..).zip(entries).filter(is_put);
        let mut growth = Self {
            texts: Vec::with_capacity(pieces.len()),
            writers: Vec::with_capacity(pieces.len()),
            puts: puts.map(|(at, _)| at).collect(),
        };
        for (text, at) in pieces {
            match growth.texts.last() {
                Some(last) if *last == text => {
                    growth.writers.last_mut()?.push(at);
                }
                Some(last) if text.starts_with(last) => return None,
                _ if text.is_empty() => return None,
                _ => {
                    growth.texts.push(text);
                    growth.writers.push(vec![at]);
                }
            }
        }
        Some(growth)
    }

    /// The piece that `text` begins with.
    pub fn first_piece(&self, text: &str) -> Option<(&'h str, &[u32])> {
        let after = self.texts.partition_point(|piece| *piece <= text);
        let at = after.checked_sub(1)?;
        let piece = self.texts[at];
        text.starts_with(piece)
            .then_some((piece, &self.writers[at]))
    }

    /// What was recorded up to `moment`, inclusive; `None` with too many readings.
    pub fn readings(&self, entries: &[Entry<'h>], moment: u32) -> Option<Readings> {
        let mut blank = Vec::with_capacity(entries.len());
        let mut names = Vec::with_capacity(entries.len());
        let mut place = vec![NONE; entries.len()];
        for (at, entry) in (0..).zip(entries) {
            let ret = if entry.ret <= moment {
                entry.ret
            } else {
                NEVER
            };
            if entry.invoked > moment || (entry.kind == Kind::Get && ret == NEVER) {
                continue;
            }
            place[at as usize] = blank.len() as u32;
            names.push(at);
            let inv = entry.invoked;
            let (from, to) = (NONE, NONE);
            blank.push(RegisterOp { inv, ret, from, to });
        }
        let mut choices = Choices::new();
        let mut flawed = Vec::new();
        loop {
            let growing = Growing::new(self, entries, blank.clone(), &place, &mut choices);
            let ops = growing.run(&names);
            if let Unique::Linearizable(_) = unique(&ops, EMPTY) {
                let readings = vec![ops];
                return Some(Readings { names, readings });
            }
            flawed.push(ops);
            if !choices.next_reading() {
                let readings = flawed;
                return Some(Readings { names, readings });
            }
            if flawed.len() >= MOST_READINGS {
                return None;
            }
        }
    }
}
