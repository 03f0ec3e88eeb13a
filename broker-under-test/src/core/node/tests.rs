//! One node that is broker and controller in one, driven by hand: what operators ask of it.

use std::collections::BTreeSet;

use super::*;
use crate::core::bugs::Bugs;
use crate::core::config::{Timers, TopicDefaults};
use crate::core::messages::ClientResponse;
use crate::core::messages::client::{CreateTopicsRequest, NewTopic, ProduceRequest};
use crate::core::messages::configs::{
    AlterConfigsRequest, ConfigChange, ConfigSource, DescribeConfigsRequest, Resource, TOPIC,
};
use crate::core::messages::delete_topics::{DeleteTopicsRequest, TopicToDelete};
use crate::core::messages::describe::DescribeClusterRequest;
use crate::core::messages::elect_leaders::{ElectLeadersRequest, Election};
use crate::core::messages::fetch::{FetchPartition, FetchRequest};
use crate::core::seam::LogId;
use crate::kafka::batch::BatchBuilder;

/// The node, its disk that can be made to wait, and the answers it has given.
struct Bench {
    node: Node,
    now_ms: u64,
    next_conn: ConnId,
    answers: BTreeMap<ConnId, ClientResponse>,
    /// Appends to replicas are not completed.
    disk_waits: bool,
    begun: Vec<(TopicPartition, TopicId)>,
    removed: BTreeSet<TopicPartition>,
}

fn log() -> TopicPartition {
    TopicPartition::new("log", 0)
}

impl Bench {
    fn new() -> Self {
        let config = NodeConfig {
            node_id: 1,
            controllers: [(1, Addr::from("me"))].into(),
            is_broker: true,
            client_addr: "127.0.0.1:9092".into(),
            replication_addr: "127.0.0.1:9093".into(),
            incarnation: 1,
            seed: 1,
            timers: Timers::default(),
            replica_lag_max_messages: None,
            topic_defaults: TopicDefaults::default(),
            bugs: Bugs::default(),
        };
        let mut bench = Self {
            node: Node::new(config, Recovered::default(), Now::default()),
            now_ms: 0,
            next_conn: 1_000_000,
            answers: BTreeMap::new(),
            disk_waits: false,
            begun: Vec::new(),
            removed: BTreeSet::new(),
        };
        bench.run_until("the broker is up", |bench| {
            bench.node.image.live_brokers().count() == 1
        });
        let create = NewTopic {
            name: "log".to_owned(),
            partitions: 1,
            replication_factor: 1,
            assignments: Vec::new(),
            configs: vec![("flush.messages".to_owned(), Some("7".to_owned()))],
        };
        bench.create(create);
        bench
    }

    fn create(&mut self, topic: NewTopic) {
        let request = CreateTopicsRequest {
            topics: vec![topic],
            validate_only: false,
            timeout_ms: 5_000,
        };
        let ClientResponse::CreateTopics(results) =
            self.answer_to(ClientRequest::CreateTopics(request))
        else {
            panic!("an answer to something else");
        };
        assert_eq!(results[0].error, ErrorCode::NONE);
    }

    fn step(&mut self, input: Input) {
        let now = Now {
            mono_ms: self.now_ms,
            wall_ms: 0,
        };
        let mut out = Vec::new();
        self.node.step(now, input, &mut out);
        out.into_iter().for_each(|output| self.carry_out(output));
    }

    /// Calls go back to the node itself; their connection is the call's number.
    fn carry_out(&mut self, output: Output) {
        match output {
            Output::Call { call, body, .. } => self.step(Input::Request {
                conn: call,
                id: 0,
                body: Request::Peer(body),
            }),
            Output::Reply { conn, body, .. } => match body {
                Some(Response::Peer(response)) => self.step(Input::Reply {
                    call: conn,
                    result: Ok(response),
                }),
                Some(Response::Client(response)) => {
                    self.answers.insert(conn, response);
                }
                _ => {}
            },
            Output::Io { id, op } => {
                if let Some(done) = self.disk(op) {
                    self.step(Input::Io { id, done });
                }
            }
            _ => {}
        }
    }

    fn disk(&mut self, op: Op) -> Option<Done> {
        match op {
            Op::Append {
                log: LogId::Partition(_),
                ..
            } if self.disk_waits => return None,
            Op::Create { log, topic_id } => self.begun.push((log, topic_id)),
            Op::Delete { log } => {
                self.removed.insert(log);
            }
            _ => {}
        }
        Some(Done::Synced)
    }

