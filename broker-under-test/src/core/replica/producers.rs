//! What a replica knows of idempotent producers (KIP-98): the last five batches of each.
//!
//! Leader and followers build it alike from the batches they append; truncation rolls it back by
//! building it anew from what is left.

use std::collections::{BTreeMap, VecDeque};

use crate::core::errors::ErrorCode;
use crate::kafka::batch::BatchHeader;

/// A repeat is recognised among this many batches of a producer, as many as clients keep in flight.
const BATCHES_KEPT: usize = 5;

/// One batch of a producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    first_sequence: i32,
    last_sequence: i32,
    base_offset: i64,
    last_offset: i64,
}

/// One producer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Producer {
    epoch: i16,
    batches: VecDeque<Seen>,
}

/// All producers of one partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProducerStates(BTreeMap<i64, Producer>);

/// What a batch means to the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is next; append it.
    Next,
    /// It is a repeat of a batch that stands at these offsets (first, last).
    Repeat(i64, i64),
    /// It must not be appended.
    Refused(ErrorCode),
}

impl ProducerStates {
    /// Whether a batch may be appended. A producer without an id always may.
    #[must_use]
    pub fn check(&self, batch: &BatchHeader) -> Verdict {
        if batch.producer_id < 0 {
            return Verdict::Next;
        }
        if batch.base_sequence < 0 {
            return Verdict::Refused(ErrorCode::INVALID_RECORD);
        }
        let Some(producer) = self.0.get(&batch.producer_id) else {
            return starts_at_zero(batch);
        };
        if batch.producer_epoch < producer.epoch {
            return Verdict::Refused(ErrorCode::INVALID_PRODUCER_EPOCH);
        }
        if batch.producer_epoch > producer.epoch {
            return starts_at_zero(batch);
        }
        let repeat = producer.batches.iter().find(|seen| {
            seen.first_sequence == batch.base_sequence
                && seen.last_sequence == batch.last_sequence()
        });
        if let Some(seen) = repeat {
            return Verdict::Repeat(seen.base_offset, seen.last_offset);
        }
        let next = producer
            .batches
            .back()
            .map_or(0, |last| next_sequence(last.last_sequence));
        if batch.base_sequence == next {
            Verdict::Next
        } else {
            Verdict::Refused(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER)
        }
    }

    /// A batch has been appended.
    pub fn record(&mut self, batch: &BatchHeader) {
        if batch.producer_id < 0 {
            return;
        }
        let fresh = Producer {
            epoch: batch.producer_epoch,
            batches: VecDeque::new(),
        };
        let producer = self.0.entry(batch.producer_id).or_insert(fresh);
        if producer.epoch != batch.producer_epoch {
            producer.epoch = batch.producer_epoch;
            producer.batches.clear();
        }
        if producer.batches.len() == BATCHES_KEPT {
            producer.batches.pop_front();
        }
        producer.batches.push_back(Seen {
            first_sequence: batch.base_sequence,
            last_sequence: batch.last_sequence(),
            base_offset: batch.base_offset,
            last_offset: batch.last_offset(),
        });
    }

    /// Whether cutting a log at `end` takes back anything that is known here.
    #[must_use]
    pub fn reaches_beyond(&self, end: i64) -> bool {
        self.0
            .values()
            .filter_map(|producer| producer.batches.back())
            .any(|last| last.last_offset >= end)
    }
}

fn starts_at_zero(batch: &BatchHeader) -> Verdict {
    if batch.base_sequence == 0 {
        Verdict::Next
    } else {
        Verdict::Refused(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER)
    }
}

fn next_sequence(last: i32) -> i32 {
    last.checked_add(1).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::batch::{BatchBuilder, stamp, validate};

    fn batch(epoch: i16, sequence: i32, offset: i64) -> BatchHeader {
        let builder = BatchBuilder {
            timestamp: 0,
            producer_id: 9,
            producer_epoch: epoch,
            base_sequence: sequence,
        };
        validate(&stamp(&builder.build(&[b"a", b"b"]), offset, 0)).unwrap()
    }

    #[test]
    fn a_repeat_is_answered_with_the_offset_it_has() {
        let mut states = ProducerStates::default();
        states.record(&batch(0, 0, 10));
        states.record(&batch(0, 2, 12));
        assert_eq!(states.check(&batch(0, 0, -1)), Verdict::Repeat(10, 11));
        assert_eq!(states.check(&batch(0, 4, -1)), Verdict::Next);
    }

    #[test]
    fn a_gap_an_old_epoch_and_a_late_start_are_refused() {
        let mut states = ProducerStates::default();
        let out_of_order = Verdict::Refused(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
        assert_eq!(states.check(&batch(0, 2, -1)), out_of_order);
        states.record(&batch(1, 0, 10));
        assert_eq!(states.check(&batch(1, 4, -1)), out_of_order);
        let fenced = Verdict::Refused(ErrorCode::INVALID_PRODUCER_EPOCH);
        assert_eq!(states.check(&batch(0, 2, -1)), fenced);
        assert_eq!(states.check(&batch(2, 2, -1)), out_of_order);
        assert_eq!(states.check(&batch(2, 0, -1)), Verdict::Next);
    }

    #[test]
    fn only_five_batches_are_remembered() {
        let mut states = ProducerStates::default();
        for n in 0..6 {
            states.record(&batch(0, 2 * n, i64::from(2 * n)));
        }
        assert_eq!(
            states.check(&batch(0, 0, -1)),
            Verdict::Refused(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER)
        );
        assert_eq!(states.check(&batch(0, 2, -1)), Verdict::Repeat(2, 3));
    }
}
