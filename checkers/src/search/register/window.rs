//! The ops that are open at one event, by what they need and leave.

use super::mask::Mask;
use super::problem::{NONE, Problem};

/// Everything here is a function of the event alone, so it can be walked in both directions.
#[derive(Debug)]
pub(super) struct Window<const W: usize> {
    /// Index of the next event.
    pub next: usize,
    /// Op in each slot.
    pub op_in: Vec<u32>,
    /// Open reads by value.
    pub reads_of: Vec<Mask<W>>,
    /// Open writes by value.
    pub writes_of: Vec<Mask<W>>,
    /// Open read-modify-writes by the value that they need.
    pub rmws_from: Vec<Mask<W>>,
    pub reads: Mask<W>,
    pub writes: Mask<W>,
    pub rmws: Mask<W>,
    /// Info ops begun, by class.
    pub begun: Vec<u32>,
}

impl<const W: usize> Window<W> {
    pub fn new(problem: &Problem<'_>) -> Self {
        let by_value = vec![Mask::EMPTY; problem.values];
        Self {
            next: 0,
            op_in: vec![NONE; problem.slots as usize],
            reads_of: by_value.clone(),
            writes_of: by_value.clone(),
            rmws_from: by_value,
            reads: Mask::EMPTY,
            writes: Mask::EMPTY,
            rmws: Mask::EMPTY,
            begun: vec![0; problem.classes.len()],
        }
    }

    /// Passes the next event.
    #[inline]
    pub fn forward(&mut self, problem: &Problem<'_>) {
        let event = problem.events[self.next];
        self.toggle(problem, event.op(), !event.is_return());
        self.next += 1;
    }

    /// Goes back to just before event `to`, or on to it.
    pub fn seek(&mut self, problem: &Problem<'_>, to: usize) {
        while self.next > to {
            self.next -= 1;
            let event = problem.events[self.next];
            self.toggle(problem, event.op(), event.is_return());
        }
        while self.next < to {
            self.forward(problem);
        }
    }

    #[inline]
    fn toggle(&mut self, problem: &Problem<'_>, at: usize, open: bool) {
        let op = &problem.ops[at];
        let place = problem.place[at];
        if op.is_info() {
            let begun = &mut self.begun[place as usize];
            *begun = if open { *begun + 1 } else { *begun - 1 };
            return;
        }
        let bit = Mask::of(place);
        let (of_value, all) = if op.is_read() {
            (&mut self.reads_of[op.from as usize], &mut self.reads)
        } else if op.is_blind() {
            (&mut self.writes_of[op.to as usize], &mut self.writes)
        } else {
            (&mut self.rmws_from[op.from as usize], &mut self.rmws)
        };
        *of_value = of_value.xor(bit);
        *all = all.xor(bit);
        if open {
            self.op_in[place as usize] = at as u32;
        }
    }
}
