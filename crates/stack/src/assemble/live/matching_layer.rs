//! The layer that the bytes gave for a device of the kernel's.

use format::member::bcache::BcacheRole;
use format::table::PartitionRole;
use format::{Problem, ProblemKind};

use super::Live;
use crate::id::LayerId;
use crate::kernel::{BlockDevice, NodeKind};
use crate::layer::LayerKind;
use crate::mapping::Mapping;

impl Live<'_> {
    /// The layer that the bytes gave for `node`, which lies on `below`; `None` where there is none.
    pub(super) fn find(&mut self, node: &BlockDevice, below: &[LayerId]) -> Option<LayerId> {
        match &node.kind {
            NodeKind::Partition { start_bytes, .. } => {
                self.find_partition(node, *below.first()?, *start_bytes)
            }
            _ => self.find_over(below, |kind| may_be(node, kind)),
        }
    }

    /// A partition with the same start, counted from the disk.
    fn find_partition(&mut self, node: &BlockDevice, disk: LayerId, start: u64) -> Option<LayerId> {
        let stack = &self.assembler.stack;
        let mut same: Vec<LayerId> = stack.over(disk);
        same.retain(|&id| {
            let layer = stack.layer(id);
            matches!(layer.kind, LayerKind::Partition(..))
                && layer.device.is_none()
                && self.start_on(id, disk) == Some(start)
        });
        let length = node.length_bytes.value().copied();
        let exact =
            same.iter().copied().find(|&id| self.assembler.stack.layer(id).length() == length);
        let found = exact.or_else(|| same.first().copied())?;
        if let (None, Some(length)) = (exact, length) {
            self.note_other_length(found, length);
        }
        Some(found)
    }

    fn note_other_length(&mut self, id: LayerId, kernel_bytes: u64) {
        let layer = self.assembler.stack.layer_mut(id);
        // Of an extended partition the kernel shows the first sectors only.
        let is_extended = matches!(&layer.kind, LayerKind::Partition(partition, _)
            if partition.role == PartitionRole::Extended);
        if let (false, Some(bytes)) = (is_extended, layer.length()) {
            let detail = format!(
                "the table on disk gives it {bytes} bytes, the kernel {kernel_bytes}: the kernel \
                 has not read the table again"
            );
            layer.problems.push(Problem::new(ProblemKind::Copies, 0, detail));
        }
    }

    /// Returns where a layer begins on a disk under it, as long as all in between lies in one
    /// piece.
    pub(super) fn start_on(&self, id: LayerId, disk: LayerId) -> Option<u64> {
        let mut at = 0_u64;
        let mut here = id;
        while here != disk {
            let Mapping::Linear(below) = &self.assembler.stack.layer(here).mapping else {
                return None;
            };
            at = at.checked_add(below.offset_bytes)?;
            here = below.layer;
        }
        Some(at)
    }

    /// The lowest layer of some kind over `below` that no device has yet.
    fn find_over(&self, below: &[LayerId], is: impl Fn(&LayerKind) -> bool) -> Option<LayerId> {
        let stack = &self.assembler.stack;
        let mut over: Vec<LayerId> = below.iter().flat_map(|&id| stack.over(id)).collect();
        over.sort_unstable();
        over.into_iter().find(|&id| {
            let layer = stack.layer(id);
            layer.device.is_none() && is(&layer.kind)
        })
    }
}

/// Returns whether a layer of this kind may be the one of `node`, if it lies where that does.
pub(super) fn may_be(node: &BlockDevice, kind: &LayerKind) -> bool {
    match (&node.kind, kind) {
        (NodeKind::Partition { .. }, LayerKind::Partition(..))
        | (NodeKind::Md(_), LayerKind::MdArray(_)) => true,
        (NodeKind::Bcache, LayerKind::Bcache(bcache)) => {
            matches!(bcache.role, BcacheRole::Backing { .. })
        }
        (NodeKind::Dm { uuid, .. }, LayerKind::LvmLogical(volume)) => is_volume(uuid, &volume.id),
        (NodeKind::Dm { uuid, .. }, LayerKind::Luks(_)) => uuid.starts_with("CRYPT-LUKS"),
        (NodeKind::Dm { uuid, .. }, LayerKind::Integrity(_)) => {
            uuid.starts_with("CRYPT-INTEGRITY") || uuid.starts_with("CRYPT-SUBDEV")
        }
        _ => false,
    }
}

/// Returns whether device-mapper's UUID is that of the volume `id`: the group's UUID and the
/// volume's, 32 characters each, without hyphens. What stands behind them names a part that no user
/// sees (`-tpool`, `-real`).
fn is_volume(uuid: &str, id: &str) -> bool {
    let volume =
        uuid.strip_prefix("LVM-").filter(|ids| ids.len() == 64).and_then(|ids| ids.get(32..));
    volume.is_some_and(|volume| id.chars().filter(|&one| one != '-').eq(volume.chars()))
}
