//! What clients change about topics: passed on to the controller, tried again until it answers or
//! time is up.

use super::{Asker, CallContext, Node, reply};
use crate::core::errors::ErrorCode;
use crate::core::messages::client::{ClientResponse, CreateTopicResult};
use crate::core::messages::configs::AlteredResource;
use crate::core::messages::delete_topics::DeleteTopicResult;
use crate::core::messages::elect_leaders::{ElectLeadersResponse, ElectionResult};
use crate::core::messages::peer::{PeerRequest, PeerResponse};
use crate::core::messages::{ClientRequest, Response};
use crate::core::seam::{Broken, Output};

const RETRY_MS: u64 = 50;
/// No client may keep a change waiting longer.
const TIMEOUT_MS_MAX: u64 = 30_000;
/// Changes that may wait at once; more are refused, so that nobody can pile them up.
const CHANGES_MAX: usize = 1_000;

/// A client's change on its way to the controller.
#[derive(Clone, Debug)]
pub(super) struct Change {
    asker: Option<Asker>,
    request: PeerRequest,
    deadline_ms: u64,
    in_flight: bool,
    retry_at_ms: u64,
}

impl Node {
    /// Without an asker (automatic creation) nobody is answered.
    pub(super) fn change(
        &mut self,
        asker: Option<Asker>,
        request: ClientRequest,
        out: &mut Vec<Output>,
    ) {
        let Some((request, timeout_ms)) = for_controller(request) else {
            return;
        };
        let pending = Change {
            asker,
            request,
            deadline_ms: self.now.mono_ms + timeout_ms.min(TIMEOUT_MS_MAX),
            in_flight: false,
            retry_at_ms: self.now.mono_ms,
        };
        if self.changes.len() >= CHANGES_MAX {
            answer(&pending, timed_out(&pending.request), out);
            return;
        }
        let change = self.fresh_id();
        self.changes.insert(change, pending);
        self.send_change(change, out);
    }

    fn send_change(&mut self, change: u64, out: &mut Vec<Output>) {
        let Some((_, addr)) = self.controller_to_ask() else {
            return;
        };
        let Some(pending) = self.changes.get_mut(&change) else {
            return;
        };
        pending.in_flight = true;
        let body = pending.request.clone();
        let timeout_ms = self.config.timers.request_timeout_ms;
        self.call(addr, CallContext::Change { change }, body, timeout_ms, out);
    }

    pub(super) fn on_changed(
        &mut self,
        change: u64,
        result: Result<PeerResponse, Broken>,
        out: &mut Vec<Output>,
    ) {
        if let Some(response) = result.ok().and_then(for_client) {
            if let Some(pending) = self.changes.remove(&change) {
                answer(&pending, Some(response), out);
            }
        } else if let Some(pending) = self.changes.get_mut(&change) {
            pending.in_flight = false;
            pending.retry_at_ms = self.now.mono_ms + RETRY_MS;
        }
    }

    pub(super) fn tick_changes(&mut self, out: &mut Vec<Output>) {
        let now_ms = self.now.mono_ms;
        let idle: Vec<u64> = self
            .changes
            .iter()
            .filter(|(_, pending)| !pending.in_flight && now_ms >= pending.retry_at_ms)
            .map(|(change, _)| *change)
            .collect();
        for change in idle {
            let over = self
                .changes
                .get(&change)
                .is_some_and(|pending| now_ms >= pending.deadline_ms);
            if !over {
                self.send_change(change, out);
            } else if let Some(pending) = self.changes.remove(&change) {
                answer(&pending, timed_out(&pending.request), out);
            }
        }
    }
}

/// The change as the controller is asked for it, and how long it may take.
fn for_controller(request: ClientRequest) -> Option<(PeerRequest, u64)> {
    Some(match request {
        ClientRequest::CreateTopics(request) => {
            let timeout_ms = request.timeout_ms;
            (PeerRequest::CreateTopics(request), timeout_ms)
        }
        ClientRequest::DeleteTopics(request) => {
            let timeout_ms = request.timeout_ms;
            (PeerRequest::DeleteTopics(request), timeout_ms)
        }
        ClientRequest::ElectLeaders(request) => {
            let timeout_ms = request.timeout_ms;
            (PeerRequest::ElectLeaders(request), timeout_ms)
        }
        ClientRequest::AlterConfigs(request) => {
            (PeerRequest::AlterConfigs(request), TIMEOUT_MS_MAX)
        }
        _ => return None,
    })
}

/// The controller's answer as the client gets it; none where it is no answer to a change.
fn for_client(response: PeerResponse) -> Option<ClientResponse> {
    match response {
        PeerResponse::CreateTopics(results) => Some(ClientResponse::CreateTopics(results)),
        PeerResponse::DeleteTopics(results) => Some(ClientResponse::DeleteTopics(results)),
        PeerResponse::AlterConfigs(results) => Some(ClientResponse::AlterConfigs(results)),
        PeerResponse::ElectLeaders(results) => Some(ClientResponse::ElectLeaders(results)),
        _ => None,
    }
}

/// The answer where the controller gave none.
fn timed_out(request: &PeerRequest) -> Option<ClientResponse> {
    let error = ErrorCode::REQUEST_TIMED_OUT;
    let message = || Some("The controller did not answer in time.".to_owned());
    Some(match request {
        PeerRequest::CreateTopics(request) => {
            let failed = request.topics.iter().map(|topic| CreateTopicResult {
                name: topic.name.clone(),
                id: 0,
                error,
                message: message(),
                partitions: -1,
                replication_factor: -1,
            });
            ClientResponse::CreateTopics(failed.collect())
        }
        PeerRequest::DeleteTopics(request) => {
            let failed = request.topics.iter().map(|topic| DeleteTopicResult {
                name: topic.name.clone(),
                id: topic.id,
                error,
                message: message(),
            });
            ClientResponse::DeleteTopics(failed.collect())
        }
        PeerRequest::AlterConfigs(request) => {
            let failed = request
                .resources
                .iter()
                .map(|(resource, _)| AlteredResource {
                    resource: resource.clone(),
                    error,
                    message: message(),
                });
            ClientResponse::AlterConfigs(failed.collect())
        }
        PeerRequest::ElectLeaders(request) => {
            let wanted = request.partitions.iter().flatten();
            let failed = wanted.map(|tp| ElectionResult {
                tp: tp.clone(),
                error,
                message: message(),
            });
            ClientResponse::ElectLeaders(ElectLeadersResponse {
                error,
                results: failed.collect(),
            })
        }
        _ => return None,
    })
}

fn answer(pending: &Change, response: Option<ClientResponse>, out: &mut Vec<Output>) {
    if let Some(asker) = pending.asker
        && let Some(response) = response
    {
        out.push(reply(asker, Response::Client(response)));
    }
}
