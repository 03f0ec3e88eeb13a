//! Which format a file has, told by how it begins.

use super::Format;

/// How much of a file is looked at.
const HEAD: usize = 4096;

pub(super) fn sniff(head: &[u8]) -> Format {
    let head = &head[..head.len().min(HEAD)];
    let text = head.trim_ascii_start();
    match text.first() {
        Some(b'{') => sniff_map(&text[1..]),
        // A list of JSON objects is not read, but the reader of JSON says so best.
        Some(b'[') => match text[1..].trim_ascii_start() {
            [b'{', inside @ ..] => sniff_map(inside),
            _ => Format::Edn,
        },
        Some(b'(' | b';' | b'#' | b'^') => Format::Edn,
        // Not even a key-value history may begin with a word.
        _ if contains(text, b"jepsen.util - ") || text.starts_with(b"INFO ") => Format::EtcdLog,
        _ => Format::JsonLines,
    }
}

/// In JSON, a colon follows the first key; an EDN map may have strings as keys
/// too.
fn sniff_map(inside: &[u8]) -> Format {
    let inside = inside.trim_ascii_start();
    match inside.first() {
        Some(b'"') => {}
        Some(b'}') | None => return Format::JsonLines,
        Some(_) => return Format::Edn,
    }
    let mut escaped = false;
    let end = inside[1..].iter().position(|&byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    let Some(end) = end else {
        return Format::JsonLines;
    };
    match inside[end + 2..].trim_ascii_start().first() {
        Some(b':') | None => Format::JsonLines,
        Some(_) => Format::Edn,
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_the_format() {
        for (head, format) in [
            ("{\"process\":1}", Format::JsonLines),
            ("  { \"process\" : 1}", Format::JsonLines),
            ("{}", Format::JsonLines),
            ("", Format::JsonLines),
            ("nonsense", Format::JsonLines),
            ("{:process 1}", Format::Edn),
            ("{\"process\" 1}", Format::Edn),
            ("[{:process 1}]", Format::Edn),
            ("[\n{\"process\" 1}]", Format::Edn),
            ("[{\"process\": 1}]", Format::JsonLines),
            ("[]", Format::Edn),
            ("\n({:process 1})", Format::Edn),
            ("; a comment", Format::Edn),
            ("#jepsen.history.Op{:process 1}", Format::Edn),
            ("INFO  jepsen.util - 0\t:invoke", Format::EtcdLog),
            ("2015 WARN\nINFO  jepsen.util - 0\t:invoke", Format::EtcdLog),
        ] {
            assert_eq!(sniff(head.as_bytes()), format, "{head}");
        }
    }
}
