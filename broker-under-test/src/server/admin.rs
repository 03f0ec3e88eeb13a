//! The admin HTTP port: health, the replicas' state, their records, and `hold`.

use std::sync::Arc;

use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response as HttpResponse};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;

use super::core_loop::CoreHandle;
use super::wiring::{ToConnection, Wiring};
use crate::core::errors::ErrorCode;
use crate::core::ids::TopicPartition;
use crate::core::messages::{AdminRequest, AdminResponse, Request, Response};
use crate::core::seam::Input;
use crate::kafka::batch;

/// Bytes of a request's body at the most.
const BODY_BYTES_MAX: usize = 16 << 10;
/// Bytes read from a log for one answer, about.
const READ_BYTES_MAX: u32 = 4 << 20;

#[derive(Clone)]
struct Admin {
    core: CoreHandle,
    wiring: Arc<Wiring>,
}

/// Serves for ever.
pub async fn serve(listener: TcpListener, core: CoreHandle, wiring: Arc<Wiring>) {
    let routes = Router::new()
        .route("/health", get(health))
        .route("/replicas", get(replicas))
        .route("/replicas/{topic}/{partition}/records", get(records))
        .route("/hold", post(hold))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(Admin { core, wiring });
    if let Err(error) = axum::serve(listener, routes).await {
        tracing::error!("the admin port is closed: {error}");
    }
}

impl Admin {
    async fn ask(&self, request: AdminRequest) -> Result<AdminResponse, HttpResponse> {
        let unavailable = |what: &str| problem(StatusCode::SERVICE_UNAVAILABLE, what);
        let (conn, mut replies) = self
            .wiring
            .connect()
            .ok_or_else(|| unavailable("too many connections"))?;
        self.core.send(Input::Request {
            conn,
            id: 1,
            body: Request::Admin(request),
        });
        let reply = replies.recv().await;
        self.wiring.disconnect(conn);
        match reply {
            Some(ToConnection::Reply(_, Some(Response::Admin(AdminResponse::Failed(error))))) => {
                let status = match error {
                    ErrorCode::UNKNOWN_TOPIC_OR_PARTITION | ErrorCode::NOT_LEADER_OR_FOLLOWER => {
                        StatusCode::NOT_FOUND
                    }
                    _ => StatusCode::CONFLICT,
                };
                Err(problem(status, &error.to_string()))
            }
            Some(ToConnection::Reply(_, Some(Response::Admin(answer)))) => Ok(answer),
            _ => Err(unavailable("the node is stopping")),
        }
    }
}

fn problem(status: StatusCode, what: &str) -> HttpResponse {
    (status, Json(json!({ "error": what }))).into_response()
}

async fn health(State(admin): State<Admin>) -> HttpResponse {
    match admin.ask(AdminRequest::Health).await {
        Ok(AdminResponse::Health(health)) => Json(health).into_response(),
        Ok(_) => problem(
            StatusCode::INTERNAL_SERVER_ERROR,
            "an answer to something else",
        ),
        Err(response) => response,
    }
}

async fn replicas(State(admin): State<Admin>) -> HttpResponse {
    match admin.ask(AdminRequest::Replicas).await {
        Ok(AdminResponse::Replicas(states)) => Json(states).into_response(),
        Ok(_) => problem(
            StatusCode::INTERNAL_SERVER_ERROR,
            "an answer to something else",
        ),
        Err(response) => response,
    }
}

#[derive(Deserialize)]
struct Span {
    #[serde(default)]
    from: i64,
    #[serde(default = "span_max")]
    max: usize,
}

fn span_max() -> usize {
    1_000
}

async fn records(
    State(admin): State<Admin>,
    Path((topic, partition)): Path<(String, i32)>,
    Query(span): Query<Span>,
) -> HttpResponse {
    let request = AdminRequest::Records {
        tp: TopicPartition::new(&topic, partition),
        from: span.from,
        max_bytes: READ_BYTES_MAX,
    };
    match admin.ask(request).await {
        Ok(AdminResponse::Records { batches, leo, hw }) => {
            let records: Vec<_> = batch::batches(&batches)
                .flatten()
                .flat_map(|(header, batch)| {
                    let epoch = header.leader_epoch;
                    batch::records(&header, &batch)
                        .into_iter()
                        .map(move |record| (epoch, record))
                })
                .filter(|(_, record)| record.offset >= span.from)
                .take(span.max)
                .map(|(epoch, record)| {
                    let value = record
                        .value
                        .map(|value| String::from_utf8_lossy(&value).into_owned());
                    json!({ "offset": record.offset, "epoch": epoch, "value": value })
                })
                .collect();
            Json(json!({ "records": records, "leo": leo, "hw": hw })).into_response()
        }
        Ok(_) => problem(
            StatusCode::INTERNAL_SERVER_ERROR,
            "an answer to something else",
        ),
        Err(response) => response,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HoldBody {
    topic: String,
    partition: i32,
    fetch_until: Option<i64>,
}

async fn hold(
    State(admin): State<Admin>,
    body: Result<Json<HoldBody>, JsonRejection>,
) -> HttpResponse {
    let Json(body) = match body {
        Ok(body) => body,
        Err(error) => return problem(error.status(), &error.body_text()),
    };
    let request = AdminRequest::Hold {
        tp: TopicPartition::new(&body.topic, body.partition),
        fetch_until: body.fetch_until,
    };
    match admin.ask(request).await {
        Ok(_) => Json(json!({})).into_response(),
        Err(response) => response,
    }
}
