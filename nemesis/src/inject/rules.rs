//! Cuts by iptables: in the network namespace of each node, packets from those
//! it is cut from are dropped as they come in. It is the twin of the table of
//! cuts for hosts and containers, where no bridge is ours.
//!
//! Every change replaces a namespace's chain in one transaction; the chain is
//! gone once nothing is cut.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::Ipv4Addr;

use super::InjectError;
use super::feed::feed;
use super::links::{Link, Links};
use super::table::{Counted, CutMeans};
use crate::lab::Place;

const CHAIN: &str = "PLIMSOLL";

/// The places that have rules now.
#[derive(Debug, Default)]
pub struct RuleTable {
    chained: BTreeMap<Ipv4Addr, Place>,
}

impl CutMeans for RuleTable {
    fn apply(
        &mut self,
        links: &Links,
        places: &BTreeMap<Ipv4Addr, Place>,
    ) -> Result<(), InjectError> {
        // A namespace that is new has no chain, whatever the old one had.
        self.chained
            .retain(|addr, old| places.get(addr).is_some_and(|new| new.is_same(old)));
        for (addr, place) in places {
            let into = |links: &BTreeSet<Link>| -> Vec<Link> {
                links
                    .iter()
                    .filter(|link| link.to == *addr)
                    .copied()
                    .collect()
            };
            let (requests, replies) = (into(&links.requests), into(&links.replies));
            if requests.is_empty() && replies.is_empty() {
                if self.chained.remove(addr).is_some() {
                    remove_chain(place)?;
                }
                continue;
            }
            if self.chained.insert(*addr, place.clone()).is_none() {
                restore(
                    place,
                    &format!("*filter\n:{CHAIN} - [0:0]\n-I INPUT -j {CHAIN}\nCOMMIT\n"),
                )?;
            }
            restore(place, &script(&requests, &replies))?;
        }
        Ok(())
    }

    fn read_back(&self) -> Result<Counted, InjectError> {
        let mut counted = Counted::default();
        for (addr, place) in &self.chained {
            let output = place
                .command("iptables-save")
                .args(["-c", "-t", "filter"])
                .output()
                .map_err(missing)?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                return Err(InjectError::Iptables(said));
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
    let mut command = place.command("iptables-restore");
    command.arg("--noflush");
    match feed(command, script).map_err(missing)? {
        None => Ok(()),
        Some(refusal) => Err(InjectError::Iptables(refusal)),
    }
}

fn missing(error: std::io::Error) -> InjectError {
    InjectError::io("running iptables (Debian: apt-get install iptables)", error)
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
