//! The crate's sources touch nothing outside the history they are given.

use std::path::{Path, PathBuf};

/// Words that would make a verdict depend on something else.
const FORBIDDEN: [&str; 15] = [
    "HashMap",
    "HashSet",
    "std::fs",
    "std::io",
    "std::net",
    "std::thread",
    "std::time",
    "std::env",
    "std::process",
    "std::sync",
    "Instant",
    "SystemTime",
    "tokio",
    "rand::",
    "println!",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_source_reads_a_clock_a_file_a_thread_a_hash_map_or_chance() {
    let mut paths = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut paths,
    );
    assert!(paths.len() > 20);
    let mut wrong = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        for word in FORBIDDEN.iter().filter(|word| text.contains(**word)) {
            wrong.push(format!("{}: {word}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_source_opens_with_its_purpose() {
    let mut paths = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut paths,
    );
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//! "), "{}", path.display());
    }
}
