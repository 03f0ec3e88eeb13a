//! The monitor: asks a node's admin port ten times a second what it believes.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::{Message, Messages};
use crate::session::{Event, NodeIndex, NodeReport};

const POLL_EVERY: Duration = Duration::from_millis(100);
const POLL_TIMEOUT: Duration = Duration::from_millis(400);
/// While a node has never answered, it is asked more often: runs start sooner.
const FIRST_POLL_EVERY: Duration = Duration::from_millis(20);

/// A thousand partitions take about a quarter of this.
const REPORT_BYTES_MAX: usize = 1 << 20;

/// Watches one node until nobody listens any more.
pub(super) async fn watch(node: NodeIndex, addr: SocketAddr, messages: Messages) {
    let client = match reqwest::Client::builder()
        .no_proxy()
        .timeout(POLL_TIMEOUT)
        .build()
    {
        Ok(client) => client,
        Err(e) => {
            let why = format!("no HTTP client for the admin ports: {e}");
            let _ = messages.send(Message::Failed(why));
            return;
        }
    };
    let url = format!("http://{addr}/replicas");
    let mut seen = false;
    loop {
        let asked = Instant::now();
        let report = poll(&client, &url).await.map(|report| NodeReport {
            took_ms: took_ms(asked),
            ..report
        });
        seen |= report.is_some();
        if messages
            .send(Message::Event(Event::Node { node, report }))
            .is_err()
        {
            return;
        }
        tokio::time::sleep(if seen { POLL_EVERY } else { FIRST_POLL_EVERY }).await;
    }
}

/// How long a poll took, rounded up.
pub(super) fn took_ms(asked: Instant) -> u64 {
    u64::try_from(asked.elapsed().as_millis()).map_or(u64::MAX, |ms| ms + 1)
}

/// A node that answers nonsense, or without end, is as good as one that does
/// not answer.
async fn poll(client: &reqwest::Client, url: &str) -> Option<NodeReport> {
    let response = client.get(url).send().await.ok()?;
    let mut response = response.error_for_status().ok()?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > REPORT_BYTES_MAX {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}
