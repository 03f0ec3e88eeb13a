//! EDN, Clojure's data notation, as Jepsen, Elle and Knossos write histories.
//!
//! # How EDN becomes JSON
//! | EDN | JSON |
//! |---|---|
//! | keyword `:a`, symbol `a`, string `"a"`, character `\a` | `"a"` |
//! | vector, list, set (in the order of the file) | array |
//! | map | object; keys that are no words become their text (`0` becomes `"0"`) |
//! | `nil`, `true`, `1`, `1N`, `1.5`, `1.5M`, `0x1f` | the same value |
//! | integers beyond 64 bits, ratios, longer decimals, `##Inf` | their text |
//! | `#tag form`, `^meta form` | `form` |
//! | `#_ form`, comments | nothing |
//!
//! A keyword and a string of one name are thus one value; so are `0` and `"0"`
//! as keys of maps, and a map that holds both is refused.
//!
//! # How JSON becomes EDN
//! Names of an op's fields, its `:type`, `:f` and `:nemesis`, and the names of
//! micro-operations (`:send`, `:poll`, `:append`, `:r`, `:w` at the head of a
//! list in the value's list) are keywords, as Elle and Knossos expect them.
//! Every other string stays a string, keys of nested maps among them. A header
//! is kept as a comment, `;; plimsoll {json}`, which other readers pass over.
//! So a history that goes from JSON lines to EDN and back is the same history.

mod atom;
mod cut;
mod parse;
mod reader;
mod text;
mod write;

pub use reader::EdnReader;
pub use write::{write_header, write_op};

pub(super) use parse::parse_value;

/// How deep forms may nest: with the op's own map, less than what the reader
/// of JSON permits.
const MAX_DEPTH: usize = 120;

/// What introduces the header in a comment.
const HEADER_MARK: &str = "; plimsoll {";

#[cfg(test)]
mod tests;
