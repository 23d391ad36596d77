//! Partitions that start within a discard unit.

use units::Unit;
use units::prefix::Exact;

use super::top_layers::is_extended;
use super::{Finding, Remedy, RuleInput, Severity, finding};
use crate::id::LayerId;
use crate::layer::LayerKind;
use crate::mapping::Mapping;
use crate::unit::UnitKind;

pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        let unit = match (&layer.kind, &layer.mapping) {
            (LayerKind::Drive(drive), _) => drive.discard_unit(),
            // Chunks of a thin volume count from its start.
            (_, Mapping::Scattered { chunk_bytes, .. }) => Unit::new(*chunk_bytes),
            _ => None,
        };
        found.extend(unit.into_iter().flat_map(|unit| discards(case, id, unit)));
    }
    found
}

/// Partitions within a discard unit. Those off a granule have their own finding, and discards no
/// larger than a granule say nothing more.
fn discards(case: &RuleInput<'_>, id: LayerId, unit: Unit) -> Vec<Finding> {
    let granule = case.stack.layer(id).units.used_bytes(UnitKind::Granule).unwrap_or(0);
    if unit.length_bytes() <= granule || case.told.is_some_and(|told| told.granule.is_some()) {
        return Vec::new();
    }
    let above = case.stack.above(id).iter().copied();
    let starts = above.filter_map(|above| Some((above, case.partition_start(above)?)));
    starts
        .filter(|&(above, start)| {
            !unit.aligns(start) && !case.misaligned(above) && !is_extended(case.stack, above)
        })
        .map(|(above, start)| {
            let finding = finding("ST608", Severity::Info, above).says(format!(
                "{} starts at {}, {} after the start of a discard unit of {}",
                case.stack.layer(above).name,
                case.place(above, start),
                Exact(unit.misalignment(start)),
                Exact(unit.length_bytes())
            ));
            finding.fixed_by([Remedy::tell(format!(
                "nothing to do: it costs space at the ends, not speed; when it is recreated, \
                 start it at a multiple of {}",
                Exact(unit.length_bytes())
            ))])
        })
        .collect()
}
