//! The records of the metadata log. Each holds a result, never an intent, so that applying it
//! needs no decision and every node gets the same image.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::image::{Partition, TopicConfig};
use crate::core::ids::{Addr, NodeId, TopicId, TopicPartition};

/// One committed change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// A broker has started. Its epoch is the index of this record; it begins fenced.
    RegisterBroker {
        /// The broker.
        node: NodeId,
        /// This start of it.
        incarnation: u64,
        /// Its client listener.
        client_addr: Addr,
        /// Its replication listener.
        replication_addr: Addr,
    },
    /// A broker is counted as down, or as up again.
    SetFenced {
        /// The broker.
        node: NodeId,
        /// Its epoch; a record about an earlier start changes nothing.
        broker_epoch: u64,
        /// Down or up.
        fenced: bool,
        /// It is about to stop and takes no part in ISRs any more.
        stopping: bool,
    },
    /// A topic exists from now on.
    CreateTopic {
        /// Its name.
        name: String,
        /// Its id.
        id: TopicId,
        /// Its settings.
        config: TopicConfig,
        /// Those that it sets itself, by name.
        overrides: BTreeMap<String, String>,
        /// Its partitions.
        partitions: Vec<Partition>,
    },
    /// Leader, ISR or epochs of a partition are now these.
    ChangePartition {
        /// Which partition.
        tp: TopicPartition,
        /// Its state.
        state: Partition,
    },
    /// The block of producer ids that this record's index stands for is given away.
    ReserveProducerIds {
        /// To whom.
        node: NodeId,
    },
    /// A topic is gone. One of the same name that is created later has another id.
    DeleteTopic {
        /// Its name.
        name: String,
        /// Its id.
        id: TopicId,
    },
    /// The settings of a topic are now these.
    ConfigureTopic {
        /// Its name.
        name: String,
        /// Its id.
        id: TopicId,
        /// Its settings.
        config: TopicConfig,
        /// Those that it sets itself, by name.
        overrides: BTreeMap<String, String>,
    },
}

impl Record {
    /// The record as an entry's data.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        // Plain data without maps or foreign types: postcard cannot fail on it.
        postcard::to_stdvec(self)
            .map(Bytes::from)
            .unwrap_or_default()
    }

    /// The record in an entry's data; none for the entry that opens a term.
    ///
    /// # Errors
    /// Where the data is no record, which a checksummed log of our own never holds.
    pub fn decode(data: &[u8]) -> Result<Option<Self>, postcard::Error> {
        if data.is_empty() {
            return Ok(None);
        }
        postcard::from_bytes(data).map(Some)
    }
}
