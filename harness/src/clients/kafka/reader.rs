//! A cursor over bytes that nobody vouches for: it never reads beyond the end
//! and never believes a count that the rest of the bytes cannot hold.

/// Bytes that are not what they should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("malformed response: {0}")]
pub struct Malformed(pub String);

pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes }
    }

    pub fn left(&self) -> usize {
        self.bytes.len()
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        if count > self.bytes.len() {
            let left = self.bytes.len();
            return Err(Malformed(format!("{count} bytes wanted, {left} left")));
        }
        let (head, tail) = self.bytes.split_at(count);
        self.bytes = tail;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub fn i8(&mut self) -> Result<i8, Malformed> {
        Ok(i8::from_be_bytes(self.array()?))
    }

    pub fn i16(&mut self) -> Result<i16, Malformed> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    pub fn i32(&mut self) -> Result<i32, Malformed> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub fn i64(&mut self) -> Result<i64, Malformed> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// A string of the old form; null reads as empty.
    pub fn string(&mut self) -> Result<&'a str, Malformed> {
        let length = self.i16()?;
        let bytes = self.take(usize::try_from(length).unwrap_or(0))?;
        std::str::from_utf8(bytes).map_err(|_| Malformed("a string is not UTF-8".to_owned()))
    }

    /// Bytes with a length in front; null reads as empty.
    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.i32()?;
        self.take(usize::try_from(length).unwrap_or(0))
    }

    /// An array's count, believed only when its elements can be there.
    pub fn count(&mut self, element_bytes_min: usize) -> Result<usize, Malformed> {
        let count = usize::try_from(self.i32()?).unwrap_or(0);
        if count > self.left() / element_bytes_min.max(1) {
            let left = self.left();
            return Err(Malformed(format!(
                "{count} elements cannot be in {left} bytes"
            )));
        }
        Ok(count)
    }

    /// A count of the flexible form: a varint, one more than the count.
    pub fn compact_count(&mut self, element_bytes_min: usize) -> Result<usize, Malformed> {
        let count = usize::try_from(self.varint()?.saturating_sub(1)).unwrap_or(usize::MAX);
        let left = self.left();
        if count > left / element_bytes_min.max(1) {
            return Err(Malformed(format!(
                "{count} elements cannot be in {left} bytes"
            )));
        }
        Ok(count)
    }

    /// Tagged fields, all of which are passed over.
    pub fn tags(&mut self) -> Result<(), Malformed> {
        for _ in 0..self.varint()? {
            self.varint()?;
            let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
            self.take(length)?;
        }
        Ok(())
    }

    fn varint(&mut self) -> Result<u32, Malformed> {
        let mut value = 0u32;
        for shift in [0, 7, 14, 21, 28] {
            let [byte] = self.array()?;
            value |= u32::from(byte & 0x7f).wrapping_shl(shift);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed("a number has no end".to_owned()))
    }

    /// An array of plain 32-bit integers.
    pub fn i32s(&mut self) -> Result<Vec<i32>, Malformed> {
        (0..self.count(4)?).map(|_| self.i32()).collect()
    }
}
