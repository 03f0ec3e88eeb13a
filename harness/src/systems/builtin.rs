//! `builtin`: our own broker, started by running this very program.

use std::path::PathBuf;
use std::process::Command;

use super::layout::{PORT_ADMIN, PORT_CLIENT, PORT_CONTROLLER, PORT_REPLICATION};
use super::{Layout, NodeSpec, System};

/// What every node is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltinSettings {
    pub replica_lag_time_max_ms: u64,
    pub session_timeout_ms: u64,
    pub flush: String,
    pub unclean_elections: bool,
    pub min_insync: u16,
    pub bug: Option<String>,
}

/// The built-in broker.
pub struct Builtin {
    exe: PathBuf,
    layout: Layout,
    settings: BuiltinSettings,
    folder: PathBuf,
}

impl Builtin {
    /// `folder` is where every node has a folder of its own.
    pub fn new(
        exe: PathBuf,
        layout: Layout,
        settings: BuiltinSettings,
        folder: PathBuf,
    ) -> Builtin {
        Builtin {
            exe,
            layout,
            settings,
            folder,
        }
    }

    fn quorum(&self) -> String {
        let controllers = self.layout.nodes.iter().filter(|node| node.is_controller);
        let each: Vec<String> = controllers
            .map(|n| format!("{}@{}", n.id, n.socket(PORT_CONTROLLER)))
            .collect();
        each.join(",")
    }
}

impl System for Builtin {
    fn describe(&self) -> String {
        format!("built-in broker {}", env!("CARGO_PKG_VERSION"))
    }

    fn command(&self, node: &NodeSpec) -> Command {
        let settings = &self.settings;
        let mut command = Command::new(&self.exe);
        command.arg("broker");
        command.args(["--node-id", &node.id.to_string()]);
        let listeners = [
            ("--listen", PORT_CLIENT),
            ("--replication-listen", PORT_REPLICATION),
            ("--controller-listen", PORT_CONTROLLER),
            ("--admin-listen", PORT_ADMIN),
        ];
        for (flag, port) in listeners {
            command.args([flag, &node.socket(port).to_string()]);
        }
        command.args(["--controllers", &self.quorum()]);
        command
            .arg("--data-dir")
            .arg(self.folder.join(&node.name).join("data"));
        let roles = match (node.is_broker, node.is_controller) {
            (true, true) => "broker,controller",
            (true, false) => "broker",
            _ => "controller",
        };
        command.args(["--roles", roles]);
        let lag = format!("{}ms", settings.replica_lag_time_max_ms);
        command.args(["--replica-lag-time-max", &lag]);
        let session = format!("{}ms", settings.session_timeout_ms);
        command.args(["--session-timeout", &session]);
        command.args(["--flush", &settings.flush]);
        command.arg(format!(
            "--unclean-elections={}",
            settings.unclean_elections
        ));
        command.args(["--min-insync", &settings.min_insync.to_string()]);
        if let Some(bug) = &settings.bug {
            command.args(["--bug", bug]);
        }
        command
    }
}
