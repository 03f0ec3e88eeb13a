//! Which indeterminate ops a configuration has used: a count a class, numbered so that a
//! configuration carries one small number and equal usages have equal numbers.

use std::collections::BTreeMap;

use super::problem::NONE;

/// Number of the usage in which nothing was used.
pub(super) const UNUSED: u32 = 0;

/// All usages met so far.
#[derive(Debug)]
pub(super) struct Usages {
    /// Counts by class, ascending, without zeros.
    counts: Vec<Vec<(u32, u32)>>,
    numbers: BTreeMap<Vec<(u32, u32)>, u32>,
    /// By usage, then class: the usage with one more.
    next: Vec<Vec<u32>>,
    classes: usize,
}

impl Usages {
    pub fn new(classes: usize) -> Self {
        Self {
            counts: vec![Vec::new()],
            numbers: BTreeMap::new(),
            next: vec![vec![NONE; classes]],
            classes,
        }
    }

    /// How many of `class` are used.
    #[inline]
    pub fn count(&self, usage: u32, class: u32) -> u32 {
        if usage == UNUSED {
            return 0;
        }
        let counts = &self.counts[usage as usize];
        counts
            .iter()
            .find(|(of, _)| *of == class)
            .map_or(0, |(_, count)| *count)
    }

    /// The usage with one more of `class`.
    pub fn with(&mut self, usage: u32, class: u32) -> u32 {
        let known = self.next[usage as usize][class as usize];
        if known != NONE {
            return known;
        }
        let mut counts = self.counts[usage as usize].clone();
        match counts.binary_search_by_key(&class, |(of, _)| *of) {
            Ok(at) => counts[at].1 += 1,
            Err(at) => counts.insert(at, (class, 1)),
        }
        let number = self.number(counts);
        self.next[usage as usize][class as usize] = number;
        number
    }

    fn number(&mut self, counts: Vec<(u32, u32)>) -> u32 {
        if let Some(&number) = self.numbers.get(&counts) {
            return number;
        }
        let number = self.counts.len() as u32;
        self.numbers.insert(counts.clone(), number);
        self.counts.push(counts);
        self.next.push(vec![NONE; self.classes]);
        number
    }

    /// Whether `less` uses nothing beyond what `more` uses.
    pub fn within(&self, less: u32, more: u32) -> bool {
        if less == more || less == UNUSED {
            return true;
        }
        if more == UNUSED {
            return false;
        }
        let counts = &self.counts[less as usize];
        counts
            .iter()
            .all(|&(class, count)| count <= self.count(more, class))
    }

    /// Bytes held, roughly.
    pub fn bytes(&self) -> u64 {
        (self.counts.len() * (96 + 4 * self.classes)) as u64
    }
}
