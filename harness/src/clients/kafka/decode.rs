//! Responses from bytes, by hand. Only what the session needs is kept; all
//! counts and lengths are checked before anything is believed.

use bytes::Bytes;

use super::read_batches;
use super::reader::{Malformed, Reader};
use crate::clients::{Fetch, Fetched, LogDirs, PartitionMetadata, Request, Response};

/// Reads the response to a request; the length in front is already gone.
pub fn decode(request: &Request, correlation: i32, frame: &[u8]) -> Result<Response, Malformed> {
    let mut reader = Reader::new(frame);
    let got = reader.i32()?;
    if got != correlation {
        return Err(Malformed(format!(
            "correlation {got} where {correlation} was asked"
        )));
    }
    match request {
        Request::Metadata => metadata(&mut reader),
        Request::CreateTopic(_) => topic_created(&mut reader),
        Request::InitProducerId => producer_id(&mut reader),
        Request::Produce(_) => produced(&mut reader),
        Request::Fetch(fetch) => fetched(&mut reader, fetch),
        Request::HighWatermarks(_) => high_watermarks(&mut reader),
        Request::LogEnds(_) => log_ends(&mut reader),
        Request::DescribeQuorum => quorum(&mut reader),
        Request::LogDirs(_) => log_dirs(&mut reader),
    }
}

/// Version 8.
fn metadata(reader: &mut Reader<'_>) -> Result<Response, Malformed> {
    reader.i32()?;
    for _ in 0..reader.count(12)? {
        reader.i32()?;
        reader.string()?;
        reader.i32()?;
        reader.string()?;
    }
    reader.string()?;
    reader.i32()?;
    let mut partitions = Vec::new();
    for _ in 0..reader.count(13)? {
        reader.i16()?;
        reader.string()?;
        reader.i8()?;
        for _ in 0..reader.count(26)? {
            partitions.push(partition_metadata(reader)?);
        }
        reader.i32()?;
    }
    Ok(Response::Metadata { partitions })
}

fn partition_metadata(reader: &mut Reader<'_>) -> Result<PartitionMetadata, Malformed> {
    reader.i16()?;
    let partition = reader.i32()?;
    let leader = reader.i32()?;
    let leader_epoch = reader.i32()?;
    let (replicas, isr) = (reader.i32s()?, reader.i32s()?);
    reader.i32s()?;
    Ok(PartitionMetadata {
        partition,
        leader,
        leader_epoch,
        replicas,
        isr,
    })
}

/// Version 4.
fn topic_created(reader: &mut Reader<'_>) -> Result<Response, Malformed> {
    reader.i32()?;
    if reader.count(6)? == 0 {
        return Err(Malformed(
            "no topic in the answer to CreateTopics".to_owned(),
        ));
    }
    reader.string()?;
    let code = reader.i16()?;
    Ok(Response::TopicCreated {
        code,
        message: reader.string()?.to_owned(),
    })
}

/// Version 1.
fn producer_id(reader: &mut Reader<'_>) -> Result<Response, Malformed> {
    reader.i32()?;
    let code = reader.i16()?;
    Ok(Response::ProducerId {
        code,
        producer_id: reader.i64()?,
        producer_epoch: reader.i16()?,
    })
}

/// Version 8; one partition was asked about.
fn produced(reader: &mut Reader<'_>) -> Result<Response, Malformed> {
    if reader.count(6)? == 0 {
        return Err(Malformed("no topic in the answer to Produce".to_owned()));
    }
    reader.string()?;
    if reader.count(30)? == 0 {
        return Err(Malformed(
            "no partition in the answer to Produce".to_owned(),
        ));
    }
    reader.i32()?;
    let code = reader.i16()?;
    Ok(Response::Produced {
        code,
        offset: reader.i64()?,
    })
}

