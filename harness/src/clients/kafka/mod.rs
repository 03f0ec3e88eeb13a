//! Kafka's wire protocol as a client speaks it: requests encoded by the
//! kafka-protocol crate, responses read by hand with every count checked
//! against the bytes that are left, since a broken broker may send anything.

mod batch;
mod decode;
mod encode;
mod reader;

pub use batch::{encode_batch, number, read_batches};
pub use decode::decode;
pub use encode::encode;

/// The versions spoken: the newest before each message became "flexible".
mod version {
    pub const PRODUCE: i16 = 8;
    pub const FETCH: i16 = 11;
    pub const METADATA: i16 = 8;
    pub const CREATE_TOPICS: i16 = 4;
    pub const INIT_PRODUCER_ID: i16 = 1;
    pub const LIST_OFFSETS: i16 = 5;
    pub const DESCRIBE_QUORUM: i16 = 0;
    pub const DESCRIBE_LOG_DIRS: i16 = 1;
}

#[cfg(test)]
mod tests;
