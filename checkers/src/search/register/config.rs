//! One way in which everything so far can have happened.

use super::mask::Mask;
use super::usage::Usages;
use super::window::Window;

/// A register's value with what became of the ops that are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Config<const W: usize> {
    pub state: u32,
    /// Indeterminate ops used.
    pub used: u32,
    /// Open ops that took effect.
    pub done: Mask<W>,
    /// Open writes that took no effect, but may count as overwritten at once by a write that took
    /// effect while they were open. They can still take effect instead.
    pub spare: Mask<W>,
    /// The last step was a write, or an indeterminate op, that nothing has needed yet.
    pub idle: bool,
}

impl<const W: usize> Config<W> {
    pub fn first(state: u32) -> Self {
        Self {
            state,
            used: super::usage::UNUSED,
            done: Mask::EMPTY,
            spare: Mask::EMPTY,
            idle: false,
        }
    }

    /// Forgets the op in `slot`, which ended, and with it the place in a burst of steps.
    #[inline]
    pub fn release(&mut self, slot: u32) {
        let bit = Mask::of(slot);
        self.done = self.done.without(bit);
        self.spare = self.spare.without(bit);
        self.idle = false;
    }

    /// Whether every future of `other` is one of this too.
    ///
    /// More reads done is better, fewer indeterminate ops used is better, and a spare write is
    /// better than one that took effect or one that must still do so.
    pub fn covers(&self, other: &Self, window: &Window<W>, usages: &Usages) -> bool {
        let must_match = window.writes.or(window.rmws).without(self.spare);
        let differs = other.spare.or(self.done.xor(other.done));
        let missed = other.done.without(self.done).and(window.reads);
        self.state == other.state
            && must_match.and(differs).is_empty()
            && missed.is_empty()
            && usages.within(self.used, other.used)
    }

    /// How much of what is open still has to be fitted in.
    pub fn debt(&self, window: &Window<W>) -> u32 {
        let open = window.reads.or(window.writes).or(window.rmws);
        open.without(self.done.or(self.spare)).len()
    }

    /// For sorting: configurations that cannot cover each other have different ones.
    pub fn group(&self, window: &Window<W>) -> (u32, [u64; W]) {
        (self.state, self.done.and(window.rmws).0)
    }
}
