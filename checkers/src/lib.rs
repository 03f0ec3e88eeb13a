//! Histories of a replicated log, and what they prove.
//!
//! `history` holds what was recorded, `promise` what the settings of the
//! tested system promise; [`check`] finds, [`judge`] holds what was found
//! against the promise. Everything here is pure: no file, socket, clock,
//! thread or source of randomness is touched, so that the same history under
//! the same promise always gives the same verdict.

mod anomalies;
mod check;
mod consistency;
mod facts;
mod finding;
pub mod formats;
pub mod history;
mod measures;
pub mod models;
pub mod promise;
pub mod search;
pub mod stream;
mod verdict;

pub use anomalies::anomaly_names;
pub use check::{Findings, STOPPED_EARLY, check};
pub use consistency::Consistency;
pub use facts::faults::FaultWindow;
pub use finding::Finding;
pub use measures::{
    AtPlace, Availability, FaultWindowMeasures, Lag, Latency, LostRecord, Measures,
    PROOF_MARGIN_NS, Unavailable, Unseen, realtime_lag, unseen_series,
};
pub use verdict::{Judged, LookedFor, Validity, Verdict, judge};
