//! A replica's log on disk: segments of raw batches, a sparse index in memory.
//!
//! The index keeps one place for about every 64 KiB of log, so memory does not grow
//! with records. A scan from an indexed place reads headers only.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytes::{Bytes, BytesMut};

use super::{Doing, StorageError, sync_dir, topic_id};
use crate::core::ids::TopicId;
use crate::core::replica::RecoveredLog;
use crate::core::replica::epochs::EpochCache;
use crate::core::replica::producers::ProducerStates;
use crate::kafka::batch::{self, BatchHeader, HEADER_BYTES};

/// A segment that has reached this size is followed by a new one (segment.bytes).
const SEGMENT_BYTES: u64 = 128 << 20;
/// Distance of the index's places.
const INDEX_EVERY_BYTES: u64 = 64 << 10;

#[derive(Debug)]
struct Segment {
    path: PathBuf,
    file: File,
    size: u64,
    /// Offset of a batch -> its place.
    index: BTreeMap<i64, u64>,
    indexed_up_to: u64,
    dirty: bool,
}

/// An open log of one replica.
#[derive(Debug)]
pub struct SegmentLog {
    dir: PathBuf,
    /// By base offset; never empty.
    segments: BTreeMap<i64, Segment>,
    end: i64,
    generation: u64,
}

/// What recovery found.
#[derive(Debug)]
pub struct Recovery {
    /// State of the log.
    pub log: RecoveredLog,
    /// What was cut, for the log.
    pub cut: Option<String>,
}

