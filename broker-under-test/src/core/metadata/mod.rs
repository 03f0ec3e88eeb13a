//! The cluster's metadata: the records that the controllers commit and the image they add up to.

pub mod configs;
pub mod image;
pub mod record;

pub use image::{Broker, Image, Partition, Topic};
pub use record::Record;
