//! The log checker as a stream: every condition of a correct log held against events as they go by.
//!
//! It answers one question, whether there is anything to explain, in memory for what is open and not
//! for what has passed. A run in which it finds nothing, and whose end it knows, is valid: it looks
//! for everything that [`crate::check`] looks for, and where it cannot tell without the whole history
//! (a foreign recorder, transactions, a log read in parts long afterwards) it says so, and the whole
//! must be judged. A suspicion names the anomaly and the op; the checkers of the whole explain it.
//!
//! It serves a long run that is to stop at its first violation, and large files.

mod answer;
mod event;
mod floors;
mod offsets;
mod ops;
mod partition;
mod reader;
mod reads;
mod reigns;
mod replicas;
mod scan;
mod tally;
#[cfg(test)]
mod tests;
mod values;

use std::collections::BTreeMap;

pub use answer::{Streamed, Suspicion};
pub use event::{Answer, Event, Kind};
pub use reader::StreamReader;

use self::floors::Floors;
use self::partition::{Partition, Trouble};
use self::tally::Tally;
use self::values::Values;
use crate::history::{Header, HistoryError, words};
use crate::models::Level;
use crate::promise::{Promise, Scope};

/// What a process is doing.
#[derive(Debug, Clone, Copy)]
enum Doing {
    Nothing,
    Sending,
    Reading,
    Crashed,
}

#[derive(Debug, Clone, Copy)]
struct Client {
    doing: Doing,
    partition: u32,
    barrier: bool,
    value: i64,
    acks: Option<i8>,
    /// Stamp and time of the begin.
    began: u64,
    time: u64,
    floors: Floors,
}

const IDLE: Client = Client {
    doing: Doing::Nothing,
    partition: NOWHERE,
    barrier: false,
    value: 0,
    acks: None,
    began: 0,
    time: 0,
    floors: Floors::NONE,
};

/// A read that did not say at its begin what it would read.
const NOWHERE: u32 = u32::MAX;
/// Processes that are followed from the first op on; each op allows a few more.
const PROCESSES: u64 = 1 << 12;

/// The stream's state.
pub struct LogStream {
    header: Option<Header>,
    keys: BTreeMap<String, u32>,
    names: Vec<String>,
    partitions: Vec<Partition>,
    tainted: Vec<bool>,
    clients: Vec<Client>,
    values: Values,
    tally: Tally,
    suspicions: Vec<Suspicion>,
    /// Events so far: the order in which ops begin and end.
    stamp: u64,
    index: Option<u64>,
    time: u64,
    faults: u64,
    settled: Option<bool>,
}

impl LogStream {
    /// A stream that has seen nothing but the header.
    pub fn new(header: Option<Header>) -> Self {
        let mut stream = Self {
            header,
            keys: BTreeMap::new(),
            names: Vec::new(),
            partitions: Vec::new(),
            tainted: Vec::new(),
            clients: Vec::new(),
            values: Values::default(),
            tally: Tally::new(),
            suspicions: Vec::new(),
            stamp: 0,
            index: None,
            time: 0,
            faults: 0,
            settled: None,
        };
        match &stream.header {
            None => stream.give_up("a history without a header"),
            Some(header) if header.promise.linearizable_reads || header.promise.eventual => {
                stream.give_up("a promise about reads");
            }
            Some(_) => {}
        }
        stream
    }

    /// Everything suspicious so far, the first of each partition.
    pub fn suspicions(&self) -> &[Suspicion] {
        &self.suspicions
    }

    /// Whether nothing that follows can make the stream enough: a suspicion of the whole run, or one
    /// in every partition.
    pub fn is_given_up(&self) -> bool {
        let whole = |one: &Suspicion| one.key.is_empty();
        self.suspicions.iter().any(whole)
            || (!self.tainted.is_empty() && self.tainted.iter().all(|tainted| *tainted))
    }

    /// The first suspicion that `promise` does not permit, if there is one. What needs the whole
    /// history is none.
    pub fn violation(&self, promise: &Promise) -> Option<&Suspicion> {
        // Where losses are permitted, offsets of lost records are used again, and only the whole can
        // tell that from anything worse.
        if promise.permits("lost-write", Scope::Any).is_some() {
            let sure = [
                "phantom-read",
                "G1a",
                "two-leaders",
                "int-nonmonotonic-poll",
            ];
            return self
                .suspicions
                .iter()
                .find(|one| one.anomaly.is_some_and(|a| sure.contains(&a)));
        }
        self.suspicions.iter().find(|one| {
            one.anomaly.is_some_and(|anomaly| {
                let scopes = [Scope::Any, Scope::Claims, Scope::Retried];
                scopes
                    .iter()
                    .all(|&scope| promise.permits(anomaly, scope).is_none())
            })
        })
    }

