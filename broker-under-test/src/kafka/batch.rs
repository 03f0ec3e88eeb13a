//! Record batches (magic 2) as they go over the wire and onto the disk, read without trust.
//!
//! A batch is kept raw from the producer to the consumer: only its base offset and leader epoch
//! are written by the leader, both outside what the CRC covers. Nothing here allocates by a count
//! that came over the wire.
//!
//! Source: Kafka's protocol guide, "Record Batch".

use bytes::{Bytes, BytesMut};
use thiserror::Error;

/// Bytes before the records of a batch.
pub const HEADER_BYTES: usize = 61;
/// Bytes that the length field does not count: base offset and the length itself.
pub const LENGTH_PREFIX_BYTES: usize = 12;
/// A batch larger than this is refused (message.max.bytes, generous).
pub const BATCH_BYTES_MAX: usize = 8 << 20;

const BASE_OFFSET_AT: usize = 0;
const LENGTH_AT: usize = 8;
const LEADER_EPOCH_AT: usize = 12;
const MAGIC_AT: usize = 16;
const CRC_AT: usize = 17;
const ATTRIBUTES_AT: usize = 21;
const LAST_OFFSET_DELTA_AT: usize = 23;
const MAX_TIMESTAMP_AT: usize = 35;
const PRODUCER_ID_AT: usize = 43;
const PRODUCER_EPOCH_AT: usize = 51;
const BASE_SEQUENCE_AT: usize = 53;
const COUNT_AT: usize = 57;

const ATTRIBUTE_COMPRESSION: i16 = 0b111;
const ATTRIBUTE_TRANSACTIONAL: i16 = 1 << 4;
const ATTRIBUTE_CONTROL: i16 = 1 << 5;

/// Why bytes are no batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BatchError {
    /// The bytes end within the batch.
    #[error("the bytes end within a batch")]
    Torn,
    /// The length field is smaller than a header or larger than any batch may be.
    #[error("the batch says it is {0} bytes long")]
    Length(i32),
    /// Another record format.
    #[error("record format {0} is not served, only 2")]
    Magic(i8),
    /// The checksum does not match.
    #[error("CRC32C is {actual:08x}, the batch says {stated:08x}")]
    Crc {
        /// What the batch says.
        stated: u32,
        /// What its bytes give.
        actual: u32,
    },
    /// A compression that is none of Kafka's, or a producer that cannot be.
    #[error("attributes {attributes:#x}, producer {producer_id} are none that exist")]
    Attributes {
        /// The batch's attributes.
        attributes: i16,
        /// The batch's producer id.
        producer_id: i64,
    },
    /// The records cannot be read one by one.
    #[error("{found} of {count} records can be read")]
    Records {
        /// Records that can be read.
        found: usize,
        /// Records, as the batch says.
        count: i32,
    },
    /// Count of records and last offset do not fit each other.
    #[error("{count} records, but the last offset delta is {last_offset_delta}")]
    Count {
        /// Records, as the batch says.
        count: i32,
        /// Last offset delta, as the batch says.
        last_offset_delta: i32,
    },
}

/// The header of a batch, all that the broker looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    /// Offset of the first record.
    pub base_offset: i64,
    /// Bytes of the whole batch, header included.
    pub size: usize,
    /// Epoch of the leader that appended it.
    pub leader_epoch: i32,
    /// Compression, timestamp type, transactional, control.
    pub attributes: i16,
    /// Offset of the last record, less the base offset.
    pub last_offset_delta: i32,
    /// The largest timestamp.
    pub max_timestamp: i64,
    /// The producer, or -1.
    pub producer_id: i64,
    /// Its epoch, or -1.
    pub producer_epoch: i16,
    /// Sequence of the first record, or -1.
    pub base_sequence: i32,
    /// Records.
    pub count: i32,
}

impl BatchHeader {
    /// Reads the header of the batch at the start of `bytes`, which may go on behind it. Checks
    /// length and format; the checksum is [`check_crc`]'s matter.
    ///
    /// # Errors
    /// Where the bytes are no whole batch of format 2.
    pub fn parse(bytes: &[u8]) -> Result<Self, BatchError> {
        if bytes.len() < HEADER_BYTES {
            return Err(BatchError::Torn);
        }
        let header = Self::parse_header(bytes)?;
        if bytes.len() < header.size {
            return Err(BatchError::Torn);
        }
        Ok(header)
    }