    fn run_until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        for _ in 0..1_000 {
            if done(self) {
                return;
            }
            self.now_ms += 10;
            self.step(Input::Tick);
        }
        panic!("{what}: not within 10 s");
    }

    fn ask(&mut self, request: ClientRequest) -> ConnId {
        self.next_conn += 1;
        self.step(Input::Request {
            conn: self.next_conn,
            id: 1,
            body: Request::Client(request),
        });
        self.next_conn
    }

    fn answer_to(&mut self, request: ClientRequest) -> ClientResponse {
        let conn = self.ask(request);
        self.run_until("an answer", |bench| bench.answers.contains_key(&conn));
        self.answers.remove(&conn).unwrap()
    }

    fn delete(&mut self, topic: TopicToDelete) -> ErrorCode {
        let errors = self.delete_all(vec![topic]);
        assert_eq!(errors.len(), 1);
        errors[0]
    }

    fn delete_all(&mut self, topics: Vec<TopicToDelete>) -> Vec<ErrorCode> {
        let request = DeleteTopicsRequest {
            topics,
            timeout_ms: 5_000,
        };
        match self.answer_to(ClientRequest::DeleteTopics(request)) {
            ClientResponse::DeleteTopics(results) => {
                results.iter().map(|result| result.error).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    fn alter(&mut self, name: &str, operation: i8, value: Option<&str>, dry: bool) -> ErrorCode {
        let change = ConfigChange {
            name: name.to_owned(),
            operation,
            value: value.map(str::to_owned),
        };
        let request = AlterConfigsRequest {
            resources: vec![(topic(), vec![change])],
            validate_only: dry,
        };
        match self.answer_to(ClientRequest::AlterConfigs(request)) {
            ClientResponse::AlterConfigs(results) => results[0].error,
            other => panic!("{other:?}"),
        }
    }

    fn described(&mut self, name: &str) -> (String, ConfigSource) {
        let request = DescribeConfigsRequest {
            resources: vec![(topic(), Some(vec![name.to_owned()]))],
            include_synonyms: true,
            include_documentation: false,
        };
        match self.answer_to(ClientRequest::DescribeConfigs(request)) {
            ClientResponse::DescribeConfigs(results) => {
                let config = &results[0].configs[0];
                (config.value.clone(), config.source)
            }
            other => panic!("{other:?}"),
        }
    }

    fn elect(
        &mut self,
        election: Election,
        partitions: Option<Vec<TopicPartition>>,
    ) -> Vec<ErrorCode> {
        let request = ElectLeadersRequest {
            election,
            partitions,
            timeout_ms: 5_000,
        };
        match self.answer_to(ClientRequest::ElectLeaders(request)) {
            ClientResponse::ElectLeaders(answer) => {
                let invalid = matches!(election, Election::Unknown(_));
                assert_eq!(answer.error == ErrorCode::INVALID_REQUEST, invalid);
                answer.results.iter().map(|result| result.error).collect()
            }
            other => panic!("{other:?}"),
        }
    }
}

fn topic() -> Resource {
    Resource {
        kind: TOPIC,
        name: "log".to_owned(),
    }
}

fn by_name() -> TopicToDelete {
    TopicToDelete {
        name: Some("log".to_owned()),
        id: 0,
    }
}

fn by_id(id: u128) -> TopicToDelete {
    TopicToDelete { name: None, id }
}

#[test]
fn a_topic_that_is_asked_for_twice_or_in_two_ways_is_refused_once_and_stays() {
    let mut bench = Bench::new();
    let id = bench.begun[0].1;
    let invalid = ErrorCode::INVALID_REQUEST;
    let named = |id| TopicToDelete { id, ..by_name() };
    assert_eq!(bench.delete(named(id)), invalid);
    assert_eq!(bench.delete(named(id + 1)), invalid);
    assert_eq!(bench.delete(by_id(0)), invalid);
    assert_eq!(bench.delete_all(vec![by_name(), by_name()]), [invalid]);
    assert_eq!(bench.delete_all(vec![by_id(id), by_id(id)]), [invalid]);
    let both = vec![by_name(), by_id(id)];
    assert_eq!(bench.delete_all(both), [invalid, invalid]);
    assert!(bench.removed.is_empty() && !bench.node.replicas.is_empty());
    assert_eq!(bench.delete(by_name()), ErrorCode::NONE);
}

#[test]
fn producers_and_long_polls_of_a_deleted_topic_are_told_that_it_is_gone() {
    let mut bench = Bench::new();
    bench.disk_waits = true;
    let producer = bench.ask(ClientRequest::Produce(ProduceRequest {
        acks: -1,
        timeout_ms: 60_000,
        partitions: vec![(log(), BatchBuilder::plain(0).build(&[b"value"]))],
    }));
    let consumer = bench.ask(ClientRequest::Fetch(FetchRequest {
        follower: None,
        any_replica: true,
        max_wait_ms: 60_000,
        max_bytes: 1_000,
        partitions: vec![FetchPartition {
            tp: log(),
            topic_id: 0,
            current_leader_epoch: -1,
            fetch_offset: 0,
            last_fetched_epoch: -1,
            max_bytes: 1_000,
            high_watermark: -1,
        }],
    }));
    assert!(bench.answers.is_empty());
    assert_eq!(bench.delete(by_name()), ErrorCode::NONE);
    let gone = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    match bench.answers.get(&producer) {
        Some(ClientResponse::Produce(results)) => assert_eq!(results[0].error, gone),
        other => panic!("{other:?}"),
    }
    match bench.answers.get(&consumer) {
        Some(ClientResponse::Fetch(answer)) => assert_eq!(answer.partitions[0].error, gone),
        other => panic!("{other:?}"),
    }
    assert!(bench.node.replicas.is_empty() && bench.removed.contains(&log()));
}

#[test]
fn a_topic_of_the_same_name_begins_a_log_of_its_own_id() {
    let mut bench = Bench::new();
    let first = bench.begun[0].1;
    assert_eq!(bench.delete(by_id(first)), ErrorCode::NONE);
    assert_eq!(bench.delete(by_id(first)), ErrorCode::UNKNOWN_TOPIC_ID);
    let unknown = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    assert_eq!(bench.delete(by_name()), unknown);
    bench.create(NewTopic {
        name: "log".to_owned(),
        partitions: 1,
        replication_factor: 1,
        assignments: Vec::new(),
        configs: Vec::new(),
    });
    assert_eq!(bench.begun.len(), 2);
    assert_ne!(bench.begun[1].1, first);
    assert_eq!(bench.node.replicas[&log()].topic_id(), bench.begun[1].1);
}

#[test]
fn a_change_of_settings_acts_and_is_shown_with_its_source_until_it_is_taken_back() {
    let mut bench = Bench::new();
    let name = "min.insync.replicas";
    assert_eq!(
        bench.described(name),
        ("1".to_owned(), ConfigSource::Default)
    );
    assert_eq!(bench.alter(name, 0, Some("2"), true), ErrorCode::NONE);
    assert_eq!(
        bench.described(name),
        ("1".to_owned(), ConfigSource::Default)
    );
    assert_eq!(bench.alter(name, 0, Some("2"), false), ErrorCode::NONE);
    assert_eq!(bench.described(name), ("2".to_owned(), ConfigSource::Topic));
    assert_eq!(bench.node.image.topics["log"].config.min_insync_replicas, 2);
    assert_eq!(bench.alter(name, 1, None, false), ErrorCode::NONE);
    assert_eq!(
        bench.described(name),
        ("1".to_owned(), ConfigSource::Default)
    );
    let kept = ("7".to_owned(), ConfigSource::Topic);
    assert_eq!(bench.described("flush.messages"), kept);
}

#[test]
fn settings_that_do_not_exist_and_operations_that_do_not_fit_are_refused() {
    let mut bench = Bench::new();
    let invalid = ErrorCode::INVALID_CONFIG;
    assert_eq!(
        bench.alter("min.insync.replica", 0, Some("2"), false),
        invalid
    );
    assert_eq!(
        bench.alter("min.insync.replicas", 0, Some("0"), false),
        invalid
    );
    assert_eq!(
        bench.alter("min.insync.replicas", 2, Some("2"), false),
        invalid
    );
    let request = ErrorCode::INVALID_REQUEST;
    assert_eq!(bench.alter("min.insync.replicas", 0, None, false), request);
    assert_eq!(
        bench.alter("min.insync.replicas", 9, Some("2"), false),
        request
    );
    assert_eq!(
        bench.alter("cleanup.policy", 2, Some("compact"), false),
        ErrorCode::NONE
    );
    let both = ("delete,compact".to_owned(), ConfigSource::Topic);
    assert_eq!(bench.described("cleanup.policy"), both);
    assert_eq!(
        bench.alter("cleanup.policy", 3, Some("delete"), false),
        ErrorCode::NONE
    );
    assert_eq!(bench.described("cleanup.policy").0, "compact");
}

#[test]
fn an_election_of_a_leader_that_leads_is_not_needed_and_left_out_where_all_are_asked_for() {
    let mut bench = Bench::new();
    let not_needed = ErrorCode::ELECTION_NOT_NEEDED;
    for election in [Election::Preferred, Election::Unclean] {
        assert_eq!(bench.elect(election, Some(vec![log()])), [not_needed]);
        assert_eq!(bench.elect(election, None), []);
        let twice = Some(vec![log(), log()]);
        assert_eq!(bench.elect(election, twice), [not_needed]);
    }
    let no_such_kind = bench.elect(Election::Unknown(9), Some(vec![log()]));
    assert_eq!(no_such_kind, [ErrorCode::INVALID_REQUEST]);
    let nowhere = TopicPartition::new("nowhere", 0);
    let unknown = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    assert_eq!(
        bench.elect(Election::Preferred, Some(vec![nowhere])),
        [unknown]
    );
}

#[test]
fn a_client_that_asks_a_broker_for_controllers_is_told_that_it_asks_the_wrong_endpoint() {
    let mut bench = Bench::new();
    let mut ask = |endpoint_type| {
        let request = DescribeClusterRequest {
            endpoint_type,
            include_fenced: false,
        };
        match bench.answer_to(ClientRequest::DescribeCluster(request)) {
            ClientResponse::DescribeCluster(answer) => (answer.error, answer.brokers.len()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ask(1), (ErrorCode::NONE, 1));
    assert_eq!(ask(2), (ErrorCode::MISMATCHED_ENDPOINT_TYPE, 0));
    assert_eq!(ask(3), (ErrorCode::UNSUPPORTED_ENDPOINT_TYPE, 0));
}
