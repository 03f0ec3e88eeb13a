//! Reports of golden histories: what must stand in them, and what must not.

use std::path::Path;

use plimsoll_checkers::history::{Header, History, Op, OpType, Process, SendMop, Value};
use plimsoll_checkers::promise::Promise;
use plimsoll_checkers::{Verdict, check, judge};
use serde_json::json;

use super::*;

fn golden(name: &str) -> (History, Verdict) {
    let path = format!("../checkers/tests/golden/{name}.jsonl");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let history = crate::check::read_history(&path).expect("a golden history");
    let header = history.header();
    let promise = header.map_or_else(Promise::unstated, |header| header.promise.clone());
    let verdict = judge(check(&history), &promise);
    (history, verdict)
}

fn losses_of(history: &History, verdict: &Verdict) -> LossReport {
    LossReport::new(history, verdict, None)
}

fn first_line(name: &str) -> String {
    let (history, verdict) = golden(name);
    let text = terminal(
        &verdict,
        &RunMeta::default(),
        &losses_of(&history, &verdict),
        false,
    );
    text.lines().next().unwrap_or("").to_owned()
}

#[test]
fn the_first_line_says_the_verdict_in_plain_words() {
    for (name, expected) in [
        (
            "lost-write-valid",
            "VALID: All 2 acknowledged records are there.",
        ),
        (
            "lost-write-invalid",
            "INVALID: 1 of 3 acknowledged records is gone. acks=all forbids this.",
        ),
        (
            "lost-write-permitted-with-acks-1",
            "LOSS, PERMITTED: 1 of 2 acknowledged records is gone. acks=1 permits this.",
        ),
        (
            "lost-write-strict-counts-a-permitted-loss",
            "INVALID: 1 of 2 acknowledged records is gone. Every loss counts, as --strict asks.",
        ),
        (
            "lost-write-without-header-is-judged-strictly",
            "INVALID: 1 of 3 acknowledged records is gone. Every loss counts, since no settings are known.",
        ),
        (
            "lost-write-unknown-without-final-reads",
            "UNKNOWN: It cannot be told whether the promise was kept.",
        ),
        (
            "g1a-invalid",
            "INVALID: The log broke its promise: G1a (1).",
        ),
    ] {
        assert_eq!(first_line(name), expected, "{name}");
    }
}

#[test]
fn the_terminal_fits_a_hundred_columns_and_has_no_colour_unless_asked() {
    for name in [
        "lost-write-permitted-with-acks-1",
        "vanished-read-invalid-for-an-unacked-record",
    ] {
        let (history, verdict) = golden(name);
        let plain = terminal(
            &verdict,
            &RunMeta::default(),
            &losses_of(&history, &verdict),
            false,
        );
        assert!(!plain.contains('\x1b'), "{plain}");
        for line in plain.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
        let coloured = terminal(
            &verdict,
            &RunMeta::default(),
            &losses_of(&history, &verdict),
            true,
        );
        assert!(coloured.starts_with("\x1b["));
    }
}

#[test]
fn the_terminal_shows_violations_apart_from_what_is_permitted() {
    let (history, verdict) =
        golden("vanished-read-invalid-with-acks-1-though-the-loss-is-permitted");
    let text = terminal(
        &verdict,
        &RunMeta::default(),
        &losses_of(&history, &verdict),
        false,
    );
    assert!(text.contains("VIOLATION vanished-read (1)"), "{text}");
    assert!(text.contains("Permitted: lost-write (1)"), "{text}");
}

