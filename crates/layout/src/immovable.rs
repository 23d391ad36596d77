//! Partitions that a plan never moves, by role, type and content.

use format::table::{Partition, PartitionRole};
use stack::rule::{self, RuleInput};
use stack::{LayerId, LayerKind};

/// Types whose content holds addresses of the disk: Windows dynamic disks, VMware, Storage Spaces.
const ABSOLUTE_TYPES: [(&str, &str); 6] = [
    ("0x42", "a Windows dynamic disk"),
    ("0xfb", "VMFS"),
    ("5808c8aa-7e8f-42e0-85d2-e1e90434cfb3", "a Windows dynamic disk"),
    ("af9b60a0-1431-4f62-bc68-3311714a69ad", "a Windows dynamic disk"),
    ("e75caf8f-f680-4cee-afa3-b001e56efc2d", "Storage Spaces"),
    ("aa31e02a-400f-11db-9590-000c2911d1b8", "VMFS"),
];

/// Content that a plain copy to another place breaks or may break.
const ABSOLUTE_CONTENT: [&str; 4] = ["BitLocker", "VMFS", "VMFS_volume_member", "swsuspend"];

/// Returns what to do about a misaligned partition that stays for `reason`; `None` where it can be
/// recreated elsewhere by itself.
pub(crate) fn advice(reason: &str) -> Option<&'static str> {
    let of_disk = "Back up its volumes, convert the disk in Windows (diskpart: convert basic, \
                   which ERASES them), recreate and restore them";
    reason.starts_with("a Windows dynamic disk").then_some(of_disk)
}

/// Why a partition must stay where it is.
pub(crate) fn why(case: &RuleInput<'_>, id: LayerId, partition: &Partition) -> Option<String> {
    let stack = case.stack;
    let by_role = match partition.role {
        PartitionRole::Ordinary | PartitionRole::EfiSystem => None,
        PartitionRole::BiosBoot => Some("boot loader code is found there by its sector number"),
        PartitionRole::Reserved => Some("a reserved partition is found by its place"),
        PartitionRole::BsdSlice | PartitionRole::Whole => {
            Some("a BSD disklabel may count its addresses from the start of the disk")
        }
        PartitionRole::Extended | PartitionRole::Protective => Some("a container"),
    };
    if let Some(reason) = by_role {
        return Some(reason.to_owned());
    }
    if rule::is_part_of_iso(case, id) {
        return Some("part of the ISO image on this disk".to_owned());
    }
    let absolute = ABSOLUTE_TYPES.iter().find(|(code, _)| *code == partition.type_code);
    if let Some((_, what)) = absolute {
        return Some(format!("{what} keeps addresses of the disk"));
    }
    let kinds = stack.above(id).iter().filter_map(|&above| match &stack.layer(above).kind {
        LayerKind::FileSystem(system) | LayerKind::Swap(system) => Some(system.kind),
        _ => None,
    });
    let broken = kinds.into_iter().find(|kind| ABSOLUTE_CONTENT.contains(kind));
    broken.map(|kind| format!("moving {kind} is not safe"))
}
