//! `--client`: who sends the workload's records.

use std::fmt;

use crate::systems::check_version;

/// Kafka's own greatest number, which its libraries retry by unless told otherwise.
const RETRIES_OF_A_LIBRARY: u32 = i32::MAX.unsigned_abs();

/// Who sends the workload's records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientChoice {
    /// Our own client: one op is one request, and nothing is hidden.
    Raw,
    Librdkafka,
    /// kafka-clients, of a version or of the system's.
    Java(Option<String>),
    /// A program of the user's own that speaks the protocol of docs/CLIENTS.md.
    Exec(Vec<String>),
}

impl ClientChoice {
    pub fn parse(text: &str) -> Result<ClientChoice, String> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        match (name, rest) {
            ("raw", None) => Ok(ClientChoice::Raw),
            ("librdkafka", None) if cfg!(feature = "librdkafka") => Ok(ClientChoice::Librdkafka),
            ("librdkafka", None) => {
                Err("this plimsoll was built without librdkafka; build it with \
                 `cargo build --release --features librdkafka` (needs a C compiler and make)"
                    .to_owned())
            }
            ("java", None) => Ok(ClientChoice::Java(None)),
            ("java", Some(version)) => {
                check_version(version).map_err(|_| {
                    format!("\"{version}\" is no version; write one like java:4.1.0")
                })?;
                Ok(ClientChoice::Java(Some(version.to_owned())))
            }
            ("exec", Some(command)) if !command.trim().is_empty() => Ok(ClientChoice::Exec(
                command.split_whitespace().map(str::to_owned).collect(),
            )),
            ("exec", _) => Err("write the program: \"exec:./my-producer ARGUMENTS\"".to_owned()),
            _ => Err(format!(
                "no client is called \"{text}\"; there are: raw, librdkafka, java[:VERSION], exec:COMMAND"
            )),
        }
    }

    pub fn is_library(&self) -> bool {
        *self != ClientChoice::Raw
    }

    /// How often a record may be sent again, given `--retries`. What librdkafka takes for a
    /// refusal, a lost leadership too, it sends again without counting, so it is never 0 there.
    pub fn retries(&self, given: Option<u32>) -> u32 {
        match self {
            ClientChoice::Raw => given.unwrap_or(0),
            ClientChoice::Librdkafka => given.unwrap_or(RETRIES_OF_A_LIBRARY).max(1),
            _ => given.unwrap_or(RETRIES_OF_A_LIBRARY),
        }
    }
}

impl fmt::Display for ClientChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientChoice::Raw => write!(f, "raw"),
            ClientChoice::Librdkafka => write!(f, "librdkafka"),
            ClientChoice::Java(None) => write!(f, "java"),
            ClientChoice::Java(Some(version)) => write!(f, "java:{version}"),
            ClientChoice::Exec(command) => write!(f, "exec:{}", command.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_read_as_it_is_written() {
        for text in ["raw", "java", "java:4.1.0", "exec:./mine --fast"] {
            assert_eq!(ClientChoice::parse(text).expect(text).to_string(), text);
        }
    }

    #[test]
    fn a_client_that_cannot_be_says_what_to_write() {
        for (text, hint) in [
            ("sarama", "exec:COMMAND"),
            ("exec:", "exec:./my-producer"),
            ("java:3.9", "java:4.1.0"),
        ] {
            let error = ClientChoice::parse(text).expect_err(text);
            assert!(error.contains(hint), "{text}: {error}");
        }
    }

    #[cfg(not(feature = "librdkafka"))]
    #[test]
    fn without_the_feature_librdkafka_says_how_to_build_it() {
        let error = ClientChoice::parse("librdkafka").expect_err("not built in");
        assert!(error.contains("--features librdkafka"), "{error}");
    }

    #[test]
    fn a_library_retries_unless_it_is_told_not_to_and_librdkafka_even_then() {
        assert_eq!(ClientChoice::Raw.retries(None), 0);
        assert_eq!(ClientChoice::Java(None).retries(None), 2_147_483_647);
        assert_eq!(ClientChoice::Java(None).retries(Some(0)), 0);
        assert_eq!(ClientChoice::Librdkafka.retries(Some(0)), 1);
    }
}
