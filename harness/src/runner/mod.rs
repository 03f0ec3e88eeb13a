//! Shells that carry a session's commands out. `real` does it with tokio and
//! processes.

pub mod real;
