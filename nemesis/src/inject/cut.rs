//! partition: directed cuts in the table of cuts, proved link by link, lifted
//! when the fault heals.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::links::{LinkMap, Links};
use super::proof::prove;
use super::table::CutMeans;
use super::{InjectError, Injection, Installed, Nemesis, Targets, wrong_kind};
use crate::faults::{ClusterView, Fault, FaultKind, Grudge, Partition, Plane, PlanePorts};
use crate::lab::{Lab, Place};
use crate::schedule::Planned;

/// Cuts nodes off from each other.
pub struct CutNemesis {
    means: Box<dyn CutMeans>,
    /// The cuts of all faults that are on, by their number.
    installed: BTreeMap<u64, Links>,
    links: LinkMap,
    places: BTreeMap<Ipv4Addr, Place>,
    /// Whether any client follows a node, so that the client plane can be cut.
    pinned_clients: bool,
}

impl CutNemesis {
    /// Cuts in a lab that stands.
    pub fn new(
        means: Box<dyn CutMeans>,
        lab: &Lab,
        ports: PlanePorts,
        pinned_clients: bool,
    ) -> CutNemesis {
        CutNemesis {
            means,
            installed: BTreeMap::new(),
            links: LinkMap::new(lab.places(), ports),
            places: lab
                .places()
                .map(|place| (place.addr(), place.clone()))
                .collect(),
            pinned_clients,
        }
    }

    /// Cuts nodes that have namespaces of their own, which their targets tell.
    pub fn of_nodes(
        means: Box<dyn CutMeans>,
        nodes: BTreeMap<String, Ipv4Addr>,
        ports: PlanePorts,
    ) -> CutNemesis {
        CutNemesis {
            means,
            installed: BTreeMap::new(),
            links: LinkMap::of_nodes(nodes, ports),
            places: BTreeMap::new(),
            pinned_clients: false,
        }
    }

    /// Takes in where the nodes live now; one that is down lives nowhere. Tells whether any moved.
    fn follow(&mut self, targets: &Targets) -> bool {
        let mut moved = false;
        for target in targets.values() {
            let (addr, now) = (target.addr(), target.netns());
            let same = match (&now, self.places.get(&addr)) {
                (Some(now), Some(before)) => now.is_same(before),
                (None, None) => true,
                _ => false,
            };
            moved |= !same;
            match now {
                Some(place) => self.places.insert(addr, place),
                None => self.places.remove(&addr),
            };
        }
        moved
    }

    /// What must be cut now, on the way into the places that stand.
    fn wanted(&self) -> Links {
        let mut all = Links::default();
        self.installed.values().for_each(|links| all.extend(links));
        all.requests
            .retain(|link| self.places.contains_key(&link.to));
        all.replies
            .retain(|link| self.places.contains_key(&link.to));
        all
    }

    /// Makes the kernel cut what must be cut now.
    fn apply(&mut self) -> Result<Links, InjectError> {
        let wanted = self.wanted();
        self.means.apply(&wanted, &self.places)?;
        Ok(wanted)
    }

    fn install(
        &mut self,
        planned: &Planned,
        cut: &Partition,
        grudge: Grudge,
    ) -> Result<Installed, InjectError> {
        let links = self.links.links(&grudge, cut.plane);
        let mut requests = links.requests.clone();
        requests.retain(|link| self.places.contains_key(&link.to));
        self.installed.insert(planned.id, links);
        let wanted = self.apply()?;
        match prove(self.means.as_ref(), &self.places, &requests, &wanted)? {
            Ok(probes) => {
                let proof = format!("{probes} connections tried, all dropped");
                let cuts = grudge.into_iter().collect();
                Ok(Installed {
                    targets: Vec::new(),
                    cuts,
                    proof,
                })
            }
            Err(why) => {
                self.installed.remove(&planned.id);
                self.apply()?;
                Err(InjectError::NotHeld {
                    id: planned.id,
                    name: planned.fault.name(),
                    why,
                })
            }
        }
    }
}

impl Nemesis for CutNemesis {
    fn supports(&self, kind: FaultKind) -> bool {
        kind == FaultKind::Partition
    }

    fn inject(
        &mut self,
        planned: &Planned,
        view: &ClusterView,
        targets: &mut Targets,
    ) -> Result<Injection, InjectError> {
        let Fault::Partition(cut) = &planned.fault else {
            return Ok(wrong_kind(&planned.fault));
        };
        if cut.plane == Plane::Client && !self.pinned_clients {
            let reason = "no client lives on a node's side, so the client plane has nothing to cut";
            return Ok(Injection::Skipped(reason.to_owned()));
        }
        let aimed = match cut.aim.resolve(view) {
            Ok(aimed) => aimed,
            Err(reason) => return Ok(Injection::Skipped(reason)),
        };
        let order = order_of(&aimed, view, cut.aim.salt);
        let grudge = cut.shape.grudge(&order, aimed.len());
        if grudge.is_empty() {
            return Ok(Injection::Skipped(
                "too few nodes for this shape".to_owned(),
            ));
        }
        self.follow(targets);
        let mut installed = self.install(planned, cut, grudge)?;
        installed.targets = aimed;
        Ok(Injection::Installed(installed))
    }

    fn heal(&mut self, id: u64, targets: &mut Targets) -> Result<(), InjectError> {
        // Another fault's heal may have started a node: in its new namespace nothing is cut yet.
        let moved = self.follow(targets);
        let lifted = self.installed.remove(&id).is_some();
        if !lifted && (!moved || self.installed.is_empty()) {
            return Ok(());
        }
        let wanted = self.apply()?;
        if lifted && !self.means.read_back()?.holds_just(&wanted) {
            let why = "the kernel still holds cuts that were lifted".to_owned();
            return Err(InjectError::NotHealed {
                id,
                name: "partition",
                why,
            });
        }
        Ok(())
    }
}

/// Those aimed at first, the rest rotated by the salt: sides differ from fault
/// to fault, and the same salt gives the same sides.
fn order_of(aimed: &[String], view: &ClusterView, salt: u64) -> Vec<String> {
    let mut rest: Vec<String> = view
        .nodes
        .iter()
        .filter(|node| !aimed.contains(node))
        .cloned()
        .collect();
    if !rest.is_empty() {
        let count = u64::try_from(rest.len()).unwrap_or(1);
        rest.rotate_left(usize::try_from((salt >> 16) % count).unwrap_or(0));
    }
    let mut order = aimed.to_vec();
    if aimed.len() == view.nodes.len() && !order.is_empty() {
        let count = u64::try_from(order.len()).unwrap_or(1);
        order.rotate_left(usize::try_from(salt % count).unwrap_or(0));
    }
    order.extend(rest);
    order
}
