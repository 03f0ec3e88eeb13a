//! The searches against an oracle that tries every order.
//!
//! Small histories, all of them up to a size and random larger ones, with ties, indeterminate ops
//! and repeated values. `PLIMSOLL_ORACLE_CASES` says how many random ones.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod kv;
mod oracle;
mod register;
mod sequential;

/// How many random histories, by default few enough for every run of the tests.
fn cases(default: u64) -> u64 {
    let asked = std::env::var("PLIMSOLL_ORACLE_CASES").ok();
    asked.map_or(default, |text| text.parse().unwrap())
}

/// Splitmix64: the same histories in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u32) -> u32 {
        (self.next() % u64::from(bound)) as u32
    }
}
