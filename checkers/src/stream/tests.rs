//! Long logs, so that blocks are closed and read again.

use super::*;
use crate::history::TopicInfo;

const RECORDS: i64 = 300_000;

fn header() -> Header {
    let topic = TopicInfo {
        replication_factor: 2,
        ..TopicInfo::default()
    };
    Header {
        plimsoll: 1,
        promise: Promise::unstated(),
        topics: [("log-0".to_owned(), topic)].into(),
        clients: BTreeMap::new(),
        system: String::new(),
        seed: 1,
        extra: serde_json::Map::new(),
    }
}

struct Feed {
    stream: LogStream,
    index: u64,
}

impl Feed {
    fn event(&mut self, process: u32, kind: Kind, value: i64, offset: i64, barrier: bool) -> Event {
        self.index += 1;
        Event {
            time: self.index,
            process,
            partition: 0,
            kind,
            acks: Some(-1),
            barrier,
            attempts: 1,
            value,
            offset,
        }
    }

    fn send(&mut self, value: i64, offset: i64, barrier: bool) {
        for (kind, offset) in [(Kind::SendInvoked, -1), (Kind::SendOk, offset)] {
            let event = self.event(1, kind, value, offset, barrier);
            self.stream.step(&event, self.index).unwrap();
        }
    }

    fn read(&mut self, process: u32, from: i64, records: &[(i64, i64)], replica: Option<i32>) {
        let begin = self.event(process, Kind::ReadInvoked, 0, -1, false);
        self.stream.step(&begin, self.index).unwrap();
        let end = self.event(process, Kind::ReadOk, 0, -1, false);
        let answer = Answer {
            from,
            hw: records[records.len() - 1].0 + 1,
            replica: replica.unwrap_or(-1),
            incarnation: 1,
            leader_epoch: -1,
            is_final: replica.is_some(),
        };
        self.stream
            .step_read(&end, self.index, &answer, records)
            .unwrap();
    }
}

/// A log of which every record is sent, consumed, and read again from two replicas in the end, the
/// second of which `spoil` may change.
fn run(spoil: impl Fn(&mut Vec<(i64, i64)>)) -> Streamed {
    let mut stream = LogStream::new(Some(header()));
    stream.partition("log-0");
    let mut feed = Feed { stream, index: 0 };
    for from in (0..RECORDS).step_by(100) {
        let records: Vec<(i64, i64)> = (from..from + 100).map(|at| (at, at * 3)).collect();
        for &(offset, value) in &records {
            feed.send(value, offset, false);
        }
        feed.read(2, from, &records, None);
    }
    feed.send(-1, RECORDS, true);
    let mut log: Vec<(i64, i64)> = (0..RECORDS).map(|at| (at, at * 3)).collect();
    log.push((RECORDS, -1));
    assert!(matches!(feed.stream.partitions[0].old_until(), 1..));
    for replica in 1..=2 {
        let mut log = log.clone();
        if replica == 2 {
            spoil(&mut log);
        }
        let mut from = 0;
        for records in log.chunks(700) {
            feed.read(2 + replica as u32, from, records, Some(replica));
            from = records[records.len() - 1].0 + 1;
        }
    }
    feed.stream.finish()
}

#[test]
fn final_reads_go_through_closed_blocks() {
    let streamed = run(|_| {});
    assert_eq!(streamed.suspicions, []);
    assert_eq!(streamed.measures.acked, RECORDS as u64);
    assert_eq!(streamed.level, Level::Linearizable);
}

#[test]
fn a_record_that_differs_in_a_closed_block_is_told() {
    let streamed = run(|log| log[1234].1 = 5);
    assert_eq!(streamed.suspicions[0].anomaly, Some("inconsistent-offsets"));
}

#[test]
fn a_record_that_is_missing_in_a_closed_block_is_told() {
    for at in [0, 4095, 4096, 5000] {
        let streamed = run(|log| {
            log.remove(at);
        });
        assert!(!streamed.suspicions.is_empty(), "{at}");
    }
}

#[test]
fn records_in_the_wrong_order_in_a_closed_block_are_told() {
    let streamed = run(|log| log.swap(10, 11));
    assert!(!streamed.suspicions.is_empty());
}
