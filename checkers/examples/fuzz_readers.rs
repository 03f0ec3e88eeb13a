//! Fuzzes one reader for so many seconds, on the stable compiler:
//! `fuzz_readers jsonl|edn|kv|etcd SECONDS [SEED] [--keep]`.
//!
//! A broken promise ends it, with the input in the system's temporary folder; `--keep` adds
//! inputs with an outcome of their own to the corpus.

#[path = "../tests/fuzzing/mod.rs"]
mod fuzzing;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// More than any input of this size can need.
const MAX_HEAP: usize = 256 << 20;
/// Larger inputs are no example of anything.
const KEPT_BYTES: usize = 400;

/// Counts what is allocated, so that an input that costs too much is noticed.
struct Counted;

static HEAP: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = HEAP.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HEAP.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let keep = words.iter().any(|word| word == "--keep");
    words.retain(|word| word != "--keep");
    let reader = fuzzing::READERS
        .iter()
        .find(|(name, _)| words.first().is_some_and(|word| word == name));
    let seconds = words.get(1).and_then(|word| word.parse().ok());
    let seed = words.get(2).map_or(Ok(1), |word| word.parse());
    let (Some((name, format)), Some(seconds), Ok(seed)) = (reader, seconds, seed) else {
        eprintln!("fuzz_readers jsonl|edn|kv|etcd SECONDS [SEED] [--keep]");
        return ExitCode::from(64);
    };
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let folder = corpus.join(name);
    let mut fuzz = fuzzing::Fuzz::new(*format, &folder, seed);
    let (mut rounds, mut kept) = (0_u64, 0_u64);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(seconds) {
        rounds += 1;
        if let Some(input) = fuzz.round() {
            kept += 1;
            if keep && input.len() <= KEPT_BYTES {
                let path = folder.join(format!("found-{seed}-{rounds}"));
                if let Err(error) = std::fs::write(&path, &input) {
                    eprintln!("cannot write {}: {error}", path.display());
                }
            }
        }
        if PEAK.load(Ordering::Relaxed) > MAX_HEAP {
            eprintln!("{name}: round {rounds} of seed {seed} took more than {MAX_HEAP} bytes");
            return ExitCode::FAILURE;
        }
    }
    let peak = PEAK.load(Ordering::Relaxed) >> 20;
    println!("{name}: {rounds} inputs, {kept} outcomes, peak {peak} MiB, no finding (seed {seed})");
    ExitCode::SUCCESS
}
