//! The model: one partition on three nodes.

use plimsoll_checkers::history::{
    Header, History, Op, OpType, Process, ReadInfo, SendMop, TopicInfo, Value,
};
use plimsoll_checkers::promise::{Acks, FaultClasses, Flush, Promise, Settings};

pub const KEY: &str = "log-0";
pub const NODES: usize = 3;

/// A generator of its own: the same numbers everywhere, for ever.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 >> 33) ^ self.0;
        mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn in_hundred(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}

#[derive(Clone, Default)]
struct Replica {
    /// (leader epoch, value) by offset.
    log: Vec<(i32, i64)>,
    hw: usize,
    /// Epoch and leader that this node believes in.
    epoch: i32,
    leader: usize,
    down: bool,
    cut: bool,
    incarnation: u64,
}

struct Waiting {
    process: u64,
    value: i64,
    offset: usize,
    node: usize,
    epoch: i32,
}

pub struct Model {
    chance: Chance,
    acks: Acks,
    bug: bool,
    nodes: Vec<Replica>,
    epoch: i32,
    /// Log end of the leader when its epoch began.
    epoch_start: usize,
    leader: usize,
    isr: Vec<usize>,
    waiting: Vec<Waiting>,
    ops: Vec<Op>,
    next_process: u64,
    next_value: i64,
    /// Position of each consumer.
    consumers: [usize; 3],
}

impl Model {
    pub fn new(seed: u64, acks: Acks, bug: bool) -> Self {
        let node = Replica {
            incarnation: 1,
            ..Replica::default()
        };
        Self {
            chance: Chance(seed),
            acks,
            bug,
            nodes: vec![node; NODES],
            epoch: 0,
            epoch_start: 0,
            leader: 0,
            isr: vec![0, 1, 2],
            waiting: Vec::new(),
            ops: Vec::new(),
            next_process: 0,
            next_value: 0,
            consumers: [0; 3],
        }
    }

    fn record(&mut self, process: u64, kind: OpType, f: &str, value: Value) -> &mut Op {
        let mut op = Op::new(Process::Client(process), kind, f, value);
        op.index = self.ops.len() as u64;
        op.time = op.index * 1_000_000;
        self.ops.push(op);
        self.ops.last_mut().expect("just pushed")
    }

    fn process(&mut self) -> u64 {
        self.next_process += 1;
        self.next_process
    }

    pub fn run(mut self, steps: usize) -> History {
        for _ in 0..steps {
            self.step();
        }
        self.settle();
        self.final_reads();
        let settings = settings(self.acks);
        let header = Header {
            plimsoll: 1,
            promise: Promise::resolve(&settings, KILLS, false),
            topics: [(KEY.to_owned(), topic())].into(),
            clients: Default::default(),
            system: "model".to_owned(),
            seed: 0,
            extra: Default::default(),
        };
        History::new(Some(header), self.ops).expect("a well-formed history")
    }

    fn step(&mut self) {
        match self.chance.below(100) {
            0..30 => self.send(),
            30..60 => self.fetch(),
            60..80 => self.poll(),
            80..84 => self.fault(),
            84..88 => self.recover(),
            88..92 => self.shrink_or_expand(),
            92..95 => self.elect(),
            _ => self.give_up(),
        }
        self.advance();
    }

    /// A producer asks a node that believes that it leads.
    fn send(&mut self) {
        let believers: Vec<usize> = (0..NODES)
            .filter(|&n| !self.nodes[n].down && self.nodes[n].leader == n)
            .collect();
        if believers.is_empty() {
            return;
        }
        let node = believers[self.chance.below(believers.len())];
        let (process, value) = (self.process(), self.next_value);
        self.next_value += 1;
        self.send_op(process, OpType::Invoke, value, None);
        if self.acks == Acks::All && self.isr.len() < 2 && node == self.leader {
            return self.send_op(process, OpType::Fail, value, None);
        }
        let replica = &mut self.nodes[node];
        let offset = replica.log.len();
        replica.log.push((replica.epoch, value));
        let epoch = replica.epoch;
        let lost_reply = self.chance.in_hundred(5);
        match self.acks {
            _ if lost_reply => self.send_op(process, OpType::Info, value, None),
            Acks::All if !self.bug => self.waiting.push(Waiting {
                process,
                value,
                offset,
                node,
                epoch,
            }),
            _ => self.send_op(process, OpType::Ok, value, Some(offset)),
        }
    }

