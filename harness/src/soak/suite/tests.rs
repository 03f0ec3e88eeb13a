//! Suites: what they say, and what is wrong with those that cannot be used.

use super::*;

fn error_of(text: &str) -> String {
    Suite::parse("mine.toml", text)
        .expect_err("it cannot be used")
        .to_string()
}

#[test]
fn the_built_in_suite_parses_and_has_every_canary() {
    let suite = Suite::parse(BUILT_IN_NAME, BUILT_IN).expect("sound");
    assert!(suite.cells.len() > 20, "{}", suite.cells.len());
    let bugs: Vec<&str> = suite.canaries.iter().map(|c| c.bug.as_str()).collect();
    let all = plimsoll_broker::core::bugs::Bug::ALL.map(plimsoll_broker::core::bugs::Bug::name);
    assert!(all.iter().all(|bug| bugs.contains(bug)), "{bugs:?}");
}

#[test]
fn lists_multiply_and_name_their_cells() {
    let text = "[test]\ntime-limit='9s'\n[[run]]\nname='a'\nweight=3\n[run.test]\nacks=['1','all']\n\
                faults=['kill','pause']\nidempotent=false\n";
    let suite = Suite::parse("mine.toml", text).expect("sound");
    let names: Vec<&str> = suite.cells.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "a [acks=1 faults=kill]",
            "a [acks=1 faults=pause]",
            "a [acks=all faults=kill]",
            "a [acks=all faults=pause]"
        ]
    );
    let last = suite.cells.last().expect("four");
    assert_eq!(last.weight, 3);
    assert_eq!(
        last.words,
        ["--acks=all", "--faults=pause", "--time-limit=9s"]
    );
    assert_eq!(last.limit, Duration::from_secs(9 + 20 + 30 + 120));
}

#[test]
fn what_a_scenario_sets_is_not_set_by_the_suite_as_a_whole() {
    let text = "[test]\ntime-limit='9s'\nrate=100\n[[run]]\nname='a'\n[run.test]\n\
                scenario=['rolling-restart']\n";
    let suite = Suite::parse("mine.toml", text).expect("sound");
    assert_eq!(
        suite.cells[0].words,
        ["--scenario=rolling-restart", "--rate=100"]
    );
}

#[test]
fn an_unknown_key_is_an_error_with_file_and_line() {
    let error = error_of("title='t'\n[[run]]\nname='a'\nwieght=3\n");
    assert!(
        error.contains("mine.toml") && error.contains("line 4"),
        "{error}"
    );
    assert!(error.contains("wieght"), "{error}");
}

#[test]
fn a_bad_value_is_an_error_with_file_line_and_field() {
    for (text, line, field, why) in [
        (
            "[[run]]\nname='a'\n[run.test]\nacks='some'\n",
            4,
            "test.acks",
            "some",
        ),
        (
            "[[run]]\nname='a'\n[run.test]\nackz='all'\n",
            4,
            "test.ackz",
            "no such option",
        ),
        (
            "[[run]]\nname='a'\n[run.test]\nseed=3\n",
            4,
            "test.seed",
            "the soak sets",
        ),
        (
            "[[run]]\nname='a'\n[run.test]\nacks=[]\n",
            4,
            "test.acks",
            "empty",
        ),
        (
            "[[run]]\nname='a'\n[run.test]\nmin-insync=4\n",
            2,
            "\"a\"",
            "--min-insync 4",
        ),
        ("[[run]]\nname='a'\nweight=0\n", 3, "weight", "1 to"),
        (
            "[[run]]\nname='a'\n[[run]]\nname='a'\n",
            4,
            "name",
            "second",
        ),
        (
            "[canaries]\nevery='soon'\n[[run]]\nname='a'\n",
            2,
            "every",
            "number",
        ),
        (
            "[[run]]\nname='a'\n[[canary]]\nbug='none'\nexpect='x'\n",
            4,
            "bug",
            "known bugs",
        ),
        (
            "[[run]]\nname='a'\n[[canary]]\nbug='ignores-deposition'\nexpect='loss'\n",
            5,
            "expect",
            "lost-write",
        ),
    ] {
        let error = error_of(text);
        let place = format!("suite mine.toml, line {line}: ");
        assert!(error.starts_with(&place), "{text}: {error}");
        assert!(
            error.contains(field) && error.contains(why),
            "{text}: {error}"
        );
    }
    assert!(error_of("title='t'\n").contains("[[run]]"));
}

#[test]
fn lists_are_counted_before_they_multiply() {
    let hundred = (2..102).collect::<Vec<u32>>();
    let list = |option: &str| format!("{option}={hundred:?}\n");
    let own: String = [
        "concurrency",
        "partitions",
        "rate",
        "retries",
        "settle-limit",
    ]
    .map(list)
    .concat();
    let error = error_of(&format!("[[run]]\nname='a'\n[run.test]\n{own}"));
    assert!(
        error.starts_with("suite mine.toml, line 5: ") && error.contains("10000 cells or more"),
        "{error}"
    );
    // Of the suite as a whole and of a run, each within bounds by itself.
    let (of_all, of_run) = (list("rate"), list("concurrency"));
    let error = error_of(&format!(
        "[test]\n{of_all}[[run]]\nname='a'\n[run.test]\n{of_run}"
    ));
    assert!(
        error.starts_with("suite mine.toml, line 2: ") && error.contains("cells or more"),
        "{error}"
    );
}
