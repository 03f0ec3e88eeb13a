//! The Raft log in memory, and the frames in which its entries stand on disk.

use bytes::{BufMut, Bytes, BytesMut};

use crate::core::messages::peer::Entry;

/// Bytes of a frame before the entry's data: length, CRC32C, index, term.
pub const FRAME_HEADER_BYTES: usize = 4 + 4 + 8 + 8;
/// No entry is larger; a longer length in a frame is a torn or foreign write.
pub const FRAME_DATA_BYTES_MAX: usize = 16 << 20;

/// Entries 1..=last, all in memory: a metadata log of a test cluster stays small.
#[derive(Clone, Debug, Default)]
pub struct RaftLog {
    entries: Vec<Entry>,
}

impl RaftLog {
    /// A log that holds `entries` from index 1.
    #[must_use]
    pub fn new(entries: Vec<Entry>) -> Self {
        Self { entries }
    }

    /// Index of the last entry, 0 where there is none.
    #[must_use]
    pub fn last_index(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Term of the last entry, 0 where there is none.
    #[must_use]
    pub fn last_term(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.term)
    }

    /// Term of the entry at `index`; 0 for index 0; none beyond the end.
    #[must_use]
    pub fn term_at(&self, index: u64) -> Option<u64> {
        match index.checked_sub(1) {
            None => Some(0),
            Some(at) => self.entries.get(usize::try_from(at).ok()?).map(|e| e.term),
        }
    }

    /// The entry at `index`.
    #[must_use]
    pub fn get(&self, index: u64) -> Option<&Entry> {
        self.entries
            .get(usize::try_from(index.checked_sub(1)?).ok()?)
    }

    /// At most `max` entries after `index`.
    #[must_use]
    pub fn after(&self, index: u64, max: usize) -> &[Entry] {
        let from = usize::try_from(index)
            .unwrap_or(usize::MAX)
            .min(self.entries.len());
        let to = from.saturating_add(max).min(self.entries.len());
        &self.entries[from..to]
    }

    /// Adds an entry and tells its index.
    pub fn push(&mut self, entry: Entry) -> u64 {
        self.entries.push(entry);
        self.last_index()
    }

    /// Cuts the entry at `from` and all after it.
    pub fn truncate_from(&mut self, from: u64) {
        let keep = usize::try_from(from.saturating_sub(1)).unwrap_or(usize::MAX);
        self.entries.truncate(keep);
    }
}

/// Appends the frame of `entry` to `into`.
pub fn encode_frame(index: u64, entry: &Entry, into: &mut BytesMut) {
    let mut body = BytesMut::with_capacity(16 + entry.data.len());
    body.put_u64(index);
    body.put_u64(entry.term);
    body.put_slice(&entry.data);
    into.put_u32(u32::try_from(entry.data.len()).unwrap_or(u32::MAX));
    into.put_u32(crc32c::crc32c(&body));
    into.put_slice(&body);
}

/// Reads the frame at the start of `bytes`: (index, entry, bytes used). None where it is torn.
#[must_use]
pub fn decode_frame(bytes: &[u8]) -> Option<(u64, Entry, usize)> {
    let len = u32::from_be_bytes(bytes.get(0..4)?.try_into().ok()?) as usize;
    if len > FRAME_DATA_BYTES_MAX {
        return None;
    }
    let crc = u32::from_be_bytes(bytes.get(4..8)?.try_into().ok()?);
    let body = bytes.get(8..FRAME_HEADER_BYTES + len)?;
    if crc32c::crc32c(body) != crc {
        return None;
    }
    let index = u64::from_be_bytes(body[0..8].try_into().ok()?);
    let term = u64::from_be_bytes(body[8..16].try_into().ok()?);
    let data = Bytes::copy_from_slice(&body[16..]);
    Some((index, Entry { term, data }, FRAME_HEADER_BYTES + len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_back_and_a_torn_or_flipped_one_does_not() {
        let entry = Entry {
            term: 7,
            data: Bytes::from_static(b"record"),
        };
        let mut frame = BytesMut::new();
        encode_frame(3, &entry, &mut frame);
        assert_eq!(decode_frame(&frame), Some((3, entry, frame.len())));
        assert_eq!(decode_frame(&frame[..frame.len() - 1]), None);
        frame[FRAME_HEADER_BYTES] ^= 1;
        assert_eq!(decode_frame(&frame), None);
    }
}
