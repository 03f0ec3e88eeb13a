//! States as small numbers, and each step computed once.

use std::collections::BTreeMap;

use super::Sequential;

/// No state: the op is refused.
pub(super) const REFUSED: u32 = u32::MAX;

/// All states met so far.
pub(super) struct States<'m, M: Sequential> {
    pub model: &'m M,
    pub initial: Vec<u32>,
    numbers: BTreeMap<M::State, u32>,
    states: Vec<M::State>,
    steps: BTreeMap<(u32, u32), u32>,
}

impl<'m, M: Sequential> States<'m, M> {
    pub fn new(model: &'m M) -> Self {
        let mut states = Self {
            model,
            initial: Vec::new(),
            numbers: BTreeMap::new(),
            states: Vec::new(),
            steps: BTreeMap::new(),
        };
        states.initial = model
            .initial()
            .into_iter()
            .map(|state| states.number(state))
            .collect();
        states
    }

    fn number(&mut self, state: M::State) -> u32 {
        let next = self.states.len() as u32;
        let number = *self.numbers.entry(state.clone()).or_insert(next);
        if number == next {
            self.states.push(state);
        }
        number
    }

    /// The state after `op`, or [`REFUSED`].
    pub fn step(&mut self, state: u32, op: u32) -> u32 {
        if let Some(&next) = self.steps.get(&(state, op)) {
            return next;
        }
        let stepped = self.model.step(&self.states[state as usize], op as usize);
        let next = stepped.map_or(REFUSED, |stepped| self.number(stepped));
        self.steps.insert((state, op), next);
        next
    }

    /// Bytes held, roughly.
    pub fn bytes(&self) -> u64 {
        (self.steps.len() * 24 + self.states.len() * (2 * size_of::<M::State>() + 64)) as u64
    }
}
