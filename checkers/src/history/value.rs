//! The payload of an op: micro-ops of the log workload, or anything else.
//!
//! Reading never guesses: a value that is not entirely made of sends and polls
//! is kept as it was (`Other`).

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::words::{AnyValue, Shown};

/// Records of one read by partition key: (offset, value) in the reply's order.
pub type Records = BTreeMap<String, Vec<(i64, i64)>>;

/// One append of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendMop {
    /// Partition key, `topic-number`.
    pub key: String,
    /// Offset that the acknowledgement named.
    pub offset: Option<i64>,
    /// The record's value, unique in its partition.
    pub value: i64,
}

/// What an op asked for or got.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value {
    /// Nothing was recorded.
    #[default]
    None,
    /// `[["send", key, v]]`, completed as `[["send", key, [offset, v]]]`.
    Send(Vec<SendMop>),
    /// `[["poll"]]`, completed as `[["poll", {key: [[offset, v], ...]}]]`.
    Poll(Option<Records>),
    /// A transaction of both kinds.
    Txn(Box<Txn>),
    /// Whatever else.
    Other(serde_json::Value),
}

/// A transaction that sends and polls: its micro-ops in their order, and what follows from them.
#[derive(Debug, Clone, PartialEq)]
pub struct Txn {
    mops: Vec<Mop>,
    sends: Vec<SendMop>,
    polled: Option<Records>,
}

impl Txn {
    /// A transaction of these micro-ops.
    pub fn new(mops: Vec<Mop>) -> Self {
        let mut txn = Self {
            sends: Vec::new(),
            polled: None,
            mops: Vec::new(),
        };
        for mop in &mops {
            match mop {
                Mop::Send(send) => txn.sends.push(send.clone()),
                Mop::Poll(None) => {}
                Mop::Poll(Some(records)) => {
                    let polled = txn.polled.get_or_insert_default();
                    for (key, list) in records {
                        polled.entry(key.clone()).or_default().extend(list);
                    }
                }
            }
        }
        txn.mops = mops;
        txn
    }

    /// The micro-ops in their order.
    pub fn mops(&self) -> &[Mop] {
        &self.mops
    }
}

impl Value {
    /// What was sent.
    pub fn sends(&self) -> &[SendMop] {
        match self {
            Value::Send(sends) => sends,
            Value::Txn(txn) => &txn.sends,
            _ => &[],
        }
    }

    /// What was read, several polls of one op joined.
    pub fn polled(&self) -> Option<&Records> {
        match self {
            Value::Poll(records) => records.as_ref(),
            Value::Txn(txn) => txn.polled.as_ref(),
            _ => None,
        }
    }

    /// Whether the op polls at all.
    pub fn polls(&self) -> bool {
        match self {
            Value::Poll(_) => true,
            Value::Txn(txn) => txn.mops.iter().any(|mop| matches!(mop, Mop::Poll(_))),
            _ => false,
        }
    }

    /// Reads the JSON text of a value.
    pub(super) fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        if text == "null" {
            return Ok(Value::None);
        }
        if looks_like_mops(text)
            && let Ok(Mops(value)) = serde_json::from_str::<Mops>(text)
        {
            return Ok(value);
        }
        Ok(Value::Other(serde_json::from_str(text)?))
    }
}

/// A cheap refusal, so that most foreign values are parsed once only.
fn looks_like_mops(text: &str) -> bool {
    let head: String = text
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .take(4)
        .collect();
    head == "[[\"s" || head == "[[\"p"
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::None => serializer.serialize_none(),
            Value::Other(value) => value.serialize(serializer),
            Value::Send(mops) => serializer.collect_seq(mops),
            Value::Poll(None) => serializer.collect_seq([("poll",)]),
            Value::Poll(Some(records)) => serializer.collect_seq([("poll", Keyed(records))]),
            Value::Txn(txn) => serializer.collect_seq(&txn.mops),
        }
    }
}

impl Serialize for Mop {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Mop::Send(send) => send.serialize(serializer),
            Mop::Poll(None) => ("poll",).serialize(serializer),
            Mop::Poll(Some(records)) => ("poll", Keyed(records)).serialize(serializer),
        }
    }
}

/// Records as JSON has them, words as words.
struct Keyed<'a>(&'a Records);

impl Serialize for Keyed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, list)| (key, List(list))))
    }
}

struct List<'a>(&'a [(i64, i64)]);

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|&(offset, value)| (offset, Shown(value))))
    }
}

impl Serialize for SendMop {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut mop = serializer.serialize_tuple(3)?;
        mop.serialize_element("send")?;
        mop.serialize_element(&self.key)?;
        match self.offset {
            Some(offset) => mop.serialize_element(&(offset, Shown(self.value)))?,
            None => mop.serialize_element(&Shown(self.value))?,
        }
        mop.end()
    }
}

/// A non-empty list of micro-ops.
struct Mops(Value);

impl<'de> Deserialize<'de> for Mops {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MopList;
        impl<'de> Visitor<'de> for MopList {
            type Value = Mops;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of sends or of polls")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Mops, A::Error> {
                let mut value = Value::None;
                while let Some(mop) = seq.next_element::<Mop>()? {
                    match join(value, mop) {
                        Ok(joined) => value = joined,
                        Err(mut mops) => {
                            while let Some(mop) = seq.next_element::<Mop>()? {
                                mops.push(mop);
                            }
                            return Ok(Mops(Value::Txn(Box::new(Txn::new(mops)))));
                        }
                    }
                }
                Ok(Mops(value))
            }
        }
        deserializer.deserialize_seq(MopList)
    }
}

