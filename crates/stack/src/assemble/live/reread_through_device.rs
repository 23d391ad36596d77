//! Reads layers that the bytes gave and the kernel has a device of through that device.

use format::member::md::MdVersion;

use super::Live;
use crate::assemble::LookedAt;
use crate::id::LayerId;
use crate::kernel::{NodeId, NodeKind};

impl Live<'_> {
    /// Looks at all that waits, and at all that is found by that, each layer through the kernel's
    /// device of it where there is one.
    pub(super) fn settle(&mut self) {
        loop {
            while let Some(mut job) = self.assembler.jobs.pop_front() {
                self.serve(&mut job);
                if !self.is_laid_out_elsewhere(job.id) {
                    self.assembler.look(job);
                }
            }
            if !self.assembler.build_arrays() && !self.assembler.build_groups() {
                return;
            }
        }
    }

    /// True of a member of a running array whose metadata md does not write: the bytes at the start
    /// of such a member belong to the array.
    fn is_laid_out_elsewhere(&self, layer: LayerId) -> bool {
        let Some(&id) = self.devices.get(&layer) else { return false };
        self.node(id).above.iter().any(|&above| match &self.node(above).kind {
            NodeKind::Md(Some(array)) => {
                matches!(array.version, MdVersion::Imsm | MdVersion::Ddf | MdVersion::Other)
            }
            _ => false,
        })
    }

    /// Has `job` read the kernel's device of its layer. Where that cannot be opened, or is a
    /// partition of another length, the bytes below stand in for it.
    fn serve(&mut self, job: &mut LookedAt) {
        let Some(id) = self.device_of(job) else { return };
        let node = self.node(id).clone();
        let Some(Ok(disk)) = self.world.devices.open(&node.name) else { return };
        let is_partition = matches!(node.kind, NodeKind::Partition { .. });
        if is_partition && disk.length_bytes() != job.disk.length_bytes() {
            return;
        }
        // The stack does not keep it open: of volumes there may be thousands.
        job.disk = disk;
        job.found = None;
        self.put(id, job.id);
        self.claim(&node, job.id);
        self.served.insert(id);
    }

    /// The kernel's device of a layer that was found in bytes and has none yet.
    fn device_of(&self, job: &LookedAt) -> Option<NodeId> {
        if self.devices.contains_key(&job.id) {
            return None;
        }
        let stack = &self.assembler.stack;
        let mut ahead = vec![job.id];
        let mut done = 0;
        // Down to the next devices: what lies on those is what may be this layer.
        while let Some(&layer) = ahead.get(done) {
            done += 1;
            let Some(&below) = self.devices.get(&layer) else {
                for next in stack.layer(layer).mapping.below() {
                    if !ahead.contains(&next) {
                        ahead.push(next);
                    }
                }
                continue;
            };
            let mut above = self.node(below).above.iter().copied();
            let found = above.find(|&id| !self.places.contains_key(&id) && self.is_of(id, job));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn is_of(&self, id: NodeId, job: &LookedAt) -> bool {
        let (node, layer) = (self.node(id), self.assembler.stack.layer(job.id));
        if !super::matching_layer::may_be(node, &layer.kind) {
            return false;
        }
        let NodeKind::Partition { start_bytes, .. } = node.kind else { return true };
        let disk = node.below.first().and_then(|below| self.places.get(below));
        disk.is_some_and(|&disk| self.start_on(job.id, disk) == Some(start_bytes))
    }
}
