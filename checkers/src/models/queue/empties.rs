//! Dequeues that found nothing while something was certainly there.

use super::reading::{Element, Queue, Span};
use super::{Accusation, NEVER};

/// Every empty dequeue whose whole time is covered by elements that were certainly in the queue:
/// from the end of their enqueue to the begin of their dequeue.
pub(super) fn covered(queue: &Queue) -> Vec<Accusation> {
    let mut there: Vec<(Span, &Element)> = queue.elements.iter().filter_map(certainly).collect();
    there.sort_by_key(|(span, _)| *span);
    let stretches = merge(&there);
    let mut accusations = Vec::new();
    for &empty in &queue.empties {
        let after = stretches.partition_point(|(stretch, _)| stretch.0 < empty.0);
        let Some((stretch, first)) = after.checked_sub(1).map(|at| stretches[at]) else {
            continue;
        };
        if stretch.1 > empty.1 {
            accusations.push(accuse(empty, &there[first..]));
        }
    }
    accusations
}

fn certainly(element: &Element) -> Option<(Span, &Element)> {
    let end = element.enqueue().1;
    let out = element.dequeue().map_or(NEVER, |(begin, _)| begin);
    (end != NEVER && end < out).then_some(((end, out), element))
}

/// Stretches of time without a gap, each with its first element. Two spans that only touch leave a
/// moment between them.
fn merge(there: &[(Span, &Element)]) -> Vec<(Span, usize)> {
    let mut stretches: Vec<(Span, usize)> = Vec::new();
    for (at, &((from, to), _)) in there.iter().enumerate() {
        match stretches.last_mut() {
            Some((stretch, _)) if from < stretch.1 => stretch.1 = stretch.1.max(to),
            _ => stretches.push(((from, to), at)),
        }
    }
    stretches
}

/// The fewest elements that cover the dequeue: each time the one that stays longest.
fn accuse(empty: Span, there: &[(Span, &Element)]) -> Accusation {
    let mut ops = vec![empty.0, empty.1];
    let mut names = Vec::new();
    let mut covered = empty.0;
    while covered <= empty.1 {
        // The first moment is covered from before it, later ones from before the last one's end.
        let begins = there.iter().filter(|(span, _)| span.0 < covered);
        let Some((span, element)) = begins.max_by_key(|(span, _)| span.1) else {
            break;
        };
        if span.1 <= covered {
            break;
        }
        ops.extend([span.0, span.1]);
        names.push(element.name.clone());
        covered = span.1;
    }
    let message = format!(
        "A dequeue found the queue empty, though {} was in it all the while.",
        names.join(" and then ")
    );
    Accusation::new("lost-write", ops, message)
}
