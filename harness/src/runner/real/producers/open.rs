//! The records that a producer process has not reported yet.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::clients::Produce;
use crate::clients::library::{REPORT_LIMIT_MS, Said, SendLine, said};
use crate::session::{ClientId, Event};
use crate::systems::shortened;

const REPORT_MAX: Duration = Duration::from_millis(REPORT_LIMIT_MS);

/// Open sends by their numbers.
#[derive(Debug, Default)]
pub(super) struct OpenSends {
    sends: BTreeMap<u64, (ClientId, Instant)>,
    last_id: u64,
}

impl OpenSends {
    pub fn add(&mut self, client: ClientId, produce: &Produce) -> SendLine {
        self.last_id += 1;
        let id = self.last_id;
        self.sends.insert(id, (client, Instant::now() + REPORT_MAX));
        SendLine {
            id,
            partition: produce.partition,
            value: produce.value,
        }
    }

    /// What a line means to the session; an error where it is no report of an open send.
    pub fn hear(&mut self, line: &str, one_attempt: bool) -> Result<Event, String> {
        let heard = said(line, one_attempt)
            .map_err(|why| format!("said what is no report: {} ({why})", shortened(line)))?;
        match heard {
            Said::Ready(_) => Err("said twice that it is ready".to_owned()),
            Said::Reported { id, result } => match self.sends.remove(&id) {
                Some((client, _)) => Ok(Event::Reply { client, result }),
                None => Err(format!("reported record {id}, which is not open")),
            },
        }
    }

    /// An error when the oldest should have been reported long ago.
    pub fn check(&self, now: Instant) -> Result<(), String> {
        match self.sends.first_key_value() {
            Some((id, (_, deadline))) if now > *deadline => Err(format!(
                "did not report record {id} within {} s",
                REPORT_MAX.as_secs()
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(value: i64) -> Produce {
        Produce {
            partition: 0,
            value,
            acks: -1,
            timeout_ms: 1500,
            sequence: None,
        }
    }

    #[test]
    fn a_report_goes_to_the_client_whose_record_it_is_and_only_once() {
        let mut open = OpenSends::default();
        assert_eq!(open.add(4, &send(17)).id, 1);
        assert_eq!(open.add(9, &send(18)).id, 2);
        let line = r#"{"id":2,"ok":{"offset":5}}"#;
        let heard = open.hear(line, false);
        assert!(matches!(heard, Ok(Event::Reply { client: 9, .. })));
        let again = open.hear(line, false).expect_err("no longer open");
        assert!(again.contains("not open"), "{again}");
    }

    #[test]
    fn a_record_that_is_never_reported_is_noticed() {
        let mut open = OpenSends::default();
        open.add(4, &send(17));
        assert_eq!(open.check(Instant::now()), Ok(()));
        let later = Instant::now() + REPORT_MAX + Duration::from_secs(1);
        let silent = open.check(later).expect_err("long overdue");
        assert!(silent.contains("record 1"), "{silent}");
    }
}
