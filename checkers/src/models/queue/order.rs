//! Elements that come out in the wrong order, or never though later ones did.

use super::reading::{Element, Queue};
use super::{Accusation, NEVER};

/// Pairs a, b with a enqueued before b and b dequeued before a (both certain), one for each b.
pub(super) fn violations(queue: &Queue) -> Vec<Accusation> {
    // a by the end of its enqueue, b by the begin of its own: all a that ended before b began.
    let mut ended: Vec<&Element> = queue.elements.iter().filter(is_acked).collect();
    let taken = |element: &&Element| !queue.open_dequeues.is_empty() && element.dequeue().is_none();
    // What an unanswered dequeue may have taken is judged by `missing`.
    ended.retain(|element| !taken(element));
    ended.sort_by_key(|element| element.enqueue().1);
    let mut begun: Vec<&Element> = queue
        .elements
        .iter()
        .filter(|element| element.dequeue().is_some())
        .collect();
    begun.sort_by_key(|element| element.enqueue().0);
    let mut ended = ended.into_iter().peekable();
    let mut last_out: Option<&Element> = None;
    let mut accusations = Vec::new();
    for b in begun {
        while let Some(a) = ended.next_if(|a| a.enqueue().1 < b.enqueue().0) {
            if last_out.is_none_or(|last| begin_out(a) > begin_out(last)) {
                last_out = Some(a);
            }
        }
        if let (Some(a), Some((_, out))) = (last_out, b.dequeue())
            && out < begin_out(a)
        {
            accusations.push(wrong_order(a, b));
        }
    }
    accusations
}

fn is_acked(element: &&Element) -> bool {
    element.enqueue().1 != NEVER
}

fn begin_out(element: &Element) -> u32 {
    element.dequeue().map_or(NEVER, |(begin, _)| begin)
}

fn wrong_order(a: &Element, b: &Element) -> Accusation {
    let (in_a, in_b) = (a.enqueue(), b.enqueue());
    let out_b = b.dequeue().map_or(NEVER, |dequeue| dequeue.1);
    let message = match a.dequeue() {
        Some(_) => format!(
            "{} had been enqueued before {} was, but came out after it.",
            a.name, b.name
        ),
        None => format!(
            "{} had been enqueued before {}, which came out; it never did.",
            a.name, b.name
        ),
    };
    let kind = match a.dequeue() {
        Some(_) => "realtime-order",
        None => "lost-write",
    };
    let out_a = a.dequeue().map_or(NEVER, |dequeue| dequeue.0);
    Accusation::new(kind, vec![in_a.1, in_b.0, out_b, out_a], message)
}

/// Elements of one drain that came out before others which had been enqueued before them.
pub(super) fn within_drains(queue: &Queue) -> Vec<Accusation> {
    let mut accusations = Vec::new();
    for (end, order) in &queue.drains {
        let mut first_in: Option<&Element> = None;
        for &which in order.iter().rev() {
            let element = &queue.elements[which];
            if let Some(later) = first_in.filter(|later| later.enqueue().1 < element.enqueue().0) {
                let message = format!(
                    "{} had been enqueued before {} was, but came out of one drain after it.",
                    later.name, element.name
                );
                let ops = vec![later.enqueue().1, element.enqueue().0, *end];
                accusations.push(Accusation::new("realtime-order", ops, message));
            }
            if first_in.is_none_or(|later| element.enqueue().1 < later.enqueue().1) {
                first_in = Some(element);
            }
        }
    }
    accusations
}

/// Elements that must have been taken by dequeues without an answer, of which there are too few in
/// time. Each must be out before the first dequeue of an element that was enqueued after it ends.
pub(super) fn missing(queue: &Queue) -> Vec<Accusation> {
    if queue.open_dequeues.is_empty() {
        return Vec::new();
    }
    let mut deadlines: Vec<(Deadline, &Element)> = queue
        .elements
        .iter()
        .filter(|element| is_acked(element) && element.dequeue().is_none())
        .filter_map(|element| Some((deadline(queue, element)?, element)))
        .collect();
    deadlines.sort_by_key(|(deadline, _)| deadline.at);
    let mut open = queue.open_dequeues.clone();
    open.sort_unstable();
    for (count, (Deadline { at, .. }, element)) in deadlines.iter().enumerate() {
        let in_time = open.partition_point(|begin| begin <= at);
        if in_time <= count {
            let message = format!(
                "{} and {count} others must have come out before op {at}, but only {in_time} dequeues without an answer had begun by then.",
                element.name
            );
            let missing = deadlines[..=count].iter();
            let mut ops: Vec<u32> = missing
                .flat_map(|(deadline, missing)| [missing.enqueue().1, deadline.since, deadline.at])
                .collect();
            ops.extend(&open[..in_time]);
            return vec![Accusation::new("lost-write", ops, message)];
        }
    }
    Vec::new()
}

/// When a missing element must have been out.
struct Deadline {
    /// End of the dequeue of an element that was enqueued after it.
    at: u32,
    /// Begin of that element's enqueue.
    since: u32,
}

fn deadline(queue: &Queue, a: &Element) -> Option<Deadline> {
    let later = queue
        .elements
        .iter()
        .filter(|b| a.enqueue().1 < b.enqueue().0);
    let each = later.filter_map(|b| {
        let (at, since) = (b.dequeue()?.1, b.enqueue().0);
        Some(Deadline { at, since })
    });
    each.min_by_key(|deadline| deadline.at)
}
