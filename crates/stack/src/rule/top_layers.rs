//! Layers on which nothing lies.

use format::table::PartitionRole;

use super::RuleInput;
use crate::id::LayerId;
use crate::layer::LayerKind;

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
    matches!(&case.stack.layer(id).kind, LayerKind::Partition(partition, _)
        if matches!(partition.role, Extended | Whole | Protective))
}