impl SegmentLog {
    /// Opens or creates the log in `dir`, checks every batch, and cuts at the first bad one.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn open(dir: &Path) -> Result<(Self, Recovery), StorageError> {
        fs::create_dir_all(dir).doing("create", dir)?;
        let mut log = Self {
            dir: dir.to_owned(),
            segments: BTreeMap::new(),
            end: 0,
            generation: 0,
        };
        let mut found = Found::default();
        let mut cut = None;
        for (base, path) in segment_files(dir)? {
            if cut.is_some() || base != log.end {
                cut.get_or_insert_with(|| format!("segment {} does not follow on", path.display()));
                fs::remove_file(&path).doing("remove", &path)?;
                continue;
            }
            cut = log.recover_segment(base, path, &mut found)?;
        }
        if log.segments.is_empty() {
            log.roll()?;
        }
        let recovery = Recovery {
            log: RecoveredLog {
                topic_id: topic_id::read(dir),
                end: log.end,
                epochs: found.epochs.entries().to_vec(),
                producers: found.producers,
                high_watermark: 0,
            },
            cut,
        };
        Ok((log, recovery))
    }

    /// Begins an empty log of a topic in `dir`; what is there goes.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn create(dir: &Path, id: TopicId) -> Result<Self, StorageError> {
        Self::remove(dir)?;
        fs::create_dir_all(dir).doing("create", dir)?;
        topic_id::write(dir, id)?;
        let (log, _) = Self::open(dir)?;
        sync_parent(dir)?;
        Ok(log)
    }

    /// Removes the log in `dir`, where there is one.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn remove(dir: &Path) -> Result<(), StorageError> {
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            ended => {
                ended.doing("remove", dir)?;
                sync_parent(dir)
            }
        }
    }

    /// Bytes of all segments.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.segments.values().map(|segment| segment.size).sum()
    }

    fn recover_segment(
        &mut self,
        base: i64,
        path: PathBuf,
        found: &mut Found,
    ) -> Result<Option<String>, StorageError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .doing("open", &path)?;
        let len = file.metadata().doing("look at", &path)?.len();
        let mut segment = Segment::new(path, file);
        let mut cut = None;
        while segment.size < len {
            match segment.sound_batch_at(segment.size, self.end)? {
                Ok(header) => {
                    found.take(&header);
                    segment.note(header.base_offset, header.size as u64);
                    self.end = header.last_offset() + 1;
                }
                Err(reason) => {
                    cut = Some(format!(
                        "{} is cut at byte {} of {len}, offset {}: {reason}",
                        segment.path.display(),
                        segment.size,
                        self.end
                    ));
                    break;
                }
            }
        }
        if segment.size < len {
            segment
                .file
                .set_len(segment.size)
                .doing("truncate", &segment.path)?;
            segment.file.sync_data().doing("sync", &segment.path)?;
        }
        self.segments.insert(base, segment);
        Ok(cut)
    }

    /// Next offset.
    #[must_use]
    pub fn end(&self) -> i64 {
        self.end
    }

    /// How often the log has been truncated since it was opened.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Appends whole batches that follow on.
    ///
    /// # Errors
    /// Where the disk refuses, or the batches do not follow on.
    pub fn append(&mut self, at: i64, bytes: &Bytes) -> Result<(), StorageError> {
        if at != self.end {
            let what = format!("batches begin at {at}, the log ends at {}", self.end);
            return Err(std::io::Error::other(what)).doing("append to", &self.dir);
        }
        if self.active().size >= SEGMENT_BYTES {
            self.roll()?;
        }
        let mut end = self.end;
        let segment = self.active_mut();
        segment
            .file
            .write_all_at(bytes, segment.size)
            .doing("append to", &segment.path)?;
        segment.dirty = true;
        for (header, _) in batch::batches(bytes).flatten() {
            segment.note(header.base_offset, header.size as u64);
            end = header.last_offset() + 1;
        }
        self.end = end;
        Ok(())
    }

    /// Puts everything on disk.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn sync(&mut self) -> Result<(), StorageError> {
        for segment in self.segments.values_mut().filter(|segment| segment.dirty) {
            segment.file.sync_data().doing("sync", &segment.path)?;
            segment.dirty = false;
        }
        Ok(())
    }

    /// Cuts the log at `to`, which lies between two batches.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn truncate(&mut self, to: i64) -> Result<(), StorageError> {
        self.generation += 1;
        if to >= self.end {
            return Ok(());
        }
        let behind = self.segments.split_off(&(to + 1));
        for segment in behind.into_values() {
            fs::remove_file(&segment.path).doing("remove", &segment.path)?;
        }
        sync_dir(&self.dir)?;
        if let Some((_, segment)) = self.segments.last_key_value() {
            let place = segment.place_of(to)?.unwrap_or(segment.size);
            let segment = self.active_mut();
            segment
                .file
                .set_len(place)
                .doing("truncate", &segment.path)?;
            segment.file.sync_data().doing("sync", &segment.path)?;
            segment.size = place;
            segment.indexed_up_to = segment.indexed_up_to.min(place);
            segment.index.retain(|offset, _| *offset < to);
        }
        self.end = to;
        if self.segments.is_empty() {
            self.roll()?;
        }
        Ok(())
    }

    /// Whole batches from the one that holds `from`, up to `end` and about `max_bytes`; the first
    /// is given whole even where it is larger.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn read(&self, from: i64, end: i64, max_bytes: u32) -> Result<Bytes, StorageError> {
        let mut found = BytesMut::new();
        let Some((first, _)) = self.segments.range(..=from).next_back() else {
            return Ok(found.freeze());
        };
        for segment in self.segments.range(first..).map(|(_, segment)| segment) {
            let Some(place) = segment.place_of(from)? else {
                continue;
            };
            if segment.read_into(place, end, max_bytes as usize, &mut found)? {
                break;
            }
        }
        Ok(found.freeze())
    }

    /// The state of the producers, read from every batch's header.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn producers(&self) -> Result<ProducerStates, StorageError> {
        let mut found = Found::default();
        for segment in self.segments.values() {
            let mut at = 0;
            while let Some(header) = segment.header_at(at)? {
                found.take(&header);
                at += header.size as u64;
            }
        }
        Ok(found.producers)
    }

    fn roll(&mut self) -> Result<(), StorageError> {
        let path = self.dir.join(format!("{:020}.log", self.end));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .doing("create", &path)?;
        sync_dir(&self.dir)?;
        self.segments.insert(self.end, Segment::new(path, file));
        Ok(())
    }

    fn active(&self) -> &Segment {
        self.segments
            .last_key_value()
            .map(|(_, segment)| segment)
            .expect("a log has a segment from open() on")
    }

    fn active_mut(&mut self) -> &mut Segment {
        self.segments
            .last_entry()
            .map(std::collections::btree_map::OccupiedEntry::into_mut)
            .expect("a log has a segment from open() on")
    }
}

impl Segment {
    fn new(path: PathBuf, file: File) -> Self {
        Self {
            path,
            file,
            size: 0,
            index: BTreeMap::new(),
            indexed_up_to: 0,
            dirty: false,
        }
    }

