//! Ways in which a file goes wrong.

use super::chance::Chance;

/// Pieces of the formats, and what their readers might stumble on.
const TOKENS: [&[u8]; 58] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"#{",
    b"#_",
    b"#_ ",
    b"#tag ",
    b"#:n{",
    b"^",
    b"##Inf ",
    b"\"",
    b"\\",
    b"\\\"",
    b"\\u",
    b"\\ud800",
    b"\\a",
    b";",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b",",
    b":",
    b"nil",
    b"null",
    b"true",
    b"1N",
    b"1.5M",
    b"1/3",
    b"0x1f",
    b"-",
    b"+1",
    b"\xff",
    b"\xc3\xa9",
    b"\x00",
    b":process ",
    b":type ",
    b":f ",
    b":value ",
    b":invoke",
    b":ok",
    b":info",
    b":nemesis",
    b":timed-out",
    b"\"process\":",
    b"\"value\":",
    b"\"reads\":{\"a\":{}}",
    b"[[\"poll\",{\"a\":[[0,1]]}]]",
    b"[[:send \"a\" [0 1]]]",
    b"[[:poll {0 [[0 1]]}]]",
    b";; plimsoll {",
    b"INFO  jepsen.util - ",
    b"0\t:invoke\t:read\tnil",
    b":a/b",
    b"e",
];

/// Numbers at which arithmetic goes wrong.
const NUMBERS: [&[u8]; 12] = [
    b"-9223372036854775808",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"-1",
    b"0",
    b"-0",
    b"-0.0",
    b"4294967296",
    b"1e308",
    b"99999999999999999999999999999999999999999",
];

/// `input` with one thing changed.
pub fn mutate(input: &[u8], other: &[u8], chance: &mut Chance) -> Vec<u8> {
    match chance.below(9) {
        0 => flip(input, chance),
        1 => input[..chance.below(input.len() + 1)].to_vec(),
        2 => splice(input, other, chance),
        3 => number(input, chance),
        4 => lines(input, chance),
        5 => repeat(input, chance),
        6 => cut_out(input, chance),
        _ => insert(input, TOKENS[chance.below(TOKENS.len())], chance),
    }
}

fn flip(input: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = input.to_vec();
    let at = chance.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << chance.below(8);
    }
    bytes
}

fn insert(input: &[u8], token: &[u8], chance: &mut Chance) -> Vec<u8> {
    let at = chance.below(input.len() + 1);
    [&input[..at], token, &input[at..]].concat()
}

fn splice(input: &[u8], other: &[u8], chance: &mut Chance) -> Vec<u8> {
    let (end, begin) = (chance.below(input.len() + 1), chance.below(other.len() + 1));
    [&input[..end], &other[begin..]].concat()
}

/// A short piece many times, so that things nest or lengthen.
fn repeat(input: &[u8], chance: &mut Chance) -> Vec<u8> {
    let begin = chance.below(input.len() + 1);
    let end = (begin + 1 + chance.below(8)).min(input.len());
    let piece = input[begin..end].repeat(1 << chance.below(9));
    [&input[..begin], &piece, &input[end..]].concat()
}

fn cut_out(input: &[u8], chance: &mut Chance) -> Vec<u8> {
    let begin = chance.below(input.len() + 1);
    let end = (begin + 1 + chance.below(12)).min(input.len());
    [&input[..begin], &input[end..]].concat()
}

/// A nasty number in place of one that stands there.
fn number(input: &[u8], chance: &mut Chance) -> Vec<u8> {
    let begin = chance.below(input.len());
    let Some(found) = input.iter().skip(begin).position(u8::is_ascii_digit) else {
        return input.to_vec();
    };
    let at = begin + found;
    let digits = input[at..].iter().take_while(|byte| byte.is_ascii_digit());
    let end = at + digits.count();
    [
        &input[..at],
        NUMBERS[chance.below(NUMBERS.len())],
        &input[end..],
    ]
    .concat()
}

/// Drops, repeats or swaps a line.
fn lines(input: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = input.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let (one, other) = (chance.below(lines.len()), chance.below(lines.len()));
    match chance.below(3) {
        0 => _ = lines.remove(one),
        1 => lines.insert(one, lines[other]),
        _ => lines.swap(one, other),
    }
    lines.concat()
}
