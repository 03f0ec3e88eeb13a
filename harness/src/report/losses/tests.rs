//! Stages, recovery and disks on a made-up run: n1 leads, acknowledges, is killed, n2 takes over.

use plimsoll_checkers::formats;
use plimsoll_checkers::history::History;
use plimsoll_checkers::{check, judge};

use super::*;
use crate::evidence::DiskEvidence;
use crate::report::{RunMeta, junit, markdown, terminal};

const HEADER: &str = r#"{"plimsoll":1,"promise":{"settings":{"acks":1,"min_insync":1,"replication_factor":2,"unclean_elections":false,"flush":"never"},"classes":{"process":true},"permitted":[{"anomaly":"lost-write","reason":"acks=1"},{"anomaly":"inconsistent-offsets","scope":"claims","reason":"acks=1"}]},"topics":{"log-0":{"replication_factor":2}},"system":"made up","seed":1}"#;

/// A history line by line, each with its time in milliseconds.
#[derive(Default)]
struct Script {
    lines: Vec<String>,
}

impl Script {
    fn line(mut self, at_ms: u64, rest: &str) -> Self {
        let index = self.lines.len();
        let time = at_ms * 1_000_000;
        self.lines
            .push(format!("{{\"index\":{index},\"time\":{time},{rest}}}"));
        self
    }

    /// A send that was acknowledged, at an offset.
    fn acked(self, at_ms: u64, process: u64, value: i64, offset: i64, node: &str) -> Self {
        self.invoked(at_ms, process, value).line(
            at_ms + 2,
            &format!(
                r#""process":{process},"type":"ok","f":"send","value":[["send","log-0",[{offset},{value}]]],"node":"{node}","acks":1"#
            ),
        )
    }

    fn invoked(self, at_ms: u64, process: u64, value: i64) -> Self {
        self.line(
            at_ms,
            &format!(
                r#""process":{process},"type":"invoke","f":"send","value":[["send","log-0",{value}]],"acks":1"#
            ),
        )
    }

