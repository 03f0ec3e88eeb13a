//! The leader epoch cache: at which offset each epoch begins (KIP-101).

/// (epoch, first offset), both increasing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpochCache(Vec<(i32, i64)>);

impl EpochCache {
    /// A cache with these entries, oldest first.
    #[must_use]
    pub fn new(entries: Vec<(i32, i64)>) -> Self {
        let mut cache = Self::default();
        for (epoch, start) in entries {
            cache.assign(epoch, start);
        }
        cache
    }

    /// The epoch of the last record, or of the leader that has not written yet.
    #[must_use]
    pub fn latest(&self) -> Option<i32> {
        self.0.last().map(|(epoch, _)| *epoch)
    }

    /// The entries, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[(i32, i64)] {
        &self.0
    }

    /// `epoch` begins at `start`, unless it or a later one is known. An earlier epoch that had
    /// begun there without a record makes way.
    pub fn assign(&mut self, epoch: i32, start: i64) {
        if self.latest().is_some_and(|latest| latest >= epoch) {
            return;
        }
        while self.0.last().is_some_and(|(_, begun)| *begun >= start) {
            self.0.pop();
        }
        self.0.push((epoch, start));
    }

    /// The largest epoch not above `epoch`, and where it ends in a log that ends at `log_end`;
    /// none where `epoch` is above all that is known.
    #[must_use]
    pub fn end_for(&self, epoch: i32, log_end: i64) -> Option<(i32, i64)> {
        if self.latest() == Some(epoch) {
            return Some((epoch, log_end));
        }
        let above = self.0.iter().position(|(known, _)| *known > epoch)?;
        let end = self.0[above].1;
        let floor = above.checked_sub(1).map_or(epoch, |below| self.0[below].0);
        Some((floor, end))
    }

    /// The epoch of the record before `end`, or none in an empty log.
    #[must_use]
    pub fn epoch_before(&self, end: i64) -> Option<i32> {
        self.0
            .iter()
            .rev()
            .find(|(_, start)| *start < end)
            .map(|(epoch, _)| *epoch)
    }

    /// Forgets epochs that begin at or after `end`.
    pub fn truncate(&mut self, end: i64) {
        self.0.retain(|(_, start)| *start < end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> EpochCache {
        EpochCache::new(vec![(1, 0), (3, 10), (6, 20)])
    }

    #[test]
    fn an_epoch_ends_where_the_next_begins_and_the_latest_with_the_log() {
        assert_eq!(cache().end_for(1, 25), Some((1, 10)));
        assert_eq!(cache().end_for(6, 25), Some((6, 25)));
    }

    #[test]
    fn an_unknown_epoch_in_between_is_answered_with_the_one_below_it() {
        assert_eq!(cache().end_for(4, 25), Some((3, 20)));
        assert_eq!(cache().end_for(0, 25), Some((0, 0)));
        assert_eq!(cache().end_for(7, 25), None);
    }

    #[test]
    fn an_epoch_without_records_makes_way_for_the_next_at_the_same_offset() {
        let mut cache = cache();
        cache.assign(7, 20);
        assert_eq!(cache.entries(), &[(1, 0), (3, 10), (7, 20)]);
    }

    #[test]
    fn truncation_forgets_epochs_that_begin_behind_it() {
        let mut cache = cache();
        cache.truncate(10);
        assert_eq!(cache.entries(), &[(1, 0)]);
        assert_eq!(cache.epoch_before(10), Some(1));
        assert_eq!(cache.epoch_before(0), None);
    }
}
