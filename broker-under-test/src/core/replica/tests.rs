//! One replica at a time, driven by hand.

use bytes::Bytes;

use super::*;
use crate::core::bugs::Bug;
use crate::core::messages::fetch::{FetchedPartition, Follower};
use crate::core::metadata::Broker;
use crate::kafka::batch::{BatchBuilder, stamp};

mod lag_in_messages;

const ME: NodeId = 1;

struct Bench {
    replica: Replica,
    image: Image,
    timers: Timers,
    lag_max_messages: Option<i64>,
    bugs: Bugs,
    now_ms: u64,
    partition: Partition,
    config: TopicConfig,
}

impl Bench {
    fn new(min_insync_replicas: i32) -> Self {
        let mut image = Image::default();
        for node in 1..=3 {
            let broker = Broker {
                epoch: 100 + u64::try_from(node).unwrap(),
                incarnation: 1,
                client_addr: "c:1".into(),
                replication_addr: "r:1".into(),
                fenced: false,
                stopping: false,
            };
            image.brokers.insert(node, broker);
        }
        let config = TopicConfig {
            min_insync_replicas,
            unclean_leader_election: false,
            flush_every_batch: false,
        };
        Self {
            replica: Replica::new(
                TopicPartition::new("log", 0),
                config,
                RecoveredLog::default(),
            ),
            image,
            timers: Timers::default(),
            lag_max_messages: None,
            bugs: Bugs::default(),
            now_ms: 1_000,
            partition: Partition {
                replicas: vec![1, 2, 3],
                isr: vec![1, 2, 3],
                leader: ME,
                leader_epoch: 0,
                partition_epoch: 0,
            },
            config,
        }
    }

