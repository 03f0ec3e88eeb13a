//! When faults were on, taken from the lines of the nemesis alone: our own, and those of Jepsen's
//! nemeses, which name a fault where they begin it and again where they end it.

use std::collections::BTreeMap;

use plimsoll_checkers::FaultWindow;
use plimsoll_checkers::history::{History, Op, Process, Value};
use serde_json::Value as Json;

/// How much of a foreign nemesis's value is kept as the fault's detail.
const DETAIL_CHARS: usize = 80;

/// All faults that took hold, by the time at which they did.
pub fn fault_windows(history: &History) -> Vec<FaultWindow> {
    let mut open = Open::default();
    let of_nemesis = |op: &&Op| op.process == Process::Nemesis;
    for op in history.ops().iter().filter(of_nemesis) {
        match &op.value {
            Value::Other(Json::Object(fields)) if fields.contains_key("phase") => {
                open.ours(op, fields);
            }
            // What our own nemesis says without a phase is no fault.
            _ if history.header().is_none() => open.foreign(op),
            _ => {}
        }
    }
    open.windows
}

/// Windows, and which of them nothing has ended yet.
#[derive(Default)]
struct Open {
    windows: Vec<FaultWindow>,
    by_id: BTreeMap<u64, usize>,
    by_name: BTreeMap<String, usize>,
    killed: bool,
}

impl Open {
    fn ours(&mut self, op: &Op, fields: &serde_json::Map<String, Json>) {
        let id = fields.get("id").and_then(Json::as_u64).unwrap_or(op.index);
        let text = |name: &str| fields.get(name).and_then(Json::as_str).unwrap_or("");
        match text("phase") {
            "installed" => {
                self.by_id.insert(id, self.windows.len());
                let targets = fields.get("targets").map(words).unwrap_or_default();
                self.windows.push(FaultWindow {
                    id,
                    fault: op.f.clone(),
                    targets,
                    detail: text("detail").to_owned(),
                    from_ns: op.time,
                    to_ns: None,
                });
            }
            "healed" => {
                let row = self.by_id.remove(&id);
                self.end(row, op.time);
            }
            _ => {}
        }
    }

    /// Each line comes twice, when the nemesis begins and when it has done it: the first counts.
    fn foreign(&mut self, op: &Op) {
        self.killed |= op.f == "kill";
        if let Some(name) = ended(&op.f, self.killed) {
            let row = self.by_name.remove(name);
            self.end(row, op.time);
        } else if let Some(name) = begun(&op.f)
            && !self.by_name.contains_key(name)
        {
            self.by_name.insert(name.to_owned(), self.windows.len());
            let (targets, detail) = of_foreign(&op.value);
            self.windows.push(FaultWindow {
                id: op.index,
                fault: name.to_owned(),
                targets,
                detail,
                from_ns: op.time,
                to_ns: None,
            });
        }
    }

    fn end(&mut self, row: Option<usize>, time_ns: u64) {
        if let Some(window) = row.and_then(|row| self.windows.get_mut(row)) {
            window.to_ns = Some(time_ns);
        }
    }
}

/// The fault that a foreign line begins.
fn begun(f: &str) -> Option<&str> {
    match f {
        "start" => Some("fault"),
        "kill" | "pause" | "partition" => Some(f),
        _ => f.strip_prefix("start-"),
    }
}

/// The fault that a foreign line ends; where processes are killed, they are started again.
fn ended(f: &str, killed: bool) -> Option<&str> {
    match f {
        "start" if killed => Some("kill"),
        "restart" => Some("kill"),
        "resume" => Some("pause"),
        "heal" => Some("partition"),
        "stop" => Some("fault"),
        _ => f.strip_prefix("stop-"),
    }
}

fn of_foreign(value: &Value) -> (Vec<String>, String) {
    match value {
        Value::Other(json @ Json::Array(_)) => (words(json), String::new()),
        Value::Other(Json::String(text)) => (Vec::new(), text.chars().take(DETAIL_CHARS).collect()),
        Value::Other(other) => {
            let text = other.to_string();
            (Vec::new(), text.chars().take(DETAIL_CHARS).collect())
        }
        _ => (Vec::new(), String::new()),
    }
}

fn words(json: &Json) -> Vec<String> {
    let list = json.as_array().into_iter().flatten();
    list.filter_map(Json::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_checkers::formats;

    fn windows(text: &str) -> Vec<(String, u64, Option<u64>)> {
        let history = formats::read(text.as_bytes()).expect("a history");
        let windows = fault_windows(&history).into_iter();
        windows
            .map(|one| (one.fault, one.from_ns, one.to_ns))
            .collect()
    }

    #[test]
    fn a_foreign_nemesis_names_its_faults_where_they_begin_and_end() {
        let text = "{:process :nemesis, :type :info, :f :start-partition, :value nil, :time 5}
{:process :nemesis, :type :info, :f :start-partition, :value \"n1\", :time 6}
{:process :nemesis, :type :info, :f :kill, :value [\"n2\"], :time 7}
{:process :nemesis, :type :info, :f :kill, :value [\"n2\"], :time 8}
{:process :nemesis, :type :info, :f :stop-partition, :value nil, :time 9}
{:process :nemesis, :type :info, :f :start, :value nil, :time 10}
{:process :nemesis, :type :info, :f :start, :value nil, :time 11}
{:process :nemesis, :type :info, :f :pause, :value nil, :time 12}";
        let expected = [
            ("partition".to_owned(), 5, Some(9)),
            ("kill".to_owned(), 7, Some(10)),
            ("pause".to_owned(), 12, None),
        ];
        assert_eq!(windows(text), expected);
    }

    #[test]
    fn our_own_faults_are_known_by_their_numbers() {
        let line = |time: u64, id: u64, phase: &str| {
            format!(
                "{{\"process\":\"nemesis\",\"type\":\"info\",\"f\":\"kill\",\"time\":{time},\
                 \"value\":{{\"id\":{id},\"phase\":\"{phase}\",\"targets\":[\"n1\"]}}}}\n"
            )
        };
        let lines = [
            line(1, 1, "installed"),
            line(2, 2, "skipped"),
            line(3, 3, "installed"),
            line(4, 1, "healed"),
        ];
        let expected = [
            ("kill".to_owned(), 1, Some(4)),
            ("kill".to_owned(), 3, None),
        ];
        assert_eq!(windows(&lines.concat()), expected);
    }
}
