//! Cuts by iptables: in the network namespace of each node, packets from those
//! it is cut from are dropped as they come in. It is the twin of the table of
//! cuts for hosts and containers, where no bridge is ours.
//!
//! Every change replaces a namespace's chain in one transaction; the chain is
//! gone once nothing is cut.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

use super::InjectError;
use super::links::{Link, Links};
use super::table::{Counted, CutMeans};
use crate::lab::Place;

const CHAIN: &str = "PLIMSOLL";

/// The rules of all cuts that are installed now.
#[derive(Debug, Default)]
pub struct RuleTable {
    installed: BTreeMap<u64, Links>,
    places: BTreeMap<Ipv4Addr, Place>,
    /// Places that have the chain.
    chained: BTreeSet<Ipv4Addr>,
}

impl RuleTable {
    fn apply(&mut self) -> Result<(), InjectError> {
        let all = self.wanted();
        for (addr, place) in &self.places {
            let into = |links: &BTreeSet<Link>| -> Vec<Link> {
                links
                    .iter()
                    .filter(|link| link.to == *addr)
                    .copied()
                    .collect()
            };
            let (requests, replies) = (into(&all.requests), into(&all.replies));
            if requests.is_empty() && replies.is_empty() {
                if self.chained.remove(addr) {
                    remove_chain(place)?;
                }
                continue;
            }
            if self.chained.insert(*addr) {
                restore(
                    place,
                    &format!("*filter\n:{CHAIN} - [0:0]\n-I INPUT -j {CHAIN}\nCOMMIT\n"),
                )?;
            }
            restore(place, &script(&requests, &replies))?;
        }
        Ok(())
    }
}

impl CutMeans for RuleTable {
    fn add(&mut self, id: u64, links: Links) -> Result<(), InjectError> {
        self.installed.insert(id, links);
        self.apply()
    }

    fn remove(&mut self, id: u64) -> Result<bool, InjectError> {
        if self.installed.remove(&id).is_none() {
            return Ok(false);
        }
        self.apply()?;
        Ok(true)
    }

    fn moved(&mut self, places: &BTreeMap<Ipv4Addr, Place>) -> Result<(), InjectError> {
        // A namespace that is new has no chain, whatever the old one had.
        let same = |addr: &Ipv4Addr| match (places.get(addr), self.places.get(addr)) {
            (Some(new), Some(old)) => new.is_same(old),
            _ => false,
        };
        self.chained.retain(same);
        self.places = places.clone();
        if self.installed.is_empty() {
            return Ok(());
        }
        self.apply()
    }

    fn wanted(&self) -> Links {
        let mut all = Links::default();
        self.installed.values().for_each(|links| all.extend(links));
        let there = |link: &Link| self.places.contains_key(&link.to);
        all.requests.retain(there);
        all.replies.retain(there);
        all
    }

    fn read_back(&self) -> Result<Counted, InjectError> {
        let mut counted = Counted::default();
        for addr in &self.chained {
            let Some(place) = self.places.get(addr) else {
                continue;
            };
            let output = place
                .command("iptables-save")
                .args(["-c", "-t", "filter"])
                .output()
                .map_err(missing)?;
            if !output.status.success() {
                return Err(refused(&output.stderr));
            }
            for line in String::from_utf8_lossy(&output.stdout).lines() {
                let Some((rule, link, packets)) = parse_rule(line, *addr) else {
                    continue;
                };
                let counts = match rule {
                    Rule::Request => &mut counted.requests,
                    Rule::Reply => &mut counted.replies,
                };
                counts.insert(link, packets);
            }
        }
        Ok(counted)
    }
}

fn script(requests: &[Link], replies: &[Link]) -> String {
    let mut script = format!("*filter\n:{CHAIN} - [0:0]\n");
    for (links, side) in [(requests, "dport"), (replies, "sport")] {
        for link in links {
            let _ = writeln!(
                script,
                "-A {CHAIN} -s {}/32 -p tcp -m tcp --{side} {} -j DROP",
                link.from, link.port
            );
        }
    }
    script.push_str("COMMIT\n");
    script
}

fn remove_chain(place: &Place) -> Result<(), InjectError> {
    restore(
        place,
        &format!("*filter\n-D INPUT -j {CHAIN}\n-F {CHAIN}\n-X {CHAIN}\nCOMMIT\n"),
    )
}

fn restore(place: &Place, script: &str) -> Result<(), InjectError> {
    let mut command: Command = place.command("iptables-restore");
    let mut child = command
        .arg("--noflush")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(missing)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(script.as_bytes()).map_err(missing)?;
    }
    let output = child.wait_with_output().map_err(missing)?;
    if output.status.success() {
        return Ok(());
    }
    Err(refused(&output.stderr))
}

fn missing(error: std::io::Error) -> InjectError {
    InjectError::io("running iptables (Debian: apt-get install iptables)", error)
}

fn refused(said: &[u8]) -> InjectError {
    InjectError::Iptables(String::from_utf8_lossy(said).trim().to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Request,
    Reply,
}

/// Reads `[3:180] -A PLIMSOLL -s 10.0.0.1/32 -p tcp -m tcp --dport 9093 -j DROP`.
fn parse_rule(line: &str, to: Ipv4Addr) -> Option<(Rule, Link, u64)> {
    let (packets, rest) = line.strip_prefix('[')?.split_once(':')?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let after = |flag: &str| {
        let at = words.iter().position(|word| *word == flag)?;
        words.get(at + 1).copied()
    };
    if after("-A")? != CHAIN {
        return None;
    }
    let from = after("-s")?.trim_end_matches("/32").parse().ok()?;
    let (rule, port) = match (after("--dport"), after("--sport")) {
        (Some(port), None) => (Rule::Request, port),
        (None, Some(port)) => (Rule::Reply, port),
        _ => return None,
    };
    let port = port.parse().ok()?;
    Some((rule, Link { from, to, port }, packets.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_rule_is_read_with_its_count() {
        let to = Ipv4Addr::new(10, 0, 0, 2);
        let line = "[3:180] -A PLIMSOLL -s 10.0.0.1/32 -p tcp -m tcp --dport 9093 -j DROP";
        let link = Link {
            from: Ipv4Addr::new(10, 0, 0, 1),
            to,
            port: 9093,
        };
        assert_eq!(parse_rule(line, to), Some((Rule::Request, link, 3)));
        assert_eq!(
            parse_rule(&line.replace("dport", "sport"), to),
            Some((Rule::Reply, link, 3))
        );
        for other in [
            "",
            "*filter",
            ":INPUT ACCEPT [0:0]",
            "[0:0] -A INPUT -j PLIMSOLL",
            "[x:0] -A PLIMSOLL",
        ] {
            assert_eq!(parse_rule(other, to), None, "{other}");
        }
    }

    #[test]
    fn requests_are_dropped_by_the_port_they_go_to_and_replies_by_the_one_they_come_from() {
        let link = |port| Link {
            from: Ipv4Addr::new(10, 0, 0, 1),
            to: Ipv4Addr::new(10, 0, 0, 2),
            port,
        };
        let text = script(&[link(9092)], &[link(9093)]);
        assert!(
            text.contains("--dport 9092 -j DROP\n") && text.contains("--sport 9093 -j DROP\n"),
            "{text}"
        );
        assert!(
            text.starts_with("*filter\n:PLIMSOLL") && text.ends_with("COMMIT\n"),
            "{text}"
        );
    }
}
