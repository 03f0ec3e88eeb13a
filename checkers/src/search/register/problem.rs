//! A register's history in the form that is searched: values are numbers, an op is what it needs
//! and what it leaves.

/// No value: a write needs none, a read leaves none.
pub const NONE: u32 = u32::MAX;

/// `ret` of an op that may take effect at any time, or never.
pub const NEVER: u32 = u32::MAX;

/// One op of a register. It precedes another iff its `ret` is smaller than the other's `inv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterOp {
    /// When it began.
    pub inv: u32,
    /// When it ended, or [`NEVER`].
    pub ret: u32,
    /// Value that the register must hold, or [`NONE`] for a blind write.
    pub from: u32,
    /// Value that it holds afterwards, or [`NONE`] for a read.
    pub to: u32,
}

impl RegisterOp {
    /// Whether it may also not have happened.
    pub fn is_info(&self) -> bool {
        self.ret == NEVER
    }

    /// Whether it changes no state in which it is legal.
    pub fn is_read(&self) -> bool {
        self.to == NONE || self.to == self.from
    }

    /// Whether it is legal in every state.
    pub fn is_blind(&self) -> bool {
        self.from == NONE
    }
}

/// The begin or the end of an op, packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event(u32);

impl Event {
    pub fn invoke(op: usize) -> Self {
        Self((op as u32) << 1)
    }

    pub fn ret(op: usize) -> Self {
        Self((op as u32) << 1 | 1)
    }

    #[inline]
    pub fn op(self) -> usize {
        (self.0 >> 1) as usize
    }

    #[inline]
    pub fn is_return(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Indeterminate ops with equal arguments; any unused one serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InfoClass {
    pub from: u32,
    pub to: u32,
    /// In the order in which they began.
    pub ops: Vec<u32>,
}

/// What both walks share.
#[derive(Debug)]
pub(super) struct Problem<'o> {
    pub ops: &'o [RegisterOp],
    pub initial: u32,
    /// Values are below this.
    pub values: usize,
    pub events: Vec<Event>,
    /// Slot of an op that ended, class of an indeterminate one; [`NONE`] for ops that matter not.
    pub place: Vec<u32>,
    pub slots: u32,
    pub classes: Vec<InfoClass>,
    /// Classes of info read-modify-writes by the value that they need.
    pub classes_from: Vec<Vec<u32>>,
    /// Classes of info writes.
    pub blind_classes: Vec<u32>,
}

impl<'o> Problem<'o> {
    /// Orders the events and gives each op its slot or class.
    pub fn new(ops: &'o [RegisterOp], initial: u32) -> Self {
        let highest = |value: u32| if value == NONE { 0 } else { value as usize + 1 };
        let values = ops
            .iter()
            .map(|op| highest(op.from).max(highest(op.to)))
            .fold(highest(initial), usize::max);
        let mut problem = Self {
            ops,
            initial,
            values,
            events: events_in_order(ops),
            place: vec![NONE; ops.len()],
            slots: 0,
            classes: Vec::new(),
            classes_from: Vec::new(),
            blind_classes: Vec::new(),
        };
        if ops.iter().any(RegisterOp::is_info) {
            problem.classify();
        }
        problem.seat();
        problem
    }

    /// An indeterminate op whose result nobody ever needs can be left out of every order.
    fn classify(&mut self) {
        let kept = useful_infos(self.ops, self.values);
        self.classes_from = vec![Vec::new(); self.values];
        let mut order: Vec<u32> = (0..self.ops.len() as u32).collect();
        order.retain(|&at| kept[at as usize]);
        order.sort_unstable_by_key(|&at| {
            let op = &self.ops[at as usize];
            (op.from, op.to, op.inv, at)
        });
        for at in order {
            let op = &self.ops[at as usize];
            let last = self.classes.last_mut();
            match last.filter(|class| (class.from, class.to) == (op.from, op.to)) {
                Some(class) => class.ops.push(at),
                None => self.open_class(op.from, op.to, at),
            }
            self.place[at as usize] = self.classes.len() as u32 - 1;
        }
        let place = &self.place;
        let ops = self.ops;
        self.events.retain(|event| {
            let at = event.op();
            !ops[at].is_info() || place[at] != NONE
        });
    }

    fn open_class(&mut self, from: u32, to: u32, first: u32) {
        let class = self.classes.len() as u32;
        match from {
            NONE => self.blind_classes.push(class),
            _ => self.classes_from[from as usize].push(class),
        }
        let ops = vec![first];
        self.classes.push(InfoClass { from, to, ops });
    }

    /// Open ops that will end take the lowest free slot.
    fn seat(&mut self) {
        let mut free: Vec<u32> = Vec::new();
        for event in &self.events {
            let at = event.op();
            if self.ops[at].is_info() {
                continue;
            }
            if event.is_return() {
                free.push(self.place[at]);
                continue;
            }
            self.place[at] = free.pop().unwrap_or_else(|| {
                self.slots += 1;
                self.slots - 1
            });
        }
    }
}

/// Begins before ends at one moment, since a tie is no precedence.
fn events_in_order(ops: &[RegisterOp]) -> Vec<Event> {
    let mut keyed: Vec<(u64, u32)> = Vec::with_capacity(ops.len() * 2);
    for (at, op) in ops.iter().enumerate() {
        keyed.push((u64::from(op.inv) << 1, Event::invoke(at).0));
        if !op.is_info() {
            keyed.push((u64::from(op.ret) << 1 | 1, Event::ret(at).0));
        }
    }
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, event)| Event(event)).collect()
}

/// Info ops whose result some op that ended needs, directly or through other info ops.
fn useful_infos(ops: &[RegisterOp], values: usize) -> Vec<bool> {
    let mut needed = vec![false; values];
    let ended = ops.iter().filter(|op| !op.is_info() && !op.is_blind());
    for op in ended {
        needed[op.from as usize] = true;
    }
    let mut kept = vec![false; ops.len()];
    loop {
        let mut grew = false;
        for (at, op) in ops.iter().enumerate() {
            if !op.is_info() || op.is_read() || kept[at] || !needed[op.to as usize] {
                continue;
            }
            kept[at] = true;
            if !op.is_blind() && !needed[op.from as usize] {
                needed[op.from as usize] = true;
                grew = true;
            }
        }
        if !grew {
            return kept;
        }
    }
}