    /// A batch of `size` bytes stands at the end.
    fn note(&mut self, base_offset: i64, size: u64) {
        if self.index.is_empty() || self.size >= self.indexed_up_to + INDEX_EVERY_BYTES {
            self.index.insert(base_offset, self.size);
            self.indexed_up_to = self.size;
        }
        self.size += size;
    }

    fn header_at(&self, place: u64) -> Result<Option<BatchHeader>, StorageError> {
        if place + HEADER_BYTES as u64 > self.size {
            return Ok(None);
        }
        let mut raw = [0; HEADER_BYTES];
        self.file
            .read_exact_at(&mut raw, place)
            .doing("read", &self.path)?;
        Ok(BatchHeader::parse_header(&raw).ok())
    }

    /// The whole batch at `place`, checked, in a file that recovery has not accepted yet.
    fn sound_batch_at(
        &self,
        place: u64,
        expected: i64,
    ) -> Result<Result<BatchHeader, String>, StorageError> {
        let mut raw = [0; HEADER_BYTES];
        if let Err(error) = self.file.read_exact_at(&mut raw, place) {
            return ended(error).doing("read", &self.path);
        }
        let header = match BatchHeader::parse_header(&raw) {
            Ok(header) => header,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let mut bytes = vec![0; header.size];
        if let Err(error) = self.file.read_exact_at(&mut bytes, place) {
            return ended(error).doing("read", &self.path);
        }
        let checked = batch::validate(&bytes).map_err(|error| error.to_string());
        Ok(checked.and_then(|header| {
            if header.base_offset == expected {
                Ok(header)
            } else {
                Err(format!(
                    "it begins at {}, not {expected}",
                    header.base_offset
                ))
            }
        }))
    }

    /// The place of the batch that holds `offset`, or of the first behind it.
    fn place_of(&self, offset: i64) -> Result<Option<u64>, StorageError> {
        let mut place = self
            .index
            .range(..=offset)
            .next_back()
            .map_or(0, |(_, place)| *place);
        while let Some(header) = self.header_at(place)? {
            if header.last_offset() >= offset {
                return Ok(Some(place));
            }
            place += header.size as u64;
        }
        Ok(None)
    }

    /// Reads whole batches before `end` into `into`; true where there is nothing more to be had.
    fn read_into(
        &self,
        mut place: u64,
        end: i64,
        max_bytes: usize,
        into: &mut BytesMut,
    ) -> Result<bool, StorageError> {
        loop {
            if place >= self.size {
                return Ok(false);
            }
            let room = max_bytes.saturating_sub(into.len());
            let rest = usize::try_from(self.size - place).unwrap_or(usize::MAX);
            let first = match self.header_at(place)? {
                Some(header) if header.last_offset() < end => header.size,
                _ => return Ok(true),
            };
            if first > room && !into.is_empty() {
                return Ok(true);
            }
            let begin = into.len();
            into.resize(begin + room.max(first).min(rest), 0);
            self.file
                .read_exact_at(&mut into[begin..], place)
                .doing("read", &self.path)?;
            let whole = whole_batches(&into[begin..], end);
            into.truncate(begin + whole);
            place += whole as u64;
            if whole == 0 || into.len() >= max_bytes {
                return Ok(true);
            }
        }
    }
}

/// Bytes of the whole batches before `end` at the start of `bytes`.
fn whole_batches(bytes: &[u8], end: i64) -> usize {
    let mut at = 0;
    while let Ok(header) = BatchHeader::parse(&bytes[at..]) {
        if header.last_offset() >= end {
            break;
        }
        at += header.size;
    }
    at
}

fn sync_parent(dir: &Path) -> Result<(), StorageError> {
    dir.parent().map_or(Ok(()), sync_dir)
}

fn ended(error: std::io::Error) -> std::io::Result<Result<BatchHeader, String>> {
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        return Ok(Err("the file ends within a batch".to_owned()));
    }
    Err(error)
}

/// What the batches of a log add up to.
#[derive(Default)]
struct Found {
    epochs: EpochCache,
    producers: ProducerStates,
}

impl Found {
    fn take(&mut self, header: &BatchHeader) {
        self.epochs.assign(header.leader_epoch, header.base_offset);
        self.producers.record(header);
    }
}

