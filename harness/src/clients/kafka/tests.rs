//! The wire client against the crate's own encoder, and against bytes that lie.

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::fetch_response::{
    FetchResponse, FetchableTopicResponse, PartitionData,
};
use kafka_protocol::messages::metadata_response::{
    MetadataResponse, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::produce_response::{
    PartitionProduceResponse, ProduceResponse, TopicProduceResponse,
};
use kafka_protocol::messages::{BrokerId, TopicName};
use kafka_protocol::protocol::{Encodable, StrBytes};
use kafka_protocol::records::RecordBatchDecoder;

use super::*;
use crate::clients::{
    Fetch, HighWatermarks, LogDirs, LogEnds, Produce, Request, Response, Sequence,
};

fn framed(message: &impl Encodable, version: i16) -> Vec<u8> {
    let mut bytes = BytesMut::from(&7i32.to_be_bytes()[..]);
    message.encode(&mut bytes, version).expect("it encodes");
    bytes.to_vec()
}

fn name(text: &'static str) -> TopicName {
    TopicName(StrBytes::from_static_str(text))
}

fn fetch_request(offset: i64) -> Request {
    Request::Fetch(Fetch {
        partition: 0,
        offset,
        leader_epoch: 3,
        max_wait_ms: 0,
        max_bytes: 1024,
    })
}

fn fetch_response(records: Vec<u8>) -> Vec<u8> {
    let partition = PartitionData::default()
        .with_high_watermark(12)
        .with_log_start_offset(0)
        .with_records(Some(Bytes::from(records)));
    let topic = FetchableTopicResponse::default()
        .with_topic(name("log"))
        .with_partitions(vec![partition]);
    framed(
        &FetchResponse::default().with_responses(vec![topic]),
        version::FETCH,
    )
}

fn at_offset(value: i64, offset: i64) -> Vec<u8> {
    let mut batch = encode_batch(value, 1, None).to_vec();
    batch[..8].copy_from_slice(&offset.to_be_bytes());
    batch
}

#[test]
fn a_batch_of_ours_is_read_by_the_crate_too() {
    let sequence = Sequence {
        producer_id: 9,
        producer_epoch: 2,
        sequence: 5,
    };
    let mut bytes = encode_batch(-42, 1_700_000_000_000, Some(sequence));
    let decoded = RecordBatchDecoder::decode(&mut bytes).expect("a sound batch");
    let record = &decoded.records[0];
    assert_eq!(record.value.as_deref(), Some(b"-42".as_slice()));
    assert_eq!(
        (record.producer_id, record.producer_epoch, record.sequence),
        (9, 2, 5)
    );
}

#[test]
fn a_fetch_is_trimmed_to_the_offset_asked_for() {
    let records = [at_offset(100, 10), at_offset(101, 11)].concat();
    let response = decode(&fetch_request(11), 7, &fetch_response(records)).expect("sound");
    let Response::Fetched { code: 0, fetched } = response else {
        panic!("{response:?}")
    };
    assert_eq!(fetched.records, [(11, 101)]);
    assert_eq!((fetched.high_watermark, fetched.next_offset), (12, 12));
}

#[test]
fn a_batch_cut_off_by_the_byte_limit_is_left_for_the_next_read() {
    let mut records = [at_offset(100, 10), at_offset(101, 11)].concat();
    records.truncate(records.len() - 3);
    let (read, next) = read_batches(&Bytes::from(records), 10).expect("the first is whole");
    assert_eq!((read, next), (vec![(10, 100)], 11));
}

#[test]
fn a_flipped_bit_is_noticed() {
    let mut batch = at_offset(100, 10);
    let last = batch.len() - 2;
    batch[last] ^= 1;
    let error = read_batches(&Bytes::from(batch), 10).expect_err("corrupt");
    assert!(
        error.0.contains("checksum") || error.0.contains("CRC"),
        "{error}"
    );
}

#[test]
fn metadata_is_read_with_leader_and_epoch() {
    let partition = MetadataResponsePartition::default()
        .with_partition_index(2)
        .with_leader_id(BrokerId(3))
        .with_leader_epoch(8)
        .with_replica_nodes(vec![BrokerId(3), BrokerId(1)])
        .with_isr_nodes(vec![BrokerId(3)]);
    let topic = MetadataResponseTopic::default()
        .with_name(Some(name("log")))
        .with_partitions(vec![partition]);
    let broker = MetadataResponseBroker::default().with_host(StrBytes::from_static_str("h"));
    let message = MetadataResponse::default()
        .with_brokers(vec![broker])
        .with_topics(vec![topic]);
    let response = decode(&Request::Metadata, 7, &framed(&message, version::METADATA));
    let Ok(Response::Metadata { partitions }) = response else {
        panic!("{response:?}")
    };
    assert_eq!((partitions[0].leader, partitions[0].leader_epoch), (3, 8));
    assert_eq!(partitions[0].replicas, [3, 1]);
}

#[test]
fn log_ends_and_high_watermarks_are_read_and_errors_are_left_out() {
    use kafka_protocol::messages::list_offsets_response::{
        ListOffsetsPartitionResponse, ListOffsetsResponse, ListOffsetsTopicResponse,
    };
    let answered = |index, code, offset| {
        ListOffsetsPartitionResponse::default()
            .with_partition_index(index)
            .with_error_code(code)
            .with_offset(offset)
    };
    let topic = ListOffsetsTopicResponse::default()
        .with_name(name("log"))
        .with_partitions(vec![answered(0, 0, 17), answered(1, 6, -1)]);
    let message = ListOffsetsResponse::default().with_topics(vec![topic]);
    let frame = framed(&message, version::LIST_OFFSETS);
    let partitions = vec![0, 1];
    let asked = Request::LogEnds(LogEnds { partitions });
    let ends = Response::Offsets(vec![(0, 17)]);
    assert_eq!(decode(&asked, 7, &frame), Ok(ends));
    let from = vec![(0, 17)];
    let asked = Request::HighWatermarks(HighWatermarks { from });
    let marks = Response::Offsets(vec![(0, 12)]);
    assert_eq!(decode(&asked, 7, &fetch_response(Vec::new())), Ok(marks));
}

#[test]
fn log_directories_give_bytes_by_partition_and_those_that_failed() {
    use kafka_protocol::messages::describe_log_dirs_response::{
        DescribeLogDirsPartition, DescribeLogDirsResponse, DescribeLogDirsResult,
        DescribeLogDirsTopic,
    };
    let of = |index, size, is_future| {
        DescribeLogDirsPartition::default()
            .with_partition_index(index)
            .with_partition_size(size)
            .with_is_future_key(is_future)
    };
    let topic = DescribeLogDirsTopic::default()
        .with_name(name("log"))
        .with_partitions(vec![of(0, 4096, false), of(1, 10, false), of(1, 7, true)]);
    let dir = |path: &str, code| {
        DescribeLogDirsResult::default()
            .with_log_dir(path.to_owned().into())
            .with_error_code(code)
    };
    let message = DescribeLogDirsResponse::default()
        .with_results(vec![dir("/a", 0).with_topics(vec![topic]), dir("/b", 56)]);
    let frame = framed(&message, version::DESCRIBE_LOG_DIRS);
    let asked = Request::LogDirs(LogEnds {
        partitions: vec![0, 1],
    });
    let dirs = LogDirs {
        bytes: vec![(0, 4096), (1, 10)],
        failed: vec!["/b".to_owned()],
    };
    assert_eq!(decode(&asked, 7, &frame), Ok(Response::LogDirs(dirs)));
}

#[test]
fn the_leader_of_the_controllers_is_read_from_flexible_fields() {
    use kafka_protocol::messages::describe_quorum_response::{
        DescribeQuorumResponse, PartitionData, TopicData,
    };
    let of = |leader: i32| {
        let partition = PartitionData::default().with_leader_id(BrokerId(leader));
        let topic = TopicData::default()
            .with_topic_name(name("__cluster_metadata"))
            .with_partitions(vec![partition]);
        let message = DescribeQuorumResponse::default().with_topics(vec![topic]);
        let mut bytes = BytesMut::from(&7i32.to_be_bytes()[..]);
        bytes.extend_from_slice(&[0]);
        let encoded = message.encode(&mut bytes, version::DESCRIBE_QUORUM);
        encoded.expect("it encodes");
        decode(&Request::DescribeQuorum, 7, &bytes)
    };
    assert_eq!(of(3), Ok(Response::Quorum { leader: Some(3) }));
    assert_eq!(of(-1), Ok(Response::Quorum { leader: None }));
}

fn produce_request() -> Request {
    Request::Produce(Produce {
        partition: 0,
        value: 1,
        acks: 1,
        timeout_ms: 1,
        sequence: None,
    })
}

#[test]
fn a_produce_response_gives_code_and_offset() {
    let partition = PartitionProduceResponse::default()
        .with_error_code(19)
        .with_base_offset(-1);
    let topic = TopicProduceResponse::default()
        .with_name(name("log"))
        .with_partition_responses(vec![partition]);
    let message = ProduceResponse::default().with_responses(vec![topic]);
    let response = decode(&produce_request(), 7, &framed(&message, version::PRODUCE));
    assert_eq!(
        response,
        Ok(Response::Produced {
            code: 19,
            offset: -1
        })
    );
}

#[test]
fn counts_that_lie_are_refused_and_no_prefix_panics() {
    let sound = fetch_response([at_offset(100, 10), at_offset(101, 11)].concat());
    for request in [
        fetch_request(0),
        produce_request(),
        Request::Metadata,
        Request::InitProducerId,
        Request::DescribeQuorum,
        Request::LogEnds(LogEnds {
            partitions: vec![0],
        }),
        Request::HighWatermarks(HighWatermarks { from: vec![(0, 1)] }),
        Request::LogDirs(LogEnds {
            partitions: vec![0],
        }),
    ] {
        for end in 0..sound.len() {
            let _ = decode(&request, 7, &sound[..end]);
            let mut lying = sound.clone();
            for byte in lying.iter_mut().skip(end).take(4) {
                *byte = 0x7f;
            }
            let _ = decode(&request, 7, &lying);
        }
    }
    let huge = [&7i32.to_be_bytes()[..], &i32::MAX.to_be_bytes()[..]].concat();
    assert!(decode(&produce_request(), 7, &huge).is_err());
}

#[test]
fn every_request_can_be_encoded() {
    for request in [
        produce_request(),
        fetch_request(0),
        Request::Metadata,
        Request::InitProducerId,
        Request::DescribeQuorum,
        Request::LogEnds(LogEnds {
            partitions: vec![0],
        }),
        Request::HighWatermarks(HighWatermarks { from: vec![(0, 1)] }),
        Request::LogDirs(LogEnds {
            partitions: vec![0],
        }),
    ] {
        let bytes = encode(&request, "log", 1, "c1", 0).expect("it encodes");
        let length = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        assert_eq!(usize::try_from(length).expect("small"), bytes.len() - 4);
    }
}