/// Several polls of one op are one poll whose lists follow each other. Sends
/// and polls do not join: then the micro-ops so far come back.
fn join(value: Value, mop: Mop) -> Result<Value, Vec<Mop>> {
    match (value, mop) {
        (Value::Send(mut sends), Mop::Send(send)) => {
            sends.push(send);
            Ok(Value::Send(sends))
        }
        (Value::Send(sends), poll) => {
            let mut mops: Vec<Mop> = sends.into_iter().map(Mop::Send).collect();
            mops.push(poll);
            Err(mops)
        }
        (Value::Poll(records), Mop::Send(send)) => Err(vec![Mop::Poll(records), Mop::Send(send)]),
        (Value::Poll(records), Mop::Poll(None)) => Ok(Value::Poll(records)),
        (Value::Poll(Some(mut records)), Mop::Poll(Some(more))) => {
            for (key, list) in more {
                records.entry(key).or_default().extend(list);
            }
            Ok(Value::Poll(Some(records)))
        }
        (_, Mop::Poll(records)) => Ok(Value::Poll(records)),
        (_, Mop::Send(send)) => Ok(Value::Send(vec![send])),
    }
}

/// One micro-op.
#[derive(Debug, Clone, PartialEq)]
pub enum Mop {
    /// One record appended.
    Send(SendMop),
    /// Some records read.
    Poll(Option<Records>),
}

impl<'de> Deserialize<'de> for Mop {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneMop;
        impl<'de> Visitor<'de> for OneMop {
            type Value = Mop;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("[\"send\", key, value] or [\"poll\", records]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Mop, A::Error> {
                let name: &str = seq.next_element()?.unwrap_or_default();
                let mop = match name {
                    "send" => read_send(&mut seq)?,
                    "poll" => Mop::Poll(seq.next_element_seed(KeyedRecords)?.flatten()),
                    _ => return Err(de::Error::custom("neither send nor poll")),
                };
                match seq.next_element::<de::IgnoredAny>()? {
                    None => Ok(mop),
                    Some(_) => Err(de::Error::custom("too many parts in a micro-op")),
                }
            }
        }
        deserializer.deserialize_seq(OneMop)
    }
}

fn read_send<'de, A: SeqAccess<'de>>(seq: &mut A) -> Result<Mop, A::Error> {
    let missing = || de::Error::custom("a send without key or value");
    let Key(key) = seq.next_element()?.ok_or_else(missing)?;
    let Sent { offset, value } = seq.next_element()?.ok_or_else(missing)?;
    Ok(Mop::Send(SendMop { key, offset, value }))
}

/// A partition key; foreign histories also use numbers.
struct Key(String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyKey;
        impl Visitor<'_> for AnyKey {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a partition key")
            }

            fn visit_str<E: de::Error>(self, key: &str) -> Result<Key, E> {
                Ok(Key(key.to_owned()))
            }

            fn visit_i64<E: de::Error>(self, key: i64) -> Result<Key, E> {
                Ok(Key(key.to_string()))
            }

            fn visit_u64<E: de::Error>(self, key: u64) -> Result<Key, E> {
                Ok(Key(key.to_string()))
            }
        }
        deserializer.deserialize_any(AnyKey)
    }
}

/// `v` or `[offset, v]`.
struct Sent {
    offset: Option<i64>,
    value: i64,
}

impl Sent {
    fn alone(Shown(value): Shown) -> Self {
        Self {
            offset: None,
            value,
        }
    }
}

impl<'de> Deserialize<'de> for Sent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnySent;
        impl<'de> Visitor<'de> for AnySent {
            type Value = Sent;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer or [offset, integer]")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Sent, E> {
                AnyValue.visit_i64(value).map(Sent::alone)
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Sent, E> {
                AnyValue.visit_u64(value).map(Sent::alone)
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Sent, E> {
                AnyValue.visit_str(word).map(Sent::alone)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Sent, A::Error> {
                let offset: Option<i64> = seq.next_element()?.flatten();
                let Shown(value) = seq
                    .next_element()?
                    .ok_or_else(|| de::Error::custom("an offset without a value"))?;
                match seq.next_element::<de::IgnoredAny>()? {
                    None => Ok(Sent { offset, value }),
                    Some(_) => Err(de::Error::custom("more than offset and value")),
                }
            }
        }
        deserializer.deserialize_any(AnySent)
    }
}

/// `{key: [[offset, value], ...]}` or null.
struct KeyedRecords;

impl<'de> DeserializeSeed<'de> for KeyedRecords {
    type Value = Option<Records>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for KeyedRecords {
    type Value = Option<Records>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("records by partition key")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut records = Records::new();
        while let Some((key, list)) = map.next_entry::<String, Vec<(i64, Shown)>>()? {
            let list = list
                .into_iter()
                .map(|(offset, Shown(value))| (offset, value));
            records.entry(key).or_default().extend(list);
        }
        Ok(Some(records))
    }
}
