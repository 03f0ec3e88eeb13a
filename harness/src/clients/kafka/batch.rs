//! Record batches as the workload sends and reads them: one decimal number a
//! record. The format itself is `plimsoll_broker::kafka::batch`'s matter; here
//! every batch must be whole, sound and uncompressed before it is believed.

use bytes::Bytes;
use plimsoll_broker::kafka::batch::{BatchBuilder, BatchHeader, batches, check_crc, records};

use super::reader::Malformed;
use crate::clients::Sequence;

const CONTROL_FLAG: i16 = 0x20;
/// Stands for a value that is no decimal number; nobody ever sent it.
const NOT_A_NUMBER: i64 = i64::MIN;

/// One batch of one record.
pub fn encode_batch(value: i64, timestamp_ms: i64, sequence: Option<Sequence>) -> Bytes {
    let mut builder = BatchBuilder::plain(timestamp_ms);
    if let Some(sequence) = sequence {
        builder.producer_id = sequence.producer_id;
        builder.producer_epoch = sequence.producer_epoch;
        builder.base_sequence = sequence.sequence;
    }
    builder.build(&[value.to_string().as_bytes()])
}

/// The records of a fetch response from an offset on, and the next offset. A
/// batch that the byte limit has cut off is left for the next read.
pub fn read_batches(bytes: &Bytes, from: i64) -> Result<(Vec<(i64, i64)>, i64), Malformed> {
    let (mut read, mut next) = (Vec::new(), from);
    for batch in batches(bytes) {
        let (header, batch) = batch.map_err(|e| Malformed(format!("a batch: {e}")))?;
        read_batch(&header, &batch, from, &mut read)?;
        next = next.max(header.last_offset().saturating_add(1));
    }
    Ok((read, next))
}

fn read_batch(
    header: &BatchHeader,
    batch: &Bytes,
    from: i64,
    read: &mut Vec<(i64, i64)>,
) -> Result<(), Malformed> {
    let broken = |why: String| Malformed(format!("the batch at {}: {why}", header.base_offset));
    check_crc(batch).map_err(|e| broken(e.to_string()))?;
    if header.attributes & CONTROL_FLAG != 0 {
        return Ok(());
    }
    if header.is_compressed() {
        return Err(broken("it is compressed, and none was sent so".to_owned()));
    }
    header.check_count().map_err(|e| broken(e.to_string()))?;
    let found = records(header, batch);
    if usize::try_from(header.count) != Ok(found.len()) {
        return Err(broken(format!(
            "{} records of {} can be read",
            found.len(),
            header.count
        )));
    }
    let wanted = found.iter().filter(|record| record.offset >= from);
    read.extend(wanted.map(|record| (record.offset, number(record.value.as_deref()))));
    Ok(())
}

/// The number that a record carries.
pub fn number(value: Option<&[u8]>) -> i64 {
    let text = value.and_then(|bytes| std::str::from_utf8(bytes).ok());
    text.and_then(|text| text.parse().ok())
        .unwrap_or(NOT_A_NUMBER)
}
