//! DescribeCluster (key 60).

use kafka_protocol::messages::describe_cluster_response::DescribeClusterBroker;
use kafka_protocol::messages::{BrokerId, DescribeClusterResponse};
use kafka_protocol::protocol::StrBytes;

use crate::core::messages::describe::{ClusterDescription, DescribeClusterRequest};
use crate::kafka::encode::{CLUSTER_ID, host_and_port};
use crate::kafka::reader::{Reader, WireError};

/// Authorized operations where nothing is authorized.
const NOT_TOLD: i32 = i32::MIN;

pub(in crate::kafka) fn decode(
    reader: &mut Reader,
    version: i16,
) -> Result<DescribeClusterRequest, WireError> {
    reader.bool("whether to tell authorized operations")?;
    Ok(DescribeClusterRequest {
        endpoint_type: match version {
            1.. => reader.i8("the kind of endpoint")?,
            _ => 1,
        },
        include_fenced: match version {
            2.. => reader.bool("whether to list fenced brokers")?,
            _ => false,
        },
    })
}

pub(in crate::kafka) fn encode(
    version: i16,
    answer: ClusterDescription,
) -> DescribeClusterResponse {
    let brokers = answer.brokers.into_iter().map(|(node, addr, fenced)| {
        let (host, port) = host_and_port(&addr);
        let broker = DescribeClusterBroker::default()
            .with_broker_id(BrokerId(node))
            .with_host(host)
            .with_port(port);
        match version {
            2.. => broker.with_is_fenced(fenced),
            _ => broker,
        }
    });
    let body = DescribeClusterResponse::default()
        .with_error_code(answer.error.0)
        .with_error_message(answer.message.map(StrBytes::from_string))
        .with_cluster_id(StrBytes::from_static_str(CLUSTER_ID))
        .with_controller_id(BrokerId(answer.controller))
        .with_brokers(brokers.collect())
        .with_cluster_authorized_operations(NOT_TOLD);
    match version {
        1.. => body.with_endpoint_type(answer.endpoint_type),
        _ => body,
    }
}
