//! DescribeCluster and DescribeLogDirs.

use super::{Asker, IoContext, Node, reply};
use crate::core::errors::ErrorCode;
use crate::core::messages::Response;
use crate::core::messages::client::ClientResponse;
use crate::core::messages::describe::{
    ClusterDescription, DescribeClusterRequest, DescribeLogDirsRequest, LogDirDescription,
    ReplicaSize,
};
use crate::core::seam::{Done, Op, Output};

/// The only kind of endpoint that clients can ask about here.
const BROKERS: i8 = 1;
const CONTROLLERS: i8 = 2;

impl Node {
    pub(super) fn describe_cluster(
        &mut self,
        asker: Asker,
        request: DescribeClusterRequest,
        out: &mut Vec<Output>,
    ) {
        let mut answer = ClusterDescription {
            error: ErrorCode::NONE,
            message: None,
            endpoint_type: request.endpoint_type,
            controller: -1,
            brokers: Vec::new(),
        };
        match request.endpoint_type {
            BROKERS => {
                answer.controller = self.controller_for_clients();
                answer.brokers = self.brokers_for_clients(request.include_fenced);
            }
            CONTROLLERS => {
                answer.error = ErrorCode::MISMATCHED_ENDPOINT_TYPE;
                answer.message = Some("This is a broker's listener.".to_owned());
            }
            other => {
                answer.error = ErrorCode::UNSUPPORTED_ENDPOINT_TYPE;
                answer.message = Some(format!("There is no kind of endpoint {other}."));
            }
        }
        let response = ClientResponse::DescribeCluster(answer);
        out.push(reply(asker, Response::Client(response)));
    }

    pub(super) fn describe_log_dirs(
        &mut self,
        asker: Asker,
        request: DescribeLogDirsRequest,
        out: &mut Vec<Output>,
    ) {
        self.io(IoContext::LogSizes { asker, request }, Op::LogSizes, out);
    }

    pub(super) fn on_log_sizes(
        &mut self,
        asker: Asker,
        request: &DescribeLogDirsRequest,
        done: Done,
        out: &mut Vec<Output>,
    ) {
        let (path, sizes) = match done {
            Done::LogSizes { path, sizes } => (path, sizes),
            _ => Default::default(),
        };
        let wanted = |tp| {
            request
                .partitions
                .as_ref()
                .is_none_or(|tps| tps.contains(tp))
        };
        let replicas = self
            .replicas
            .iter()
            .filter(|(tp, _)| wanted(tp))
            .map(|(tp, replica)| ReplicaSize {
                tp: tp.clone(),
                bytes: sizes.get(tp).copied().unwrap_or(0),
                offset_lag: (replica.high_watermark() - replica.log_end()).max(0),
            })
            .collect();
        let response = ClientResponse::DescribeLogDirs(LogDirDescription { path, replicas });
        out.push(reply(asker, Response::Client(response)));
    }
}