fn segment_files(dir: &Path) -> Result<BTreeMap<i64, PathBuf>, StorageError> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).doing("list", dir)? {
        let path = entry.doing("list", dir)?.path();
        let base = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_suffix(".log"))
            // Anything else in the directory is no segment of ours and is left alone.
            .filter(|base| base.len() == 20 && base.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|base| base.parse().ok());
        if let Some(base) = base {
            files.insert(base, path);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::batch::{BatchBuilder, stamp};

    fn batch(offset: i64, epoch: i32) -> Bytes {
        stamp(
            &BatchBuilder::plain(0).build(&[b"a value", b"another"]),
            offset,
            epoch,
        )
    }

    fn filled(dir: &Path, batches: i64) -> SegmentLog {
        let (mut log, _) = SegmentLog::open(dir).unwrap();
        for n in 0..batches {
            log.append(2 * n, &batch(2 * n, i32::try_from(n / 10).unwrap()))
                .unwrap();
        }
        log
    }

    fn bases(bytes: &Bytes) -> Vec<i64> {
        batch::batches(bytes)
            .flatten()
            .map(|(header, _)| header.base_offset)
            .collect()
    }

    #[test]
    fn a_read_gives_whole_batches_from_the_one_that_holds_the_offset_up_to_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let log = filled(dir.path(), 2_000);
        assert_eq!(
            bases(&log.read(3_001, 3_006, 1 << 20).unwrap()),
            vec![3_000, 3_002, 3_004]
        );
        assert_eq!(bases(&log.read(0, 4_000, 1).unwrap()), vec![0]);
        assert_eq!(
            bases(&log.read(4_000, 4_000, 1 << 20).unwrap()),
            Vec::<i64>::new()
        );
    }

    #[test]
    fn truncation_cuts_between_batches_and_appending_goes_on_there() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = filled(dir.path(), 2_000);
        log.truncate(3_000).unwrap();
        assert!(log.append(4_000, &batch(4_000, 500)).is_err());
        log.append(3_000, &batch(3_000, 500)).unwrap();
        let (log, recovery) = SegmentLog::open(dir.path()).unwrap();
        assert_eq!((log.end(), recovery.cut), (3_002, None));
        assert_eq!(recovery.log.epochs.last(), Some(&(500, 3_000)));
    }

    #[test]
    fn recovery_cuts_a_torn_tail_and_everything_behind_a_flipped_byte() {
        let dir = tempfile::tempdir().unwrap();
        drop(filled(dir.path(), 10));
        let path = dir.path().join("00000000000000000000.log");
        let whole = fs::read(&path).unwrap();
        let size = whole.len() / 10;
        fs::write(&path, &whole[..whole.len() - 5]).unwrap();
        let (log, recovery) = SegmentLog::open(dir.path()).unwrap();
        assert_eq!(log.end(), 18);
        assert!(recovery.cut.unwrap().contains("offset 18"));
        let mut flipped = whole.clone();
        flipped[4 * size + 70] ^= 1;
        fs::write(&path, &flipped).unwrap();
        let (log, recovery) = SegmentLog::open(dir.path()).unwrap();
        assert_eq!(log.end(), 8);
        assert!(recovery.cut.unwrap().contains("CRC32C"));
    }

    #[test]
    fn a_log_that_is_begun_anew_for_another_topic_holds_nothing_of_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log-0");
        let mut log = SegmentLog::create(&path, 7).unwrap();
        log.append(0, &batch(0, 0)).unwrap();
        assert!(log.bytes() > 0);
        let (_, recovery) = SegmentLog::open(&path).unwrap();
        assert_eq!((recovery.log.topic_id, recovery.log.end), (7, 2));
        drop(SegmentLog::create(&path, 8).unwrap());
        let (log, recovery) = SegmentLog::open(&path).unwrap();
        assert_eq!((recovery.log.topic_id, recovery.log.end), (8, 0));
        assert_eq!(log.bytes(), 0);
        SegmentLog::remove(&path).unwrap();
        SegmentLog::remove(&path).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_foreign_file_in_place_of_a_segment_is_cut_to_nothing() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("00000000000000000000.log"), [0xff; 300]).unwrap();
        let (log, recovery) = SegmentLog::open(dir.path()).unwrap();
        assert_eq!(log.end(), 0);
        assert!(recovery.cut.is_some());
    }
}