    fn send_op(&mut self, process: u64, kind: OpType, value: i64, offset: Option<usize>) {
        let offset = offset.map(|offset| offset as i64);
        let key = KEY.to_owned();
        let acks = if self.acks == Acks::All { -1 } else { 1 };
        let mops = Value::Send(vec![SendMop { key, offset, value }]);
        self.record(process, kind, "send", mops).acks = Some(acks);
    }

    /// A follower that reaches its leader truncates to the common point, learns
    /// the epoch and pulls something.
    fn fetch(&mut self) {
        let node = self.chance.below(NODES);
        if node == self.leader || !self.connected(node) || !self.connected(self.leader) {
            return;
        }
        let leader = self.nodes[self.leader].clone();
        let some = 1 + self.chance.below(4);
        let replica = &mut self.nodes[node];
        replica.epoch = self.epoch;
        replica.leader = self.leader;
        let same = replica
            .log
            .iter()
            .zip(&leader.log)
            .take_while(|(a, b)| a == b)
            .count();
        replica.log.truncate(same);
        replica.log.extend(leader.log.iter().skip(same).take(some));
        replica.hw = leader.hw.min(replica.log.len());
    }

    fn connected(&self, node: usize) -> bool {
        !self.nodes[node].down && !self.nodes[node].cut
    }

    /// The leader's watermark, and the answers that waited for it.
    fn advance(&mut self) {
        let least = self.isr.iter().map(|&n| self.common(n)).min().unwrap_or(0);
        let enough = self.isr.len() >= 2 || self.acks != Acks::All;
        let leader = &mut self.nodes[self.leader];
        if enough && !leader.down {
            leader.hw = leader.hw.max(least.min(leader.log.len()));
        }
        let (hw, epoch, at) = (leader.hw, self.epoch, self.leader);
        let waiting = std::mem::take(&mut self.waiting);
        for one in waiting {
            if one.node == at && one.epoch == epoch && one.offset < hw {
                self.send_op(one.process, OpType::Ok, one.value, Some(one.offset));
            } else {
                self.waiting.push(one);
            }
        }
    }

    /// How much of the leader's log a member of the in-sync set has.
    fn common(&self, node: usize) -> usize {
        let leader = &self.nodes[self.leader].log;
        self.nodes[node]
            .log
            .iter()
            .zip(leader)
            .take_while(|(a, b)| a == b)
            .count()
    }

    fn poll(&mut self) {
        let (consumer, node) = (self.chance.below(3), self.chance.below(NODES));
        let from = self.consumers[consumer];
        let process = self.process();
        self.begin_poll(process, from).client = Some(format!("r{consumer}"));
        if self.nodes[node].down || from > self.nodes[node].log.len() {
            self.record(process, OpType::Fail, "poll", Value::Poll(None));
            return;
        }
        let most = 1 + self.chance.below(6);
        let next = self.read(process, node, from, most, false);
        self.consumers[consumer] = next;
    }

    fn begin_poll(&mut self, process: u64, from: usize) -> &mut Op {
        let op = self.record(process, OpType::Invoke, "poll", Value::Poll(None));
        let asked = ReadInfo {
            from: from as i64,
            ..ReadInfo::default()
        };
        op.reads.insert(KEY.to_owned(), asked);
        op
    }

    /// Answers a read; gives the offset where the next one begins.
    fn read(
        &mut self,
        process: u64,
        node: usize,
        from: usize,
        most: usize,
        is_final: bool,
    ) -> usize {
        let replica = &self.nodes[node];
        let to = replica.hw.min(from + most).max(from);
        let records = (from..to).map(|o| (o as i64, replica.log[o].1)).collect();
        let info = ReadInfo {
            from: from as i64,
            hw: replica.hw as i64,
            log_start: 0,
            replica: node as i32,
            incarnation: replica.incarnation,
            // A follower's watermark may fall when it learns of an epoch.
            leader_epoch: if replica.leader == node {
                replica.epoch
            } else {
                -1
            },
            is_final,
        };
        let op = self.record(
            process,
            OpType::Ok,
            "poll",
            Value::Poll(Some([(KEY.to_owned(), records)].into())),
        );
        op.reads.insert(KEY.to_owned(), info);
        op.node = Some(format!("n{node}"));
        to
    }

