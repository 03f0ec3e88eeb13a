//! CreateTopics: passed on to the controller, tried again until it answers or time is up.

use super::{Asker, CallContext, Creation, Node, reply};
use crate::core::errors::ErrorCode;
use crate::core::messages::Response;
use crate::core::messages::client::{ClientResponse, CreateTopicResult, CreateTopicsRequest};
use crate::core::messages::peer::{PeerRequest, PeerResponse};
use crate::core::seam::{Broken, Output};

const RETRY_MS: u64 = 50;
/// No client may keep a creation waiting longer.
const TIMEOUT_MS_MAX: u64 = 30_000;
/// Creations that may wait at once; more are refused, so that nobody can pile them up.
const CREATIONS_MAX: usize = 1_000;

impl Node {
    /// Without an asker (automatic creation) nobody is answered.
    pub(super) fn create_topics(
        &mut self,
        asker: Option<Asker>,
        request: CreateTopicsRequest,
        out: &mut Vec<Output>,
    ) {
        let creation = self.fresh_id();
        let deadline_ms = self.now.mono_ms + request.timeout_ms.min(TIMEOUT_MS_MAX);
        let pending = Creation {
            asker,
            request,
            deadline_ms,
            in_flight: false,
            retry_at_ms: self.now.mono_ms,
        };
        if self.creations.len() >= CREATIONS_MAX {
            answer(&pending, failed(&pending.request), out);
            return;
        }
        self.creations.insert(creation, pending);
        self.send_creation(creation, out);
    }

    fn send_creation(&mut self, creation: u64, out: &mut Vec<Output>) {
        let Some((_, addr)) = self.controller_to_ask() else {
            return;
        };
        let Some(pending) = self.creations.get_mut(&creation) else {
            return;
        };
        pending.in_flight = true;
        let body = PeerRequest::CreateTopics(pending.request.clone());
        let timeout_ms = self.config.timers.request_timeout_ms;
        self.call(
            addr,
            CallContext::CreateTopics { creation },
            body,
            timeout_ms,
            out,
        );
    }

    pub(super) fn on_topics_created(
        &mut self,
        creation: u64,
        result: Result<PeerResponse, Broken>,
        out: &mut Vec<Output>,
    ) {
        if let Ok(PeerResponse::CreateTopics(results)) = result {
            if let Some(pending) = self.creations.remove(&creation) {
                answer(&pending, results, out);
            }
        } else if let Some(pending) = self.creations.get_mut(&creation) {
            pending.in_flight = false;
            pending.retry_at_ms = self.now.mono_ms + RETRY_MS;
        }
    }

    pub(super) fn tick_creations(&mut self, out: &mut Vec<Output>) {
        let now_ms = self.now.mono_ms;
        let idle: Vec<u64> = self
            .creations
            .iter()
            .filter(|(_, pending)| !pending.in_flight && now_ms >= pending.retry_at_ms)
            .map(|(creation, _)| *creation)
            .collect();
        for creation in idle {
            let over = self
                .creations
                .get(&creation)
                .is_some_and(|pending| now_ms >= pending.deadline_ms);
            if !over {
                self.send_creation(creation, out);
            } else if let Some(pending) = self.creations.remove(&creation) {
                answer(&pending, failed(&pending.request), out);
            }
        }
    }
}

fn failed(request: &CreateTopicsRequest) -> Vec<CreateTopicResult> {
    request
        .topics
        .iter()
        .map(|topic| CreateTopicResult {
            name: topic.name.clone(),
            id: 0,
            error: ErrorCode::REQUEST_TIMED_OUT,
            message: Some("The controller did not answer in time.".to_owned()),
            partitions: -1,
            replication_factor: -1,
        })
        .collect()
}

fn answer(pending: &Creation, results: Vec<CreateTopicResult>, out: &mut Vec<Output>) {
    if let Some(asker) = pending.asker {
        let response = ClientResponse::CreateTopics(results);
        out.push(reply(asker, Response::Client(response)));
    }
}
