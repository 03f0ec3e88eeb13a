//! Stored histories, well-formed and not, through the whole of `check`.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::*;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../checkers/tests/golden/{name}.jsonl"))
}

fn args(file: &Path) -> CheckArgs {
    CheckArgs {
        file: file.to_owned(),
        model: None,
        initial: None,
        promise: None,
        strict: false,
        stream: false,
        format: Format::Json,
        html: None,
    }
}

fn validity_of(args: &CheckArgs) -> Validity {
    run(args, false).expect("a readable history").validity
}

const PERMITTED: &str = "lost-write-permitted-with-acks-1";

#[test]
fn judges_valid_invalid_and_unknown_histories() {
    for (name, expected) in [
        ("lost-write-valid", Validity::Valid),
        ("lost-write-invalid", Validity::Invalid),
        ("lost-write-unknown-without-final-reads", Validity::Unknown),
        (PERMITTED, Validity::Valid),
    ] {
        assert_eq!(validity_of(&args(&golden(name))), expected, "{name}");
    }
}

#[test]
fn strict_counts_a_permitted_loss_as_a_violation() {
    let mut args = args(&golden(PERMITTED));
    args.strict = true;
    assert_eq!(validity_of(&args), Validity::Invalid);
}

#[test]
fn a_promise_from_a_file_replaces_that_of_the_history() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("promise.json");
    let header = std::fs::read_to_string(golden("lost-write-valid")).expect("a golden history");
    let header: serde_json::Value =
        serde_json::from_str(header.lines().next().expect("a header")).expect("JSON");
    let promise = header["promise"].to_string();
    std::fs::write(&file, promise).expect("room");
    let mut args = args(&golden(PERMITTED));
    args.promise = Some(file);
    assert_eq!(validity_of(&args), Validity::Invalid);
}

#[test]
fn compressed_histories_are_told_by_their_first_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("history.bin");
    let plain = std::fs::read(golden("lost-write-invalid")).expect("a golden history");
    let packed = zstd::stream::encode_all(&plain[..], 3).expect("compressed");
    std::fs::write(&file, packed).expect("room");
    assert_eq!(validity_of(&args(&file)), Validity::Invalid);
}

#[test]
fn a_compressed_history_that_was_cut_off_is_judged_as_far_as_it_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("history.jsonl.zst");
    let plain = std::fs::read(golden("lost-write-valid")).expect("a golden history");
    let mut packed = Vec::new();
    let mut encoder = zstd::stream::Encoder::new(&mut packed, 3).expect("an encoder");
    encoder.write_all(&plain).expect("compressed");
    encoder.flush().expect("a whole block");
    drop(encoder);
    std::fs::write(&file, packed).expect("room");
    assert_eq!(validity_of(&args(&file)), Validity::Valid);
}

#[test]
fn a_malformed_line_is_named_with_its_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("history.jsonl");
    std::fs::write(
        &file,
        "{\"process\":1,\"type\":\"invoke\",\"f\":\"send\"}\nnonsense\n{}\n",
    )
    .expect("room");
    let error = run(&args(&file), false).expect_err("malformed");
    let text = error.to_string();
    assert!(
        text.contains("line 2") && text.contains("malformed"),
        "{text}"
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = run(&args(Path::new("/nowhere/history.jsonl")), false).expect_err("no file");
    assert!(error.to_string().contains("/nowhere/history.jsonl"));
}

#[test]
fn a_zstd_bomb_of_one_line_ends_in_an_error_and_little_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bomb.zst");
    let sink = std::fs::File::create(&file).expect("a file");
    let mut encoder = zstd::stream::Encoder::new(sink, 3).expect("an encoder");
    let megabyte = vec![b' '; 1 << 20];
    for _ in 0..64 {
        encoder.write_all(&megabyte).expect("compressed");
    }
    encoder.finish().expect("finished");
    let error = run(&args(&file), false).expect_err("a bomb");
    assert!(error.to_string().contains("longer than"), "{error}");
}

#[test]
fn the_json_for_scripts_is_one_object_with_the_command_that_repeats_it() {
    let checked = run(&args(&golden(PERMITTED)), false).expect("a readable history");
    let json: serde_json::Value = serde_json::from_str(&checked.output).expect("one object");
    assert_eq!(json["valid"], true);
    assert_eq!(json["lost_acked"], 1);
    assert!(
        json["replay"]
            .as_str()
            .expect("a command")
            .starts_with("plimsoll check")
    );
}

#[test]
fn a_history_that_names_no_promise_is_judged_strictly_and_says_so() {
    let mut args = args(&golden("lost-write-without-header-is-judged-strictly"));
    args.format = Format::Human;
    let checked = run(&args, false).expect("a readable history");
    assert_eq!(checked.validity, Validity::Invalid);
    assert!(
        checked.output.contains("names no promise"),
        "{}",
        checked.output
    );
}

/// The same numbers everywhere (SplitMix64).
fn chance(state: &mut u64, limit: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) % limit.max(1) as u64) as usize
}

/// `PLIMSOLL_FUZZ_SECONDS` makes it go on for so long instead of some rounds.
#[test]
fn mutated_compressed_histories_end_in_a_history_or_an_error() {
    let seconds = std::env::var("PLIMSOLL_FUZZ_SECONDS").ok();
    let seconds = seconds.map(|seconds| seconds.parse().expect("a number of seconds"));
    let begun = std::time::Instant::now();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("history");
    let plain = std::fs::read(golden("lost-write-invalid")).expect("a golden history");
    let packed =
        [1, 3, 19].map(|level| zstd::stream::encode_all(&plain[..], level).expect("packed"));
    let mut state = 5;
    let mut read = 0_u64;
    let mut rounds = 0_u64;
    while seconds.map_or(rounds < 400, |seconds| begun.elapsed().as_secs() < seconds) {
        let mut bytes = packed[chance(&mut state, packed.len())].clone();
        for _ in 0..=chance(&mut state, 3) {
            let at = chance(&mut state, bytes.len());
            match chance(&mut state, 4) {
                0 => bytes.truncate(at),
                1 => bytes
                    .splice(at..at, [chance(&mut state, 256) as u8])
                    .for_each(drop),
                _ => bytes
                    .iter_mut()
                    .skip(at)
                    .take(1)
                    .for_each(|byte| *byte ^= 1 << (at % 8)),
            }
        }
        std::fs::write(&file, &bytes).expect("room");
        read += u64::from(read_history(&file).is_ok());
        rounds += 1;
    }
    println!("{rounds} compressed histories, {read} of them read");
    assert!(read < rounds);
}

#[test]
fn a_stream_says_what_the_whole_says_of_every_golden_history() {
    let mut compared = 0;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../checkers/tests/golden");
    for entry in std::fs::read_dir(folder).expect("golden histories") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let whole = args(&path);
        let streamed = CheckArgs {
            stream: true,
            ..args(&path)
        };
        assert_eq!(validity_of(&whole), validity_of(&streamed), "{path:?}");
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}
