//! Ends and sizes.

use format::table::PartitionRole;
use units::prefix::Exact;
use units::{SectorSize, Source};

use super::remedy::{Command, Growth};
use super::top_layers::is_container;
use super::{Finding, Remedy, RuleInput, Severity, finding, rarely_written, remedy};
use crate::id::LayerId;
use crate::judge::Verdict;
use crate::layer::{Bare, LayerKind};
use crate::unit::UnitKind;

/// To what an odd file is made longer.
const WHOLE_BYTES: u64 = 1 << 20;

pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        match &layer.kind {
            LayerKind::Drive(_) | LayerKind::ImageFile => {
                found.extend(odd_disk(case, id));
                found.extend(pushed(case, id));
            }
            LayerKind::ImageFormat(_) => found.extend(pushed(case, id)),
            LayerKind::Partition(partition, _) if partition.role != PartitionRole::Ordinary => {}
            LayerKind::Partition(..) | LayerKind::KernelPartition => {
                found.extend(odd_partition(case, id));
            }
            LayerKind::Luks(luks) => {
                let sector = luks.segments.first().map_or(0, |segment| segment.sector_bytes);
                found.extend(luks_tail(case, id, sector));
            }
            _ => {}
        }
    }
    found
}

/// The granule of the leaf under a layer, and whether it is only assumed.
fn granule(case: &RuleInput<'_>, id: LayerId) -> Option<(u64, bool)> {
    let (_, leaf) = case.stack.leaves(id).next()?;
    let (unit, source) = leaf.units.used(UnitKind::Granule)?;
    Some((unit.length_bytes(), source == Source::Assumed))
}

/// A disk whose size is no whole number of logical sectors of the disk on which it will land: of
/// 512 bytes at least, where nobody tells.
fn odd_disk(case: &RuleInput<'_>, id: LayerId) -> Option<Finding> {
    let layer = case.stack.layer(id);
    let length = layer.length()?;
    let told = case.told.and_then(|told| told.sector).map(SectorSize::bytes);
    let sector = told.unwrap_or(512);
    let is_disk = case.stack.above(id).iter().all(|&above| {
        // An image format's file is no disk; its guest's size counts.
        !matches!(case.stack.layer(above).kind, LayerKind::ImageFormat(_))
    });
    // Nothing says that a file in which nothing was recognized is a disk.
    let is_any = told.is_none() && matches!(layer.bare, Some(Bare::Unknown(_)));
    let is_whole =
        told.is_none() && is_packed(case, id) || rarely_written::iso_on(case, id).is_some();
    if length % sector == 0 || !is_disk || is_any || is_whole {
        return None;
    }
    let severity = if told.is_some() { Severity::Error } else { Severity::Warning };
    let mut finding = finding("ST107", severity, id).says(format!(
        "{} ends {} after its last whole sector: {length} bytes, sectors of {sector} bytes",
        case.stack.layer(id).name,
        Exact(length % sector)
    ));
    finding.remedies.extend(grown(case, id, length.checked_next_multiple_of(WHOLE_BYTES)?));
    Some(finding)
}

/// Returns whether all that is on a disk is packed to the byte, as squashfs is, and ends where that
/// ends.
fn is_packed(case: &RuleInput<'_>, id: LayerId) -> bool {
    !case.stack.above(id).is_empty() && rarely_written::why(case, id).is_some()
}

/// The file of a disk made `bytes` long, with the backup of its GPT at the new end.
pub(super) fn grown(case: &RuleInput<'_>, id: LayerId, bytes: u64) -> Option<Remedy> {
    let layer = case.stack.layer(id);
    let growth = match (&layer.kind, layer.length()) {
        (LayerKind::ImageFile, Some(length)) => Growth::new(remedy::typed(layer), length, bytes)?,
        _ => return None,
    };
    let grow = Remedy::command(Command::Grow(growth));
    Some(match remedy::rewrite_gpt(case, id, Some(bytes), "then move the backup GPT to the end") {
        Some(rewrite) => grow.then(rewrite),
        None => grow,
    })
}

