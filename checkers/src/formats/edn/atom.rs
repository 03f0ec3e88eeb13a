//! Keywords, symbols and numbers of EDN.
//!
//! A number that JSON cannot hold exactly is kept as its text: two values that
//! differ must not become one.

use serde_json::{Number, Value as Json};

/// Decimal digits that any number keeps on its way through a 64-bit float.
const EXACT_DIGITS: usize = 15;

/// Whether `c` ends a token.
pub(super) fn delimits(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            ',' | '(' | ')' | '[' | ']' | '{' | '}' | '"' | ';' | '\\' | '^' | '@' | '`'
        )
}

pub(super) fn special(name: &str) -> bool {
    matches!(name, "Inf" | "-Inf" | "NaN")
}

/// `:name` or `:space/name`, without the colon.
pub(super) fn keyword(token: &str) -> Result<&str, String> {
    match &token[1..] {
        "" | ":" => Err("a colon without a name".to_owned()),
        name => Ok(name),
    }
}

pub(super) fn symbol(token: &str) -> Result<Json, String> {
    match token {
        "nil" => Ok(Json::Null),
        "true" => Ok(Json::Bool(true)),
        "false" => Ok(Json::Bool(false)),
        "'" | "~" => Err(format!("\"{token}\" is code, not data")),
        name => Ok(Json::from(name)),
    }
}

/// An integer, a float, a ratio or an exact decimal.
pub(super) fn number(token: &str) -> Result<Json, String> {
    let unsigned = token.trim_start_matches(['+', '-']);
    if token.len() > unsigned.len() + 1 {
        return Err(format!("{} is no number", shown(token)));
    }
    if let Some(hex) = unsigned.strip_prefix("0x") {
        return hexadecimal(token, hex);
    }
    if let Some((over, under)) = unsigned.split_once('/') {
        return match all_digits(over) && all_digits(under) {
            true => Ok(Json::from(token)),
            false => Err(format!("{} is no ratio", shown(token))),
        };
    }
    let whole = unsigned.strip_suffix('N').unwrap_or(unsigned);
    if all_digits(whole) {
        return integer(token, whole);
    }
    decimal(token, unsigned)
}

fn integer(token: &str, digits: &str) -> Result<Json, String> {
    if digits.len() > 1 && digits.starts_with('0') {
        return Err(format!("{} begins with a zero", shown(token)));
    }
    let signed = token.trim_end_matches('N').trim_start_matches('+');
    if let Ok(number) = signed.parse::<i64>() {
        return Ok(Json::from(number));
    }
    match signed.parse::<u64>() {
        Ok(number) => Ok(Json::from(number)),
        Err(_) => Ok(Json::from(signed)),
    }
}

fn hexadecimal(token: &str, hex: &str) -> Result<Json, String> {
    let digits = !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    match u64::from_str_radix(hex, 16) {
        Ok(number) if digits && !token.starts_with('-') => Ok(Json::from(number)),
        _ if digits => Ok(Json::from(token)),
        _ => Err(format!("{} is no number", shown(token))),
    }
}

fn decimal(token: &str, unsigned: &str) -> Result<Json, String> {
    let (text, exact) = match token.strip_suffix('M') {
        Some(text) => (text, true),
        None => (token, false),
    };
    let only = |byte: u8| byte.is_ascii_digit() || b".eE+-".contains(&byte);
    let float = match unsigned.trim_end_matches('M').bytes().all(only) {
        true => text.parse::<f64>().ok(),
        false => None,
    };
    let Some(float) = float else {
        return Err(format!("{} is no number", shown(token)));
    };
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    match Number::from_f64(float) {
        Some(number) if !exact || digits <= EXACT_DIGITS => Ok(Json::Number(number)),
        _ => Ok(Json::from(token)),
    }
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// So much of a token as a message can carry, in quotes.
pub(super) fn shown(token: &str) -> String {
    match token.char_indices().nth(40) {
        Some((end, _)) => format!("\"{}...\"", &token[..end]),
        None => format!("\"{token}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_keep_their_value_or_their_text() {
        for (token, expected) in [
            ("0", json!(0)),
            ("+7", json!(7)),
            ("-7", json!(-7)),
            ("1N", json!(1)),
            ("0x1f", json!(31)),
            ("9223372036854775808", json!(9_223_372_036_854_775_808_u64)),
            ("18446744073709551616", json!("18446744073709551616")),
            ("-9223372036854775809N", json!("-9223372036854775809")),
            ("1.5", json!(1.5)),
            ("-1e3", json!(-1000.0)),
            ("1.5M", json!(1.5)),
            ("0.12345678901234567M", json!("0.12345678901234567M")),
            ("1e400", json!("1e400")),
            ("1/3", json!("1/3")),
        ] {
            assert_eq!(number(token), Ok(expected), "{token}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for token in [
            "12abc", "1/", "017", "1.2.3", "0x", "1e", "--1", "+-1", "1NN",
        ] {
            assert!(number(token).is_err(), "{token}");
        }
    }
}
