//! What the clients do. A generator is pure and seeded: the time and the free
//! clients go in, operations come out. It never sleeps and draws nothing from
//! anywhere else.

mod log;
mod placement;

pub use log::{LogSettings, LogWorkload};
pub use placement::{ClientPlan, Placement, Side, plan_clients};

/// A client of the workload, by its position.
pub type ClientIndex = usize;

/// What a client is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Producer,
    Consumer,
}

/// Which replica serves a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    Leader,
    /// The replica that this number picks among all of them.
    Any(u64),
}

/// One operation for one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Send { partition: i32, value: i64 },
    Poll { partition: i32, from: ReadFrom },
}

/// What a generator sees.
pub struct Context<'a> {
    pub now_ns: u64,
    /// Clients that are free, by role, in order.
    pub free_producers: &'a [ClientIndex],
    pub free_consumers: &'a [ClientIndex],
}

/// What a generator answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Op {
        client: ClientIndex,
        action: Action,
    },
    /// Nothing before this time.
    Pending {
        until_ns: u64,
    },
    /// Nothing until a client becomes free.
    Busy,
}

/// A source of operations.
pub trait Generator {
    fn next(&mut self, context: &Context<'_>) -> Next;
}
