//! One recorded event, and its form as a line of JSON.
//!
//! Unknown fields of a line are kept in `extra` and written back.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Map;
use serde_json::value::RawValue;

use super::{Process, ReadInfo, Value};

/// An event's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpType {
    /// The op begins.
    Invoke,
    /// It certainly took effect.
    Ok,
    /// It certainly did not.
    Fail,
    /// Unknown; also every line of the nemesis.
    Info,
}

/// How one attempt of an op ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Acknowledged.
    Ok,
    /// Certainly not done.
    Fail,
    /// Unknown.
    Info,
}

/// One request of an op that was sent more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Node that was asked.
    pub node: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What was answered, where it was an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it was sent, in nanoseconds since the run's start.
    #[serde(default)]
    pub time: u64,
}

/// One event of the history.
#[derive(Debug, Clone, PartialEq)]
pub struct Op {
    /// Position in the recorder's order.
    pub index: u64,
    /// Nanoseconds since the run's start.
    pub time: u64,
    /// Who.
    pub process: Process,
    /// `type` in JSON.
    pub kind: OpType,
    /// What: `send`, `poll`, `barrier`, a fault, ...
    pub f: String,
    /// With what.
    pub value: Value,
    /// Why not, where it failed or is unknown.
    pub error: Option<String>,
    /// The node that was asked.
    pub node: Option<String>,
    /// Stable name of the client behind the process.
    pub client: Option<String>,
    /// acks of a send: 0, 1 or -1.
    pub acks: Option<i16>,
    /// Requests of this op, where it could be sent more than once.
    pub attempts: Option<Vec<Attempt>>,
    /// Circumstances of reads by partition key.
    pub reads: BTreeMap<String, ReadInfo>,
    /// Fields that this version does not know.
    pub extra: Map<String, serde_json::Value>,
}

impl Op {
    /// An op with nothing but what every line has.
    pub fn new(process: Process, kind: OpType, f: impl Into<String>, value: Value) -> Self {
        Self {
            index: 0,
            time: 0,
            process,
            kind,
            f: f.into(),
            value,
            error: None,
            node: None,
            client: None,
            acks: None,
            attempts: None,
            reads: BTreeMap::new(),
            extra: Map::new(),
        }
    }

    /// Appends this op as one line of JSON, newline included.
    pub fn write_json_line(&self, line: &mut Vec<u8>) {
        let start = line.len();
        if serde_json::to_writer(&mut *line, self).is_err() {
            // Only a map with non-string keys or a failing writer can end
            // here, and neither exists; a half line would be worse than none.
            line.truncate(start);
            return;
        }
        line.push(b'\n');
    }
}

impl Serialize for Op {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("index", &self.index)?;
        map.serialize_entry("time", &self.time)?;
        map.serialize_entry("process", &self.process)?;
        map.serialize_entry("type", &self.kind)?;
        map.serialize_entry("f", &self.f)?;
        map.serialize_entry("value", &self.value)?;
        optional(&mut map, "error", &self.error)?;
        optional(&mut map, "node", &self.node)?;
        optional(&mut map, "client", &self.client)?;
        optional(&mut map, "acks", &self.acks)?;
        optional(&mut map, "attempts", &self.attempts)?;
        if !self.reads.is_empty() {
            map.serialize_entry("reads", &self.reads)?;
        }
        for (name, value) in &self.extra {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

fn optional<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &'static str,
    value: &Option<T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, value),
        None => Ok(()),
    }
}

/// A line as read: position and time may be missing in foreign histories.
pub(super) struct Line {
    pub index: Option<u64>,
    pub time: Option<u64>,
    pub op: Op,
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Line;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an operation")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
        let (mut index, mut time) = (None, None);
        let (mut process, mut kind, mut f) = (None, None, None);
        let mut op = Op::new(Process::Nemesis, OpType::Info, String::new(), Value::None);
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "index" => index = map.next_value()?,
                "time" => time = map.next_value()?,
                "process" => process = Some(map.next_value()?),
                "type" => kind = Some(map.next_value()?),
                "f" => f = map.next_value()?,
                "value" => op.value = read_value(&mut map)?,
                "error" => op.error = map.next_value::<AnyText>()?.0,
                "node" => op.node = map.next_value()?,
                "client" => op.client = map.next_value()?,
                "acks" => op.acks = map.next_value()?,
                "attempts" => op.attempts = map.next_value()?,
                "reads" => op.reads = map.next_value()?,
                _ => {
                    op.extra.insert(name, map.next_value()?);
                }
            }
        }
        op.process = process.ok_or_else(|| de::Error::missing_field("process"))?;
        op.kind = kind.ok_or_else(|| de::Error::missing_field("type"))?;
        op.f = f.unwrap_or_default();
        Ok(Line { index, time, op })
    }
}

fn read_value<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Value, A::Error> {
    let text: &RawValue = map.next_value()?;
    Value::from_json(text.get()).map_err(de::Error::custom)
}

/// An error as text; foreign histories also carry lists or maps there.
struct AnyText(Option<String>);

impl<'de> Deserialize<'de> for AnyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(AnyText(
            match serde_json::Value::deserialize(deserializer)? {
                serde_json::Value::Null => None,
                serde_json::Value::String(text) => Some(text),
                other => Some(other.to_string()),
            },
        ))
    }
}
