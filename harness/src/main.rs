//! plimsoll: shows how much a replicated log may suffer and still keep what it
//! acknowledged. This file parses, calls, and maps the exit code.

mod clients;
mod exit;
mod session;
mod workload;

fn main() {}