    fn fault(&mut self) {
        let node = self.chance.below(NODES);
        if self.chance.in_hundred(50) {
            self.nodes[node].cut = true;
        } else {
            self.nodes[node].down = true;
        }
    }

    fn recover(&mut self) {
        let node = self.chance.below(NODES);
        let replica = &mut self.nodes[node];
        if replica.down {
            replica.incarnation += 1;
            // The checkpoint lies behind.
            replica.hw = replica.hw.saturating_sub(self.chance.below(3));
        }
        let replica = &mut self.nodes[node];
        (replica.down, replica.cut) = (false, false);
        if node == self.leader {
            replica.leader = node;
        }
    }

    fn shrink_or_expand(&mut self) {
        let node = self.chance.below(NODES);
        if node == self.leader || !self.connected(self.leader) {
            return;
        }
        // A new leader's watermark may lie below what was committed before it.
        let caught_up = self.common(node) >= self.nodes[self.leader].hw.max(self.epoch_start)
            && self.nodes[node].epoch == self.epoch
            && self.connected(node);
        if self.isr.contains(&node) {
            let lags =
                !self.connected(node) || self.common(node) < self.nodes[self.leader].log.len();
            if lags {
                self.isr.retain(|&member| member != node);
            }
        } else if caught_up {
            self.isr.push(node);
        }
    }

    /// The controller moves leadership to a live member of the in-sync set.
    fn elect(&mut self) {
        if self.connected(self.leader) && !self.chance.in_hundred(20) {
            return;
        }
        let live: Vec<usize> = self
            .isr
            .iter()
            .copied()
            .filter(|&n| n != self.leader && self.connected(n))
            .collect();
        if live.is_empty() {
            return;
        }
        let chosen = live[self.chance.below(live.len())];
        let old = self.leader;
        self.epoch += 1;
        self.epoch_start = self.nodes[chosen].log.len();
        self.leader = chosen;
        if !self.connected(old) {
            self.isr.retain(|&member| member != old);
        } else {
            // It learns at once, and truncates when it next fetches.
            self.nodes[old].leader = chosen;
            self.nodes[old].epoch = self.epoch;
        }
        self.nodes[chosen].leader = chosen;
        self.nodes[chosen].epoch = self.epoch;
    }

    /// A producer that has waited long enough does not know.
    fn give_up(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let which = self.chance.below(self.waiting.len());
        let one = self.waiting.swap_remove(which);
        self.send_op(one.process, OpType::Info, one.value, None);
    }

    fn settle(&mut self) {
        for node in 0..NODES {
            (self.nodes[node].down, self.nodes[node].cut) = (false, false);
        }
        let leader = self.leader;
        self.nodes[leader].leader = leader;
        while !self.waiting.is_empty() {
            self.give_up();
        }
        let process = self.process();
        let barrier = |offset| {
            let key = KEY.to_owned();
            Value::Send(vec![SendMop {
                key,
                offset,
                value: -1,
            }])
        };
        self.record(process, OpType::Invoke, "barrier", barrier(None))
            .acks = Some(-1);
        let offset = self.nodes[leader].log.len();
        self.nodes[leader].log.push((self.epoch, -1));
        self.isr = vec![0, 1, 2];
        let whole = self.nodes[leader].log.clone();
        for node in 0..NODES {
            self.nodes[node].log.clone_from(&whole);
            self.nodes[node].hw = whole.len();
        }
        self.record(process, OpType::Ok, "barrier", barrier(Some(offset as i64)))
            .acks = Some(-1);
    }

    fn final_reads(&mut self) {
        for node in 0..NODES {
            let end = self.nodes[node].log.len();
            let mut from = 0;
            while from < end {
                let process = self.process();
                self.begin_poll(process, from);
                from = self.read(process, node, from, 7, true);
            }
        }
    }
}

const KILLS: FaultClasses = FaultClasses {
    process: true,
    disk: false,
};

fn topic() -> TopicInfo {
    TopicInfo {
        replication_factor: NODES as u16,
        ..TopicInfo::default()
    }
}

pub fn settings(acks: Acks) -> Settings {
    Settings {
        acks,
        min_insync: if acks == Acks::All { 2 } else { 1 },
        replication_factor: NODES as u16,
        unclean_elections: false,
        flush: Flush::Never,
        elr: false,
        idempotent: false,
        retries: 0,
    }
}
