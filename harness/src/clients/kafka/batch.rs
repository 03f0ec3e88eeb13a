//! Record batches, version 2: an encoder for one record and a reader for what
//! brokers send. The reader checks lengths, counts and the CRC, skips control
//! batches, and stops at a batch that the byte limit has cut off.

use super::reader::{Malformed, Reader};
use crate::clients::Sequence;

const MAGIC: i8 = 2;
/// Base offset and length, which the length does not count.
const PREFIX_BYTES: usize = 12;
/// From the partition leader epoch to the record count.
const HEADER_BYTES: usize = 49;
const CONTROL_FLAG: i16 = 0x20;
const COMPRESSION_MASK: i16 = 0x07;
/// Stands for a value that is no decimal number; nobody ever sent it.
pub const NOT_A_NUMBER: i64 = i64::MIN;

/// One batch of one record whose value is a decimal number.
pub fn encode_batch(value: i64, timestamp_ms: i64, sequence: Option<Sequence>) -> Vec<u8> {
    let record = encode_record(value);
    let after_crc = after_crc(&record, timestamp_ms, sequence);
    let length = HEADER_BYTES - 40 + after_crc.len();
    let mut batch = Vec::with_capacity(PREFIX_BYTES + length);
    batch.extend_from_slice(&0i64.to_be_bytes());
    batch.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
    batch.extend_from_slice(&(-1i32).to_be_bytes());
    batch.extend_from_slice(&MAGIC.to_be_bytes());
    batch.extend_from_slice(&crc32c::crc32c(&after_crc).to_be_bytes());
    batch.extend_from_slice(&after_crc);
    batch
}

/// Everything that the CRC covers: attributes to the last record.
fn after_crc(record: &[u8], timestamp_ms: i64, sequence: Option<Sequence>) -> Vec<u8> {
    let none = Sequence {
        producer_id: -1,
        producer_epoch: -1,
        sequence: -1,
    };
    let identity = sequence.unwrap_or(none);
    let mut bytes = Vec::with_capacity(40 + record.len());
    bytes.extend_from_slice(&0i16.to_be_bytes());
    bytes.extend_from_slice(&0i32.to_be_bytes());
    bytes.extend_from_slice(&timestamp_ms.to_be_bytes());
    bytes.extend_from_slice(&timestamp_ms.to_be_bytes());
    bytes.extend_from_slice(&identity.producer_id.to_be_bytes());
    bytes.extend_from_slice(&identity.producer_epoch.to_be_bytes());
    bytes.extend_from_slice(&identity.sequence.to_be_bytes());
    bytes.extend_from_slice(&1i32.to_be_bytes());
    bytes.extend_from_slice(record);
    bytes
}

fn encode_record(value: i64) -> Vec<u8> {
    let text = value.to_string();
    let mut body = vec![0u8];
    put_varint(&mut body, 0);
    put_varint(&mut body, 0);
    put_varint(&mut body, -1);
    put_varint(&mut body, i64::try_from(text.len()).unwrap_or(0));
    body.extend_from_slice(text.as_bytes());
    put_varint(&mut body, 0);
    let mut record = Vec::with_capacity(body.len() + 1);
    put_varint(&mut record, i64::try_from(body.len()).unwrap_or(0));
    record.extend_from_slice(&body);
    record
}

fn put_varint(bytes: &mut Vec<u8>, value: i64) {
    let mut raw = ((value << 1) ^ (value >> 63)).cast_unsigned();
    while raw >= 0x80 {
        bytes.push(raw.to_le_bytes()[0] | 0x80);
        raw >>= 7;
    }
    bytes.push(raw.to_le_bytes()[0]);
}

/// The records of a fetch response from an offset on, and the next offset.
pub fn read_batches(bytes: &[u8], from: i64) -> Result<(Vec<(i64, i64)>, i64), Malformed> {
    let mut reader = Reader::new(bytes);
    let mut records = Vec::new();
    let mut next = from;
    while reader.left() > PREFIX_BYTES {
        let base = reader.i64()?;
        let length = usize::try_from(reader.i32()?).unwrap_or(0);
        if length > reader.left() {
            break;
        }
        let end = read_batch(base, reader.take(length)?, from, &mut records)?;
        next = next.max(end);
    }
    Ok((records, next))
}

/// Reads one batch; gives the offset that follows it.
fn read_batch(
    base: i64,
    body: &[u8],
    from: i64,
    records: &mut Vec<(i64, i64)>,
) -> Result<i64, Malformed> {
    let mut reader = Reader::new(body);
    let _leader_epoch = reader.i32()?;
    let magic = reader.i8()?;
    if magic != MAGIC {
        return Err(Malformed(format!(
            "a batch at offset {base} has magic {magic}, not 2"
        )));
    }
    let crc = reader.u32()?;
    let covered = body.get(body.len() - reader.left()..).unwrap_or_default();
    if crc32c::crc32c(covered) != crc {
        return Err(Malformed(format!(
            "the batch at offset {base} fails its CRC"
        )));
    }
    let attributes = reader.i16()?;
    let last_delta = i64::from(reader.i32()?.max(0));
    reader.take(8 + 8 + 8 + 2 + 4)?;
    let count = reader.count(7)?;
    let next = base.saturating_add(last_delta).saturating_add(1);
    if attributes & CONTROL_FLAG != 0 {
        return Ok(next);
    }
    if attributes & COMPRESSION_MASK != 0 {
        return Err(Malformed(format!(
            "the batch at offset {base} is compressed; none was sent so"
        )));
    }
    for _ in 0..count {
        let (delta, value) = read_record(&mut reader)?;
        let offset = base.saturating_add(delta);
        if offset >= from {
            records.push((offset, value));
        }
    }
    Ok(next)
}

fn read_record(reader: &mut Reader<'_>) -> Result<(i64, i64), Malformed> {
    let length = usize::try_from(reader.varint()?)
        .map_err(|_| Malformed("a record of negative length".to_owned()))?;
    let mut record = Reader::new(reader.take(length)?);
    record.i8()?;
    record.varint()?;
    let delta = record.varint()?;
    record.varint_bytes()?;
    let value = record.varint_bytes()?.unwrap_or_default();
    let number = std::str::from_utf8(value)
        .ok()
        .and_then(|text| text.parse().ok());
    Ok((delta, number.unwrap_or(NOT_A_NUMBER)))
}