/// Version 11; one partition was asked about.
fn fetched(reader: &mut Reader<'_>, asked: &Fetch) -> Result<Response, Malformed> {
    reader.i32()?;
    let code = reader.i16()?;
    reader.i32()?;
    if code != 0 || reader.count(6)? == 0 {
        return without_partition(code);
    }
    reader.string()?;
    if reader.count(42)? == 0 {
        return without_partition(code);
    }
    reader.i32()?;
    let code = reader.i16()?;
    let high_watermark = reader.i64()?;
    reader.i64()?;
    let log_start = reader.i64()?;
    for _ in 0..reader.count(16)? {
        reader.take(16)?;
    }
    reader.i32()?;
    let (records, next_offset) =
        read_batches(&Bytes::copy_from_slice(reader.bytes()?), asked.offset)?;
    Ok(Response::Fetched {
        code,
        fetched: Fetched {
            high_watermark,
            log_start,
            records,
            next_offset,
        },
    })
}

fn without_partition(code: i16) -> Result<Response, Malformed> {
    if code == 0 {
        return Err(Malformed("no partition in the answer to Fetch".to_owned()));
    }
    Ok(Response::Fetched {
        code,
        fetched: Fetched::default(),
    })
}

/// Version 11 of Fetch, of which only the high watermarks matter.
fn high_watermarks(reader: &mut Reader<'_>) -> Result<Response, Malformed> {
    reader.i32()?;
    reader.i16()?;
    reader.i32()?;
    let mut offsets = Vec::new();
    for _ in 0..reader.count(6)? {
        reader.string()?;
        for _ in 0..reader.count(42)? {
            let partition = reader.i32()?;
            let code = reader.i16()?;
            let high_watermark = reader.i64()?;
            reader.take(16)?;
            for _ in 0..reader.count(16)? {
                reader.take(16)?;
            }
            reader.i32()?;
            reader.bytes()?;
            if code == 0 {
                offsets.push((partition, high_watermark));
            }
        }
    }
    Ok(Response::Offsets(offsets))
}

/// Version 5 of ListOffsets.
fn log_ends(reader: &mut Reader<'_>) -> Result<Response, Malformed> {
    reader.i32()?;
    let mut offsets = Vec::new();
    for _ in 0..reader.count(6)? {
        reader.string()?;
        for _ in 0..reader.count(26)? {
            let partition = reader.i32()?;
            let code = reader.i16()?;
            reader.i64()?;
            let offset = reader.i64()?;
            reader.i32()?;
            if code == 0 {
                offsets.push((partition, offset));
            }
        }
    }
    Ok(Response::Offsets(offsets))
}

/// Version 0 of DescribeQuorum, which has flexible fields; read up to the leader's id.
fn quorum(reader: &mut Reader<'_>) -> Result<Response, Malformed> {
    reader.tags()?;
    let nobody = Ok(Response::Quorum { leader: None });
    if reader.i16()? != 0 || reader.compact_count(1)? == 0 {
        return nobody;
    }
    let name = reader.compact_count(1)?;
    reader.take(name)?;
    if reader.compact_count(26)? == 0 {
        return nobody;
    }
    reader.i32()?;
    let code = reader.i16()?;
    let leader = reader.i32()?;
    let leader = (code == 0 && leader >= 0).then_some(leader);
    Ok(Response::Quorum { leader })
}

/// Version 1 of DescribeLogDirs. A copy that is about to replace another does not count.
fn log_dirs(reader: &mut Reader<'_>) -> Result<Response, Malformed> {
    reader.i32()?;
    let mut dirs = LogDirs::default();
    for _ in 0..reader.count(8)? {
        let code = reader.i16()?;
        let path = reader.string()?;
        if code != 0 {
            dirs.failed.push(path.to_owned());
        }
        for _ in 0..reader.count(6)? {
            reader.string()?;
            for _ in 0..reader.count(21)? {
                let partition = reader.i32()?;
                let bytes = reader.i64()?;
                reader.i64()?;
                let is_future = reader.i8()? != 0;
                if !is_future && code == 0 {
                    dirs.bytes.push((partition, bytes));
                }
            }
        }
    }
    Ok(Response::LogDirs(dirs))
}