    /// As [`BatchHeader::parse`], from the header alone; the records need not be there.
    ///
    /// # Errors
    /// Where the bytes are no header of a batch of format 2.
    pub fn parse_header(bytes: &[u8]) -> Result<Self, BatchError> {
        if bytes.len() < HEADER_BYTES {
            return Err(BatchError::Torn);
        }
        let length = i32_at(bytes, LENGTH_AT);
        let size = usize::try_from(length)
            .ok()
            .map(|length| length + LENGTH_PREFIX_BYTES)
            .filter(|size| (HEADER_BYTES..=BATCH_BYTES_MAX).contains(size))
            .ok_or(BatchError::Length(length))?;
        let magic = i8::from_be_bytes([bytes[MAGIC_AT]]);
        if magic != 2 {
            return Err(BatchError::Magic(magic));
        }
        Ok(Self {
            base_offset: i64_at(bytes, BASE_OFFSET_AT),
            size,
            leader_epoch: i32_at(bytes, LEADER_EPOCH_AT),
            attributes: i16_at(bytes, ATTRIBUTES_AT),
            last_offset_delta: i32_at(bytes, LAST_OFFSET_DELTA_AT),
            max_timestamp: i64_at(bytes, MAX_TIMESTAMP_AT),
            producer_id: i64_at(bytes, PRODUCER_ID_AT),
            producer_epoch: i16_at(bytes, PRODUCER_EPOCH_AT),
            base_sequence: i32_at(bytes, BASE_SEQUENCE_AT),
            count: i32_at(bytes, COUNT_AT),
        })
    }

    /// Offset of the last record.
    #[must_use]
    pub fn last_offset(&self) -> i64 {
        self.base_offset
            .saturating_add(i64::from(self.last_offset_delta))
    }

    /// Sequence of the last record; sequences wrap at 2^31.
    #[must_use]
    pub fn last_sequence(&self) -> i32 {
        let last = i64::from(self.base_sequence) + i64::from(self.last_offset_delta);
        i32::try_from(last % (1 << 31)).unwrap_or(0)
    }

    /// Whether the records are compressed.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.attributes & ATTRIBUTE_COMPRESSION != 0
    }

    /// Whether the batch belongs to a transaction or is a control batch.
    #[must_use]
    pub fn is_transactional(&self) -> bool {
        self.attributes & (ATTRIBUTE_TRANSACTIONAL | ATTRIBUTE_CONTROL) != 0
    }

    /// Checks that count, delta and size of the batch fit each other.
    ///
    /// # Errors
    /// Where they do not.
    pub fn check_count(&self) -> Result<(), BatchError> {
        // The smallest record: length, attributes, two deltas, two null lengths, no headers.
        const RECORD_BYTES_MIN: usize = 7;
        // What is compressed is not opened here; no client sends so many records at once.
        const COMPRESSED_RECORDS_MAX: usize = 1_000_000;
        let fits = |count: usize| {
            if self.is_compressed() {
                count <= COMPRESSED_RECORDS_MAX
            } else {
                count <= (self.size - HEADER_BYTES) / RECORD_BYTES_MIN
            }
        };
        let sound = self.count >= 1
            && self.last_offset_delta == self.count - 1
            && usize::try_from(self.count).is_ok_and(fits);
        if sound {
            return Ok(());
        }
        Err(BatchError::Count {
            count: self.count,
            last_offset_delta: self.last_offset_delta,
        })
    }
}

/// Checks the checksum of the whole batch in `bytes`.
///
/// # Errors
/// Where it does not match.
pub fn check_crc(bytes: &[u8]) -> Result<(), BatchError> {
    if bytes.len() < HEADER_BYTES {
        return Err(BatchError::Torn);
    }
    let stated = u32::from_be_bytes([
        bytes[CRC_AT],
        bytes[CRC_AT + 1],
        bytes[CRC_AT + 2],
        bytes[CRC_AT + 3],
    ]);
    let actual = crc32c::crc32c(&bytes[ATTRIBUTES_AT..]);
    if stated == actual {
        return Ok(());
    }
    Err(BatchError::Crc { stated, actual })
}

/// Reads one batch, checksum and counts included, and nothing behind it.
///
/// # Errors
/// Where `bytes` are anything but one sound batch.
pub fn validate(bytes: &[u8]) -> Result<BatchHeader, BatchError> {
    let header = BatchHeader::parse(bytes)?;
    if header.size != bytes.len() {
        return Err(BatchError::Length(i32_at(bytes, LENGTH_AT)));
    }
    check_crc(bytes)?;
    header.check_count()?;
    Ok(header)
}

/// As [`validate`], for what a producer sends: also every uncompressed record must be readable, in
/// order, and compression and producer must be ones that exist.
///
/// # Errors
/// Where that is not so.
pub fn validate_produced(bytes: &Bytes) -> Result<BatchHeader, BatchError> {
    const COMPRESSION_MAX: i16 = 4;
    let header = validate(bytes)?;
    if header.attributes & ATTRIBUTE_COMPRESSION > COMPRESSION_MAX || header.producer_id < -1 {
        return Err(BatchError::Attributes {
            attributes: header.attributes,
            producer_id: header.producer_id,
        });
    }
    if !header.is_compressed() {
        let found = records(&header, bytes);
        let in_order = (header.base_offset..)
            .zip(&found)
            .all(|(offset, record)| record.offset == offset);
        if usize::try_from(header.count) != Ok(found.len()) || !in_order {
            return Err(BatchError::Records {
                found: found.len(),
                count: header.count,
            });
        }
    }
    Ok(header)
}

