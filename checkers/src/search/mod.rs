//! Linearizability by search, for objects without a polynomial algorithm.
//!
//! Two engines. `register` judges registers with writes, reads and read-modify-writes whose values
//! may repeat: its configurations merge so well that the work is linear in the length of a history
//! and exponential only in the ops open at once. `sequential` judges any deterministic object. Each
//! engine walks depth first and breadth first in turn under doubling budgets, so that neither a
//! lucky order nor a merging frontier is missed. A budget that runs out is an answer of its own.

pub mod register;
pub mod sequential;
