//! replica.lag.max.messages, the rule of Kafka before 0.9.

use super::*;

fn with_limit(limit: Option<i64>) -> Bench {
    let mut bench = Bench::new(1);
    bench.lag_max_messages = limit;
    bench.publish();
    bench.follower_has(2, 0);
    bench.follower_has(3, 0);
    bench
}

/// A burst of three records that no follower has yet.
fn burst(bench: &mut Bench) -> Vec<ReplicaEffect> {
    (1..=3).for_each(|ticket| drop(bench.produce(ticket, -1)));
    (1..=3).flat_map(|_| bench.written()).collect()
}

#[test]
fn a_burst_above_the_limit_shrinks_the_isr_to_the_leader_and_acks_all_to_acks_1() {
    let mut bench = with_limit(Some(2));
    let fx = burst(&mut bench);
    assert_eq!(proposed_isr(&fx), Some(vec![1]));
    assert_eq!(outcome_of(1, &fx), None);
    bench.partition.isr = vec![1];
    bench.partition.partition_epoch += 1;
    assert_eq!(outcome_of(3, &bench.publish()), Some((ErrorCode::NONE, 2)));
    assert_eq!(bench.replica.high_watermark(), 3);
}

#[test]
fn a_follower_that_left_by_messages_comes_back_once_it_has_caught_up() {
    let mut bench = with_limit(Some(2));
    burst(&mut bench);
    bench.partition.isr = vec![1];
    bench.partition.partition_epoch += 1;
    bench.publish();
    assert_eq!(proposed_isr(&bench.follower_has(2, 2)), None);
    assert_eq!(proposed_isr(&bench.follower_has(2, 3)), Some(vec![1, 2]));
}

#[test]
fn a_burst_at_the_limit_or_without_one_shrinks_nothing() {
    for limit in [Some(3), None] {
        let mut bench = with_limit(limit);
        assert_eq!(proposed_isr(&burst(&mut bench)), None);
    }
}
