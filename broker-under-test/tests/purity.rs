//! The core does no IO: its sources name no clock, file, socket, thread, hash map or hidden
//! randomness, and nothing of the shells.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

/// Words that have no place in the core.
const FORBIDDEN: [&str; 20] = [
    "std::fs",
    "std::net",
    "std::io",
    "std::thread",
    "std::time",
    "std::env",
    "std::process",
    "std::sync::Mutex",
    "std::sync::mpsc",
    "Instant::",
    "SystemTime",
    "HashMap",
    "HashSet",
    "RandomState",
    "tokio",
    "axum",
    "rand::rng()",
    "from_os_rng",
    "crate::server",
    "crate::storage",
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Where a source names something forbidden; comments are no code.
fn offences(path: &Path, text: &str) -> Vec<String> {
    let code = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.flat_map(|(number, line)| {
        FORBIDDEN
            .iter()
            .filter(|word| line.contains(**word))
            .map(move |word| format!("{}:{}: {word}", path.display(), number + 1))
    })
    .collect()
}

#[test]
fn the_core_names_no_clock_file_socket_thread_hash_map_or_hidden_randomness() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src.join("core"), &mut files);
    files.push(src.join("kafka/batch.rs"));
    assert!(files.len() > 30, "only {} sources found", files.len());
    let found: Vec<String> = files
        .iter()
        .flat_map(|path| offences(path, &std::fs::read_to_string(path).unwrap()))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_scan_sees_what_it_looks_for() {
    let offending = "let now = std::time::Instant::now();\n// HashMap in a comment\n";
    assert_eq!(offences(Path::new("x.rs"), offending).len(), 2);
}
