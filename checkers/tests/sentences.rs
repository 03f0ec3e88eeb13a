//! Sentences of findings, as a person reads them.

use plimsoll_checkers::history::{History, HistoryReader};
use plimsoll_checkers::promise::Promise;
use plimsoll_checkers::{Verdict, check, judge};

/// Value 7 is acknowledged at `acked_at`; the log of one replica holds value 1 and a barrier at offset 1.
fn lost_at(acked_at: i64) -> Verdict {
    let lines = [
        r#""process":1,"type":"invoke","f":"send","value":[["send","log-0",1]],"acks":1"#.to_owned(),
        r#""process":1,"type":"ok","f":"send","value":[["send","log-0",[0,1]]],"acks":1"#.to_owned(),
        r#""process":1,"type":"invoke","f":"send","value":[["send","log-0",7]],"acks":1"#.to_owned(),
        format!(
            r#""process":1,"type":"ok","f":"send","value":[["send","log-0",[{acked_at},7]]],"acks":1"#
        ),
        r#""process":2,"type":"invoke","f":"barrier","value":[["send","log-0",-4]],"acks":-1"#
            .to_owned(),
        r#""process":2,"type":"ok","f":"barrier","value":[["send","log-0",[1,-4]]],"acks":-1"#
            .to_owned(),
        r#""process":3,"type":"invoke","f":"poll","value":[["poll"]]"#.to_owned(),
        r#""process":3,"type":"ok","f":"poll","value":[["poll",{"log-0":[[0,1],[1,-4]]}]],"node":"n1","reads":{"log-0":{"from":0,"hw":2,"log_start":0,"replica":1,"incarnation":1,"leader_epoch":2,"final":true}}"#
            .to_owned(),
    ];
    let mut text = r#"{"plimsoll":1,"promise":{"settings":{"acks":1,"min_insync":1,"replication_factor":1,"unclean_elections":false,"flush":"never"},"classes":{"process":true},"permitted":[]},"topics":{"log-0":{"replication_factor":1}},"system":"made up","seed":1}"#.to_owned();
    for (index, line) in lines.iter().enumerate() {
        text.push_str(&format!(
            "\n{{\"index\":{index},\"time\":{}000000,{line}}}",
            index + 1
        ));
    }
    let history = read(&text);
    judge(check(&history), &Promise::unstated())
}

fn read(text: &str) -> History {
    let mut reader = HistoryReader::new();
    reader.push_bytes(text.as_bytes()).expect("sound lines");
    reader.finish().expect("a history")
}

fn sentences(verdict: &Verdict) -> Vec<&str> {
    let findings = verdict.anomalies.iter();
    findings.map(|one| one.finding.sentence.as_str()).collect()
}

#[test]
fn a_lost_record_whose_offset_the_barrier_took_is_told_so_without_the_barriers_value() {
    let verdict = lost_at(1);
    let said = sentences(&verdict);
    assert!(
        said.contains(
            &"7 of log-0 was acknowledged at offset 1 and is in no final log; that offset holds the barrier."
        ),
        "{said:?}"
    );
    assert!(said.iter().all(|one| !one.contains("-4")), "{said:?}");
    assert!(verdict.measures.lost[0].instead_is_barrier);
}

#[test]
fn a_lost_record_beyond_the_logs_end_is_told_where_the_log_ends() {
    let verdict = lost_at(3);
    let said = sentences(&verdict);
    assert!(
        said.contains(
            &"7 of log-0 was acknowledged at offset 3 and is in no final log; the log ends at 1."
        ),
        "{said:?}"
    );
    assert!(!verdict.measures.lost[0].instead_is_barrier);
}
