//! The general search, on registers as one object of many.

use plimsoll_checkers::search::register::{Meter, NONE, RegisterOp};
use plimsoll_checkers::search::sequential::{Found, Sequential, Span, deepest_alone, search};

use crate::oracle::{explains, first_violation};
use crate::register::random;
use crate::{Chance, cases};

struct Register(Vec<RegisterOp>);

impl Sequential for Register {
    type State = u32;

    fn initial(&self) -> Vec<u32> {
        vec![0]
    }

    fn step(&self, state: &u32, op: usize) -> Option<u32> {
        let op = &self.0[op];
        let legal = op.from == NONE || op.from == *state;
        legal.then_some(if op.to == NONE { *state } else { op.to })
    }

    fn is_read_only(&self, op: usize) -> bool {
        self.0[op].to == NONE
    }

    fn same(&self, one: usize, other: usize) -> bool {
        let of = |at: usize| (self.0[at].from, self.0[at].to);
        of(one) == of(other)
    }
}

#[test]
fn the_general_search_judges_registers_as_the_oracle_does() {
    let mut chance = Chance(6);
    let mut counted = [0_u64; 2];
    for _ in 0..cases(5_000) {
        let register = Register(random(&mut chance));
        let span = |op: &RegisterOp| Span {
            inv: op.inv,
            ret: op.ret,
        };
        let spans: Vec<Span> = register.0.iter().map(span).collect();
        let expected = first_violation(&register.0, 0);
        for walk in [search, deepest_alone] {
            match walk(&register, &spans, &mut Meter::new(1 << 40, 1 << 40)) {
                Found::OutOfBudget => panic!("out of budget"),
                Found::Violation { op } => {
                    assert_eq!(Some(spans[op as usize].ret), expected, "{:?}", register.0);
                }
                Found::Linearizable(order) => {
                    assert_eq!(expected, None, "{:?}", register.0);
                    if let Some(order) = order {
                        explains(&register.0, 0, &order).unwrap();
                    }
                }
            }
        }
        counted[usize::from(expected.is_none())] += 1;
    }
    assert!(
        counted
            .iter()
            .all(|count| count * 10 > counted[0] + counted[1]),
        "{counted:?}"
    );
}
