//! The payload of an op: micro-ops of the log workload, or anything else.
//!
//! Reading never guesses: a value that is not entirely made of sends, or
//! entirely of polls, is kept as it was (`Other`).

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
    /// Whatever else.
    Other(serde_json::Value),
}

impl Value {
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
            Value::Poll(Some(records)) => serializer.collect_seq([("poll", records)]),
        }
    }
}

impl Serialize for SendMop {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut mop = serializer.serialize_tuple(3)?;
        mop.serialize_element("send")?;
        mop.serialize_element(&self.key)?;
        match self.offset {
            Some(offset) => mop.serialize_element(&(offset, self.value))?,
            None => mop.serialize_element(&self.value)?,
        }
        mop.end()
    }
}

/// A non-empty list of micro-ops of one kind.
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
                    value = join(value, mop).ok_or_else(|| de::Error::custom("mixed micro-ops"))?;
                }
                Ok(Mops(value))
            }
        }
        deserializer.deserialize_seq(MopList)
    }
}

/// Several polls of one op are one poll whose lists follow each other.
fn join(value: Value, mop: Mop) -> Option<Value> {
    match (value, mop) {
        (Value::None, Mop::Send(send)) => Some(Value::Send(vec![send])),
        (Value::Send(mut sends), Mop::Send(send)) => {
            sends.push(send);
            Some(Value::Send(sends))
        }
        (Value::None | Value::Poll(None), Mop::Poll(records)) => Some(Value::Poll(records)),
        (Value::Poll(records), Mop::Poll(None)) => Some(Value::Poll(records)),
        (Value::Poll(Some(mut records)), Mop::Poll(Some(more))) => {
            for (key, list) in more {
                records.entry(key).or_default().extend(list);
            }
            Some(Value::Poll(Some(records)))
        }
        _ => None,
    }
}

enum Mop {
    Send(SendMop),
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

impl<'de> Deserialize<'de> for Sent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnySent;
        impl<'de> Visitor<'de> for AnySent {
            type Value = Sent;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer or [offset, integer]")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Sent, E> {
                Ok(Sent {
                    offset: None,
                    value,
                })
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Sent, E> {
                let value = i64::try_from(value).map_err(E::custom)?;
                self.visit_i64(value)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Sent, A::Error> {
                let offset: Option<i64> = seq.next_element()?.flatten();
                let value = seq
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
        while let Some((key, list)) = map.next_entry::<String, Vec<(i64, i64)>>()? {
            records.entry(key).or_default().extend(list);
        }
        Ok(Some(records))
    }
}