/// The batch with the offset and the epoch that its leader gives it.
#[must_use]
pub fn stamp(batch: &[u8], base_offset: i64, leader_epoch: i32) -> Bytes {
    let mut stamped = BytesMut::from(batch);
    if stamped.len() >= HEADER_BYTES {
        stamped[BASE_OFFSET_AT..BASE_OFFSET_AT + 8].copy_from_slice(&base_offset.to_be_bytes());
        stamped[LEADER_EPOCH_AT..LEADER_EPOCH_AT + 4].copy_from_slice(&leader_epoch.to_be_bytes());
    }
    stamped.freeze()
}

/// Whole batches in `bytes`, in order; a torn last one ends the walk.
pub fn batches(bytes: &Bytes) -> impl Iterator<Item = Result<(BatchHeader, Bytes), BatchError>> {
    let mut at = 0;
    let bytes = bytes.clone();
    std::iter::from_fn(move || {
        if at >= bytes.len() {
            return None;
        }
        match BatchHeader::parse(&bytes[at..]) {
            Ok(header) => {
                let batch = bytes.slice(at..at + header.size);
                at += header.size;
                Some(Ok((header, batch)))
            }
            Err(BatchError::Torn) => None,
            Err(error) => {
                at = bytes.len();
                Some(Err(error))
            }
        }
    })
}

/// One record of an uncompressed batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its offset.
    pub offset: i64,
    /// Its key.
    pub key: Option<Bytes>,
    /// Its value.
    pub value: Option<Bytes>,
}

/// The records of an uncompressed batch; a compressed or malformed one gives those before the
/// first that cannot be read.
#[must_use]
pub fn records(header: &BatchHeader, batch: &Bytes) -> Vec<Record> {
    let mut found = Vec::new();
    if header.is_compressed() || batch.len() < HEADER_BYTES {
        return found;
    }
    let mut reader = VarintReader {
        bytes: batch.slice(HEADER_BYTES..),
        at: 0,
    };
    while let Some(record) = reader.record(header.base_offset) {
        found.push(record);
    }
    found
}

struct VarintReader {
    bytes: Bytes,
    at: usize,
}

impl VarintReader {
    fn record(&mut self, base_offset: i64) -> Option<Record> {
        let length = usize::try_from(self.varint()?).ok()?;
        let end = self
            .at
            .checked_add(length)
            .filter(|end| *end <= self.bytes.len())?;
        self.at += 1; // attributes, unused
        self.varint()?; // timestamp delta
        let offset_delta = self.varint()?;
        let key = self.field()?;
        let value = self.field()?;
        self.at = end;
        Some(Record {
            offset: base_offset.checked_add(offset_delta)?,
            key,
            value,
        })
    }

    fn field(&mut self) -> Option<Option<Bytes>> {
        let length = self.varint()?;
        if length < 0 {
            return Some(None);
        }
        let end = self.at.checked_add(usize::try_from(length).ok()?)?;
        if end > self.bytes.len() {
            return None;
        }
        let field = self.bytes.slice(self.at..end);
        self.at = end;
        Some(Some(field))
    }

    /// A zigzag varint of at most ten bytes.
    fn varint(&mut self) -> Option<i64> {
        let mut raw = 0_u64;
        for shift in (0..70).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            raw |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some((raw >> 1) as i64 ^ -((raw & 1) as i64));
            }
        }
        None
    }
}

/// Builds an uncompressed batch; what the workload's client and tests send.
#[derive(Clone, Debug)]
pub struct BatchBuilder {
    /// CreateTime of every record, milliseconds since the epoch.
    pub timestamp: i64,
    /// The producer, or -1.
    pub producer_id: i64,
    /// Its epoch, or -1.
    pub producer_epoch: i16,
    /// Sequence of the first record, or -1.
    pub base_sequence: i32,
}

impl BatchBuilder {
    /// A batch of a producer without an id.
    #[must_use]
    pub fn plain(timestamp: i64) -> Self {
        Self {
            timestamp,
            producer_id: -1,
            producer_epoch: -1,
            base_sequence: -1,
        }
    }

