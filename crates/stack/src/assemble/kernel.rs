//! What the kernel alone tells, where a disk's bytes may not be read: partitions and mounts.

use units::{Known, Source};

use super::Assembler;
use crate::drive::Drive;
use crate::id::LayerId;
use crate::kernel::{KernelPartition, Mount};
use crate::layer::{Layer, LayerKind};
use crate::mapping::{Below, Mapping};

/// What the kernel tells of a disk.
pub(super) struct Seen {
    name: String,
    partitions: Vec<KernelPartition>,
    mounts: Vec<Mount>,
}

impl Seen {
    pub(super) fn of(drive: &Drive) -> Seen {
        Seen {
            name: drive.name.clone(),
            partitions: drive.partitions.clone(),
            mounts: drive.mounts.clone(),
        }
    }
}

/// File systems whose blocks count from the start of their volume, so that the type alone tells
/// where they lie.
const FROM_THE_START: [&str; 8] =
    ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs", "reiserfs"];

impl Assembler<'_> {
    pub(super) fn kernel_layers(&mut self, disk: LayerId, seen: Seen) {
        let length = self.stack.layer(disk).length_bytes.clone();
        self.mounted(disk, &seen.name, length, &seen.mounts);
        for partition in seen.partitions {
            let below = Below { layer: disk, offset_bytes: partition.range.start_bytes() };
            let length = Known::yes(partition.range.length_bytes(), Source::Sysfs);
            let (kind, name) = (LayerKind::KernelPartition, partition.name.clone());
            let layer = Layer::new(kind, name, length.clone(), Mapping::Linear(below));
            let Some(id) = self.add(disk, layer) else { return };
            self.mounted(id, &partition.name, length, &seen.mounts);
        }
    }

    fn mounted(&mut self, on: LayerId, device: &str, length: Known<u64>, mounts: &[Mount]) {
        let Some(mount) = mounts.iter().find(|mount| mount.device == device) else { return };
        let mapping = if FROM_THE_START.contains(&mount.kind.as_str()) {
            Mapping::Linear(Below { layer: on, offset_bytes: 0 })
        } else {
            let reason = "where its data begins stands in bytes that could not be read".to_owned();
            Mapping::Unknown { on: vec![on], reason }
        };
        let kind = LayerKind::Mounted(mount.kind.clone());
        self.add(on, Layer::new(kind, mount.kind.clone(), length, mapping));
    }
}
