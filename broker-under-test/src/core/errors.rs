//! The error codes of the Kafka protocol that this broker gives, with Kafka's names and numbers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An error code as it goes over the wire; [`ErrorCode::NONE`] is success.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ErrorCode(pub i16);

macro_rules! error_codes {
    ($($name:ident = $code:literal),* $(,)?) => {
        impl ErrorCode {
            $(#[doc = concat!("Kafka's ", stringify!($name), " (", stringify!($code), ").")]
              pub const $name: ErrorCode = ErrorCode($code);)*

            /// Kafka's name of the code.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self.0 {
                    $($code => stringify!($name),)*
                    _ => "UNKNOWN",
                }
            }
        }
    };
}

error_codes! {
    UNKNOWN_SERVER_ERROR = -1,
    NONE = 0,
    OFFSET_OUT_OF_RANGE = 1,
    CORRUPT_MESSAGE = 2,
    UNKNOWN_TOPIC_OR_PARTITION = 3,
    LEADER_NOT_AVAILABLE = 5,
    NOT_LEADER_OR_FOLLOWER = 6,
    REQUEST_TIMED_OUT = 7,
    MESSAGE_TOO_LARGE = 10,
    COORDINATOR_NOT_AVAILABLE = 15,
    INVALID_TOPIC_EXCEPTION = 17,
    RECORD_LIST_TOO_LARGE = 18,
    NOT_ENOUGH_REPLICAS = 19,
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20,
    INVALID_REQUIRED_ACKS = 21,
    UNSUPPORTED_VERSION = 35,
    TOPIC_ALREADY_EXISTS = 36,
    INVALID_PARTITIONS = 37,
    INVALID_REPLICATION_FACTOR = 38,
    INVALID_REPLICA_ASSIGNMENT = 39,
    INVALID_CONFIG = 40,
    NOT_CONTROLLER = 41,
    INVALID_REQUEST = 42,
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43,
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45,
    INVALID_PRODUCER_EPOCH = 47,
    KAFKA_STORAGE_ERROR = 56,
    FETCH_SESSION_ID_NOT_FOUND = 70,
    FENCED_LEADER_EPOCH = 74,
    UNKNOWN_LEADER_EPOCH = 75,
    STALE_BROKER_EPOCH = 77,
    OFFSET_NOT_AVAILABLE = 78,
    PREFERRED_LEADER_NOT_AVAILABLE = 80,
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83,
    ELECTION_NOT_NEEDED = 84,
    INVALID_RECORD = 87,
    INVALID_UPDATE_VERSION = 95,
    UNKNOWN_TOPIC_ID = 100,
    INCONSISTENT_TOPIC_ID = 103,
    INELIGIBLE_REPLICA = 107,
    NEW_LEADER_ELECTED = 108,
    MISMATCHED_ENDPOINT_TYPE = 114,
    UNSUPPORTED_ENDPOINT_TYPE = 115,
}

impl ErrorCode {
    /// True for [`ErrorCode::NONE`].
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.name(), self.0)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
