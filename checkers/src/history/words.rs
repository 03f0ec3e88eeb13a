//! Values that are short words, carried as integers.
//!
//! Our own records hold integers; other recorders also write words. A word of at most seven bytes
//! fits into an integer of its own range (far below any number that a recorder counts to) and back,
//! so that tables stay tables of integers and no dictionary has to travel with them.

/// The longest word, in bytes.
pub const MAX_WORD_BYTES: usize = 7;

/// The top byte of a word: this and its length.
const TAG: u8 = 0x80;

/// The integer that stands for `word`, where it is short enough.
pub fn encode(word: &str) -> Option<i64> {
    let bytes = word.as_bytes();
    if bytes.is_empty() || bytes.len() > MAX_WORD_BYTES {
        return None;
    }
    let mut packed = [0_u8; 8];
    packed[0] = TAG | bytes.len() as u8;
    packed[1..=bytes.len()].copy_from_slice(bytes);
    Some(i64::from_be_bytes(packed))
}

/// The word that `value` stands for, if it is one.
pub fn decode(value: i64) -> Option<String> {
    if !is_word(value) {
        return None;
    }
    let packed = value.to_be_bytes();
    let length = usize::from(packed[0] & !TAG);
    let word = std::str::from_utf8(packed.get(1..=length)?).ok()?;
    Some(word.to_owned())
}

/// Whether an integer lies in the range of words, which plain numbers may not use.
#[inline]
pub fn is_word(value: i64) -> bool {
    let top = value.to_be_bytes()[0];
    (TAG + 1..=TAG + MAX_WORD_BYTES as u8).contains(&top)
}

/// A value as a person reads it.
pub fn shown(value: i64) -> String {
    decode(value).unwrap_or_else(|| value.to_string())
}

/// A value as JSON has it: a number, or the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown(pub i64);

impl serde::Serialize for Shown {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match decode(self.0) {
            Some(word) => serializer.serialize_str(&word),
            None => serializer.serialize_i64(self.0),
        }
    }
}

/// Reads a number or a word.
impl<'de> serde::Deserialize<'de> for Shown {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

/// Reads a number or a word.
pub(crate) struct AnyValue;

impl serde::de::Visitor<'_> for AnyValue {
    type Value = Shown;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a 64-bit integer or a word of at most seven bytes")
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Shown, E> {
        match is_word(value) {
            true => Err(E::custom("an integer in the range of words")),
            false => Ok(Shown(value)),
        }
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Shown, E> {
        i64::try_from(value).map(Shown).map_err(E::custom)
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Shown, E> {
        let value = encode(word);
        value
            .map(Shown)
            .ok_or_else(|| E::invalid_length(word.len(), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_words_come_back_and_numbers_stay_numbers() {
        for word in ["a", "abcdefg", "é", "0"] {
            assert_eq!(decode(encode(word).unwrap()).as_deref(), Some(word));
        }
        for number in [i64::MIN, -1, 0, 17, i64::MAX] {
            assert_eq!(decode(number), None);
        }
        assert_eq!(encode(""), None);
        assert_eq!(encode("abcdefgh"), None);
    }
}
