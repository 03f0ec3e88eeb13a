//! Cuts bytes into lines, with bounded memory.
//!
//! A line longer than [`MAX_LINE_BYTES`] is an error; blank lines may only end a file; what is left
//! without a newline at the end is handed out once more, and it is for the caller to forgive it.

use super::HistoryError;

/// Longest line that is read.
pub const MAX_LINE_BYTES: usize = 8 << 20;

/// What was not yet a whole line.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    count: u64,
    rest: Vec<u8>,
    blank: Option<u64>,
}

impl Lines {
    /// Takes bytes as they come; `line` gets every whole line with its number.
    pub(crate) fn push_bytes(
        &mut self,
        mut bytes: &[u8],
        mut line: impl FnMut(u64, &[u8]) -> Result<(), HistoryError>,
    ) -> Result<(), HistoryError> {
        while let Some(end) = find_newline(bytes) {
            let (head, after) = (&bytes[..end], &bytes[end + 1..]);
            if self.rest.is_empty() {
                self.push_line(head, &mut line)?;
            } else {
                self.keep(head)?;
                let whole = std::mem::take(&mut self.rest);
                self.push_line(&whole, &mut line)?;
            }
            bytes = after;
        }
        self.keep(bytes)
    }

    /// Takes one whole line, with or without its newline.
    pub(crate) fn push_line(
        &mut self,
        bytes: &[u8],
        line: &mut impl FnMut(u64, &[u8]) -> Result<(), HistoryError>,
    ) -> Result<(), HistoryError> {
        self.count += 1;
        self.refuse_length(bytes.len())?;
        let bytes = bytes.trim_ascii();
        if bytes.is_empty() {
            self.blank.get_or_insert(self.count);
            return Ok(());
        }
        match self.blank {
            Some(blank) => Err(HistoryError::new(blank, "a blank line inside the history")),
            None => line(self.count, bytes),
        }
    }

    /// What is left without a newline.
    pub(crate) fn take_rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.rest)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), HistoryError> {
        if self.rest.len() + bytes.len() > MAX_LINE_BYTES {
            self.count += 1;
            return self.refuse_length(self.rest.len() + bytes.len());
        }
        self.rest.extend_from_slice(bytes);
        Ok(())
    }

    fn refuse_length(&self, length: usize) -> Result<(), HistoryError> {
        if length <= MAX_LINE_BYTES {
            return Ok(());
        }
        Err(HistoryError::new(
            self.count,
            format!(
                "the line is longer than {MAX_LINE_BYTES} bytes; no recorder of ours writes such lines"
            ),
        ))
    }
}

/// Eight bytes at a time: a history has hundreds of bytes a line.
fn find_newline(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut at = 0;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in chunks.by_ref() {
        let word = chunk
            .iter()
            .rev()
            .fold(0_u64, |word, &byte| word << 8 | u64::from(byte));
        let differs = word ^ (ONES * u64::from(b'\n'));
        let zero = differs.wrapping_sub(ONES) & !differs & HIGH;
        if zero != 0 {
            return Some(at + zero.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let tail = chunks.remainder().iter().position(|&byte| byte == b'\n');
    tail.map(|position| at + position)
}

#[cfg(test)]
mod tests {
    use super::find_newline;

    #[test]
    fn the_first_newline_is_found_wherever_it_stands() {
        for length in 0..40 {
            for at in 0..length {
                let mut bytes = vec![b'x'; length];
                bytes[at] = b'\n';
                bytes[length - 1] = b'\n';
                assert_eq!(find_newline(&bytes), Some(at));
            }
            assert_eq!(find_newline(&vec![0x8a; length]), None);
        }
    }
}
