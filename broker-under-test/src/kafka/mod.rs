//! Kafka's wire protocol: record batches, requests decoded by hand, responses encoded.

pub mod admin;
pub mod api;
pub mod batch;
pub mod decode;
pub mod encode;
pub mod reader;
