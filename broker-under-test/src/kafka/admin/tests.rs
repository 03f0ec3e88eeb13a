//! Every version that a client encodes is read alike, every answer can be encoded, and counts that
//! lie are refused.

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::{
    ApiKey, DeleteTopicsRequest, DescribeClusterRequest, DescribeConfigsRequest,
    DescribeLogDirsRequest, ElectLeadersRequest, IncrementalAlterConfigsRequest, RequestHeader,
    TopicName, delete_topics_request, describe_configs_request, describe_log_dirs_request,
    elect_leaders_request, incremental_alter_configs_request,
};
use kafka_protocol::protocol::{Encodable, StrBytes};

use crate::core::errors::ErrorCode;
use crate::core::ids::TopicPartition;
use crate::core::messages::configs::{
    AlteredResource, ConfigSource, DescribedConfig, DescribedResource, Resource, TOPIC,
};
use crate::core::messages::delete_topics::{DeleteTopicResult, TopicToDelete};
use crate::core::messages::describe::{ClusterDescription, LogDirDescription, ReplicaSize};
use crate::core::messages::elect_leaders::{ElectLeadersResponse, Election, ElectionResult};
use crate::core::messages::{ClientRequest, ClientResponse};
use crate::kafka::api::Api;
use crate::kafka::decode::{DecodeError, Decoded, Header, request};
use crate::kafka::encode::response;
use crate::kafka::reader::WireError;

fn read(key: ApiKey, version: i16, body: &impl Encodable) -> ClientRequest {
    let mut bytes = BytesMut::new();
    RequestHeader::default()
        .with_request_api_key(key as i16)
        .with_request_api_version(version)
        .with_client_id(Some(text("test")))
        .encode(&mut bytes, key.request_header_version(version))
        .unwrap();
    body.encode(&mut bytes, version).unwrap();
    match request(bytes.freeze(), &|_| None) {
        Ok((_, Decoded::Core(request))) => request,
        other => panic!("{key:?} version {version}: {other:?}"),
    }
}

fn text(text: &'static str) -> StrBytes {
    StrBytes::from_static_str(text)
}

#[test]
fn every_version_of_delete_topics_is_read_by_name_and_the_last_also_by_id() {
    for version in 1..=6 {
        let body = DeleteTopicsRequest::default().with_timeout_ms(9);
        let by_name = delete_topics_request::DeleteTopicState::default()
            .with_name(Some(TopicName(text("log"))));
        let by_id = delete_topics_request::DeleteTopicState::default()
            .with_topic_id(uuid::Uuid::from_u128(5));
        let by_both = by_name.clone().with_topic_id(uuid::Uuid::from_u128(5));
        let topic = |name: Option<&str>, id| TopicToDelete {
            name: name.map(str::to_owned),
            id,
        };
        let (body, wanted) = match version {
            6 => (
                body.with_topics(vec![by_name, by_id, by_both]),
                vec![topic(Some("log"), 0), topic(None, 5), topic(Some("log"), 5)],
            ),
            _ => (
                body.with_topic_names(vec![TopicName(text("log"))]),
                vec![topic(Some("log"), 0)],
            ),
        };
        let ClientRequest::DeleteTopics(read) = read(ApiKey::DeleteTopics, version, &body) else {
            panic!("version {version}");
        };
        assert_eq!((read.topics, read.timeout_ms), (wanted, 9));
    }
}

