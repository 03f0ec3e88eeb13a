//! What became of each value that was sent: to which partition, and whether it has a place.
//!
//! Two bytes a value in chunks; a chunk of which every value is settled shrinks to a mark.

/// Values in a chunk.
const CHUNK: usize = 4096;
/// The widest jump of a value that is followed, in chunks.
const MAX_CHUNKS: usize = 1 << 20;

const PLACED: u16 = 1 << 15;
const FAILED: u16 = 1 << 14;
/// Partitions that fit beside the marks.
pub(super) const MAX_PARTITIONS: u32 = (1 << 14) - 2;

enum Chunk {
    /// Nothing was sent.
    Unused,
    /// States, and how many are settled.
    Open(Box<[u16]>, u32),
    /// Every value was sent and has a place, or certainly failed.
    Settled,
}

/// What is known of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nobody sent it.
    Unsent,
    /// Sent to this partition, and nowhere yet.
    Sent(u32),
    /// Its send failed, it has a place already, or its chunk is settled.
    Settled,
}

/// All values of a run; they must not repeat in it.
#[derive(Default)]
pub(super) struct Values {
    chunks: Vec<Chunk>,
    /// Room of settled chunks for new ones.
    spare: Vec<Box<[u16]>>,
}

impl Values {
    fn locate(value: i64) -> Option<(usize, usize)> {
        let value = usize::try_from(value).ok()?;
        let chunk = value / CHUNK;
        (chunk < MAX_CHUNKS).then_some((chunk, value % CHUNK))
    }

    /// Notes a send; false where the value cannot be followed or was sent before.
    #[inline]
    pub(super) fn send(&mut self, value: i64, partition: u32) -> bool {
        let Some((chunk, at)) = Self::locate(value) else {
            return false;
        };
        if chunk >= self.chunks.len() {
            self.chunks.resize_with(chunk + 1, || Chunk::Unused);
        }
        let states = &mut self.chunks[chunk];
        if matches!(states, Chunk::Unused) {
            let room = self.spare.pop();
            let room = room.unwrap_or_else(|| vec![0; CHUNK].into_boxed_slice());
            *states = Chunk::Open(room, 0);
        }
        match states {
            Chunk::Open(states, _) if states[at] == 0 && partition <= MAX_PARTITIONS => {
                states[at] = partition as u16 + 1;
                true
            }
            _ => false,
        }
    }

    #[inline]
    pub(super) fn state(&self, value: i64) -> State {
        let Some((chunk, at)) = Self::locate(value) else {
            return State::Unsent;
        };
        match self.chunks.get(chunk) {
            None | Some(Chunk::Unused) => State::Unsent,
            Some(Chunk::Settled) => State::Settled,
            Some(Chunk::Open(states, _)) => match states[at] {
                0 => State::Unsent,
                state if state & (PLACED | FAILED) != 0 => State::Settled,
                state => State::Sent(u32::from(state) - 1),
            },
        }
    }

    /// Notes that a sent value has its place now.
    #[inline]
    pub(super) fn place(&mut self, value: i64) {
        self.settle(value, PLACED);
    }

    /// Notes that a value's send certainly failed.
    pub(super) fn fail(&mut self, value: i64) {
        self.settle(value, FAILED);
    }

    #[inline]
    fn settle(&mut self, value: i64, mark: u16) {
        let Some((chunk, at)) = Self::locate(value) else {
            return;
        };
        if let Some(Chunk::Open(states, settled)) = self.chunks.get_mut(chunk) {
            *settled += u32::from(states[at] & (PLACED | FAILED) == 0);
            states[at] |= mark;
            if *settled as usize == CHUNK {
                let settled = std::mem::replace(&mut self.chunks[chunk], Chunk::Settled);
                if let Chunk::Open(mut room, _) = settled {
                    room.fill(0);
                    self.spare.push(room);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_sent_once_and_placed_once() {
        let mut values = Values::default();
        assert_eq!(values.state(7), State::Unsent);
        assert!(values.send(7, 3));
        assert!(!values.send(7, 4), "a second time");
        assert!(!values.send(-1, 0), "barriers are not followed here");
        assert!(!values.send(i64::MAX, 0), "too far");
        assert_eq!(values.state(7), State::Sent(3));
        values.place(7);
        assert_eq!(values.state(7), State::Settled);
        for value in 0..CHUNK as i64 {
            values.send(value, 0);
            values.place(value);
        }
        assert!(matches!(values.chunks[0], Chunk::Settled));
        assert_eq!(values.state(9), State::Settled);
    }
}