    fn nemesis(self, at_ms: u64, f: &str, value: &str) -> Self {
        let line = format!(r#""process":"nemesis","type":"info","f":"{f}","value":{value}"#);
        self.line(at_ms, &line)
    }

    fn seen(self, at_ms: u64, node: u64, leader: u64, epoch: u64, end: i64, isr: &str) -> Self {
        let role = if node == leader { "leader" } else { "follower" };
        self.nemesis(
            at_ms,
            "observe",
            &format!(
                r#"{{"node":"n{node}","up":true,"took_ms":5,"partitions":[{{"key":"log-0","role":"{role}","leader":{leader},"leader_epoch":{epoch},"leo":{end},"isr":{isr}}}]}}"#
            ),
        )
    }

    fn fault(self, at_ms: u64, phase: &str) -> Self {
        let value = format!(r#"{{"id":1,"phase":"{phase}","targets":["n1"]}}"#);
        self.nemesis(at_ms, "kill", &value)
    }

    /// The barrier at an offset, and both replicas read up to it.
    fn end(mut self, at_ms: u64, records: &str, barrier: i64) -> Self {
        self = self.line(
            at_ms,
            r#""process":90,"type":"invoke","f":"barrier","value":[["send","log-0",-1]],"acks":-1"#,
        );
        self = self.line(at_ms + 1, &format!(r#""process":90,"type":"ok","f":"barrier","value":[["send","log-0",[{barrier},-1]]],"node":"n2","acks":-1"#));
        for replica in [1, 2] {
            self = self.line(
                at_ms + 2 * replica,
                &format!(
                    r#""process":{},"type":"invoke","f":"poll","value":[["poll"]]"#,
                    90 + replica
                ),
            );
            self = self.line(
                at_ms + 2 * replica + 1,
                &format!(
                    r#""process":{},"type":"ok","f":"poll","value":[["poll",{{"log-0":[{records}]}}]],"node":"n{replica}","reads":{{"log-0":{{"from":0,"hw":{hw},"log_start":0,"replica":{replica},"incarnation":1,"leader_epoch":2,"final":true}}}}"#,
                    90 + replica,
                    hw = barrier + 1
                ),
            );
        }
        self
    }

    fn text(&self) -> String {
        format!("{HEADER}\n{}\n", self.lines.join("\n"))
    }

    fn history(self) -> History {
        formats::read(self.text().as_bytes()).expect("a history")
    }
}

fn verdict_of(history: &History) -> Verdict {
    judge(check(history), &history.header().expect("a header").promise)
}

/// Value 2 was acknowledged at offset 1 shortly before n1 was proved dead, and is gone.
fn fail_over() -> Script {
    acknowledged().fault(1000, "installed")
}

fn acknowledged() -> Script {
    Script::default()
        .seen(10, 1, 1, 1, 0, "[1,2]")
        .seen(10, 2, 1, 1, 0, "[1,2]")
        .acked(100, 1, 1, 0, "n1")
        .acked(900, 1, 2, 1, "n1")
}

fn taken_over(script: Script) -> History {
    script
        .seen(2500, 2, 2, 2, 1, "[2]")
        .acked(2600, 1, 3, 1, "n2")
        .fault(3000, "healed")
        .seen(3400, 2, 2, 2, 2, "[2,1]")
        .end(4000, "[0,1],[1,3],[2,-1]", 2)
        .history()
}

#[test]
fn a_loss_just_before_a_kill_is_put_down_to_it_and_was_never_replicated() {
    let history = taken_over(fail_over().seen(1200, 2, 1, 1, 1, "[1,2]"));
    let verdict = verdict_of(&history);
    let report = LossReport::new(&history, &verdict, None);
    assert_eq!(verdict.measures.lost_acked, 1);
    assert_eq!(verdict.measures.lost[0].before_fault, Some(1));
    assert_eq!(verdict.measures.fault_windows[0].lost_just_before, 1);
    assert_eq!(report.lost_just_before_faults, 1);
    assert_eq!(report.losses[0].stage, Stage::NeverReplicated);
    let csv = lost_csv(&history, &verdict, &report);
    assert!(
        csv.contains("kill n1,just before,never-replicated"),
        "{csv}"
    );
}

#[test]
fn a_record_that_a_follower_had_was_truncated_at_the_fail_over() {
    let grown = acknowledged()
        .seen(950, 2, 1, 1, 1, "[1,2]")
        .seen(990, 2, 1, 1, 2, "[1,2]")
        .fault(1000, "installed");
    let history = taken_over(grown);
    let report = LossReport::new(&history, &verdict_of(&history), None);
    assert_eq!(report.losses[0].stage, Stage::TruncatedAtFailOver);
}

#[test]
fn where_no_log_end_decides_the_stage_is_unknown() {
    // The next leader is first seen when its log has already grown past the offset.
    let script = fail_over().seen(2500, 2, 2, 2, 5, "[2]");
    let history = script
        .acked(2600, 1, 3, 1, "n2")
        .end(4000, "[0,1],[1,3],[2,-1]", 2)
        .history();
    let report = LossReport::new(&history, &verdict_of(&history), None);
    assert_eq!(report.losses[0].stage, Stage::Unknown);
    assert_eq!(report.stages[&Stage::Unknown], 1);
}

#[test]
fn a_fault_is_timed_to_the_new_leader_the_first_ack_and_the_full_in_sync_set() {
    let history = taken_over(fail_over());
    let report = LossReport::new(&history, &verdict_of(&history), None);
    let one = &report.recoveries[0];
    assert_eq!((one.led, one.changed_leader), (1, 1));
    assert_eq!(one.to_new_leader_ms, Some(1500));
    assert_eq!(one.to_first_ack_ms, Some(1602));
    assert_eq!(one.heal_to_full_isr_ms, Some(400));
    assert_eq!(report.by_kind[0].faults, 1);
    assert_eq!(report.smallest_isr, Some(1));
}

#[test]
fn disks_tell_what_became_of_sends_without_an_answer_and_the_verdict_stays() {
    let script = fail_over()
        .invoked(1100, 2, 7)
        .invoked(1101, 3, 8)
        .invoked(1102, 4, 9);
    let history = taken_over(script);
    let verdict = verdict_of(&history);
    let disk = r#"{"nodes":{
        "n1":{"partitions":{"log-0":[[0,1,1],[1,2,1],[2,7,1],[3,8,1]]}},
        "n2":{"partitions":{"log-0":[[0,1,1],[1,3,2],[3,8,1]]}}}}"#;
    let disk: DiskEvidence = serde_json::from_str(disk).expect("evidence");
    let report = LossReport::new(&history, &verdict, Some(&disk));
    let resolved = report.resolved.as_ref().expect("disks were read");
    let fates = &resolved.indeterminate;
    assert_eq!(
        (
            fates.on_every_replica,
            fates.on_some,
            fates.nowhere,
            fates.unknown
        ),
        (1, 1, 1, 0)
    );
    let seen = resolved.lost_last_seen[0].as_ref().expect("on n1's disk");
    assert_eq!((seen.node.as_str(), seen.offset), ("n1", 1));
    assert_eq!(resolved.divergent_offsets, 1);
    assert_eq!(verdict, verdict_of(&history));
    let meta = RunMeta::default();
    let page = crate::report::page(&history, &verdict, &meta, &report);
    assert!(page.contains("last seen on the disk of n1 at offset 1, epoch 1"));
    let text = markdown::markdown(&verdict, &meta, &report);
    assert!(
        text.contains("1 on every replica's disk, 1 on some, 1 nowhere"),
        "{text}"
    );
    let csv = lost_csv(&history, &verdict, &report);
    assert!(csv.contains("n1 at offset 1 in epoch 1"), "{csv}");
}

#[test]
fn a_disk_that_could_not_be_read_proves_no_absence() {
    let history = taken_over(fail_over().invoked(1100, 2, 7));
    let disk = r#"{"nodes":{"n1":{"partitions":{"log-0":[]},"unreadable":["segment 3: cut off"]},
        "n2":{"partitions":{"log-0":[]}}}}"#;
    let disk: DiskEvidence = serde_json::from_str(disk).expect("evidence");
    let report = LossReport::new(&history, &verdict_of(&history), Some(&disk));
    let resolved = report.resolved.expect("disks were read");
    assert_eq!(resolved.indeterminate.unknown, 1);
    assert_eq!(resolved.unreadable, ["n1: segment 3: cut off"]);
}