    fn step(
        &mut self,
        step: impl FnOnce(&mut Replica, &Context<'_>, &mut Vec<ReplicaEffect>),
    ) -> Vec<ReplicaEffect> {
        let ctx = Context {
            now: Now {
                mono_ms: self.now_ms,
                wall_ms: 0,
            },
            node: ME,
            broker_epoch: 101,
            timers: &self.timers,
            lag_max_messages: self.lag_max_messages,
            bugs: &self.bugs,
            image: &self.image,
        };
        let mut fx = Vec::new();
        step(&mut self.replica, &ctx, &mut fx);
        fx
    }

    fn publish(&mut self) -> Vec<ReplicaEffect> {
        let (config, partition) = (self.config, self.partition.clone());
        self.step(|replica, ctx, fx| replica.on_metadata(ctx, config, &partition, fx))
    }

    /// The controller moves leadership to `leader`.
    fn elect(&mut self, leader: NodeId) -> Vec<ReplicaEffect> {
        self.partition.leader = leader;
        self.partition.leader_epoch += 1;
        self.partition.partition_epoch += 1;
        self.publish()
    }

    fn produce(&mut self, ticket: Ticket, acks: i16) -> Vec<ReplicaEffect> {
        let batch = BatchBuilder::plain(0).build(&[b"value"]);
        self.step(|replica, ctx, fx| replica.produce(ctx, ticket, acks, &batch, fx))
    }

    fn written(&mut self) -> Vec<ReplicaEffect> {
        self.step(|replica, ctx, fx| replica.on_appended(ctx, fx))
    }

    fn follower_has(&mut self, node: NodeId, offset: i64) -> Vec<ReplicaEffect> {
        let follower = Follower {
            node,
            broker_epoch: 100 + u64::try_from(node).unwrap(),
        };
        self.step(|replica, ctx, fx| replica.on_follower_fetch(ctx, follower, offset, fx))
    }

    fn tick_after(&mut self, ms: u64) -> Vec<ReplicaEffect> {
        self.now_ms += ms;
        self.step(|replica, ctx, fx| replica.tick(ctx, fx))
    }

    fn alter_answer(&mut self, error: ErrorCode) -> Vec<ReplicaEffect> {
        let made_on = (
            self.replica.partition.leader_epoch,
            self.replica.partition.partition_epoch,
        );
        self.step(|replica, ctx, fx| {
            replica.on_alter_result(ctx, made_on, error, -1, Vec::new(), fx)
        })
    }
}

fn outcome_of(ticket: Ticket, fx: &[ReplicaEffect]) -> Option<(ErrorCode, i64)> {
    fx.iter().find_map(|effect| match effect {
        ReplicaEffect::Produced {
            ticket: of,
            outcome,
        } if *of == ticket => Some((outcome.error, outcome.base_offset)),
        _ => None,
    })
}

fn proposed_isr(fx: &[ReplicaEffect]) -> Option<Vec<NodeId>> {
    fx.iter().find_map(|effect| match effect {
        ReplicaEffect::AlterPartition { isr, .. } => {
            Some(isr.iter().map(|(node, _)| *node).collect())
        }
        _ => None,
    })
}

#[test]
fn acks_all_is_answered_when_the_whole_isr_has_the_record_and_not_before() {
    let mut bench = Bench::new(2);
    bench.publish();
    bench.produce(7, -1);
    assert_eq!(outcome_of(7, &bench.written()), None);
    assert_eq!(outcome_of(7, &bench.follower_has(2, 1)), None);
    assert_eq!(
        outcome_of(7, &bench.follower_has(3, 1)),
        Some((ErrorCode::NONE, 0))
    );
}

#[test]
fn acks_1_is_answered_at_the_own_write_and_acks_0_at_once() {
    let mut bench = Bench::new(1);
    bench.publish();
    assert_eq!(
        outcome_of(1, &bench.produce(1, 0)),
        Some((ErrorCode::NONE, 0))
    );
    bench.written();
    assert_eq!(outcome_of(2, &bench.produce(2, 1)), None);
    assert_eq!(outcome_of(2, &bench.written()), Some((ErrorCode::NONE, 1)));
}

#[test]
fn a_deposed_leader_fails_acks_all_but_answers_acks_1_by_its_own_write() {
    let mut bench = Bench::new(1);
    bench.publish();
    bench.produce(1, -1);
    bench.produce(2, 1);
    let fx = bench.elect(2);
    assert_eq!(
        outcome_of(1, &fx),
        Some((ErrorCode::NOT_LEADER_OR_FOLLOWER, -1))
    );
    assert_eq!(outcome_of(2, &fx), None);
    bench.written();
    assert_eq!(outcome_of(2, &bench.written()), Some((ErrorCode::NONE, 1)));
}

#[test]
fn acks_all_is_refused_before_the_append_while_the_isr_is_too_small() {
    let mut bench = Bench::new(2);
    bench.partition.isr = vec![1];
    bench.publish();
    let fx = bench.produce(1, -1);
    assert_eq!(
        outcome_of(1, &fx),
        Some((ErrorCode::NOT_ENOUGH_REPLICAS, -1))
    );
    assert!(
        !fx.iter()
            .any(|effect| matches!(effect, ReplicaEffect::Append { .. }))
    );
}

#[test]
fn the_high_watermark_is_frozen_while_the_isr_is_below_the_minimum() {
    let mut bench = Bench::new(2);
    bench.partition.isr = vec![1];
    bench.publish();
    bench.produce(1, 1);
    bench.written();
    bench.follower_has(2, 1);
    assert_eq!(bench.replica.high_watermark(), 0);
}

#[test]
fn a_follower_about_to_leave_still_counts_until_the_controller_confirms() {
    let mut bench = Bench::new(1);
    bench.publish();
    bench.follower_has(3, 0);
    bench.produce(1, -1);
    bench.written();
    let mut shrunk = None;
    for _ in 0..6 {
        bench.follower_has(3, 1);
        shrunk = shrunk.or(proposed_isr(&bench.tick_after(500)));
    }
    assert_eq!(shrunk, Some(vec![1, 3]));
    assert_eq!(bench.replica.high_watermark(), 0);
    bench.partition.isr = vec![1, 3];
    bench.partition.partition_epoch += 1;
    assert_eq!(outcome_of(1, &bench.publish()), Some((ErrorCode::NONE, 0)));
}

#[test]
fn a_refusal_of_a_proposal_that_was_sent_twice_keeps_the_maximal_isr() {
    let mut bench = Bench::new(1);
    bench.partition.isr = vec![1];
    bench.publish();
    assert_eq!(proposed_isr(&bench.follower_has(2, 0)), Some(vec![1, 2]));
    bench.alter_answer(ErrorCode::NOT_CONTROLLER);
    assert_eq!(proposed_isr(&bench.tick_after(100)), Some(vec![1, 2]));
    bench.alter_answer(ErrorCode::INELIGIBLE_REPLICA);
    // An earlier copy may still be accepted: only the ISR as it stands may be proposed now.
    assert_eq!(proposed_isr(&bench.tick_after(100)), Some(vec![1]));
    bench.produce(1, -1);
    assert_eq!(outcome_of(1, &bench.written()), None);
}

#[test]
fn a_follower_joins_only_from_the_start_of_the_leaders_epoch_on() {
    let mut bench = Bench::new(1);
    bench.publish();
    bench.produce(1, 1);
    bench.written();
    bench.partition.isr = vec![1];
    bench.elect(2);
    bench.elect(1);
    assert_eq!(proposed_isr(&bench.follower_has(2, 0)), None);
    assert_eq!(proposed_isr(&bench.follower_has(2, 1)), Some(vec![1, 2]));
}

#[test]
fn a_follower_cuts_its_log_where_the_leaders_epoch_ends_not_at_its_high_watermark() {
    let mut bench = Bench::new(1);
    bench.publish();
    for ticket in 0..3 {
        bench.produce(ticket, 1);
        bench.written();
    }
    let fx = bench.elect(2);
    let attempt = fx
        .iter()
        .find_map(|effect| match effect {
            ReplicaEffect::Fetch { want, attempt, .. } => {
                assert_eq!((want.fetch_offset, want.last_fetched_epoch), (3, 0));
                Some(*attempt)
            }
            _ => None,
        })
        .unwrap();
    let answer = FetchedPartition {
        tp: TopicPartition::new("log", 0),
        topic_id: 0,
        error: ErrorCode::NONE,
        high_watermark: 0,
        log_start: 0,
        records: Bytes::new(),
        diverging: Some((0, 2)),
        current_leader: (2, 1),
    };
    let fx = bench.step(|replica, ctx, fx| replica.on_fetched(ctx, attempt, Some(answer), fx));
    assert!(
        fx.contains(&ReplicaEffect::Truncate {
            to: 2,
            rebuild_producers: false
        }),
        "{fx:?}"
    );
    assert_eq!(bench.replica.log_end(), 2);
}

#[test]
fn a_fetched_batch_that_does_not_follow_on_is_not_appended() {
    let mut bench = Bench::new(1);
    let fx = bench.elect(2);
    let Some(ReplicaEffect::Fetch { attempt, .. }) = fx.last().cloned() else {
        panic!("{fx:?}")
    };
    let answer = FetchedPartition {
        tp: TopicPartition::new("log", 0),
        topic_id: 0,
        error: ErrorCode::NONE,
        high_watermark: 0,
        log_start: 0,
        records: stamp(&BatchBuilder::plain(0).build(&[b"a"]), 5, 0),
        diverging: None,
        current_leader: (2, 1),
    };
    let fx = bench.step(|replica, ctx, fx| replica.on_fetched(ctx, attempt, Some(answer), fx));
    assert!(
        !fx.iter()
            .any(|effect| matches!(effect, ReplicaEffect::Append { .. })),
        "{fx:?}"
    );
}

#[test]
fn an_old_or_a_newer_epoch_of_the_fetcher_is_told_apart() {
    let mut bench = Bench::new(1);
    bench.publish();
    bench.elect(1);
    assert_eq!(bench.replica.check_epoch(0), ErrorCode::FENCED_LEADER_EPOCH);
    assert_eq!(bench.replica.check_epoch(1), ErrorCode::NONE);
    assert_eq!(
        bench.replica.check_epoch(2),
        ErrorCode::UNKNOWN_LEADER_EPOCH
    );
}

#[test]
fn the_bugs_are_off_unless_switched_on() {
    let mut bench = Bench::new(1);
    bench.publish();
    bench.bugs = Bugs::new(vec![Bug::AckAllOnLocalAppend, Bug::IgnoresDeposition]);
    bench.produce(1, -1);
    assert_eq!(outcome_of(1, &bench.written()), Some((ErrorCode::NONE, 0)));
    bench.elect(2);
    assert!(bench.replica.is_leader());
    bench.bugs = Bugs::default();
    bench.elect(2);
    assert!(!bench.replica.is_leader());
}

fn consumer_reads_up_to(bench: &Bench) -> i64 {
    let want = FetchPartition {
        tp: TopicPartition::new("log", 0),
        topic_id: 0,
        current_leader_epoch: -1,
        fetch_offset: 0,
        last_fetched_epoch: -1,
        max_bytes: 1 << 20,
        high_watermark: -1,
    };
    let ctx = Context {
        now: Now {
            mono_ms: bench.now_ms,
            wall_ms: 0,
        },
        node: ME,
        broker_epoch: 101,
        timers: &bench.timers,
        bugs: &bench.bugs,
        image: &bench.image,
        lag_max_messages: bench.lag_max_messages,
    };
    match bench.replica.fetch_status(&ctx, &want, None, false) {
        FetchStatus::Ready(plan) | FetchStatus::Empty(plan) => plan.end,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_consumer_reads_below_the_high_watermark_and_with_the_bug_above_it() {
    let mut bench = Bench::new(1);
    bench.publish();
    bench.produce(1, 1);
    bench.written();
    assert_eq!(bench.replica.high_watermark(), 0);
    assert_eq!(consumer_reads_up_to(&bench), 0);
    bench.bugs = Bugs::new(vec![Bug::ReadAboveHw]);
    assert_eq!(consumer_reads_up_to(&bench), 1);
}

/// An acks=all send whose followers are silent beyond the lag time.
fn outcome_while_followers_are_silent(bugs: Vec<Bug>) -> Option<(ErrorCode, i64)> {
    let mut bench = Bench::new(1);
    bench.bugs = Bugs::new(bugs);
    bench.publish();
    bench.produce(1, -1);
    bench.written();
    let (mut outcome, mut proposed) = (None, None);
    for _ in 0..8 {
        let fx = bench.tick_after(500);
        proposed = proposed.or(proposed_isr(&fx));
        outcome = outcome.or(outcome_of(1, &fx));
    }
    assert_eq!(proposed, Some(vec![1]));
    outcome
}

#[test]
fn a_leader_commits_alone_only_once_confirmed_and_with_the_bug_at_once() {
    assert_eq!(outcome_while_followers_are_silent(vec![]), None);
    assert_eq!(
        outcome_while_followers_are_silent(vec![Bug::ShrinkBeforeConfirm]),
        Some((ErrorCode::NONE, 0))
    );
}

#[test]
fn a_new_follower_keeps_what_lies_above_its_high_watermark_and_with_the_bug_drops_it() {
    for (bugs, end) in [(vec![], 2), (vec![Bug::TruncateToHw], 1)] {
        let mut bench = Bench::new(1);
        bench.bugs = Bugs::new(bugs);
        bench.publish();
        for ticket in 1..=2 {
            bench.produce(ticket, 1);
            bench.written();
        }
        bench.follower_has(2, 1);
        bench.follower_has(3, 1);
        assert_eq!(bench.replica.high_watermark(), 1);
        bench.elect(2);
        assert_eq!(bench.replica.log_end(), end);
    }
}