#[test]
fn every_version_of_the_two_requests_about_configs_is_read_alike() {
    for version in 1..=4 {
        let resource = describe_configs_request::DescribeConfigsResource::default()
            .with_resource_type(TOPIC)
            .with_resource_name(text("log"))
            .with_configuration_keys(Some(vec![text("flush.messages")]));
        let body = DescribeConfigsRequest::default()
            .with_resources(vec![resource])
            .with_include_synonyms(true);
        let read = read(ApiKey::DescribeConfigs, version, &body);
        let ClientRequest::DescribeConfigs(read) = read else {
            panic!("version {version}");
        };
        assert_eq!(read.resources[0].0.name, "log");
        assert_eq!(read.resources[0].1.as_ref().unwrap()[0], "flush.messages");
        assert!(read.include_synonyms && !read.include_documentation);
    }
    for version in 0..=1 {
        let change = incremental_alter_configs_request::AlterableConfig::default()
            .with_name(text("min.insync.replicas"))
            .with_config_operation(1)
            .with_value(None);
        let resource = incremental_alter_configs_request::AlterConfigsResource::default()
            .with_resource_type(TOPIC)
            .with_resource_name(text("log"))
            .with_configs(vec![change]);
        let body = IncrementalAlterConfigsRequest::default()
            .with_resources(vec![resource])
            .with_validate_only(true);
        let read = read(ApiKey::IncrementalAlterConfigs, version, &body);
        let ClientRequest::AlterConfigs(read) = read else {
            panic!("version {version}");
        };
        let (resource, changes) = &read.resources[0];
        assert_eq!((resource.kind, resource.name.as_str()), (TOPIC, "log"));
        assert_eq!((changes[0].operation, &changes[0].value), (1, &None));
        assert!(read.validate_only);
    }
}

#[test]
fn every_version_of_describe_cluster_log_dirs_and_elect_leaders_is_read_alike() {
    for version in 0..=2 {
        let body = match version {
            0 => DescribeClusterRequest::default(),
            1 => DescribeClusterRequest::default().with_endpoint_type(2),
            _ => DescribeClusterRequest::default().with_include_fenced_brokers(true),
        };
        let read = read(ApiKey::DescribeCluster, version, &body);
        let ClientRequest::DescribeCluster(read) = read else {
            panic!("version {version}");
        };
        assert_eq!(read.endpoint_type, if version == 1 { 2 } else { 1 });
        assert_eq!(read.include_fenced, version == 2);
    }
    for version in 1..=4 {
        let topic = describe_log_dirs_request::DescribableLogDirTopic::default()
            .with_topic(TopicName(text("log")))
            .with_partitions(vec![3]);
        let body = DescribeLogDirsRequest::default().with_topics(Some(vec![topic]));
        let read = read(ApiKey::DescribeLogDirs, version, &body);
        let ClientRequest::DescribeLogDirs(read) = read else {
            panic!("version {version}");
        };
        let wanted = TopicPartition::new("log", 3);
        assert_eq!(read.partitions, Some([wanted].into()));
    }
    for version in 0..=2 {
        let body = ElectLeadersRequest::default().with_timeout_ms(9);
        let topic = elect_leaders_request::TopicPartitions::default()
            .with_topic(TopicName(text("log")))
            .with_partitions(vec![0, 1]);
        let body = match version {
            0 => body.with_topic_partitions(None),
            _ => body
                .with_topic_partitions(Some(vec![topic]))
                .with_election_type(1),
        };
        let read = read(ApiKey::ElectLeaders, version, &body);
        let ClientRequest::ElectLeaders(read) = read else {
            panic!("version {version}");
        };
        let unclean = read.election == Election::Unclean;
        assert_eq!((unclean, read.timeout_ms), (version > 0, 9));
        let partitions = read.partitions.map(|partitions| partitions.len());
        assert_eq!(partitions, (version > 0).then_some(2));
    }
}