#[test]
fn sends_without_answers_are_not_acknowledged_and_their_outage_is_not_measured() {
    let sent = |script: Script, at: u64, value: i64| {
        let rest = |kind: &str| {
            format!(
                r#""process":1,"type":"{kind}","f":"send","value":[["send","log-0",{value}]],"acks":0"#
            )
        };
        script.line(at, &rest("invoke")).line(at + 1, &rest("ok"))
    };
    let script = sent(sent(Script::default(), 10, 1), 20, 2);
    let history = script.end(4000, "[0,1],[1,-1]", 1).history();
    let verdict = verdict_of(&history);
    let report = LossReport::new(&history, &verdict, None);
    assert!(!report.writes_measurable);
    assert_eq!(verdict.measures.acked, 0);
    let meta = RunMeta::default();
    let text = terminal(&verdict, &meta, &report, false);
    assert!(text.contains("not measurable"), "{text}");
    let page = crate::report::page(&history, &verdict, &meta, &report);
    assert!(
        page.contains("acks=0: none acknowledged"),
        "the lane says it"
    );
    assert!(markdown::markdown(&verdict, &meta, &report).contains("not measurable"));
    let bins = crate::report::timeline::Bins::new(&history, &verdict, 4_003_000_000);
    assert_eq!(bins.bins.iter().map(|bin| bin.kept).sum::<u64>(), 0);
    assert_eq!(bins.bins.iter().map(|bin| bin.unasked).sum::<u64>(), 2);
}