/// A container made longer by the bytes that its last sector lacks.
fn whole_sectors(case: &RuleInput<'_>, id: LayerId, lacking: u64) -> Option<Remedy> {
    let [below] = case.stack.layer(id).mapping.below()[..] else { return None };
    let longer = case.stack.layer(below).length().and_then(|length| length.checked_add(lacking));
    match (&case.stack.layer(below).kind, longer) {
        (LayerKind::Partition(..) | LayerKind::KernelPartition, _) => remedy::plan(case, below),
        (LayerKind::ImageFile, Some(bytes)) => grown(case, below, bytes),
        (_, bytes) => Some(Remedy::tell(format!("make the device below it {} bytes long", bytes?))),
    }
}

fn odd_partition(case: &RuleInput<'_>, id: LayerId) -> Option<Finding> {
    // A misaligned start has a finding of its own; the end then follows it or fits by chance.
    // Without places there is no end to judge.
    let judgment = case.judgment(id);
    let has_place = judgment.granule.is_none() && judgment.verdict != Verdict::NotExpressible;
    if !has_place || rarely_written::why(case, id).is_some() {
        return None;
    }
    let length = case.stack.layer(id).length()?;
    let (granule, assumed) = granule(case, id)?;
    if length % granule == 0 {
        return None;
    }
    let finding = finding("ST106", Severity::Info, id).says(format!(
        "{} ends {} after a {} boundary{}; its length is {}",
        case.stack.layer(id).name,
        Exact(length % granule),
        Exact(granule),
        if assumed { " (granule assumed)" } else { "" },
        sectors(case, id, length)
    ));
    Some(finding.fixed_by(remedy::plan(case, id).map(Remedy::unneeded)))
}

/// A length in the sectors of the disk.
fn sectors(case: &RuleInput<'_>, id: LayerId, length: u64) -> String {
    let sector = case.place(id, 0).sector_bytes;
    match length.checked_div(sector).filter(|_| length.is_multiple_of(sector)) {
        Some(count) => format!("{count} sectors"),
        None => format!("{length} bytes"),
    }
}

/// cryptsetup will not open a device whose data is no whole number of encryption sectors.
fn luks_tail(case: &RuleInput<'_>, id: LayerId, sector: u64) -> Option<Finding> {
    let length = case.stack.layer(id).length()?;
    if sector <= 512 || length % sector == 0 {
        return None;
    }
    let mut finding = finding("ST305", Severity::Error, id).says(format!(
        "{} ends {} after its last whole sector: {length} bytes, sectors of {sector} bytes",
        case.stack.layer(id).name,
        Exact(length % sector)
    ));
    finding.remedies.extend(whole_sectors(case, id, sector - length % sector));
    Some(finding)
}

/// A partition of odd length that pushed the next one off: name it, since it looks innocent.
fn pushed(case: &RuleInput<'_>, id: LayerId) -> Vec<Finding> {
    let mut parts: Vec<(u64, u64, LayerId)> = (case.stack.above(id).iter())
        .filter(|&&above| !is_container(case, above))
        .filter_map(|&above| {
            let start = case.partition_start(above)?;
            Some((start, start.checked_add(case.stack.layer(above).length()?)?, above))
        })
        .collect();
    parts.sort_unstable();
    let follows = |pair: &&[(u64, u64, LayerId)]| {
        let (first, second) = (pair[0], pair[1]);
        // What has a whole length pushes nothing off.
        let [own, next] = [first.2, second.2].map(|id| case.judgment(id));
        let unit = next.miss().map(|miss| miss.unit.length_bytes());
        let is_on =
            if next.granule.is_some() { own.granule.is_none() } else { own.miss().is_none() };
        first.1 == second.0
            && unit.is_some_and(|unit| (first.1 - first.0) % unit != 0)
            && is_on
            && !case.misaligned(first.2)
            && case.misaligned(second.2)
            && rarely_written::why(case, second.2).is_none()
    };
    (parts.windows(2).filter(follows))
        .map(|pair| {
            let (culprit, victim) = (case.stack.layer(pair[0].2), case.stack.layer(pair[1].2));
            let finding = finding("ST108", Severity::Info, pair[0].2).says(format!(
                "{} starts where {} ends, at {}",
                victim.name,
                culprit.name,
                case.place(id, pair[0].1)
            ));
            finding.fixed_by(remedy::plan_of(case, id))
        })
        .collect()
}
