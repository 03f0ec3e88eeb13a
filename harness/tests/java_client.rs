//! Kafka's own producer as the client, against the built-in broker. Where Java
//! or Maven are missing the test says so and passes, except in CI.

use std::process::Command;

fn can_run() -> bool {
    let runs = |program: &str| Command::new(program).arg("-version").output().is_ok();
    let there = runs("java") && runs("mvn");
    assert!(
        there || std::env::var_os("CI").is_none(),
        "CI needs Java and Maven"
    );
    if !there {
        println!("skipped: Java or Maven is missing");
    }
    there
}

#[test]
fn an_idempotent_java_producer_loses_and_doubles_nothing_when_the_leader_is_killed() {
    if !can_run() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let scenario = out.path().join("kill.toml");
    let kill = "title = 'kill'\n[[fault]]\nat = 3\nlasts = 3\nkind = 'kill'\ntarget = 'leader'\n";
    std::fs::write(&scenario, kill).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args([
            "test",
            "--format",
            "json",
            "--client",
            "java",
            "--idempotent",
        ])
        .args(["--time-limit", "10", "--seed", "7", "--scenario"])
        .arg(&scenario)
        .arg("--out")
        .arg(out.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&said);
    assert_eq!(verdict["valid"], true, "{said}\n{verdict:#}");
    assert_eq!(verdict["faults"], 1, "{said}");
    assert!(verdict["acked"].as_u64().unwrap() > 100, "{said}");
    assert!(out.path().join("latest/clients/java.log").exists());
}
