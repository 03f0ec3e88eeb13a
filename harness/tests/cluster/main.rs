//! Tests with whole clusters of real processes, each in a lab of its own.

mod bench;
mod end_to_end;
mod leaks;
mod machine;
mod soak;
