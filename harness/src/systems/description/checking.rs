//! The checks of a description, each with an error that names the file, the
//! line and the field: a mistake is found before anything is started.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::raw::{Raw, RawFile, RawNode, RawPorts};
use super::rehearsal::{self, PLACEHOLDERS};
use super::template::{Template, Values};
use super::within::within;
use super::{Description, DescriptionError, FileTemplate, Optional, Roles, State};
use crate::cli::{Duration, parse_duration};
use crate::systems::Ports;

/// What the name of a partition's folder may use too.
const OF_A_PARTITION: [&str; 2] = ["topic", "partition"];
/// A limit below this is a misprint: no node of any system starts in it.
const LIMIT_LEAST_MS: u64 = 1000;

/// The text that is being checked, for errors that say where.
pub(super) struct Checking<'a> {
    file: &'a str,
    text: &'a str,
    known: BTreeSet<String>,
}

type Checked<T> = Result<T, DescriptionError>;

impl<'a> Checking<'a> {
    pub(super) fn of(file: &'a str, text: &'a str, raw: &Raw) -> Checking<'a> {
        let own = raw.vars.keys().map(|key| key.get_ref().clone());
        let always = PLACEHOLDERS.iter().map(|(name, _)| (*name).to_owned());
        Checking {
            file,
            text,
            known: always.chain(own).collect(),
        }
    }

    fn error<T>(&self, field: &str, at: usize, why: &str) -> Checked<T> {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        Err(DescriptionError(format!(
            "{}: line {line}: {field}: {why}",
            self.file
        )))
    }

    fn template(&self, field: &str, text: &Spanned<String>) -> Checked<Template> {
        self.template_with(field, text, &[])
    }

    fn template_with(
        &self,
        field: &str,
        text: &Spanned<String>,
        more: &[&str],
    ) -> Checked<Template> {
        let at = text.span().start;
        if text.get_ref().contains('\0') {
            return self.error(
                field,
                at,
                "has a NUL in it, which no file or program can be given",
            );
        }
        let template = match Template::parse(text.get_ref()) {
            Ok(template) => template,
            Err(why) => return self.error(field, at, &why),
        };
        for name in template.names() {
            if !self.known.contains(name) && !more.contains(&name) {
                let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
                let known = known.join(", ");
                let why = format!(
                    "nothing is called {{{name}}}; known are {known}; a plain brace is written twice"
                );
                return self.error(field, at, &why);
            }
        }
        Ok(template)
    }

    fn templates(&self, field: &str, words: &[Spanned<String>]) -> Checked<Vec<Template>> {
        words
            .iter()
            .map(|word| self.template(field, word))
            .collect()
    }

    fn duration(
        &self,
        field: &str,
        text: Option<&Spanned<String>>,
        default: u64,
    ) -> Checked<Duration> {
        let Some(text) = text else {
            return Ok(Duration { ms: default * 1000 });
        };
        match parse_duration(text.get_ref()) {
            Ok(duration) if duration.ms < LIMIT_LEAST_MS => self.error(
                field,
                text.span().start,
                "is less than a second; write 1s or more",
            ),
            Ok(duration) => Ok(duration),
            Err(why) => self.error(field, text.span().start, &why),
        }
    }

    pub(super) fn description(&self, raw: Raw) -> Checked<Description> {
        let node = raw.node;
        let state = self.state(raw.state.as_ref(), raw.ports.admin.is_some())?;
        let needs_kafka = self.needs_kafka(raw.needs.as_ref())?;
        let vars = self.vars(&raw.vars)?;
        let values = rehearsal::values(&vars, needs_kafka);
        Ok(Description {
            name: self.template("name", &raw.name)?,
            state,
            needs_kafka,
            tested: raw.tested,
            ports: self.ports(&raw.ports, state)?,
            start_limit: self.duration("limits.start", raw.limits.start.as_ref(), 60)?,
            settle_limit: self.duration("limits.settle", raw.limits.settle.as_ref(), 60)?,
            vars,
            prepare: node
                .prepare
                .iter()
                .map(|words| self.command("node.prepare", words, &values))
                .collect::<Checked<_>>()?,
            command: self.command("node.command", &node.command, &values)?,
            optional: self.optional(&node)?,
            env: self.env(&node.env)?,
            partition: node
                .partition
                .as_ref()
                .map(|p| self.template_with("node.partition", p, &OF_A_PARTITION))
                .transpose()?,
            stop: self.stop(node.stop.as_ref())?,
            data: self.data(node.data)?,
            logs: node.logs,
            files: raw
                .file
                .iter()
                .map(|file| self.file(file, &values))
                .collect::<Checked<_>>()?,
        })
    }

    fn needs_kafka(&self, needs: Option<&Spanned<String>>) -> Checked<bool> {
        let Some(needs) = needs else {
            return Ok(false);
        };
        match needs.get_ref().as_str() {
            "kafka" => Ok(true),
            other => self.error(
                "needs",
                needs.span().start,
                &format!("\"{other}\" is not known; there is: kafka"),
            ),
        }
    }

    fn ports(&self, raw: &RawPorts, state: State) -> Checked<Ports> {
        let given = [
            ("ports.client", Some(&raw.client)),
            ("ports.replication", raw.replication.as_ref()),
            ("ports.controller", raw.controller.as_ref()),
            ("ports.admin", raw.admin.as_ref()),
        ];
        let given = given.map(|(field, port)| port.map(|port| (field, port)));
        let mut seen: Vec<(&str, u16)> = Vec::new();
        for (field, port) in given.into_iter().flatten() {
            let (at, port) = (port.span().start, *port.get_ref());
            if port == 0 {
                return self.error(field, at, "is 0; write the port that nodes listen on");
            }
            // Planes may share a listener. The admin port is never cut, and the broker that has
            // one listens on all four.
            let apart = field == "ports.admin" || state == State::Admin;
            if let Some((other, _)) = seen.iter().find(|(_, taken)| apart && *taken == port) {
                let why = format!("{port} is {other} already; this one needs a port of its own");
                return self.error(field, at, &why);
            }
            seen.push((field, port));
        }
        let port = |given: &Option<Spanned<u16>>| given.as_ref().map(|port| *port.get_ref());
        Ok(Ports {
            client: *raw.client.get_ref(),
            replication: port(&raw.replication),
            controller: port(&raw.controller),
            admin: port(&raw.admin),
        })
    }

    /// The words of a command, which must come to a program at least.
    fn command(
        &self,
        field: &str,
        words: &Spanned<Vec<Spanned<String>>>,
        values: &Values,
    ) -> Checked<Vec<Template>> {
        let templates = self.templates(field, words.get_ref())?;
        let Some((first, word)) = templates.first().zip(words.get_ref().first()) else {
            return self.error(
                field,
                words.span().start,
                "is empty; name a program to start",
            );
        };
        if first.fill(values).is_ok_and(|program| program.is_empty()) {
            let why = format!(
                "\"{}\" may come to nothing; the first word is the program to start",
                word.get_ref()
            );
            return self.error(field, word.span().start, &why);
        }
        Ok(templates)
    }

    fn env(&self, env: &BTreeMap<String, Spanned<String>>) -> Checked<BTreeMap<String, Template>> {
        let checked = env.iter().map(|(key, value)| {
            if key.is_empty() || key.contains(['=', '\0']) {
                let why = format!("{key:?} is no name of a variable");
                return self.error("node.env", value.span().start, &why);
            }
            Ok((key.clone(), self.template("node.env", value)?))
        });
        checked.collect()
    }

    /// The folder of the data: the run's own, or an earlier run's data would be judged.
    fn data(&self, data: Option<Spanned<String>>) -> Checked<String> {
        let Some(data) = data else {
            return Ok("data".to_owned());
        };
        match within(data.get_ref()) {
            Ok(()) => Ok(data.into_inner()),
            Err(why) => self.error("node.data", data.span().start, &why),
        }
    }

    fn state(&self, state: Option<&Spanned<String>>, has_admin: bool) -> Checked<State> {
        let Some(state) = state else {
            return Ok(State::Protocol);
        };
        match (state.get_ref().as_str(), has_admin) {
            ("protocol", _) => Ok(State::Protocol),
            ("admin", true) => Ok(State::Admin),
            ("admin", false) => {
                self.error("state", state.span().start, "\"admin\" needs ports.admin")
            }
            (other, _) => self.error(
                "state",
                state.span().start,
                &format!("\"{other}\" is not known; write protocol or admin"),
            ),
        }
    }

    fn vars(
        &self,
        vars: &BTreeMap<Spanned<String>, Spanned<String>>,
    ) -> Checked<Vec<(String, Template)>> {
        // A map of spans is not in the file's order; later ones may use earlier ones.
        let mut in_order: Vec<_> = vars.iter().collect();
        in_order.sort_by_key(|(key, _)| key.span().start);
        let mut checked: Vec<(String, Template)> = Vec::new();
        for (key, value) in in_order {
            let name = key.get_ref();
            if PLACEHOLDERS.iter().any(|(known, _)| known == name) {
                return self.error(
                    &format!("vars.{name}"),
                    key.span().start,
                    "has the name of something that is always known",
                );
            }
            let template = self.template(&format!("vars.{name}"), value)?;
            let is_later = |used: &&str| {
                vars.keys().any(|key| key.get_ref() == used)
                    && !checked.iter().any(|(known, _)| known == used)
            };
            if let Some(later) = template.names().find(is_later) {
                return self.error(
                    &format!("vars.{name}"),
                    value.span().start,
                    &format!("uses {{{later}}}, which is not set before it"),
                );
            }
            checked.push((name.clone(), template));
        }
        Ok(checked)
    }

    fn optional(&self, node: &RawNode) -> Checked<Vec<Optional>> {
        let mut all = Vec::new();
        for raw in &node.optional {
            let when = raw.when.get_ref();
            if !self.known.contains(when) {
                let why = format!("nothing is called {when}");
                return self.error("node.optional.when", raw.when.span().start, &why);
            }
            all.push(Optional {
                when: when.clone(),
                args: self.templates("node.optional.args", &raw.args)?,
            });
        }
        Ok(all)
    }

    fn stop(&self, stop: Option<&Spanned<String>>) -> Checked<i32> {
        let Some(stop) = stop else {
            return Ok(libc::SIGTERM);
        };
        match stop.get_ref().as_str() {
            "SIGTERM" => Ok(libc::SIGTERM),
            "SIGINT" => Ok(libc::SIGINT),
            "SIGQUIT" => Ok(libc::SIGQUIT),
            other => self.error(
                "node.stop",
                stop.span().start,
                &format!("\"{other}\" is not known; write SIGTERM, SIGINT or SIGQUIT"),
            ),
        }
    }

    fn file(&self, raw: &RawFile, values: &Values) -> Checked<FileTemplate> {
        let mut roles = Vec::new();
        for role in &raw.roles {
            roles.push(match role.get_ref().as_str() {
                "combined" => Roles::Combined,
                "broker" => Roles::Broker,
                "controller" => Roles::Controller,
                other => {
                    return self.error(
                        "file.for",
                        role.span().start,
                        &format!("\"{other}\" is not known; write combined, broker or controller"),
                    );
                }
            });
        }
        let path = self.template("file.path", &raw.path)?;
        // As it comes to with names filled in: a variable may hold a path too.
        let filled = path.fill(values).unwrap_or_default();
        if let Err(why) = within(&filled) {
            return self.error("file.path", raw.path.span().start, &why);
        }
        Ok(FileTemplate {
            path,
            roles,
            text: self.template("file.text", &raw.text)?,
        })
    }
}
