//! Bytes that no client would send, on every port: the connection is closed, the broker goes on,
//! its memory stays small, and nobody else notices.

use std::io::{Read, Write};

use crate::cluster::Cluster;

/// A broker that has believed a length is far beyond this.
const MEMORY_BYTES_MAX: u64 = 200 << 20;

/// ApiVersions version 0: answered by whoever is well.
const API_VERSIONS: [u8; 14] = [0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 0xff, 0xff];

fn frame(body: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend_from_slice(body);
    bytes
}

/// A request header with a null client id.
fn request(key: i16, version: i16, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&key.to_be_bytes());
    bytes.extend_from_slice(&version.to_be_bytes());
    bytes.extend_from_slice(&[0, 0, 0, 9, 0xff, 0xff]);
    bytes.extend_from_slice(body);
    frame(&bytes)
}

fn hostile_inputs() -> Vec<(&'static str, Vec<u8>)> {
    let noise: Vec<u8> = (0..5_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    vec![
        ("random bytes", noise),
        ("all ones", vec![0xff; 4_000]),
        (
            "a frame of two gigabytes",
            vec![0x7f, 0xff, 0xff, 0xff, 0, 3, 0, 1],
        ),
        ("a frame of negative length", vec![0x80, 0, 0, 0, 0, 3]),
        ("an empty frame", vec![0, 0, 0, 0]),
        ("an unknown API", request(999, 0, &[])),
        ("a version from the future", request(3, 99, &[])),
        (
            "two billion topics",
            request(3, 1, &[0x7f, 0xff, 0xff, 0xff]),
        ),
        (
            "four billion compact topics",
            request(3, 12, &[0, 0xff, 0xff, 0xff, 0xff, 0x0f]),
        ),
        (
            "a fetch of two billion topics",
            request(
                1,
                4,
                &[
                    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff, 0,
                    0x7f, 0xff, 0xff, 0xff,
                ],
            ),
        ),
        ("half a request", frame(&[0, 3, 0, 1, 0, 0])[..8].to_vec()),
        ("an HTTP request with endless headers", {
            let mut text = b"GET /health HTTP/1.1\r\n".to_vec();
            text.extend(b"X: y\r\n".repeat(20_000));
            text
        }),
    ]
}

fn answers(cluster: &Cluster, node: usize) {
    let mut stream = cluster.connect(node, 0);
    stream.write_all(&API_VERSIONS).unwrap();
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    assert!(u32::from_be_bytes(length) > 20);
}

#[test]
fn hostile_bytes_on_any_port_close_that_connection_and_disturb_nobody() {
    let cluster = Cluster::start();
    let mut bystander = cluster.connect(1, 0);
    for (what, bytes) in hostile_inputs() {
        for plane in 0..4 {
            let mut stream = cluster.connect(1, plane);
            // The broker may close before it has read all.
            let _closed_early = stream.write_all(&bytes);
            let _closed = stream.shutdown(std::net::Shutdown::Write);
            let mut rest = Vec::new();
            let _reset = stream.read_to_end(&mut rest);
            assert!(
                !cluster.has_panicked(),
                "{what} on port {plane}: {}",
                cluster.logs()
            );
        }
        answers(&cluster, 1);
    }
    bystander.write_all(&API_VERSIONS).unwrap();
    let mut length = [0; 4];
    bystander.read_exact(&mut length).unwrap();
    let memory = cluster.memory_bytes(1);
    assert!(memory < MEMORY_BYTES_MAX, "{memory} bytes are resident");
}

#[test]
fn many_connections_that_stop_half_way_hold_no_memory_and_block_nobody() {
    let cluster = Cluster::start();
    let stalled: Vec<_> = (0..300)
        .map(|_| {
            let mut stream = cluster.connect(2, 0);
            stream
                .write_all(&[0x01, 0x80, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1])
                .unwrap();
            stream
        })
        .collect();
    answers(&cluster, 2);
    let memory = cluster.memory_bytes(2);
    assert!(memory < MEMORY_BYTES_MAX, "{memory} bytes are resident");
    drop(stalled);
}
