//! The schedule: which fault comes next, when, and for how long. Pure: a seed
//! and settings go in, faults come out, and the same seed gives the same ones.
//!
//! Durations are drawn at 0.3, 1.2 and 3 times the timer that the fault aims
//! at, so that both sides of each time-out are met.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::faults::{
    Aim, AimAt, Fault, FaultKind, GrudgeShape, Kill, KillHow, Partition, Pause, Plane,
};

/// The multiples of a timer at which durations are drawn.
pub const TIMER_MULTIPLES: [f64; 3] = [0.3, 1.2, 3.0];
/// The length of a fault that is never healed.
pub const FOREVER_MS: u64 = u64::MAX;
/// The least time between the end of one fault and the start of the next, ms.
const GAP_MS_MIN: u64 = 300;

/// The timers that faults aim at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timers {
    pub session_timeout_ms: u64,
    pub replica_lag_time_max_ms: u64,
}

impl Timers {
    fn aimed_at(&self, fault: &Fault) -> u64 {
        match fault {
            Fault::Partition(cut) if cut.plane == Plane::Replication => {
                self.replica_lag_time_max_ms
            }
            _ => self.session_timeout_ms,
        }
    }
}

/// What a random schedule draws from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleSettings {
    pub kinds: Vec<FaultKind>,
    /// Nodes that are killed at some time and never return.
    pub lost_nodes: u16,
    pub target: AimAt,
    pub plane: Plane,
    pub interval_ms: u64,
    /// No fault starts at or after this time, and none lasts beyond it.
    pub end_ms: u64,
    pub timers: Timers,
}

/// One fault with its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    pub id: u64,
    pub at_ms: u64,
    pub lasts_ms: u64,
    pub fault: Fault,
}

impl Planned {
    pub fn ends_ms(&self) -> u64 {
        self.at_ms.saturating_add(self.lasts_ms)
    }

    /// Whether it is never healed.
    pub fn is_forever(&self) -> bool {
        self.lasts_ms == FOREVER_MS
    }
}

/// A source of faults in order of time.
#[derive(Debug)]
pub struct Schedule {
    source: Source,
}

#[derive(Debug)]
enum Source {
    Drawn(Box<Drawn>),
    Set(std::collections::VecDeque<Planned>),
}

#[derive(Debug)]
struct Drawn {
    settings: ScheduleSettings,
    rng: ChaCha8Rng,
    next_id: u64,
    free_from_ms: u64,
    last_start_ms: u64,
    /// The times at which nodes are lost, the last one first.
    losses: Vec<u64>,
}

impl Schedule {
    /// Faults drawn from a seed.
    pub fn drawn(seed: u64, settings: ScheduleSettings) -> Schedule {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // Early enough for the rest to show that it goes on without them.
        let window = settings.end_ms / 5..=settings.end_ms / 5 * 3;
        let lost = 0..settings.lost_nodes;
        let mut losses: Vec<u64> = lost.map(|_| rng.random_range(window.clone())).collect();
        losses.sort_unstable_by(|a, b| b.cmp(a));
        let drawn = Drawn {
            losses,
            settings,
            rng,
            next_id: 1,
            free_from_ms: 0,
            last_start_ms: 0,
        };
        Schedule {
            source: Source::Drawn(Box::new(drawn)),
        }
    }

    /// Faults at set times, as a scenario gives them.
    pub fn set(mut planned: Vec<Planned>) -> Schedule {
        planned.sort_by_key(|p| (p.at_ms, p.id));
        Schedule {
            source: Source::Set(planned.into()),
        }
    }

    /// The next fault, or none when the schedule is over.
    pub fn next_fault(&mut self) -> Option<Planned> {
        match &mut self.source {
            Source::Drawn(drawn) => drawn.next_fault(),
            Source::Set(planned) => planned.pop_front(),
        }
    }
}

impl Drawn {
    fn next_fault(&mut self) -> Option<Planned> {
        if self.settings.kinds.is_empty() {
            let at_ms = self.losses.pop()?;
            return Some(self.loss(at_ms));
        }
        let interval = self.settings.interval_ms.max(1);
        let wait = self
            .rng
            .random_range(interval / 2..=interval + interval / 2);
        let gap = GAP_MS_MIN + self.rng.random_range(0..=interval / 2);
        let first = self.next_id == 1;
        let at_ms = if first {
            wait / 2
        } else {
            (self.last_start_ms + wait).max(self.free_from_ms + gap)
        };
        let fault = self.fault();
        let timer = self.settings.timers.aimed_at(&fault);
        let multiple = TIMER_MULTIPLES[self.rng.random_range(0..TIMER_MULTIPLES.len())];
        if let Some(lost_ms) = self.losses.pop_if(|lost_ms| *lost_ms <= at_ms) {
            return Some(self.loss(lost_ms.max(self.free_from_ms)));
        }
        if at_ms >= self.settings.end_ms {
            return None;
        }
        let lasts_ms = scale(timer, multiple).min(self.settings.end_ms - at_ms);
        let planned = Planned {
            id: self.next_id,
            at_ms,
            lasts_ms,
            fault,
        };
        self.next_id += 1;
        self.last_start_ms = at_ms;
        self.free_from_ms = planned.ends_ms();
        Some(planned)
    }

