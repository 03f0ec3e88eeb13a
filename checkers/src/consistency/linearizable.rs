//! One partition under real time, reads trusted to their high watermarks.
//!
//! The monotone-key engine: no op that ended before another began may have the greater key.

use crate::anomalies::{append_key, read_key, vouched};
use crate::facts::Partition;
use crate::facts::holes::last_kept;
use crate::facts::records::Event;

/// Whether no pair of ops refutes linearizability.
pub(super) fn holds(partition: &Partition<'_>) -> bool {
    let mut newest = 0_i128;
    for &event in &partition.events {
        match event {
            Event::SendInvoked(row) => {
                let places = partition.places(&partition.sends[row as usize]);
                if places.is_some_and(|(_, high)| newest > append_key(high)) {
                    return false;
                }
            }
            Event::ReadInvoked(row) => {
                let read = &partition.reads[row as usize];
                let hw = read.info.map_or(-1, |info| info.hw);
                if read.ok && !read.is_final && hw >= 0 && newest > 2 * i128::from(hw) {
                    return false;
                }
            }
            Event::SendReturned(row) => {
                if let Some(offset) = vouched(partition, &partition.sends[row as usize]) {
                    newest = newest.max(append_key(offset));
                }
            }
            Event::ReadReturned(row) => {
                let read = &partition.reads[row as usize];
                if !read.ok || read.is_final {
                    continue;
                }
                let hw = read.info.map_or(-1, |info| info.hw);
                let last = last_kept(partition, read).map_or(0, read_key);
                newest = newest.max(last).max(2 * i128::from(hw.max(0)));
            }
        }
    }
    true
}
