//! A machine that forbids or lacks what a lab needs is told apart step by step,
//! and the message says what to do.

use std::process::{Command, Output};

use crate::bench::Bench;

fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

#[test]
fn a_doctor_finds_this_machine_fit_for_a_lab() {
    let output = Bench::new().run("doctor");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("kill, pause and partition are all possible"));
}

#[test]
fn where_namespaces_are_forbidden_the_step_and_the_ways_out_are_named() {
    // Only root can become the user whose namespaces are then forbidden.
    let Some(bench) = Bench::unprivileged() else {
        return;
    };
    for line in ["doctor", "test --time-limit 1"] {
        let forbid = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
        let mut command = Command::new("setpriv");
        command
            .args([
                "--reuid",
                "65534",
                "--regid",
                "65534",
                "--clear-groups",
                "unshare",
                "--user",
            ])
            .args(["--map-current-user", "--keep-caps", "sh", "-c", forbid])
            .arg(bench.path().join("plimsoll"))
            .args(line.split_whitespace())
            .current_dir(bench.path());
        let output = command.output().expect("unshare runs");
        let text = said(&output);
        assert_eq!(output.status.code(), Some(3), "{line}: {text}");
        for hint in [
            "fork into new user",
            "No space left",
            "AppArmor",
            "as root",
            "--where local",
        ] {
            assert!(text.contains(hint), "{line}: {hint}: {text}");
        }
    }
}

#[test]
fn a_missing_program_is_named_with_its_package() {
    let bench = Bench::new();
    let output = bench
        .command("test --time-limit 1 --faults none")
        .env("PATH", "/nonexistent")
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("iproute2"), "{}", said(&output));
}