#[test]
fn outages_are_told_for_all_clients_together_and_for_each_side_under_one_name() {
    let (history, mut verdict) = golden("lost-write-permitted-with-acks-1");
    let shown = |verdict: &Verdict| {
        let (meta, losses) = (RunMeta::default(), losses_of(&history, verdict));
        [
            terminal(verdict, &meta, &losses, false),
            markdown::markdown(verdict, &meta, &losses),
            page(&history, verdict, &meta, &losses),
        ]
    };
    let sides = &mut verdict.measures.unavailable.by_place;
    sides.insert("everywhere".to_owned(), Default::default());
    sides.insert("n1".to_owned(), Default::default());
    for text in shown(&verdict) {
        assert!(
            !text.contains("never cut off"),
            "no outage, no list: {text}"
        );
    }
    let unavailable = &mut verdict.measures.unavailable;
    unavailable.writes.worst_ms = 512;
    unavailable.writes.worst = Some("log-3".to_owned());
    if let Some(side) = unavailable.by_place.get_mut("n1") {
        side.writes.worst_ms = 5000;
    }
    verdict.measures.unavailable_ms = 512;
    for text in shown(&verdict) {
        for words in [
            "all clients together",
            "never cut off",
            "on the side of n1",
            "5.0 s",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(!text.contains("everywhere"), "{text}");
    }
    let text = &shown(&verdict)[0];
    assert!(
        text.contains("writes of log-3, the worst partition; of all clients together"),
        "{text}"
    );
}

#[test]
fn a_scenario_stands_at_the_top_with_what_it_is_to_show() {
    let (history, verdict) = golden("lost-write-valid");
    let losses = losses_of(&history, &verdict);
    let meta = RunMeta {
        scenario: Some(Staged {
            title: "The leader alone".to_owned(),
            expect: "Nothing is lost.".to_owned(),
        }),
        ..RunMeta::default()
    };
    for text in [
        terminal(&verdict, &meta, &losses, false),
        markdown::markdown(&verdict, &meta, &losses),
        page(&history, &verdict, &meta, &losses),
    ] {
        let at = text.find("The leader alone").expect("the title");
        let expected = text.find("Nothing is lost.").expect("what is expected");
        let numbers = text.to_lowercase().find("attempted").expect("the numbers");
        assert!(at < expected && expected < numbers, "{text}");
    }
}

#[test]
fn the_command_that_repeats_the_run_stands_at_the_end() {
    let (history, verdict) = golden("lost-write-valid");
    let meta = RunMeta {
        run: Some("results/x".to_owned()),
        replay: Some("plimsoll test --seed 7".to_owned()),
        ..RunMeta::default()
    };
    let text = terminal(&verdict, &meta, &losses_of(&history, &verdict), false);
    assert!(
        text.ends_with("Repeat:  plimsoll test --seed 7\n"),
        "{text}"
    );
    assert!(text.contains("results/x/report.html"));
}

#[test]
fn every_golden_history_makes_a_page_without_external_resources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../checkers/tests/golden");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let history = crate::check::read_history(&path).unwrap();
        let promise = history
            .header()
            .map_or_else(Promise::unstated, |header| header.promise.clone());
        let verdict = judge(check(&history), &promise);
        let page = page(
            &history,
            &verdict,
            &RunMeta::of_history(&history, "x"),
            &losses_of(&history, &verdict),
        );
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{}: {outside}", path.display());
        }
        for broken in ["NaN", "inf%", "infpx"] {
            assert!(!page.contains(broken), "{}: {broken}", path.display());
        }
    }
}

/// A history in which every name that comes from outside is markup.
fn hostile() -> History {
    let markup = "</script><img src=x onerror=alert(1)>\"'&".to_owned();
    let mut ops = Vec::new();
    let nemesis = |f: &str, value| Op::new(Process::Nemesis, OpType::Info, f, Value::Other(value));
    ops.push(nemesis(
        &markup,
        json!({"id": 1, "phase": "installed", "targets": [markup], "detail": markup}),
    ));
    ops.push(nemesis("phase", json!({"name": markup})));
    ops.push(nemesis("start", json!({"node": markup, "incarnation": 1})));
    ops.push(nemesis(
        "observe",
        json!({"node": markup, "up": true, "partitions": [
            {"key": markup, "role": "leader", "leader": 1, "leader_epoch": 1, "isr": [1]}]}),
    ));
    for value in 0..3 {
        for (kind, offset) in [(OpType::Invoke, None), (OpType::Ok, Some(value / 2))] {
            let key = markup.clone();
            let mop = SendMop { key, offset, value };
            let mut op = Op::new(Process::Client(1), kind, "send", Value::Send(vec![mop]));
            op.node = Some(markup.clone());
            ops.push(op);
        }
    }
    for (index, op) in ops.iter_mut().enumerate() {
        op.index = index as u64;
        op.time = index as u64 * 1_000_000;
    }
    let header: Header = serde_json::from_value(json!({
        "plimsoll": 1, "promise": Promise::unstated(), "system": markup,
        "replay": markup, "settings": [[markup, markup]],
    }))
    .expect("a header");
    History::new(Some(header), ops).expect("a history")
}

#[test]
fn names_from_outside_never_become_markup() {
    let history = hostile();
    let verdict = judge(check(&history), &Promise::unstated());
    let page = page(
        &history,
        &verdict,
        &RunMeta::of_history(&history, "<b>"),
        &losses_of(&history, &verdict),
    );
    assert!(!page.contains("<img"), "an image got in");
    assert_eq!(page.matches("</script>").count(), 2);
}

#[test]
fn lost_records_are_shown_as_ranges_first() {
    let mut verdict = golden("lost-write-invalid").1;
    let record = verdict.measures.lost[0].clone();
    verdict.measures.lost = (0..7_000)
        .map(|offset| {
            let mut record = record.clone();
            record.offset = Some(offset);
            record.value = offset;
            record
        })
        .collect();
    verdict.measures.lost_acked = 7_000;
    let history = golden("lost-write-invalid").0;
    let page = page(
        &history,
        &verdict,
        &RunMeta::default(),
        &losses_of(&history, &verdict),
    );
    assert!(page.contains("7,000 records in 1 unbroken range."));
    assert!(page.contains("2,000 further records are not shown here"));
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
}

#[test]
fn the_run_folder_gets_verdict_and_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let (history, verdict) = golden("lost-write-valid");
    let meta = RunMeta {
        run: Some("results/x".to_owned()),
        replay: Some("plimsoll test --seed 7".to_owned()),
        ..RunMeta::default()
    };
    write(
        folder.path(),
        &history,
        &verdict,
        &meta,
        &losses_of(&history, &verdict),
    )
    .expect("room");
    let json = std::fs::read_to_string(folder.path().join("verdict.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["run"], "results/x");
    assert_eq!(json["replay"], "plimsoll test --seed 7");
    let html = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(html.contains("All 2 acknowledged records are there."));
}