    /// The batch that holds `values`, without keys, in order.
    #[must_use]
    pub fn build(&self, values: &[&[u8]]) -> Bytes {
        let mut records = Vec::new();
        let mut body = Vec::new();
        for (delta, value) in (0_i64..).zip(values) {
            body.clear();
            body.push(0);
            put_varint(0, &mut body);
            put_varint(delta, &mut body);
            put_varint(-1, &mut body);
            put_varint(value.len() as i64, &mut body);
            body.extend_from_slice(value);
            put_varint(0, &mut body);
            put_varint(body.len() as i64, &mut records);
            records.extend_from_slice(&body);
        }
        self.frame(&records, values.len())
    }

    fn frame(&self, records: &[u8], count: usize) -> Bytes {
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        let size = HEADER_BYTES + records.len();
        let length = i32::try_from(size - LENGTH_PREFIX_BYTES).unwrap_or(i32::MAX);
        let mut batch = Vec::with_capacity(size);
        batch.extend_from_slice(&0_i64.to_be_bytes());
        batch.extend_from_slice(&length.to_be_bytes());
        batch.extend_from_slice(&(-1_i32).to_be_bytes());
        batch.push(2);
        batch.extend_from_slice(&0_u32.to_be_bytes());
        batch.extend_from_slice(&0_i16.to_be_bytes());
        batch.extend_from_slice(&(count - 1).to_be_bytes());
        batch.extend_from_slice(&self.timestamp.to_be_bytes());
        batch.extend_from_slice(&self.timestamp.to_be_bytes());
        batch.extend_from_slice(&self.producer_id.to_be_bytes());
        batch.extend_from_slice(&self.producer_epoch.to_be_bytes());
        batch.extend_from_slice(&self.base_sequence.to_be_bytes());
        batch.extend_from_slice(&count.to_be_bytes());
        batch.extend_from_slice(records);
        let crc = crc32c::crc32c(&batch[ATTRIBUTES_AT..]);
        batch[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_be_bytes());
        Bytes::from(batch)
    }
}

fn put_varint(value: i64, into: &mut Vec<u8>) {
    let mut raw = ((value << 1) ^ (value >> 63)) as u64;
    while raw >= 0x80 {
        into.push((raw & 0x7f) as u8 | 0x80);
        raw >>= 7;
    }
    into.push(raw as u8);
}

fn i16_at(bytes: &[u8], at: usize) -> i16 {
    i16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn i64_at(bytes: &[u8], at: usize) -> i64 {
    let mut raw = [0; 8];
    raw.copy_from_slice(&bytes[at..at + 8]);
    i64::from_be_bytes(raw)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_built_batch_is_valid_and_gives_its_records_back_at_their_offsets() {
        let built = BatchBuilder::plain(7).build(&[b"one", b"two"]);
        let stamped = stamp(&built, 40, 3);
        let header = validate(&stamped).unwrap();
        assert_eq!(
            (
                header.base_offset,
                header.last_offset(),
                header.leader_epoch
            ),
            (40, 41, 3)
        );
        let found: Vec<_> = records(&header, &stamped)
            .into_iter()
            .map(|record| (record.offset, record.value.unwrap()))
            .collect();
        assert_eq!(
            found,
            vec![(40, Bytes::from("one")), (41, Bytes::from("two"))]
        );
    }

    #[test]
    fn sequences_wrap_at_two_to_the_31() {
        let mut header = validate(&BatchBuilder::plain(0).build(&[b"a", b"b", b"c"])).unwrap();
        header.base_sequence = i32::MAX - 1;
        assert_eq!(header.last_sequence(), 0);
    }

    #[test]
    fn a_count_that_the_bytes_cannot_hold_is_refused() {
        let mut batch = BatchBuilder::plain(0).build(&[b"a"]).to_vec();
        batch[COUNT_AT..]
            .iter_mut()
            .take(4)
            .zip(i32::MAX.to_be_bytes())
            .for_each(|(b, v)| *b = v);
        batch[LAST_OFFSET_DELTA_AT..LAST_OFFSET_DELTA_AT + 4]
            .copy_from_slice(&(i32::MAX - 1).to_be_bytes());
        let crc = crc32c::crc32c(&batch[ATTRIBUTES_AT..]);
        batch[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_be_bytes());
        assert!(matches!(validate(&batch), Err(BatchError::Count { .. })));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let bytes = Bytes::from(bytes);
            let _ = validate(&bytes);
            for batch in batches(&bytes).flatten() {
                let _ = records(&batch.0, &batch.1);
            }
        }

        #[test]
        fn a_flipped_bit_is_noticed_or_lies_where_the_leader_writes(at in 0_usize..80, bit in 0_u8..8) {
            let mut batch = BatchBuilder::plain(5).build(&[b"a value long enough"]).to_vec();
            let at = at % batch.len();
            batch[at] ^= 1 << bit;
            let outside_crc = at < LENGTH_AT || (LEADER_EPOCH_AT..MAGIC_AT).contains(&at);
            prop_assert_eq!(validate(&batch).is_ok(), outside_crc);
        }
    }
}