#[test]
fn counts_that_lie_are_refused_in_every_version_of_every_api() {
    for key in [20_i16, 32, 35, 43, 44] {
        let api = Api::from_key(key).unwrap();
        for version in (0..8).filter(|version| api.serves(*version)) {
            // Two billion elements, at the start and, for what begins with a kind, behind a byte.
            let lie: &[u8] = match api.is_flexible(version) {
                true => &[0xff, 0xff, 0xff, 0xff, 0x07],
                false => &[0x7f, 0xff, 0xff, 0xff],
            };
            let behind = key == 43 && version > 0;
            for body in [lie.to_vec(), [&[0], lie].concat(), [lie, &[0; 64]].concat()] {
                if behind != (body[0] == 0) {
                    continue;
                }
                let mut bytes = BytesMut::new();
                bytes.extend_from_slice(&key.to_be_bytes());
                bytes.extend_from_slice(&version.to_be_bytes());
                bytes.extend_from_slice(&[0, 0, 0, 1, 0xff, 0xff]);
                if api.is_flexible(version) {
                    bytes.extend_from_slice(&[0]);
                }
                bytes.extend_from_slice(&body);
                let decoded = request(Bytes::from(bytes), &|_| None);
                let refused = matches!(
                    decoded,
                    Err(DecodeError::Malformed {
                        source: WireError::Length { .. },
                        ..
                    })
                );
                assert!(refused, "{api:?} version {version} {body:?}: {decoded:?}");
            }
        }
    }
}

#[test]
fn an_election_of_an_unknown_kind_is_read_so_that_it_can_be_answered() {
    let bytes = [
        0, 43, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 7, 0, 0, 0, 0, 0, 0, 0, 9,
    ];
    match request(Bytes::copy_from_slice(&bytes), &|_| None) {
        Ok((_, Decoded::Core(ClientRequest::ElectLeaders(read)))) => {
            assert_eq!(read.election, Election::Unknown(7));
        }
        other => panic!("{other:?}"),
    }
}

fn answers() -> Vec<(Api, ClientResponse)> {
    let message = || Some("a sentence".to_owned());
    let tp = TopicPartition::new("log", 0);
    let resource = || Resource {
        kind: TOPIC,
        name: "log".to_owned(),
    };
    let config = DescribedConfig {
        name: "flush.messages",
        value: "1".to_owned(),
        source: ConfigSource::Topic,
        kind: 5,
        read_only: false,
        documentation: Some("what it does"),
        synonyms: vec![("flush.messages", "1".to_owned(), ConfigSource::Topic)],
    };
    vec![
        (
            Api::DeleteTopics,
            ClientResponse::DeleteTopics(vec![DeleteTopicResult {
                name: None,
                id: 5,
                error: ErrorCode::UNKNOWN_TOPIC_ID,
                message: message(),
            }]),
        ),
        (
            Api::DescribeConfigs,
            ClientResponse::DescribeConfigs(vec![DescribedResource {
                resource: resource(),
                error: ErrorCode::NONE,
                message: message(),
                configs: vec![config],
            }]),
        ),
        (
            Api::IncrementalAlterConfigs,
            ClientResponse::AlterConfigs(vec![AlteredResource {
                resource: resource(),
                error: ErrorCode::INVALID_CONFIG,
                message: message(),
            }]),
        ),
        (
            Api::DescribeCluster,
            ClientResponse::DescribeCluster(ClusterDescription {
                error: ErrorCode::NONE,
                message: message(),
                endpoint_type: 1,
                controller: 1,
                brokers: vec![(1, "127.0.0.1:9092".into(), true)],
            }),
        ),
        (
            Api::DescribeLogDirs,
            ClientResponse::DescribeLogDirs(LogDirDescription {
                path: "data".to_owned(),
                replicas: vec![ReplicaSize {
                    tp: tp.clone(),
                    bytes: 70,
                    offset_lag: 0,
                }],
            }),
        ),
        (
            Api::ElectLeaders,
            ClientResponse::ElectLeaders(ElectLeadersResponse {
                error: ErrorCode::INVALID_REQUEST,
                results: vec![ElectionResult {
                    tp,
                    error: ErrorCode::ELECTION_NOT_NEEDED,
                    message: message(),
                }],
            }),
        ),
    ]
}

#[test]
fn every_answer_can_be_encoded_in_every_version_served() {
    for (api, answer) in answers() {
        for version in (0..8).filter(|version| api.serves(*version)) {
            let header = Header {
                api,
                version,
                correlation_id: 1,
            };
            let bytes = response(&header, answer.clone()).unwrap();
            assert!(bytes.len() > 8, "{api:?} version {version}");
        }
    }
}
