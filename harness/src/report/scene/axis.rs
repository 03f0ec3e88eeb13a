//! The axis of a scene: stretches in which something happens, each with a scale of its own, and
//! between them gaps of a fixed width, so that ops which lie far apart do not squeeze each other.

/// Stretches at most; the widest gaps are broken first.
const STRETCHES: usize = 6;
/// A gap is long from this share of the whole time, and takes nearly all of its stretch from this.
const LONG: f64 = 0.001;
const NEARLY_ALL: f64 = 0.95;
/// Width of a gap in percent of the axis.
pub const GAP: f64 = 4.0;
/// Room on either side of what happens, as a share of its stretch.
const PADDING: f64 = 0.06;
/// Moments of a stretch count for its width within these limits.
const WEIGHTS: (usize, usize) = (3, 14);

/// Moments from `from` to `to`, drawn between two percentages of the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    pub from: f64,
    pub to: f64,
    pub left: f64,
    pub right: f64,
}

/// All stretches from left to right; never none.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    pub stretches: Vec<Stretch>,
}

impl Axis {
    /// An axis on which these moments are well apart; `alone` is the length of one with a single
    /// moment.
    pub fn new(mut moments: Vec<f64>, alone: f64) -> Self {
        moments.sort_by(f64::total_cmp);
        moments.dedup();
        if moments.is_empty() {
            moments.push(0.0);
        }
        let parts = split(&moments);
        let weight = |part: &&[f64]| part.len().clamp(WEIGHTS.0, WEIGHTS.1) as f64;
        let weights: f64 = parts.iter().map(weight).sum();
        let room = 100.0 - GAP * (parts.len() - 1) as f64;
        let alone = smallest_span(&parts).unwrap_or(alone);
        let mut left = 0.0;
        let mut stretches = Vec::with_capacity(parts.len());
        for (index, part) in parts.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| last(parts[before]));
            let after = parts.get(index + 1).map(|after| after[0]);
            let (from, to) = padded(part, before, after, alone);
            let right = left + room * weight(part) / weights;
            stretches.push(Stretch {
                from,
                to,
                left,
                right,
            });
            left = right + GAP;
        }
        Self { stretches }
    }

    /// The place of a moment in percent: inside a gap where nothing else is drawn, at an end where
    /// it lies beyond.
    pub fn place(&self, at: f64) -> f64 {
        let mut before: Option<&Stretch> = None;
        for stretch in &self.stretches {
            if at < stretch.from {
                return match before {
                    None => stretch.left,
                    Some(gap) => between(at, (gap.to, stretch.from), (gap.right, stretch.left)),
                };
            }
            if at <= stretch.to {
                let ends = (stretch.left, stretch.right);
                return between(at, (stretch.from, stretch.to), ends);
            }
            before = Some(stretch);
        }
        100.0
    }

    /// Where an op that never ended is drawn to: the end of the stretch that knows of it last.
    pub fn end_of_stretch(&self, at: f64) -> f64 {
        let stretches = self.stretches.iter();
        let next = stretches.clone().find(|stretch| at <= stretch.to);
        next.map_or(100.0, |stretch| stretch.right)
    }

    /// How far `from..to` is from what is drawn, 0 where some of it is; `None` beyond both ends.
    pub fn distance(&self, from: f64, to: f64) -> Option<f64> {
        let mut distance: Option<f64> = None;
        for (index, stretch) in self.stretches.iter().enumerate() {
            let away = f64::max(stretch.from - to, from - stretch.to).max(0.0);
            let is_end = (index == 0 && to < stretch.from)
                || (index + 1 == self.stretches.len() && from > stretch.to);
            if is_end {
                return None;
            }
            distance = Some(distance.map_or(away, |least| least.min(away)));
        }
        distance
    }

    /// Whether anything of `from..to` is drawn.
    pub fn shows(&self, from: f64, to: f64) -> bool {
        let mut stretches = self.stretches.iter();
        stretches.any(|stretch| from <= stretch.to && to >= stretch.from)
    }
}

fn between(at: f64, (from, to): (f64, f64), (left, right): (f64, f64)) -> f64 {
    match to > from {
        true => left + (at - from) / (to - from) * (right - left),
        false => (left + right) / 2.0,
    }
}

fn last(part: &[f64]) -> f64 {
    part.last().copied().unwrap_or(0.0)
}