    /// Number of a partition by its key.
    pub fn partition(&mut self, key: &str) -> u32 {
        if let Some(&number) = self.keys.get(key) {
            return number;
        }
        let number = self.partitions.len() as u32;
        let topic = self
            .header
            .as_ref()
            .and_then(|header| header.topics.get(key));
        let replicas = topic.map_or(0, |topic| usize::from(topic.replication_factor));
        let mut partition = Partition::new(number, (replicas > 0).then_some(replicas));
        partition.barrier = topic.and_then(|topic| topic.barrier);
        self.keys.insert(key.to_owned(), number);
        self.names.push(key.to_owned());
        self.partitions.push(partition);
        self.tainted.push(number > values::MAX_PARTITIONS);
        if number > values::MAX_PARTITIONS {
            self.give_up("more partitions than are followed");
        }
        number
    }

    /// Index and time of the line before.
    fn last(&self) -> Option<(u64, u64)> {
        self.index.map(|index| (index, self.time))
    }

    /// Index and time of a line, which never fall.
    fn order(&mut self, index: u64, time: u64) -> Result<(), String> {
        if self.index.is_some_and(|before| index <= before) {
            let before = self.index.unwrap_or(0);
            return Err(format!("index {index} does not follow index {before}"));
        }
        if time < self.time {
            return Err(format!(
                "time {time} lies before the {} of the line above",
                self.time
            ));
        }
        self.index = Some(index);
        self.time = time;
        Ok(())
    }

    /// Takes one event that is no ok read.
    #[inline]
    pub fn step(&mut self, event: &Event, index: u64) -> Result<(), String> {
        self.stamp += 1;
        let number = event.process as usize;
        if number >= self.clients.len() {
            // Memory follows what was seen, not the numbers in it.
            if u64::from(event.process) >= PROCESSES + 8 * self.stamp {
                self.give_up("a process number beyond all bounds");
                return Ok(());
            }
            self.clients.resize(number + 1, IDLE);
        }
        match event.kind {
            Kind::SendInvoked | Kind::ReadInvoked => self.begin(event, index),
            Kind::ReadFailed => self.end(event, Doing::Nothing).map(|_| ()),
            _ => {
                let after = match event.kind {
                    Kind::SendUnknown => Doing::Crashed,
                    _ => Doing::Nothing,
                };
                let client = self.end(event, after)?;
                self.end_send(event, &client, index);
                Ok(())
            }
        }
    }

    fn begin(&mut self, event: &Event, index: u64) -> Result<(), String> {
        let process = event.process;
        let client = &mut self.clients[process as usize];
        match client.doing {
            Doing::Nothing => {}
            Doing::Crashed => {
                return Err(format!(
                    "process {process} goes on after an indeterminate op"
                ));
            }
            _ => {
                return Err(format!(
                    "process {process} begins an op while another of its ops is open"
                ));
            }
        }
        let sends = event.kind == Kind::SendInvoked;
        let floors = match self.partitions.get(event.partition as usize) {
            Some(partition) => partition.floors,
            None => Floors::NONE,
        };
        *client = Client {
            doing: match sends {
                true => Doing::Sending,
                false => Doing::Reading,
            },
            partition: event.partition,
            barrier: event.barrier,
            value: event.value,
            acks: event.acks,
            began: self.stamp,
            time: event.time,
            floors,
        };
        if sends {
            self.tally.count(event, event.time);
            self.in_partition(event, index, |partition, values, _| {
                partition.begin_send(event, values)
            });
        } else if event.partition == NOWHERE {
            self.give_up("reads that do not say at their begin what they will read");
        }
        Ok(())
    }

    /// Ends what a process was doing; what that was comes back.
    #[inline]
    fn end(&mut self, event: &Event, after: Doing) -> Result<Client, String> {
        let client = &mut self.clients[event.process as usize];
        let sends = matches!(
            event.kind,
            Kind::SendOk | Kind::SendFailed | Kind::SendUnknown
        );
        let matches = match client.doing {
            Doing::Sending => sends && client.barrier == event.barrier,
            Doing::Reading => !sends,
            Doing::Nothing | Doing::Crashed => {
                return Err(format!(
                    "process {} completes an op that it has not begun",
                    event.process
                ));
            }
        };
        if !matches {
            return Err(format!(
                "process {} completes another kind of op than its open one",
                event.process
            ));
        }
        let same = client.partition == event.partition && client.value == event.value;
        if sends && !same {
            return Err("the completion's keys or values are not those of its invoke".to_owned());
        }
        let before = *client;
        client.doing = after;
        Ok(before)
    }

