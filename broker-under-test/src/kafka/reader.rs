//! Reads the primitive types of Kafka's protocol from bytes that nobody vouches for.
//!
//! No count or length from the wire is believed beyond the bytes that are left, and nothing is
//! allocated by one: a list grows as its elements are read.

use bytes::Bytes;
use thiserror::Error;

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// The message ends within a field.
    #[error("the message ends within {0}")]
    Short(&'static str),
    /// A length or count that cannot be.
    #[error("{what} has length {length}, but {left} bytes are left")]
    Length {
        /// Of what.
        what: &'static str,
        /// What the message says.
        length: i64,
        /// What is left of it.
        left: usize,
    },
    /// A string that is not UTF-8.
    #[error("{0} is not UTF-8")]
    Utf8(&'static str),
    /// A field that must not be null.
    #[error("{0} is null")]
    Null(&'static str),
    /// A number that stands for nothing.
    #[error("{0} is {1}, which stands for nothing")]
    Value(&'static str, i64),
    /// Bytes behind the end of the message.
    #[error("{0} bytes are left over")]
    Trailing(usize),
}

/// Reads one message from front to back.
#[derive(Debug)]
pub struct Reader {
    bytes: Bytes,
    at: usize,
    /// Whether lengths are compact and structures have tagged fields.
    flexible: bool,
}

macro_rules! fixed {
    ($($name:ident: $type:ty),*) => {$(
        #[doc = concat!("Reads a big-endian ", stringify!($type), ".")]
        ///
        /// # Errors
        /// Where the message ends before.
        pub fn $name(&mut self, what: &'static str) -> Result<$type, WireError> {
            const SIZE: usize = size_of::<$type>();
            let mut raw = [0; SIZE];
            raw.copy_from_slice(self.take(SIZE, what)?);
            Ok(<$type>::from_be_bytes(raw))
        }
    )*};
}

impl Reader {
    /// Begins to read `bytes`.
    #[must_use]
    pub fn new(bytes: Bytes, flexible: bool) -> Self {
        Self {
            bytes,
            at: 0,
            flexible,
        }
    }

    /// Switches between classic and flexible encoding, as between header and body.
    pub fn set_flexible(&mut self, flexible: bool) {
        self.flexible = flexible;
    }

    fixed! { i8: i8, i16: i16, i32: i32, i64: i64, u128: u128 }

    /// Bytes not read yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn take(&mut self, n: usize, what: &'static str) -> Result<&[u8], WireError> {
        if n > self.left() {
            return Err(WireError::Short(what));
        }
        let taken = &self.bytes[self.at..self.at + n];
        self.at += n;
        Ok(taken)
    }

    /// Reads a boolean.
    ///
    /// # Errors
    /// Where the message ends before.
    pub fn bool(&mut self, what: &'static str) -> Result<bool, WireError> {
        Ok(self.i8(what)? != 0)
    }

    /// Reads an unsigned varint of at most five bytes.
    ///
    /// # Errors
    /// Where the message ends before, or the number goes on.
    pub fn varint(&mut self, what: &'static str) -> Result<u32, WireError> {
        let mut value = 0_u64;
        for shift in (0..35).step_by(7) {
            let byte = self.i8(what)?.cast_unsigned();
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).map_err(|_| WireError::Short(what));
            }
        }
        Err(WireError::Short(what))
    }

    /// A length that the bytes left can hold; none for null.
    fn length(&mut self, wide: bool, what: &'static str) -> Result<Option<usize>, WireError> {
        let length = match (self.flexible, wide) {
            (true, _) => i64::from(self.varint(what)?) - 1,
            (false, true) => i64::from(self.i32(what)?),
            (false, false) => i64::from(self.i16(what)?),
        };
        if length == -1 {
            return Ok(None);
        }
        let left = self.left();
        match usize::try_from(length) {
            Ok(length) if length <= left => Ok(Some(length)),
            _ => Err(WireError::Length { what, length, left }),
        }
    }

    /// Reads a string or null.
    ///
    /// # Errors
    /// Where the message ends before, or it is not UTF-8.
    pub fn nullable_string(&mut self, what: &'static str) -> Result<Option<String>, WireError> {
        let Some(length) = self.length(false, what)? else {
            return Ok(None);
        };
        let raw = self.take(length, what)?;
        let text = std::str::from_utf8(raw).map_err(|_| WireError::Utf8(what))?;
        Ok(Some(text.to_owned()))
    }

    /// Reads a string.
    ///
    /// # Errors
    /// As [`Reader::nullable_string`], or where it is null.
    pub fn string(&mut self, what: &'static str) -> Result<String, WireError> {
        self.nullable_string(what)?.ok_or(WireError::Null(what))
    }

    /// Reads bytes or null, without copying them.
    ///
    /// # Errors
    /// Where the message ends before.
    pub fn nullable_bytes(&mut self, what: &'static str) -> Result<Option<Bytes>, WireError> {
        let Some(length) = self.length(true, what)? else {
            return Ok(None);
        };
        let taken = self.bytes.slice(self.at..self.at + length);
        self.at += length;
        Ok(Some(taken))
    }

    /// Reads an array or null; an element takes at least one byte.
    ///
    /// # Errors
    /// Where the count cannot be, or an element fails.
    pub fn nullable_array<T>(
        &mut self,
        what: &'static str,
        mut element: impl FnMut(&mut Self) -> Result<T, WireError>,
    ) -> Result<Option<Vec<T>>, WireError> {
        let Some(count) = self.length(true, what)? else {
            return Ok(None);
        };
        let mut elements = Vec::new();
        for _ in 0..count {
            elements.push(element(self)?);
        }
        Ok(Some(elements))
    }

    /// Reads an array.
    ///
    /// # Errors
    /// As [`Reader::nullable_array`], or where it is null.
    pub fn array<T>(
        &mut self,
        what: &'static str,
        element: impl FnMut(&mut Self) -> Result<T, WireError>,
    ) -> Result<Vec<T>, WireError> {
        self.nullable_array(what, element)?
            .ok_or(WireError::Null(what))
    }

    /// Skips the tagged fields at the end of a structure, where the encoding has them.
    ///
    /// # Errors
    /// Where a field reaches beyond the message.
    pub fn tags(&mut self) -> Result<(), WireError> {
        if !self.flexible {
            return Ok(());
        }
        for _ in 0..self.varint("tagged fields")? {
            self.varint("a tag")?;
            let size = self.varint("a tagged field")?;
            self.take(size as usize, "a tagged field")?;
        }
        Ok(())
    }

    /// Ends the message.
    ///
    /// # Errors
    /// Where bytes are left over.
    pub fn finish(self) -> Result<(), WireError> {
        match self.left() {
            0 => Ok(()),
            left => Err(WireError::Trailing(left)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_beyond_the_bytes_left_is_refused_before_anything_is_allocated() {
        let mut reader = Reader::new(Bytes::from_static(&[0x7f, 0xff, 0xff, 0xff, 0]), false);
        let error = reader
            .array("topics", |reader| reader.i8("one"))
            .unwrap_err();
        assert_eq!(
            error,
            WireError::Length {
                what: "topics",
                length: 0x7fff_ffff,
                left: 1
            }
        );
    }

    #[test]
    fn a_varint_that_never_ends_is_refused() {
        let mut reader = Reader::new(Bytes::from_static(&[0xff; 9]), true);
        assert!(reader.varint("length").is_err());
    }

    #[test]
    fn tagged_fields_are_skipped_by_their_size() {
        let mut reader = Reader::new(Bytes::from_static(&[1, 0, 2, 9, 9, 7]), true);
        reader.tags().unwrap();
        assert_eq!(reader.i8("rest"), Ok(7));
        assert_eq!(reader.finish(), Ok(()));
    }
}
