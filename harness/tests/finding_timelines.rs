//! `plimsoll check --html` as its reader sees it: each finding is a sentence, a picture of lanes
//! and a table of the ops that prove it, in one file that needs nothing else.

use std::path::{Path, PathBuf};

use assert_cmd::Command;

fn golden(name: &str) -> PathBuf {
    let golden = "../checkers/tests/golden";
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("{golden}/{name}.jsonl"))
}

/// The page of a history, and its exit code.
fn page(file: &Path, options: &[&str]) -> (String, i32) {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("page.html");
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.arg("check").arg(file).args(options);
    let output = command.arg("--html").arg(&out).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let page = std::fs::read_to_string(&out).unwrap_or_else(|_| panic!("no page: {text}"));
    (page, output.status.code().expect("an exit code"))
}

fn page_of(history: &str, options: &[&str]) -> (String, i32) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("history");
    std::fs::write(&file, history).expect("room");
    page(&file, options)
}

/// The first finding's block.
fn finding(page: &str) -> &str {
    let start = page.find("id=\"finding-1\"").expect("a finding");
    let rest = &page[start..];
    &rest[..rest.find("</details>").expect("its end")]
}

#[track_caller]
fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
}

#[track_caller]
fn is_self_contained(page: &str) {
    let outside = [
        "http:", "https:", "src=", "<link", "<img", "@import", "url(", "<iframe", "xlink", "<use",
    ];
    for part in outside {
        assert!(!page.contains(part), "{part}");
    }
}

#[test]
fn a_lost_write_is_told_by_its_send_and_the_read_that_does_not_have_it() {
    let (page, code) = page(&golden("lost-write-invalid"), &[]);
    assert_eq!(code, 1);
    is_self_contained(&page);
    let finding = finding(&page);
    holds(
        finding,
        &[
            "<summary>2 of log-0 was acknowledged at offset 1 and is in no final log",
            // Lanes of the two witnesses, and of a neighbour.
            "<b>c2</b> <small>processes 102, 104</small>",
            "<b>r91</b>",
            "<b>c0</b>",
            // The witnesses with their numbers and labels, and their rows.
            "<tspan class=\"no\">1</tspan> send 2 at 1<",
            "<tspan class=\"no\">2</tspan> poll 2 to 3<",
            "<td class=n data-h=index>4<td data-h=process>102",
            "log-0: [2,3] [3,-1]",
            "0.014000",
        ],
    );
    assert_eq!(finding.matches("<g class=\"w\">").count(), 2);
    assert!(finding.matches("<g class=\"n\">").count() >= 4);
    assert!(!finding.contains("<script"), "it is read without scripts");
}

#[test]
fn every_golden_finding_has_a_picture_and_every_page_stands_alone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../checkers/tests/golden");
    let mut pictures = 0;
    for entry in std::fs::read_dir(folder).expect("golden histories") {
        let path = entry.expect("a file").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if !name.contains("-invalid") || path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let (page, code) = page(&path, &[]);
        is_self_contained(&page);
        if code == 1 {
            holds(finding(&page), &["<figure class=\"sc\"", "<g class=\"w\">"]);
            pictures += 1;
        }
    }
    assert!(pictures > 20, "{pictures}");
}

const MARKUP: &str = "</title><script>alert(1)</script><img src=x onerror='a'>";

/// A queue that gives out what nobody put in, while a nemesis is at work; every text is markup.
fn hostile_queue() -> String {
    [
        "{:process 0, :type :invoke, :f :enqueue, :value \"M\", :client \"M\", :time 1000}",
        "{:process :nemesis, :type :info, :f :start-M, :value [\"M\"], :time 1500}",
        "{:process 0, :type :info, :f :enqueue, :value \"M\", :error \"M\", :node \"M\", :time 2000}",
        "{:process 1, :type :invoke, :f :dequeue, :value nil, :time 3000}",
        "{:process 1, :type :ok, :f :dequeue, :value \"M M\", :time 4000}",
        "{:process 2, :type :invoke, :f :enqueue, :value 5, :time 5000}",
        "{:process 2, :type :fail, :f :enqueue, :value 5, :error \"M\", :time 6000}",
    ]
    .join("\n")
    .replace(":start-M", ":start-<b>")
    .replace('M', MARKUP)
}

#[test]
fn an_object_has_a_page_in_which_no_value_becomes_markup() {
    let (page, code) = page_of(&hostile_queue(), &["--model", "queue"]);
    assert_eq!(code, 1);
    holds(&page, &["INVALID", "phantom-read", "model queue"]);
    // The very words `src=` stand in the values, so what counts is that no element has them.
    for element in ["<img", "<script>alert", "<b>\"", "onerror='"] {
        assert!(!page.contains(element), "{element}");
    }
    assert_eq!(page.matches("<title>plimsoll").count(), 1);
    holds(
        finding(&page),
        &[
            "&lt;script&gt;",
            "class=\"info\"",
            "class=\"open\"",
            "rect class=\"fail\"",
            "process 1",
            "nobody had enqueued",
        ],
    );
}

#[test]
fn a_fault_that_was_on_is_named_behind_the_ops() {
    let history = hostile_queue()
        .replace(MARKUP, "x")
        .replace(":start-<b>", ":start-partition");
    let (page, _) = page_of(&history, &["--model", "queue"]);
    holds(
        finding(&page),
        &["<rect class=\"f\"", ">cut x, from 0.0 s<"],
    );
}

#[test]
fn ops_that_lie_far_apart_have_a_gap_between_them() {
    let text = std::fs::read_to_string(golden("lost-write-invalid")).expect("a golden history");
    let later = |line: &str| {
        let mut op: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if op["f"] == "poll" {
            op["time"] = (op["time"].as_u64().expect("a time") + 90_000_000_000).into();
        }
        op.to_string()
    };
    let later: Vec<String> = text.lines().map(later).collect();
    let (page, _) = page_of(&later.join("\n"), &[]);
    let finding = finding(&page);
    holds(finding, &["class=\"scgap\"", ">90 s<"]);
    let (near, _) = crate::page(&golden("lost-write-invalid"), &[]);
    assert!(!crate::finding(&near).contains("class=\"scgap\""));
}

#[test]
fn a_page_of_thousands_of_findings_stays_small() {
    let mut lines = String::new();
    for n in 0..6_000_u64 {
        let process = n % 30;
        for (kind, value) in [("invoke", "null".to_owned()), ("ok", format!("{n}"))] {
            lines.push_str(&format!(
                "{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"dequeue\",\"value\":{value}}}\n"
            ));
        }
    }
    let (page, code) = page_of(&lines, &["--model", "queue"]);
    assert_eq!(code, 1);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    assert!(page.matches("<figure class=\"sc\"").count() <= 50);
    holds(&page, &["more as sentences", "which --format json lists"]);
}