#[test]
fn ci_files_hold_the_verdict_and_no_markup_from_outside() {
    let history = taken_over(fail_over());
    let verdict = verdict_of(&history);
    let report = LossReport::new(&history, &verdict, None);
    let meta = RunMeta {
        replay: Some("plimsoll test --out 'a|b' --seed 1".to_owned()),
        settings: vec![("<acks>".to_owned(), "a|*1*\u{1}".to_owned())],
        ..RunMeta::default()
    };
    let text = markdown::markdown(&verdict, &meta, &report);
    assert!(text.starts_with("## 🔶 Loss, permitted: 1 of 3"), "{text}");
    assert!(text.contains("&lt;acks&gt; **a\\|\\*1\\*"), "{text}");
    assert!(
        text.contains("plimsoll test --out 'a|b' --seed 1"),
        "{text}"
    );
    let xml = junit::junit(&verdict, &meta);
    assert!(xml.contains("failures=\"0\" errors=\"0\""), "{xml}");
    assert!(!xml.contains('\u{1}') && !xml.contains("<acks>"), "{xml}");
    let mut strict = history.header().expect("a header").promise.clone();
    strict.be_strict();
    let xml = junit::junit(&judge(check(&history), &strict), &meta);
    assert!(
        xml.contains("failures=\"1\"") && xml.contains("<failure message=\"1 found"),
        "{xml}"
    );
}

#[test]
fn a_kind_of_fault_that_was_asked_for_and_never_came_is_named_in_every_report() {
    let asked = |mut history: String| {
        history.insert_str(1, r#""fault_kinds":["kill","pause","partition"],"#);
        formats::read(history.as_bytes()).expect("a history")
    };
    let skipped = r#"{"id":2,"phase":"skipped","targets":[],"detail":"no leader"}"#;
    let script = fail_over().nemesis(1300, "partition", skipped);
    let history = asked(script.text());
    let verdict = verdict_of(&history);
    let report = LossReport::new(&history, &verdict, None);
    let meta = RunMeta::default();
    for text in [
        terminal(&verdict, &meta, &report, false),
        markdown::markdown(&verdict, &meta, &report),
        crate::report::page(&history, &verdict, &meta, &report),
    ] {
        assert!(text.contains("pause: never drawn"), "{text}");
        assert!(
            text.contains("partition: drawn, but never took hold"),
            "{text}"
        );
        assert!(!text.contains("kill: never"), "{text}");
    }
    let history = asked(acknowledged().text());
    let verdict = verdict_of(&history);
    let report = LossReport::new(&history, &verdict, None);
    let text = terminal(&verdict, &meta, &report, false);
    assert!(text.contains("kill: never drawn"), "{text}");
}

#[test]
fn the_page_says_in_plain_sentences_what_the_faults_had_to_do_with_the_losses() {
    let page_of = |history: &History| {
        let verdict = verdict_of(history);
        let report = LossReport::new(history, &verdict, None);
        crate::report::page(history, &verdict, &RunMeta::default(), &report)
    };
    let page = page_of(&taken_over(fail_over()));
    assert!(
        page.contains(
            "1 acknowledgement arrived while a fault was on. Of the 1 lost record, none had been \
             acknowledged then."
        ),
        "{page}"
    );
    assert!(page.contains("acked, later lost") && page.contains("fault on</span>"));
    assert!(!page.contains("</i>paused</span>"), "no mark without a use");
    let page = page_of(&acknowledged().end(4000, "[0,1],[1,2],[2,-1]", 2).history());
    assert!(page.contains("No fault took hold."), "{page}");
    assert!(!page.contains("acked, later lost") && !page.contains("fault on</span>"));
}