    fn loss(&mut self, at_ms: u64) -> Planned {
        let aim = Aim::new(self.settings.target.clone(), self.rng.random());
        let how = KillHow::Kill;
        let planned = Planned {
            id: self.next_id,
            at_ms,
            lasts_ms: FOREVER_MS,
            fault: Fault::Kill(Kill { aim, how }),
        };
        self.next_id += 1;
        self.last_start_ms = at_ms;
        self.free_from_ms = at_ms;
        planned
    }

    fn fault(&mut self) -> Fault {
        let kind = self.settings.kinds[self.rng.random_range(0..self.settings.kinds.len())];
        let aim = Aim::new(self.settings.target.clone(), self.rng.random());
        match kind {
            FaultKind::Kill => Fault::Kill(Kill {
                aim,
                how: KillHow::Kill,
            }),
            FaultKind::Pause => Fault::Pause(Pause { aim }),
            FaultKind::Partition => {
                let shape = self.shape();
                Fault::Partition(Partition {
                    shape,
                    aim,
                    plane: self.settings.plane,
                })
            }
        }
    }

    /// A target of one role is isolated or cut one way; others get any shape.
    fn shape(&mut self) -> GrudgeShape {
        let shapes: &[GrudgeShape] = match self.settings.target {
            AimAt::Leader => &[
                GrudgeShape::IsolateLeader,
                GrudgeShape::IsolateLeader,
                GrudgeShape::OneWay,
            ],
            AimAt::Controller | AimAt::Node(_) | AimAt::Follower(_) => {
                &[GrudgeShape::IsolateOne, GrudgeShape::OneWay]
            }
            AimAt::Followers => &[GrudgeShape::IsolateEach],
            AimAt::Random | AimAt::All => &GrudgeShape::ALL,
        };
        shapes[self.rng.random_range(0..shapes.len())]
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "timers are milliseconds far below 2^52 and multiples are positive"
)]
fn scale(timer_ms: u64, multiple: f64) -> u64 {
    (timer_ms as f64 * multiple).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> ScheduleSettings {
        ScheduleSettings {
            kinds: FaultKind::ALL.to_vec(),
            lost_nodes: 0,
            target: AimAt::Random,
            plane: Plane::All,
            interval_ms: 5000,
            end_ms: 30_000,
            timers: Timers {
                session_timeout_ms: 1500,
                replica_lag_time_max_ms: 2000,
            },
        }
    }

    fn all(seed: u64, settings: ScheduleSettings) -> Vec<Planned> {
        let mut schedule = Schedule::drawn(seed, settings);
        std::iter::from_fn(|| schedule.next_fault()).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_faults() {
        assert_eq!(all(7, settings()), all(7, settings()));
        assert_ne!(all(7, settings()), all(8, settings()));
    }

    #[test]
    fn half_a_minute_holds_a_handful_of_faults_and_ends_healed() {
        for seed in 0..200 {
            let faults = all(seed, settings());
            assert!(
                (3..=10).contains(&faults.len()),
                "seed {seed}: {} faults",
                faults.len()
            );
            assert!(faults.iter().all(|f| f.ends_ms() <= 30_000));
            assert!(faults.windows(2).all(|w| w[0].ends_ms() < w[1].at_ms));
        }
    }

    #[test]
    fn durations_fall_on_both_sides_of_the_timer_aimed_at() {
        let mut replication = settings();
        replication.kinds = vec![FaultKind::Partition];
        replication.plane = Plane::Replication;
        let durations: std::collections::BTreeSet<u64> = (0..20)
            .flat_map(|seed| all(seed, replication.clone()))
            .map(|f| f.lasts_ms)
            .collect();
        for expected in [600, 2400, 6000] {
            assert!(durations.contains(&expected), "{durations:?}");
        }
    }

    #[test]
    fn no_kinds_means_no_faults() {
        let none = ScheduleSettings {
            kinds: Vec::new(),
            ..settings()
        };
        assert!(all(1, none).is_empty());
    }

    #[test]
    fn faults_survive_the_way_through_json() {
        for planned in all(3, settings()) {
            let text = serde_json::to_string(&planned).expect("faults are plain data");
            assert_eq!(
                serde_json::from_str::<Planned>(&text).expect("it was just written"),
                planned
            );
        }
    }

    #[test]
    fn lost_nodes_are_killed_once_each_and_forever_with_other_faults_or_without() {
        for kinds in [vec![], FaultKind::ALL.to_vec()] {
            let settings = ScheduleSettings {
                kinds: kinds.clone(),
                lost_nodes: 2,
                ..settings()
            };
            let faults = all(3, settings);
            let forever: Vec<_> = faults.iter().filter(|p| p.is_forever()).collect();
            assert_eq!(forever.len(), 2, "{kinds:?}");
            assert!(forever.iter().all(|p| p.fault.kind() == FaultKind::Kill));
            assert!(faults.is_sorted_by_key(|p| p.at_ms));
            assert_eq!(faults.len() > 2, !kinds.is_empty());
        }
    }
}
