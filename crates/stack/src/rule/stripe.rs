//! Chunks and full stripes missed; geometry that file systems were told.

use format::filesystem::FileSystem;
use units::prefix::{Exact, Size};

use super::cost::Costs;
use super::{Case, Finding, Severity, alignment, finding, remedy};
use crate::id::LayerId;
use crate::judge::Miss;
use crate::layer::LayerKind;
use crate::mapping::Mapping;
use crate::unit::UnitKind;

/// More data disks than an array has; a width of more is left over from a drive's odd report.
const DATA_MEMBERS_MAX: u64 = 384;

pub(super) fn check(case: &Case<'_>, costs: &Costs<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for (id, layer) in case.stack.iter() {
        found.extend(missed(case, id, costs));
        if let LayerKind::FileSystem(system) = &layer.kind
            && let Some(stripe) = system.stripe
        {
            let (unit, width) = (stripe.unit_bytes, stripe.width_bytes);
            found.extend(told_wrong(id, system.kind, unit, width));
            found.extend(told_other(case, id, system, (unit, width)));
        }
        // Told once, of the array itself.
        if let Some((array, chunk)) = case.judgement(id).small_chunk
            && array == id
        {
            let mut finding = finding("ST203", Severity::Warning, array);
            let text =
                format!("the chunk of {} is below, or no multiple of, a granule", Exact(chunk));
            finding.evidence.push(text);
            found.push(finding);
        }
    }
    found
}

/// A chunk or a full stripe missed, told once: where it begins.
fn missed(case: &Case<'_>, id: LayerId, costs: &Costs<'_>) -> Option<Finding> {
    let miss = case.judgement(id).stripe.as_ref()?;
    // Off the granule is worse, and said already.
    if case.judgement(id).granule.is_some() || alignment::rarely_written(case, id) {
        return None;
    }
    let begins_below = case.stack.layer(id).mapping.below().iter().any(|&below| {
        let lower = case.judgement(below).stripe.as_ref();
        lower.is_some_and(|lower| lower.owner == miss.owner && lower.kind == miss.kind)
    });
    let tops = alignment::tops(case, id);
    let healed = tops.iter().all(|&top| {
        let top_miss = case.judgement(top).stripe.as_ref();
        top != id && top_miss.is_none_or(|top_miss| top_miss.kind != miss.kind)
    });
    if begins_below || healed || matches!(case.stack.layer(id).kind, LayerKind::MdMember(_)) {
        return None;
    }
    let severity = if miss.parity { Severity::Warning } else { Severity::Info };
    let code = if miss.kind == UnitKind::Chunk { "ST201" } else { "ST202" };
    let mut finding = finding(code, severity, id);
    finding.evidence.push(alignment::evidence(case, id, miss));
    finding.evidence.extend(full_stripe(case, miss));
    let cost = costs.of_write(id, write_bytes(miss, case));
    finding.cost = cost.filter(|cost| !cost.is_nothing());
    finding.remedies = remedy::moved(case, id, miss);
    Some(finding)
}

/// The write that tells the difference: a chunk where chunks are missed, else a full stripe.
fn write_bytes(miss: &Miss, case: &Case<'_>) -> u64 {
    match miss.kind {
        UnitKind::Chunk => miss.unit.length_bytes(),
        _ => case
            .stack
            .layer(miss.owner)
            .units
            .used_bytes(UnitKind::FullStripe)
            .unwrap_or(miss.unit.length_bytes()),
    }
}

fn full_stripe(case: &Case<'_>, miss: &Miss) -> Option<String> {
    let units = &case.stack.layer(miss.owner).units;
    let (chunk, full) =
        (units.used_bytes(UnitKind::Chunk)?, units.used_bytes(UnitKind::FullStripe)?);
    let data = full.checked_div(chunk)?;
    Some(format!("a full stripe is {data} x {} = {}", Size(chunk), Exact(full)))
}

/// XFS refuses or misbehaves with a unit and no width, or a width that the unit does not divide.
fn told_wrong(id: LayerId, kind: &str, unit: u64, width: u64) -> Option<Finding> {
    let wrong = match (unit, width) {
        (0, 0) => return None,
        (_, 0) => "a stripe unit is set, but no width".to_owned(),
        (unit, width) if unit > 0 && width % unit != 0 => {
            format!("the width of {} is no multiple of the unit of {}", Exact(width), Exact(unit))
        }
        (unit, width) if unit > 0 && width.div_euclid(unit) > DATA_MEMBERS_MAX => format!(
            "a width of {} would be {} data disks of {} each",
            Exact(width),
            width.div_euclid(unit),
            Exact(unit)
        ),
        _ => return None,
    };
    let mut finding = finding("ST205", Severity::Warning, id);
    finding.evidence.push(wrong);
    finding.remedies.push(match kind {
        "xfs" => "mount -o sunit=N,swidth=M DEVICE DIR (512-byte units)".to_owned(),
        _ => "tune2fs -E stride=N,stripe_width=M DEVICE (blocks; 0 means none)".to_owned(),
    });
    Some(finding)
}

