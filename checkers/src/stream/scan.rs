//! A line of our recorder, scanned in place.
//!
//! Only the exact shape that the recorder writes is taken; `None` sends the line the long way, and
//! is never wrong. Nothing is allocated but room for the longest list of records.

use super::NOWHERE;
use super::event::{Answer, Event, Kind};

/// What a line says.
pub(super) struct Scanned<'l> {
    pub index: u64,
    /// Partition still to be set from `key`.
    pub event: Event,
    pub key: Option<&'l str>,
    /// Of an ok read, whose records are in the list.
    pub answer: Option<Answer>,
}

struct Scan<'l> {
    bytes: &'l [u8],
}

/// Scans one line without its newline; records of an ok read go into `records`.
pub(super) fn line<'l>(bytes: &'l [u8], records: &mut Vec<(i64, i64)>) -> Option<Scanned<'l>> {
    let mut scan = Scan { bytes };
    scan.skip(b"{\"index\":")?;
    let index = scan.number()?;
    scan.skip(b",\"time\":")?;
    let time = scan.number()?;
    scan.skip(b",\"process\":")?;
    let process = u32::try_from(scan.number()?).ok()?;
    scan.skip(b",\"type\":\"")?;
    let kind = scan.until_quote()?;
    scan.skip(b",\"f\":\"")?;
    let f = scan.until_quote()?;
    scan.skip(b",\"value\":[[\"")?;
    let mut event = Event {
        time,
        process,
        partition: NOWHERE,
        kind: Kind::ReadInvoked,
        acks: None,
        barrier: f == b"barrier",
        attempts: 1,
        value: 0,
        offset: -1,
    };
    let scanned = match f {
        b"send" | b"barrier" => scan_send(&mut scan, kind, &mut event)?,
        b"poll" => scan_poll(&mut scan, kind, &mut event, records)?,
        _ => return None,
    };
    let (key, answer) = scanned;
    scan.bytes.is_empty().then_some(Scanned {
        index,
        event,
        key,
        answer,
    })
}

type Parts<'l> = (Option<&'l str>, Option<Answer>);

fn scan_send<'l>(scan: &mut Scan<'l>, kind: &[u8], event: &mut Event) -> Option<Parts<'l>> {
    scan.skip(b"send\",\"")?;
    let key = scan.until_quote()?;
    scan.skip(b",")?;
    if scan.skip(b"[").is_some() {
        event.offset = scan.signed()?;
        scan.skip(b",")?;
        event.value = scan.signed()?;
        scan.skip(b"]")?;
    } else {
        event.value = scan.signed()?;
    }
    scan.skip(b"]]")?;
    event.kind = match kind {
        b"invoke" => Kind::SendInvoked,
        b"ok" => Kind::SendOk,
        b"fail" => Kind::SendFailed,
        b"info" => Kind::SendUnknown,
        _ => return None,
    };
    if event.offset < -1 || crate::history::words::is_word(event.value) {
        return None;
    }
    scan.texts()?;
    if scan.skip(b",\"acks\":").is_some() {
        event.acks = i8::try_from(scan.signed()?).ok();
    }
    scan.skip(b"}")?;
    Some((Some(std::str::from_utf8(key).ok()?), None))
}

fn scan_poll<'l>(
    scan: &mut Scan<'l>,
    kind: &[u8],
    event: &mut Event,
    records: &mut Vec<(i64, i64)>,
) -> Option<Parts<'l>> {
    scan.skip(b"poll\"")?;
    event.kind = match kind {
        b"invoke" => Kind::ReadInvoked,
        b"ok" => Kind::ReadOk,
        b"fail" => Kind::ReadFailed,
        _ => return None,
    };
    let mut shown = None;
    if event.kind == Kind::ReadOk {
        scan.skip(b",{\"")?;
        shown = Some(scan.until_quote()?);
        scan.skip(b":[")?;
        scan.records(records)?;
        scan.skip(b"}")?;
    }
    scan.skip(b"]]")?;
    scan.texts()?;
    let mut read = None;
    if scan.skip(b",\"reads\":{\"").is_some() {
        let key = scan.until_quote()?;
        scan.skip(b":")?;
        read = Some((key, scan.answer()?));
        scan.skip(b"}")?;
    }
    scan.skip(b"}")?;
    if event.kind != Kind::ReadOk {
        let key = read
            .map(|(key, _)| std::str::from_utf8(key))
            .transpose()
            .ok()?;
        return Some((key, None));
    }
    let (key, answer) = read?;
    (shown == Some(key)).then_some(())?;
    Some((Some(std::str::from_utf8(key).ok()?), Some(answer)))
}

impl<'l> Scan<'l> {
    #[inline]
    fn skip(&mut self, text: &[u8]) -> Option<()> {
        self.bytes = self.bytes.strip_prefix(text)?;
        Some(())
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        let mut length = 0;
        for &byte in self.bytes {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
            length += 1;
        }
        // Eighteen digits never overflow; leading zeros are not JSON.
        let sound = length == 1 || (length > 1 && length <= 18 && self.bytes[0] != b'0');
        self.bytes = &self.bytes[length..];
        sound.then_some(number)
    }

    #[inline]
    fn signed(&mut self) -> Option<i64> {
        if self.skip(b"-").is_some() {
            return Some(-(self.number()? as i64));
        }
        Some(self.number()? as i64)
    }

    /// A text without escapes, its closing quote included in what is passed.
    #[inline]
    fn until_quote(&mut self) -> Option<&'l [u8]> {
        let bytes = self.bytes;
        let end = bytes
            .iter()
            .position(|&byte| matches!(byte, b'"' | b'\\' | 0..=31))?;
        (bytes[end] == b'"').then_some(())?;
        self.bytes = &bytes[end + 1..];
        Some(&bytes[..end])
    }

    /// Fields that only people read, in the recorder's order.
    #[inline]
    fn texts(&mut self) -> Option<()> {
        for field in [&b",\"error\":\""[..], b",\"node\":\"", b",\"client\":\""] {
            if self.skip(field).is_some() {
                std::str::from_utf8(self.until_quote()?).ok()?;
            }
        }
        Some(())
    }

    #[inline]
    fn records(&mut self, records: &mut Vec<(i64, i64)>) -> Option<()> {
        records.clear();
        if self.skip(b"]").is_some() {
            return Some(());
        }
        loop {
            self.skip(b"[")?;
            let offset = self.signed()?;
            self.skip(b",")?;
            let value = self.signed()?;
            self.skip(b"]")?;
            records.push((offset, value));
            if self.skip(b",").is_none() {
                return self.skip(b"]");
            }
        }
    }

    fn answer(&mut self) -> Option<Answer> {
        self.skip(b"{\"from\":")?;
        let from = self.signed()?;
        self.skip(b",\"hw\":")?;
        let hw = self.signed()?;
        self.skip(b",\"log_start\":")?;
        self.signed()?;
        self.skip(b",\"replica\":")?;
        let replica = i32::try_from(self.signed()?).ok()?;
        self.skip(b",\"incarnation\":")?;
        let incarnation = self.number()?;
        self.skip(b",\"leader_epoch\":")?;
        let leader_epoch = i32::try_from(self.signed()?).ok()?;
        self.skip(b",\"final\":")?;
        let is_final = match self.skip(b"true") {
            Some(()) => true,
            None => self.skip(b"false").map(|()| false)?,
        };
        self.skip(b"}")?;
        Some(Answer {
            from,
            hw,
            replica,
            incarnation,
            leader_epoch,
            is_final,
        })
    }
}
