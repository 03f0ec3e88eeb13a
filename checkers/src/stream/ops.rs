//! Ops of a history as the stream's events.

use serde_json::Value as Json;

use super::event::{Answer, Event, Kind};
use super::{LogStream, NOWHERE, client_number};
use crate::history::{Op, OpType, Process};

impl LogStream {
    /// Takes any op; ops with several parts need the whole history.
    pub fn push(&mut self, op: &Op) -> Result<(), String> {
        self.order(op.index, op.time)?;
        let Process::Client(process) = op.process else {
            self.nemesis(op);
            return Ok(());
        };
        let sends = op.value.sends();
        match op.f.as_str() {
            "send" | "barrier" if sends.len() == 1 => self.push_send(op, process),
            "poll" if op.value.polls() && op.reads.len() <= 1 => self.push_poll(op, process),
            "poll" if op.kind != OpType::Ok => self.push_poll(op, process),
            _ => {
                self.give_up("ops of several parts or of another kind");
                Ok(())
            }
        }
    }

    fn push_send(&mut self, op: &Op, process: u64) -> Result<(), String> {
        let Some(send) = op.value.sends().first() else {
            return Ok(());
        };
        let event = Event {
            time: op.time,
            process: client_number(process),
            partition: self.partition(&send.key),
            kind: match op.kind {
                OpType::Invoke => Kind::SendInvoked,
                OpType::Ok => Kind::SendOk,
                OpType::Fail => Kind::SendFailed,
                OpType::Info => Kind::SendUnknown,
            },
            acks: op.acks.and_then(|acks| i8::try_from(acks).ok()),
            barrier: op.f == "barrier",
            attempts: op
                .attempts
                .as_ref()
                .map_or(1, |tried| tried.len().min(65_535) as u16),
            value: send.value,
            offset: send.offset.unwrap_or(-1),
        };
        self.step(&event, op.index)
    }

    fn push_poll(&mut self, op: &Op, process: u64) -> Result<(), String> {
        let known = op.reads.iter().next();
        let mut event = Event {
            time: op.time,
            process: client_number(process),
            partition: known.map_or(NOWHERE, |(key, _)| self.partition(key)),
            kind: match op.kind {
                OpType::Invoke => Kind::ReadInvoked,
                OpType::Ok => Kind::ReadOk,
                OpType::Fail | OpType::Info => Kind::ReadFailed,
            },
            acks: None,
            barrier: false,
            attempts: 1,
            value: 0,
            offset: -1,
        };
        if op.kind != OpType::Ok {
            return self.step(&event, op.index);
        }
        let (Some((key, info)), false) = (known, op.extra.contains_key("rebalance-log")) else {
            self.give_up("reads that do not say where they began");
            event.kind = Kind::ReadFailed;
            return self.step(&event, op.index);
        };
        let answer = Answer {
            from: info.from,
            hw: info.hw,
            replica: info.replica,
            incarnation: info.incarnation,
            leader_epoch: info.leader_epoch,
            is_final: info.is_final,
        };
        let polled = op.value.polled();
        if polled.is_some_and(|polled| polled.keys().any(|other| other != key)) {
            self.give_up("ops of several parts or of another kind");
        }
        let records = polled
            .and_then(|polled| polled.get(key))
            .map_or(&[][..], Vec::as_slice);
        self.step_read(&event, op.index, &answer, records)
    }

    fn nemesis(&mut self, op: &Op) {
        let crate::history::Value::Other(Json::Object(fields)) = &op.value else {
            return;
        };
        if op.f == "stopped" {
            self.give_up("a run that was stopped before its time");
        }
        let phase = fields.get("phase").and_then(Json::as_str);
        self.faults += u64::from(phase == Some("installed"));
        if op.f == "settled" {
            let settled = fields
                .get("settled")
                .and_then(Json::as_bool)
                .unwrap_or(false);
            self.settled = Some(settled);
            for (key, left) in crate::facts::replicas_left(fields) {
                let number = self.partition(&key);
                if let Some(partition) = self.partitions.get_mut(number as usize) {
                    partition.replication_factor = Some(left);
                }
            }
            let claims = fields.get("two_leaders").and_then(Json::as_array);
            if claims.is_some_and(|claims| !claims.is_empty()) {
                self.suspect(
                    Some("two-leaders"),
                    "",
                    op.index,
                    "a broker leads an old epoch",
                );
            }
        }
    }
}