/// Geometry of an array that is not there: the file system was copied from one, or a controller
/// hides its array, which then may say so in its preferred sizes.
fn told_of_none(
    case: &Case<'_>,
    id: LayerId,
    under: &[LayerId],
    (unit, width): (u64, u64),
) -> Option<Finding> {
    let mut leaves = Vec::new();
    for &below in under {
        let layer = case.stack.layer(below);
        match (&layer.mapping, &layer.kind) {
            (Mapping::Unknown { .. } | Mapping::Opaque { .. }, _) => return None,
            (Mapping::Leaf, LayerKind::Drive(drive)) => leaves.push(drive),
            // Nobody knows on what an image will lie.
            (Mapping::Leaf, _) => return None,
            _ => {}
        }
    }
    let hidden = leaves.iter().any(|drive| {
        let says = |known: &units::Known<u64>, bytes: u64| {
            bytes > 0 && known.value().is_none_or(|&said| said == bytes)
        };
        says(&drive.minimum_io_bytes, unit) || says(&drive.optimal_io_bytes, width)
    });
    if hidden || leaves.is_empty() {
        return None;
    }
    let mut finding = finding("ST204", Severity::Info, id);
    finding.evidence.push(format!(
        "the file system was told unit {} and width {}; no layer beneath it has stripes, and no \
         drive prefers such sizes",
        Exact(unit),
        Exact(width)
    ));
    finding.remedies.push(
        "nothing, where a controller hides an array; else mount with noalign (XFS) or \
         tune2fs -E stride=0,stripe_width=0 (ext4)"
            .to_owned(),
    );
    Some(finding)
}

/// The file system's geometry against that of the arrays beneath it.
fn told_other(
    case: &Case<'_>,
    id: LayerId,
    system: &FileSystem,
    (unit, width): (u64, u64),
) -> Option<Finding> {
    let under = case.stack.under(id);
    let arrays: Vec<(u64, u64, bool)> = (under.iter())
        .flat_map(|&below| case.stack.layer(below).mapping.stripes())
        .filter(|laid| laid.stripe.data_members() > 1)
        .map(|laid| (laid.stripe.chunk_bytes(), laid.stripe.full_bytes(), laid.parity > 0))
        .collect();
    let told = under.iter().find_map(|&below| {
        let layer = case.stack.layer(below);
        let (chunk, full) = (UnitKind::Chunk, UnitKind::FullStripe);
        let (chunk, full) = (layer.units.used_bytes(chunk)?, layer.units.used_bytes(full)?);
        Some((chunk, full, layer.told_parity))
    });
    let fits = |&(chunk, full, _): &(u64, u64, bool)| {
        (unit == 0 || unit == chunk) && (width == 0 || width == full)
    };
    let beneath: Vec<(u64, u64, bool)> = arrays.into_iter().chain(told).collect();
    if beneath.is_empty() && (unit > 0 || width > 0) {
        return told_of_none(case, id, &under, (unit, width));
    }
    if (unit == 0 && width == 0) || beneath.is_empty() || beneath.iter().any(fits) {
        return None;
    }
    let (chunk, full, _) = beneath[0];
    let parity = beneath.iter().any(|&(_, _, parity)| parity);
    let severity = if parity { Severity::Warning } else { Severity::Info };
    let mut finding = finding("ST204", severity, id);
    finding.evidence.push(format!(
        "the file system was told unit {} and width {}; beneath it are {} and {}",
        Exact(unit),
        Exact(width),
        Exact(chunk),
        Exact(full)
    ));
    let data = full.checked_div(chunk).unwrap_or(1);
    if system.kind == "xfs" {
        finding.remedies.push(format!(
            "mount -o sunit={},swidth={} DEVICE DIR (512-byte units), where it may be kept",
            chunk.div_euclid(512),
            full.div_euclid(512)
        ));
        finding.remedies.push(format!("new: mkfs.xfs -d su={chunk},sw={data} DEVICE"));
    } else if let Some(block) = system.sector_bytes.filter(|&block| block > 0) {
        finding.remedies.push(format!(
            "tune2fs -E stride={},stripe_width={} DEVICE (blocks of {block} bytes)",
            chunk.div_euclid(block),
            full.div_euclid(block)
        ));
    }
    Some(finding)
}
