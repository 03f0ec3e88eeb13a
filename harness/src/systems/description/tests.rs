use super::*;

const SOUND: &str = r#"
name = "mine {version}"
[ports]
client = 9092
[vars]
heap = "1g"
both = "{heap} and {id}"
[node]
command = ["broker", "--port", "{client_port}", "{both}"]
[[file]]
path = "broker.conf"
text = "addr {addr}"
"#;

#[test]
fn the_built_in_descriptions_are_sound() {
    for (name, _) in BUILT_IN {
        Description::built_in(name).expect(name);
    }
}

#[test]
fn every_description_of_the_project_is_sound_and_says_whether_it_was_tested() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems");
    let mut untested = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let read = Description::read(&path).expect("sound");
        if !read.tested {
            untested.push(path.file_stem().expect("a name").to_owned());
        }
    }
    untested.sort();
    assert_eq!(untested, ["automq", "redpanda"]);
}

#[test]
fn a_short_description_is_enough() {
    let read = Description::parse("mine.toml", SOUND).expect("sound");
    assert_eq!(
        (read.state, read.ports.client, read.stop),
        (State::Protocol, 9092, libc::SIGTERM)
    );
    assert_eq!(read.ports.planes().replication, [9092]);
    assert_eq!(read.vars[1].0, "both");
}

#[test]
fn an_error_names_the_file_the_line_and_the_field() {
    for (from, to, hints) in [
        (
            "{client_port}",
            "{clinet_port}",
            ["line 9", "node.command", "clinet_port"],
        ),
        (
            "\"addr {addr}\"",
            "\"addr {addr\"",
            ["line 12", "file.text", "brace"],
        ),
        (
            "broker.conf",
            "../broker.conf",
            ["line 11", "file.path", "own folder"],
        ),
        ("[ports]", "[prots]", ["line 3", "prots", "unknown field"]),
        (
            "client = 9092",
            "client = 99999",
            ["line 4", "client", "u16"],
        ),
        (
            "[ports]",
            "state = \"admin\"\n[ports]",
            ["line 3", "state", "ports.admin"],
        ),
        (
            "[node]",
            "[node]\nstop = \"SIGSTOP\"",
            ["line 9", "node.stop", "SIGTERM"],
        ),
        (
            "[ports]",
            "needs = \"python\"\n[ports]",
            ["line 3", "needs", "kafka"],
        ),
        (
            "heap = \"1g\"",
            "heap = \"{both}\"",
            ["line 6", "vars.heap", "before"],
        ),
        (
            "heap = \"1g\"",
            "heap = \"1g\"\nid = \"x\"",
            ["line 7", "vars.id", "always"],
        ),
        (
            "[ports]",
            "[limits]\nstart = \"soon\"\n[ports]",
            ["line 4", "limits.start", "30s"],
        ),
        (
            "[ports]",
            "[limits]\nstart = \"0s\"\n[ports]",
            ["line 4", "limits.start", "1s or more"],
        ),
        (
            "client = 9092",
            "client = 0",
            ["line 4", "ports.client", "is 0"],
        ),
        (
            "client = 9092",
            "client = 9092\nadmin = 9092",
            ["line 5", "ports.admin", "9092 is ports.client already"],
        ),
        (
            "[node]",
            "[node]\ndata = \"/var/lib/mine\"",
            ["line 9", "node.data", "is absolute"],
        ),
        (
            "[node]",
            "[node]\ndata = \"../data\"",
            ["line 9", "node.data", "leads out"],
        ),
        (
            "[node]",
            "[node]\nprepare = [[\"true\"], []]",
            ["line 9", "node.prepare", "name a program"],
        ),
        (
            "\"broker\", \"--port\", \"{client_port}\", \"{both}\"",
            "",
            ["line 9", "node.command", "name a program"],
        ),
        (
            "[\"broker\",",
            "[\"\",",
            ["line 9", "node.command", "may come to nothing"],
        ),
        (
            "[\"broker\",",
            "[\"{bug}\",",
            ["line 9", "node.command", "{bug}"],
        ),
        ("{both}", "a\\u0000b", ["line 9", "node.command", "NUL"]),
        (
            "[node]",
            "[node]\nenv = { \"a=b\" = \"c\" }",
            ["line 9", "node.env", "a=b"],
        ),
        ("broker.conf", "", ["line 11", "file.path", "names nothing"]),
        (
            "broker.conf",
            ".",
            ["line 11", "file.path", "names nothing"],
        ),
        ("broker.conf", "a\\u0000b", ["line 11", "file.path", "NUL"]),
    ] {
        let text = SOUND.replacen(from, to, 1);
        let error = Description::parse("mine.toml", &text)
            .expect_err(to)
            .to_string();
        for hint in hints.into_iter().chain(["mine.toml"]) {
            assert!(error.contains(hint), "{to}: {hint} is not in: {error}");
        }
    }
}

#[test]
fn a_description_that_is_not_there_says_which() {
    let error = Description::read(Path::new("/nowhere/x.toml"))
        .expect_err("absent")
        .to_string();
    assert!(error.contains("/nowhere/x.toml"), "{error}");
    assert!(Description::read(Path::new("/dev/zero")).is_err());
}

#[test]
fn a_path_that_a_variable_leads_out_of_the_folder_is_refused() {
    for (value, hint) in [("/tmp/elsewhere", "is absolute"), ("..", "leads out")] {
        let text = SOUND
            .replace("\"1g\"", &format!("\"{value}\""))
            .replace("broker.conf", "{heap}/broker.conf");
        let error = Description::parse("mine.toml", &text)
            .expect_err(value)
            .to_string();
        for hint in ["line 11", "file.path", hint] {
            assert!(error.contains(hint), "{value}: {hint} is not in: {error}");
        }
    }
    let text = SOUND.replace("broker.conf", "{heap}/{name}.conf");
    Description::parse("mine.toml", &text).expect("it stays within");
}

#[test]
fn planes_may_share_a_port_but_not_the_built_in_broker_s() {
    let shared = SOUND.replace("client = 9092", "client = 9092\nreplication = 9092");
    Description::parse("mine.toml", &shared).expect("one listener for both");
    let built_in = shared
        .replace("[ports]", "state = \"admin\"\n[ports]\nadmin = 9095")
        .to_owned();
    let error = Description::parse("mine.toml", &built_in)
        .expect_err("it listens on each")
        .to_string();
    assert!(error.contains("ports.replication"), "{error}");
}
