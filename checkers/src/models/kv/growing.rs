//! One way of reading a key's strings: each get, put and append with its values.

use super::choices::Choices;
use super::growth::{EMPTY, Growth};
use super::reading::{Entry, Kind};
use crate::search::register::{NEVER, NONE, RegisterOp};

/// What is known of the strings after one put, or before any.
struct Line<'h> {
    put: Option<u32>,
    longest: &'h str,
    /// Lengths at which a string of the line ends, and its value.
    stops: Vec<(u32, u32)>,
    /// The latest begin of any op on the line so far.
    latest_begin: u32,
}

/// Gives each op its values, get by get.
pub(super) struct Growing<'a, 'h> {
    growth: &'a Growth<'h>,
    entries: &'a [Entry<'h>],
    ops: Vec<RegisterOp>,
    /// Index in `ops` of each entry that had begun.
    place: &'a [u32],
    choices: &'a mut Choices,
    /// Line of each put that was seen.
    line_of: Vec<u32>,
    lines: Vec<Line<'h>>,
    values: u32,
}

impl<'a, 'h> Growing<'a, 'h> {
    pub fn new(
        growth: &'a Growth<'h>,
        entries: &'a [Entry<'h>],
        ops: Vec<RegisterOp>,
        place: &'a [u32],
        choices: &'a mut Choices,
    ) -> Self {
        Self {
            growth,
            entries,
            ops,
            place,
            choices,
            line_of: vec![NONE; entries.len()],
            lines: vec![Line {
                put: None,
                longest: "",
                stops: vec![(0, EMPTY)],
                latest_begin: 0,
            }],
            values: EMPTY + 1,
        }
    }

    /// The ops with their values.
    pub fn run(mut self, names: &[u32]) -> Vec<RegisterOp> {
        // Gets by their end: what an earlier one showed is held against a later one.
        let mut gets: Vec<usize> = (0..names.len())
            .filter(|&at| self.entries[names[at] as usize].kind == Kind::Get)
            .collect();
        gets.sort_unstable_by_key(|&at| self.ops[at].ret);
        for at in gets {
            let text = self.entries[names[at] as usize].text;
            let value = self.value_of(at, text);
            self.ops[at].from = value.unwrap_or_else(|| self.fresh());
        }
        for (at, &name) in names.iter().enumerate() {
            let is_write = self.entries[name as usize].kind != Kind::Get;
            if is_write && self.ops[at].to == NONE {
                self.ops[at].to = self.fresh();
            }
        }
        self.ops
    }

    fn fresh(&mut self) -> u32 {
        self.values += 1;
        self.values - 1
    }

    /// The op of an entry, if it had begun.
    fn begun(&self, entry: u32) -> Option<usize> {
        let place = self.place[entry as usize];
        (place != NONE).then_some(place as usize)
    }

    /// The value that stands for `text`; `None` where no puts and appends make it.
    fn value_of(&mut self, get: usize, text: &'h str) -> Option<u32> {
        let at = if text.is_empty() {
            0
        } else {
            self.line_for(get, text)?
        };
        let line = &mut self.lines[at];
        if text.len() > line.longest.len() {
            if !text.starts_with(line.longest) {
                return None;
            }
            let value = self.grow(at, get, text)?;
            let begin = self.ops[get].inv;
            let line = &mut self.lines[at];
            line.latest_begin = line.latest_begin.max(begin);
            return Some(value);
        }
        if !line.longest.starts_with(text) {
            return None;
        }
        let length = text.len() as u32;
        let stop = line
            .stops
            .binary_search_by_key(&length, |(length, _)| *length);
        let value = line.stops[stop.ok()?].1;
        line.latest_begin = line.latest_begin.max(self.ops[get].inv);
        Some(value)
    }

    /// The line that `text` lies on: that of the put it begins with, or the first one.
    fn line_for(&mut self, get: usize, text: &'h str) -> Option<usize> {
        let (piece, writers) = self.growth.first_piece(text)?;
        let mut starts: Vec<Option<u32>> = Vec::new();
        for &writer in writers {
            let is_put = self.entries[writer as usize].kind == Kind::Put;
            let start = is_put.then_some(writer);
            if self.begun(writer).is_some() && !starts.contains(&start) {
                starts.push(start);
            }
        }
        let possible = |start: &Option<u32>| {
            let had_begun = start.is_none_or(|put| self.ops_of(put).inv <= self.ops[get].ret);
            had_begun && !self.put_between(*start, self.ops[get].inv)
        };
        let left: Vec<Option<u32>> = starts.iter().copied().filter(possible).collect();
        let starts = if left.is_empty() { starts } else { left };
        let start = match starts.as_slice() {
            [] => return None,
            [one] => *one,
            several => several[self.choices.pick(several.len())],
        };
        Some(start.map_or(0, |put| self.line_after(piece, put)))
    }

    fn ops_of(&self, entry: u32) -> RegisterOp {
        let never_begun = RegisterOp {
            inv: NEVER,
            ret: NEVER,
            from: NONE,
            to: NONE,
        };
        self.begun(entry).map_or(never_begun, |at| self.ops[at])
    }

    /// Whether some put surely lies between the start of a line and the moment `begin`.
    fn put_between(&self, start: Option<u32>, begin: u32) -> bool {
        let after = start.map_or(0, |put| self.ops_of(put).ret);
        let mut puts = self.growth.puts.iter().filter(|put| Some(**put) != start);
        puts.any(|&put| {
            let put = self.ops_of(put);
            put.ret < begin && (start.is_none() || after < put.inv)
        })
    }

    /// The line that begins with `put`.
    fn line_after(&mut self, piece: &'h str, put: u32) -> usize {
        if self.line_of[put as usize] == NONE {
            self.line_of[put as usize] = self.lines.len() as u32;
            let value = self.fresh();
            let op = self.place[put as usize] as usize;
            self.ops[op].to = value;
            self.lines.push(Line {
                put: Some(put),
                longest: piece,
                stops: vec![(piece.len() as u32, value)],
                latest_begin: self.ops[op].inv,
            });
        }
        self.line_of[put as usize] as usize
    }

    /// Takes the rest of `text` apart, and puts each append in its place once all of it is known.
    fn grow(&mut self, line: usize, get: usize, text: &'h str) -> Option<u32> {
        let mut length = self.lines[line].longest.len();
        let mut begin = self.lines[line].latest_begin;
        let mut appends: Vec<(u32, usize)> = Vec::new();
        while length < text.len() {
            let (piece, writers) = self.growth.first_piece(&text[length..])?;
            let op = self.append_for(line, get, writers, begin, &appends)?;
            begin = begin.max(self.ops[op].inv);
            length += piece.len();
            appends.push((length as u32, op));
        }
        for (length, op) in appends {
            let value = self.fresh();
            let stops = &mut self.lines[line].stops;
            let before = stops.last().map_or(EMPTY, |(_, value)| *value);
            stops.push((length, value));
            self.ops[op].from = before;
            self.ops[op].to = value;
        }
        self.lines[line].longest = text;
        self.lines[line].latest_begin = begin;
        self.lines[line].stops.last().map(|(_, value)| *value)
    }

    /// The append among `writers` that comes next on the line; it begins with ops up to `begin`.
    fn append_for(
        &mut self,
        line: usize,
        get: usize,
        writers: &[u32],
        begin: u32,
        taken: &[(u32, usize)],
    ) -> Option<usize> {
        let free = |&writer: &u32| {
            let op = self.begun(writer)?;
            let is_append = self.entries[writer as usize].kind == Kind::Append;
            let is_free = self.ops[op].to == NONE && taken.iter().all(|(_, other)| *other != op);
            (is_append && is_free).then_some(op)
        };
        let all: Vec<usize> = writers.iter().filter_map(free).collect();
        if let [] | [_] = all.as_slice() {
            return all.first().copied();
        }
        let start = self.lines[line].put;
        let possible = |&op: &usize| {
            let op = &self.ops[op];
            let in_time = op.inv <= self.ops[get].ret && op.ret >= begin;
            in_time && !self.put_between(start, op.inv)
        };
        let left: Vec<usize> = all.iter().copied().filter(possible).collect();
        let left = if left.is_empty() { all } else { left };
        match left.as_slice() {
            [one] => Some(*one),
            several => Some(several[self.choices.pick(several.len())]),
        }
    }
}
