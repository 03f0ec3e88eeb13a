//! Histories of a replicated log, and what they prove.
//!
//! `history` holds what was recorded, `promise` what the settings of the
//! tested system promise. Everything here is pure: no file, socket, clock,
//! thread or source of randomness is touched, so that the same history under
//! the same promise always gives the same verdict.

pub mod history;
pub mod promise;