/// Breaks the axis at gaps that would take much of a stretch, and that are long by the measure of
/// the whole unless they would take nearly all of it.
fn split(moments: &[f64]) -> Vec<&[f64]> {
    let whole = last(moments) - moments[0];
    let mut parts = vec![moments];
    while parts.len() < STRETCHES {
        let widest = parts.iter().enumerate().filter_map(|(index, part)| {
            let (at, share) = widest_gap(part)?;
            // The fewer moments there are, the larger their gaps may be.
            let usual = f64::max(0.4, 2.5 / part.len() as f64);
            let gap = part[at] - part[at - 1];
            let breaks = share >= usual && (gap >= whole * LONG || share >= NEARLY_ALL);
            breaks.then_some((index, at, share))
        });
        let Some((index, at, _)) = widest.max_by(|a, b| a.2.total_cmp(&b.2)) else {
            break;
        };
        let (head, tail) = parts[index].split_at(at);
        parts.splice(index..=index, [head, tail]);
    }
    parts
}

/// Where the part's widest gap ends, and the gap's share of the whole.
fn widest_gap(part: &[f64]) -> Option<(usize, f64)> {
    let span = last(part) - part.first()?;
    let gaps = part.windows(2).enumerate();
    let gaps = gaps.map(|(index, pair)| (index + 1, (pair[1] - pair[0]) / span));
    gaps.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// What stands for the length of a stretch with a single moment.
fn smallest_span(parts: &[&[f64]]) -> Option<f64> {
    let spans = parts.iter().map(|part| last(part) - part[0]);
    let smallest = spans
        .filter(|span| *span > 0.0)
        .fold(f64::INFINITY, f64::min);
    smallest.is_finite().then_some(smallest)
}

/// A part with some room on both sides, but never into its neighbours.
fn padded(part: &[f64], before: Option<f64>, after: Option<f64>, alone: f64) -> (f64, f64) {
    let (from, to) = (part[0], last(part));
    let wanted = match to > from {
        true => (to - from) * PADDING,
        false => alone / 2.0,
    };
    let room = |gap: Option<f64>| gap.map_or(wanted, |gap| wanted.min(gap / 3.0));
    let left = room(before.map(|before| from - before));
    let right = room(after.map(|after| after - to));
    (from - left, to + right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_far_apart_get_a_gap_and_each_side_its_own_scale() {
        let axis = Axis::new(vec![1.0, 2.0, 3.0, 4.0, 9_001.0, 9_010.0, 9_020.0], 1.0);
        assert_eq!(axis.stretches.len(), 2);
        assert!(axis.place(4.0) - axis.place(1.0) > 30.0);
        assert!(axis.place(9_020.0) - axis.place(9_001.0) > 30.0);
        let inside = axis.place(5_000.0);
        assert!(axis.stretches[0].right < inside && inside < axis.stretches[1].left);
    }

    #[test]
    fn moments_at_even_distances_are_not_broken() {
        for many in [1, 2, 3, 5, 30] {
            let axis = Axis::new((0..many).map(f64::from).collect(), 1.0);
            assert_eq!(axis.stretches.len(), 1, "{many}");
        }
    }

    #[test]
    fn a_gap_that_is_short_by_the_measure_of_the_whole_stays_unless_it_squeezes() {
        let far = [1e9, 1e9 + 1.0, 1e9 + 2.0];
        let axis = |near: &[f64]| Axis::new([near, &far].concat(), 1.0);
        let halved = [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0];
        assert_eq!(axis(&halved).stretches.len(), 2);
        let squeezed = [0.0, 1.0, 2.0, 3.0, 900.0, 901.0, 902.0, 903.0];
        assert_eq!(axis(&squeezed).stretches.len(), 3);
    }

    #[test]
    fn places_rise_with_time_and_stay_on_the_axis() {
        for moments in [
            vec![],
            vec![5.0],
            vec![5.0, 5.0],
            vec![0.0, 1e18],
            vec![0.0, 1.0, 1e6, 1e6 + 1.0, 1e12, 1e15, 1e18],
        ] {
            let axis = Axis::new(moments.clone(), 1.0);
            let mut before = -1.0;
            for at in [-1.0, 0.0, 0.5, 1.0, 5.0, 1e3, 1e6, 1e9, 1e12, 1e17, 1e19] {
                let place = axis.place(at);
                assert!(
                    (0.0..=100.0001).contains(&place),
                    "{moments:?} {at} {place}"
                );
                assert!(place >= before - 1e-9, "{moments:?} {at}");
                before = place;
            }
        }
    }
}
