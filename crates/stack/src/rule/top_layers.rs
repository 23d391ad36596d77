//! Layers on which nothing lies.

use format::table::PartitionRole;

use super::RuleInput;
use crate::graph::Stack;
use crate::id::LayerId;
use crate::layer::LayerKind;
use crate::unit::UnitKind;

/// The layers over `id` on which nothing lies; itself where it is one.
pub(super) fn tops(case: &RuleInput<'_>, id: LayerId) -> Vec<LayerId> {
    let over = case.stack.over(id).into_iter();
    let tops: Vec<LayerId> = over
        .filter(|&over| case.stack.above(over).is_empty() && !is_container(case, over))
        .collect();
    if tops.is_empty() { vec![id] } else { tops }
}

/// Entries of a table that only hold others, or stand for the whole.
pub(super) fn is_container(case: &RuleInput<'_>, id: LayerId) -> bool {
    use PartitionRole::{Extended, Protective, Whole};
    match &case.stack.layer(id).kind {
        LayerKind::Partition(partition, _) => {
            matches!(partition.role, Extended | Whole | Protective)
        }
        _ => is_extended(case.stack, id),
    }
}

/// Length that the kernel shows of an extended partition, in bytes: two units of 512, or one
/// larger sector.
///
/// Source: Linux `block/partitions/msdos.c` (`msdos_partition`).
const EXTENDED_BYTES: u64 = 1024;

/// Returns whether a layer is an extended partition, which holds no data of its own.
pub(crate) fn is_extended(stack: &Stack, id: LayerId) -> bool {
    let layer = stack.layer(id);
    match &layer.kind {
        LayerKind::Partition(partition, _) => partition.role == PartitionRole::Extended,
        LayerKind::KernelPartition => {
            let below = layer.mapping.below();
            let sector = below
                .iter()
                .find_map(|&disk| stack.layer(disk).units.used_bytes(UnitKind::LogicalSector));
            let bytes = EXTENDED_BYTES.max(sector.unwrap_or(0));
            layer.length().is_some_and(|length| length <= bytes)
        }
        _ => false,
    }
}