    fn end_send(&mut self, event: &Event, client: &Client, index: u64) {
        let mut event = *event;
        event.acks = event.acks.or(client.acks);
        self.tally.count(&event, client.time);
        if event.attempts != 1 {
            self.in_partition(&event, index, |_, _, _| {
                Err(Trouble::Beyond("a send that was tried more than once"))
            });
        }
        self.in_partition(&event, index, |partition, values, tally| match event.kind {
            Kind::SendOk => partition.end_send(&event, values, tally),
            Kind::SendFailed => partition.fail_send(&event, values),
            _ => {
                partition.lose_send(&event, tally);
                Ok(())
            }
        });
    }

    /// Takes one ok read with its records.
    #[inline]
    pub fn step_read(
        &mut self,
        event: &Event,
        index: u64,
        answer: &Answer,
        records: &[(i64, i64)],
    ) -> Result<(), String> {
        self.stamp += 1;
        if event.process as usize >= self.clients.len() {
            return Err(format!(
                "process {} completes an op that it has not begun",
                event.process
            ));
        }
        let client = self.end(event, Doing::Nothing)?;
        self.tally.count(event, client.time);
        let floors = match client.partition == event.partition {
            true => client.floors,
            false => Floors::NONE,
        };
        let begin = (floors, client.began, self.stamp);
        self.in_partition(event, index, |partition, values, tally| {
            partition.end_read(event.process, answer, records, begin, values, tally)
        });
        Ok(())
    }

    #[inline]
    fn in_partition(
        &mut self,
        event: &Event,
        index: u64,
        act: impl FnOnce(&mut Partition, &mut Values, &mut Tally) -> Result<(), Trouble>,
    ) {
        let number = event.partition as usize;
        if self.tainted.get(number).copied().unwrap_or(true) {
            return;
        }
        let partition = &mut self.partitions[number];
        if let Err(trouble) = act(partition, &mut self.values, &mut self.tally) {
            self.taint(number, index, trouble);
        }
    }

    #[cold]
    fn taint(&mut self, number: usize, index: u64, trouble: Trouble) {
        self.tainted[number] = true;
        let key = self.names[number].clone();
        match trouble {
            Trouble::Anomaly(anomaly, offset, value) => {
                let value = words::shown(value);
                let sentence = format!("{anomaly} in {key} at offset {offset} (value {value})");
                self.suspect(Some(anomaly), &key, index, &sentence);
            }
            Trouble::Beyond(what) => self.suspect(None, &key, index, what),
        }
    }

    #[cold]
    fn give_up(&mut self, what: &str) {
        let index = self.index.unwrap_or(0);
        if !self.suspicions.iter().any(|one| one.sentence == what) {
            self.suspect(None, "", index, what);
        }
    }

    fn suspect(&mut self, anomaly: Option<&'static str>, key: &str, op: u64, sentence: &str) {
        self.suspicions.push(Suspicion {
            anomaly,
            key: key.to_owned(),
            op,
            sentence: sentence.to_owned(),
        });
    }

    /// Ends the run.
    pub fn finish(mut self) -> Streamed {
        let index = self.index.unwrap_or(0);
        for number in 0..self.partitions.len() {
            if self.tainted[number] {
                continue;
            }
            if let Err(trouble) = self.partitions[number].finish(&mut self.tally) {
                self.taint(number, index, trouble);
            }
        }
        if self.tally.nothing_was_tested() {
            self.give_up("a history in which nothing was put to the test");
        }
        if self.settled == Some(false) {
            self.give_up("a run that did not recover");
        }
        let unknown =
            self.tally.refuted || self.tally.refutable_reads == 0 || !self.suspicions.is_empty();
        Streamed {
            measures: self.tally.measures(self.faults, self.settled),
            level: match unknown {
                true => Level::Unknown,
                false => Level::Linearizable,
            },
            refutable_reads: self.tally.refutable_reads,
            suspicions: self.suspicions,
            header: self.header,
        }
    }
}

/// A process as the stream follows it; one beyond all bounds is given up by its number.
fn client_number(process: u64) -> u32 {
    u32::try_from(process).unwrap_or(u32::MAX)
}

/// An error of the stream at a line.
fn at_line(line: u64) -> impl Fn(String) -> HistoryError {
    move |reason| HistoryError::new(line, reason)
}
