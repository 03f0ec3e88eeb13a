//! partition: some nodes do not hear some others, on the ports of one plane.

use serde::{Deserialize, Serialize};

use super::aim::Aim;
use super::grudge::GrudgeShape;
use super::plane::Plane;

/// Cuts links of the network, by plane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    pub shape: GrudgeShape,
    pub aim: Aim,
    pub plane: Plane,
}
