//! Histories as EDN, one op map a line, as Jepsen's `history.edn`.

use std::fmt::Write;

use serde_json::{Map, Value as Json};

use super::HEADER_MARK;
use crate::history::{Header, Op};

/// Fields that come first, in Jepsen's order.
const FIRST: [&str; 6] = ["index", "time", "process", "type", "f", "value"];

/// Names of micro-operations, of ours and of Elle's.
const MOPS: [&str; 5] = ["send", "poll", "append", "r", "w"];

/// Appends the header as a comment that other readers pass over.
pub fn write_header(header: &Header, out: &mut String) {
    if let Ok(json) = serde_json::to_string(header) {
        out.push(';');
        out.push_str(HEADER_MARK.trim_end_matches('{'));
        out.push_str(&json);
        out.push('\n');
    }
}

/// Appends one op as a map on a line of its own.
pub fn write_op(op: &Op, out: &mut String) {
    let Ok(Json::Object(mut fields)) = serde_json::to_value(op) else {
        // An op always serializes as an object; see `Op::write_json_line`.
        return;
    };
    out.push('{');
    let mut separator = "";
    for name in FIRST {
        if let Some(value) = fields.remove(name) {
            out.push_str(separator);
            separator = ", ";
            out.push(':');
            out.push_str(name);
            out.push(' ');
            write_field(name, &value, out);
        }
    }
    for (name, value) in &fields {
        out.push_str(", ");
        write_name(name, out);
        out.push(' ');
        write_form(value, out);
    }
    out.push_str("}\n");
}

fn write_field(name: &str, value: &Json, out: &mut String) {
    match (name, value) {
        ("type" | "f" | "process", Json::String(word)) => write_name(word, out),
        ("value", Json::Array(list)) => write_mops(list, out),
        _ => write_form(value, out),
    }
}

/// A list of micro-ops, whose names are keywords, or any other list.
fn write_mops(list: &[Json], out: &mut String) {
    write_sequence(list, out, |one, out| match one {
        Json::Array(mop) => match mop.split_first() {
            Some((Json::String(name), rest)) if MOPS.contains(&name.as_str()) => {
                out.push_str("[:");
                out.push_str(name);
                for part in rest {
                    out.push(' ');
                    write_form(part, out);
                }
                out.push(']');
            }
            _ => write_form(one, out),
        },
        _ => write_form(one, out),
    });
}

fn write_sequence(list: &[Json], out: &mut String, each: impl Fn(&Json, &mut String)) {
    out.push('[');
    for (position, one) in list.iter().enumerate() {
        if position > 0 {
            out.push(' ');
        }
        each(one, out);
    }
    out.push(']');
}

fn write_form(value: &Json, out: &mut String) {
    match value {
        Json::Null => out.push_str("nil"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        // A string takes whatever is written to it.
        Json::Number(number) => drop(write!(out, "{number}")),
        Json::String(text) => write_string(text, out),
        Json::Array(list) => write_sequence(list, out, write_form),
        Json::Object(map) => write_map(map, out),
    }
}

fn write_map(map: &Map<String, Json>, out: &mut String) {
    out.push('{');
    let mut separator = "";
    for (name, value) in map {
        out.push_str(separator);
        separator = ", ";
        write_string(name, out);
        out.push(' ');
        write_form(value, out);
    }
    out.push('}');
}

/// A keyword, where the word can be one.
fn write_name(word: &str, out: &mut String) {
    if is_keyword(word) {
        out.push(':');
        out.push_str(word);
    } else {
        write_string(word, out);
    }
}

fn is_keyword(word: &str) -> bool {
    let begins = word
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic());
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.*+!?$&=<>".contains(&byte);
    begins && word.bytes().all(inside)
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}
