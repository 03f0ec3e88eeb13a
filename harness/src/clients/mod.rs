//! What a client can ask of a node, as typed messages. The session speaks in
//! these; bytes and sockets stay in the runner, wire formats in `kafka`.

pub mod kafka;
pub mod library;
pub mod outcome;

/// A producer's identity and the sequence number of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub sequence: i32,
}

/// A topic to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTopic {
    pub name: String,
    pub partitions: i32,
    pub replication_factor: i16,
    pub configs: Vec<(String, String)>,
}

/// One append of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Produce {
    pub partition: i32,
    pub value: i64,
    pub acks: i16,
    pub timeout_ms: i32,
    pub sequence: Option<Sequence>,
}

/// One read of one partition from an explicit offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    pub partition: i32,
    pub offset: i64,
    pub leader_epoch: i32,
    pub max_wait_ms: i32,
    pub max_bytes: i32,
}

/// Where logs end, as a node itself has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEnds {
    pub partitions: Vec<i32>,
}

/// Partitions with the offset from which each is asked for, to learn how far it may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HighWatermarks {
    pub from: Vec<(i32, i64)>,
}

/// What a node has on its disks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogDirs {
    /// Bytes by partition, of directories that work.
    pub bytes: Vec<(i32, i64)>,
    /// Directories that the node says have failed.
    pub failed: Vec<String>,
}

/// A request to one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    Metadata,
    /// Asks a replica itself, follower or leader, for its log end offsets.
    LogEnds(LogEnds),
    /// Asks a replica itself for its high watermarks.
    HighWatermarks(HighWatermarks),
    /// Asks who leads the controllers.
    DescribeQuorum,
    /// Asks a node what of these partitions lies in its log directories.
    LogDirs(LogEnds),
    CreateTopic(NewTopic),
    InitProducerId,
    Produce(Produce),
    Fetch(Fetch),
}

impl Request {
    /// An append with acks=0 is never answered.
    pub fn is_answered(&self) -> bool {
        !matches!(self, Request::Produce(produce) if produce.acks == 0)
    }
}

/// One partition as a node's metadata shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionMetadata {
    pub partition: i32,
    pub leader: i32,
    pub leader_epoch: i32,
    pub replicas: Vec<i32>,
    pub isr: Vec<i32>,
}

/// What a read brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    pub high_watermark: i64,
    pub log_start: i64,
    /// (offset, value) in the reply's order, from the offset asked for.
    pub records: Vec<(i64, i64)>,
    /// Where the next read goes on.
    pub next_offset: i64,
}

/// A node's answer. Error codes are Kafka's and are judged by `outcome`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    Metadata {
        partitions: Vec<PartitionMetadata>,
    },
    TopicCreated {
        code: i16,
        message: String,
    },
    ProducerId {
        code: i16,
        producer_id: i64,
        producer_epoch: i16,
    },
    Produced {
        code: i16,
        offset: i64,
    },
    /// The bytes of an append with acks=0 were given to the socket.
    Written,
    Fetched {
        code: i16,
        fetched: Fetched,
    },
    /// (partition, offset), of those that were answered without an error.
    Offsets(Vec<(i32, i64)>),
    /// What lies in a node's log directories.
    LogDirs(LogDirs),
    /// The controllers' leader, where one is known.
    Quorum {
        leader: Option<i32>,
    },
}

/// Why there is no answer. The difference decides between fail and info.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// Not one byte of the request was given to a socket.
    NotSent(String),
    /// It may have arrived; nobody knows what became of it.
    Lost(String),
}

impl Broken {
    pub fn text(&self) -> &str {
        match self {
            Broken::NotSent(text) | Broken::Lost(text) => text,
        }
    }
}
