//! A set of configurations that were met, each kept whole, so that no two are ever confused.

use super::config::Config;

/// Open addressing with a mixing hash of fixed constants: the same history always takes the same
/// steps.
#[derive(Debug)]
pub(super) struct Seen<const W: usize> {
    /// Index into `kept`, plus one; zero is free.
    table: Vec<u32>,
    kept: Vec<(u32, Config<W>)>,
}

impl<const W: usize> Seen<W> {
    pub fn new() -> Self {
        Self {
            table: vec![0; 64],
            kept: Vec::new(),
        }
    }

    /// Forgets everything but keeps the memory.
    pub fn clear(&mut self) {
        if self.kept.is_empty() {
            return;
        }
        if self.table.len() > 64 && self.kept.len() * 16 < self.table.len() {
            self.table.truncate(self.table.len() / 2);
        }
        self.table.fill(0);
        self.kept.clear();
    }

    /// Adds; false if it was there.
    pub fn insert(&mut self, event: u32, config: &Config<W>) -> bool {
        if self.kept.len() * 2 >= self.table.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut at = hash(event, config) as usize & mask;
        while self.table[at] != 0 {
            let (other_event, other) = &self.kept[self.table[at] as usize - 1];
            if *other_event == event && other == config {
                return false;
            }
            at = (at + 1) & mask;
        }
        self.kept.push((event, *config));
        self.table[at] = self.kept.len() as u32;
        true
    }

    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        self.table.clear();
        self.table.resize(mask + 1, 0);
        for (index, (event, config)) in self.kept.iter().enumerate() {
            let mut at = hash(*event, config) as usize & mask;
            while self.table[at] != 0 {
                at = (at + 1) & mask;
            }
            self.table[at] = index as u32 + 1;
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        (self.table.len() * 4 + self.kept.capacity() * size_of::<(u32, Config<W>)>()) as u64
    }
}

#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * u128::from(0x9e37_79b9_7f4a_7c15_u64);
    (product as u64) ^ (product >> 64) as u64
}

#[inline]
fn hash<const W: usize>(event: u32, config: &Config<W>) -> u64 {
    let head = u64::from(config.state) << 32 | u64::from(config.used);
    let tail = u64::from(event) << 1 | u64::from(config.idle);
    let mut hash = mix(0x2545_f491_4f6c_dd1d ^ tail, head);
    for at in 0..W {
        hash = mix(hash, config.done.0[at]);
        hash = mix(hash.rotate_left(17), config.spare.0[at]);
    }
    hash
}
