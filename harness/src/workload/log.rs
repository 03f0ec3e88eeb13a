//! Workload `log`: producers append unique values to partitions, consumers
//! read by explicit offset, mostly from the leader and sometimes from any
//! replica. Operations come at random times with a bounded mean rate; what was
//! missed while all clients were busy is not made up for.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::{Action, Context, Generator, Next, ReadFrom};

/// The share of operations that append, in percent.
const SENDS_PERCENT: u32 = 65;
/// The share of reads that ask the leader, in percent.
const LEADER_READS_PERCENT: u32 = 75;

/// What the workload draws from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogSettings {
    pub partitions: i32,
    /// Mean operations a second; infinite means as fast as clients come free.
    pub rate: f64,
}

/// The generator.
pub struct LogWorkload {
    settings: LogSettings,
    rng: ChaCha8Rng,
    next_value: i64,
    due_ns: u64,
}

impl LogWorkload {
    pub fn new(seed: u64, settings: LogSettings, start_ns: u64) -> LogWorkload {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        LogWorkload {
            settings,
            rng,
            next_value: 1,
            due_ns: start_ns,
        }
    }

    fn action(&mut self, context: &Context<'_>) -> Option<Next> {
        let wants_send = self.rng.random_range(0..100) < SENDS_PERCENT;
        let sends = match (
            context.free_producers.is_empty(),
            context.free_consumers.is_empty(),
        ) {
            (true, true) => return None,
            (true, false) => false,
            (false, true) => true,
            (false, false) => wants_send,
        };
        let free = if sends {
            context.free_producers
        } else {
            context.free_consumers
        };
        let client = free[self.rng.random_range(0..free.len())];
        let partition = self.rng.random_range(0..self.settings.partitions.max(1));
        let action = if sends {
            self.send(partition)
        } else {
            self.poll(partition)
        };
        Some(Next::Op { client, action })
    }

    fn send(&mut self, partition: i32) -> Action {
        let value = self.next_value;
        self.next_value += 1;
        Action::Send { partition, value }
    }

    fn poll(&mut self, partition: i32) -> Action {
        let leader = self.rng.random_range(0..100) < LEADER_READS_PERCENT;
        let from = if leader {
            ReadFrom::Leader
        } else {
            ReadFrom::Any(self.rng.random())
        };
        Action::Poll { partition, from }
    }

    /// Exponential gaps around the mean.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a gap is positive and bounded to a minute"
    )]
    fn gap_ns(&mut self) -> u64 {
        if !self.settings.rate.is_finite() {
            return 0;
        }
        let uniform: f64 = self.rng.random_range(f64::MIN_POSITIVE..1.0);
        let seconds = -uniform.ln() / self.settings.rate.max(1e-3);
        (seconds.min(60.0) * 1e9) as u64
    }
}

impl Generator for LogWorkload {
    fn next(&mut self, context: &Context<'_>) -> Next {
        if context.now_ns < self.due_ns {
            return Next::Pending {
                until_ns: self.due_ns,
            };
        }
        match self.action(context) {
            Some(op) => {
                // Ten milliseconds may be made up for, or a timer's coarseness
                // would lower the rate; an outage may not.
                let oldest = context.now_ns.saturating_sub(10_000_000);
                self.due_ns = self.due_ns.max(oldest) + self.gap_ns();
                op
            }
            None => Next::Busy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(seed: u64, seconds: u64) -> Vec<Next> {
        let settings = LogSettings {
            partitions: 4,
            rate: 500.0,
        };
        let mut generator = LogWorkload::new(seed, settings, 0);
        let (mut now_ns, mut ops) = (0, Vec::new());
        while now_ns < seconds * 1_000_000_000 {
            let context = Context {
                now_ns,
                free_producers: &[0, 1],
                free_consumers: &[2, 3],
            };
            match generator.next(&context) {
                Next::Pending { until_ns } => now_ns = until_ns,
                op => ops.push(op),
            }
        }
        ops
    }

    #[test]
    fn the_same_seed_gives_the_same_operations() {
        assert_eq!(drive(5, 2), drive(5, 2));
        assert_ne!(drive(5, 2), drive(6, 2));
    }

    #[test]
    fn the_mean_rate_is_kept() {
        let count = drive(1, 20).len();
        assert!(
            (9_000..11_000).contains(&count),
            "{count} operations in 20 s at 500 a second"
        );
    }

    #[test]
    fn no_value_is_sent_twice() {
        let values: Vec<i64> = drive(2, 5)
            .into_iter()
            .filter_map(|next| match next {
                Next::Op {
                    action: Action::Send { value, .. },
                    ..
                } => Some(value),
                _ => None,
            })
            .collect();
        let distinct: std::collections::BTreeSet<_> = values.iter().collect();
        assert_eq!(distinct.len(), values.len());
    }

    #[test]
    fn with_every_client_busy_there_is_nothing_to_do() {
        let settings = LogSettings {
            partitions: 1,
            rate: f64::INFINITY,
        };
        let mut generator = LogWorkload::new(1, settings, 0);
        let context = Context {
            now_ns: 5,
            free_producers: &[],
            free_consumers: &[],
        };
        assert_eq!(generator.next(&context), Next::Busy);
    }
}
