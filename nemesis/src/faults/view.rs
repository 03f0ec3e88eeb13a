//! What is known of the cluster when a fault is injected: as much as it takes
//! to find "the leader of a partition" or "the controller".

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One partition as last seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionView {
    pub leader: Option<String>,
    pub replicas: Vec<String>,
}

/// The cluster as last seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterView {
    /// Every node, brokers and separate controllers, in order.
    pub nodes: Vec<String>,
    /// Nodes that hold partitions.
    pub brokers: Vec<String>,
    /// The node that leads the controllers.
    pub controller: Option<String>,
    pub partitions: BTreeMap<String, PartitionView>,
}
