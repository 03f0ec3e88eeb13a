//! The white list: a send has certainly failed only where it was never written
//! to a socket or the code proves that nothing was appended. Everything else,
//! codes that nobody knows included, is indeterminate.

use plimsoll_checkers::history::Outcome;

use super::Broken;

/// The codes that prove that a produce request appended nothing, whatever its
/// acks: unknown topic id or corrupt or oversized input, rejected before the
/// append, or refused by the sequence rules.
const NEVER_APPENDED: [i16; 7] = [19, 21, 2, 10, 18, 45, 47];
/// Refusals that come before the append with acks=1; with acks=all, leadership
/// may also be lost after it.
const NEVER_APPENDED_ACKS_ONE: [i16; 2] = [3, 6];

/// What an error code of a produce response proves.
pub fn of_produce(code: i16, acks: i16) -> Outcome {
    match code {
        0 => Outcome::Ok,
        code if NEVER_APPENDED.contains(&code) => Outcome::Fail,
        code if acks == 1 && NEVER_APPENDED_ACKS_ONE.contains(&code) => Outcome::Fail,
        _ => Outcome::Info,
    }
}

/// What a missing answer proves about a send.
pub fn of_broken(broken: &Broken) -> Outcome {
    match broken {
        Broken::NotSent(_) => Outcome::Fail,
        Broken::Lost(_) => Outcome::Info,
    }
}

/// Whether another attempt of the same request can end otherwise.
pub fn worth_retrying(code: i16) -> bool {
    !matches!(code, 2 | 10 | 18 | 21 | 45 | 47)
}

/// Kafka's name of an error code.
pub fn name(code: i16) -> String {
    let known = match code {
        1 => "OFFSET_OUT_OF_RANGE",
        2 => "CORRUPT_MESSAGE",
        3 => "UNKNOWN_TOPIC_OR_PARTITION",
        5 => "LEADER_NOT_AVAILABLE",
        6 => "NOT_LEADER_OR_FOLLOWER",
        7 => "REQUEST_TIMED_OUT",
        9 => "REPLICA_NOT_AVAILABLE",
        10 => "MESSAGE_TOO_LARGE",
        18 => "RECORD_LIST_TOO_LARGE",
        19 => "NOT_ENOUGH_REPLICAS",
        20 => "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        21 => "INVALID_REQUIRED_ACKS",
        36 => "TOPIC_ALREADY_EXISTS",
        38 => "INVALID_REPLICATION_FACTOR",
        41 => "NOT_CONTROLLER",
        45 => "OUT_OF_ORDER_SEQUENCE_NUMBER",
        47 => "INVALID_PRODUCER_EPOCH",
        56 => "KAFKA_STORAGE_ERROR",
        59 => "UNKNOWN_PRODUCER_ID",
        74 => "FENCED_LEADER_EPOCH",
        75 => "UNKNOWN_LEADER_EPOCH",
        78 => "OFFSET_NOT_AVAILABLE",
        other => return format!("error code {other}"),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_white_list_is_a_certain_failure() {
        for code in -1..=130 {
            let certain = [2, 10, 18, 19, 21, 45, 47].contains(&code);
            let all = of_produce(code, -1);
            assert_eq!(all == Outcome::Fail, certain, "acks=all, code {code}");
            let one = of_produce(code, 1);
            assert_eq!(
                one == Outcome::Fail,
                certain || code == 3 || code == 6,
                "acks=1, {code}"
            );
        }
    }

    #[test]
    fn a_request_that_was_never_written_has_failed_and_a_lost_one_is_unknown() {
        assert_eq!(of_broken(&Broken::NotSent(String::new())), Outcome::Fail);
        assert_eq!(of_broken(&Broken::Lost(String::new())), Outcome::Info);
    }
}
