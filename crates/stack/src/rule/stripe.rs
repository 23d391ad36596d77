//! Chunks and full stripes missed; geometry that file systems were told.

use format::filesystem::FileSystem;
use units::prefix::{Exact, Size};
use units::text::shell_word;

use super::cost::Costs;
use super::remedy::Command;
use super::top_layers::{is_container, tops};
use super::{
    Finding, Remedy, RuleInput, Severity, alignment, finding, rarely_written, remedy, severity,
};
use crate::id::LayerId;
use crate::judge::Miss;
use crate::layer::LayerKind;
use crate::mapping::Mapping;
use crate::unit::UnitKind;

/// More data disks than an array has; a width of more is left over from a drive's odd report.
const DATA_MEMBERS_MAX: u64 = 384;

pub(super) fn check(case: &RuleInput<'_>, costs: &Costs<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for (id, layer) in case.stack.iter() {
        found.extend(missed(case, id, costs));
        if let LayerKind::FileSystem(system) = &layer.kind
            && let Some(stripe) = system.stripe
        {
            let (unit, width) = (stripe.unit_bytes, stripe.width_bytes);
            found.extend(told_wrong(case, id, system, (unit, width)));
            found.extend(told_other(case, id, system, (unit, width)));
        }
        // Told once, of the array itself.
        if let Some((array, chunk)) = case.judgment(id).small_chunk
            && array == id
        {
            let text = format!("the chunk of {} is not a multiple of the granule", Exact(chunk));
            let finding = finding("ST203", Severity::Warning, array).says(text);
            found.push(finding.fixed_by(larger_chunk(case, array, chunk)));
        }
    }
    found
}

/// A chunk or a full stripe missed, told once: where it begins.
fn missed(case: &RuleInput<'_>, id: LayerId, costs: &Costs<'_>) -> Option<Finding> {
    let miss = case.judgment(id).stripe.as_ref()?;
    // Off the granule is worse, and said already.
    if case.judgment(id).granule.is_some() || is_container(case, id) {
        return None;
    }
    let begins_below = case.stack.layer(id).mapping.below().iter().any(|&below| {
        let lower = case.judgment(below).stripe.as_ref();
        lower.is_some_and(|lower| lower.owner == miss.owner && lower.kind == miss.kind)
    });
    let tops = tops(case, id);
    let healed = tops.iter().all(|&top| {
        let top_miss = case.judgment(top).stripe.as_ref();
        top != id && top_miss.is_none_or(|top_miss| top_miss.kind != miss.kind)
    });
    if begins_below || healed || matches!(case.stack.layer(id).kind, LayerKind::MdMember(_)) {
        return None;
    }
    if let Some(why) = rarely_written::why(case, id) {
        let evidence = format!("{}; {why}", alignment::evidence(case, id, miss));
        return Some(finding("ST104", Severity::Info, id).says(evidence));
    }
    let code = if miss.kind == UnitKind::Chunk { "ST201" } else { "ST202" };
    let mut finding = finding(code, severity::of_stripe(miss.parity), id)
        .says(alignment::evidence(case, id, miss));
    finding.evidence.extend(full_stripe(case, miss));
    let cost = costs.of_write(id, write_bytes(miss, case));
    finding.cost = cost.filter(|cost| !cost.is_nothing()).map(|cost| cost.told());
    finding.remedies = remedy::moved(case, id, miss);
    Some(finding)
}

/// The write that tells the difference: a chunk where chunks are missed, else a full stripe.
fn write_bytes(miss: &Miss, case: &RuleInput<'_>) -> u64 {
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

fn full_stripe(case: &RuleInput<'_>, miss: &Miss) -> Option<String> {
    let units = &case.stack.layer(miss.owner).units;
    let (chunk, full) =
        (units.used_bytes(UnitKind::Chunk)?, units.used_bytes(UnitKind::FullStripe)?);
    let data = full.checked_div(chunk)?;
    Some(format!("a full stripe is {data} x {} = {}", Size(chunk), Exact(full)))
}

/// The array again, with a chunk that holds whole granules.
fn larger_chunk(case: &RuleInput<'_>, array: LayerId, chunk: u64) -> Option<Remedy> {
    let leaves = case.stack.leaves(array);
    let granule = leaves.filter_map(|(_, leaf)| leaf.units.used_bytes(UnitKind::Granule)).max()?;
    let next = chunk.max(granule).checked_next_power_of_two()?;
    let kibibytes = (next.is_multiple_of(granule)).then_some(next.div_euclid(1024))?;
    let tool = match &case.stack.layer(array).kind {
        LayerKind::MdArray(_) => "mdadm --create --chunk=",
        LayerKind::LvmLogical(_) => "lvcreate -I ",
        _ => return None,
    };
    Some(Remedy::recreate(format!("{tool}{kibibytes}")))
}

/// Chunk, full stripe and whether there is parity, of what is beneath a layer: arrays, or the disk
/// that the user tells.
fn beneath(case: &RuleInput<'_>, id: LayerId) -> Vec<(u64, u64, bool)> {
    let under = case.stack.under(id);
    let arrays = (under.iter())
        .flat_map(|&below| case.stack.layer(below).mapping.stripes())
        .filter(|laid| laid.stripe.data_members() > 1)
        .map(|laid| (laid.stripe.chunk_bytes(), laid.stripe.full_bytes(), laid.parity > 0));
    let told = under.iter().find_map(|&below| {
        let layer = case.stack.layer(below);
        let (chunk, full) = (UnitKind::Chunk, UnitKind::FullStripe);
        let (chunk, full) = (layer.units.used_bytes(chunk)?, layer.units.used_bytes(full)?);
        Some((chunk, full, layer.told_parity))
    });
    arrays.chain(told).collect()
}

/// Returns how a file system is told of a stripe; 0 and 0 is none.
fn tell_stripe(
    case: &RuleInput<'_>,
    id: LayerId,
    system: &FileSystem,
    stripe: (u64, u64),
) -> Remedy {
    let (chunk, full) = stripe;
    let device = remedy::within(case.stack, id);
    if system.kind == "xfs" {
        return match device.filter(|_| takes_unit(system, chunk)) {
            Some((device, offset_bytes)) => Remedy::when(
                "unmount it, then once",
                Command::XfsStripe {
                    device: shell_word(&device),
                    offset_bytes,
                    unit: chunk.div_euclid(512),
                    width: full.div_euclid(512),
                },
            ),
            None if chunk == 0 => Remedy::recreate("mkfs.xfs -d noalign"),
            None => {
                let data = full.checked_div(chunk).unwrap_or(1);
                Remedy::recreate(format!("mkfs.xfs -d su={chunk},sw={data}"))
            }
        };
    }
    let device = match device {
        Some((device, 0)) => shell_word(&device),
        // As the tools of e2fsprogs take a part of a file.
        Some((device, at)) => shell_word(&format!("{device}?offset={at}")),
        None => "DEVICE".to_owned(),
    };
    let block = system.sector_bytes.filter(|&block| block > 0).unwrap_or(4096);
    let (stride, width) = (chunk.div_euclid(block), full.div_euclid(block));
    Remedy::command(Command::ExtStripe { device, stride, width })
}

/// XFS refuses or misbehaves with a unit and no width, or a width that the unit does not divide.
fn told_wrong(
    case: &RuleInput<'_>,
    id: LayerId,
    system: &FileSystem,
    (unit, width): (u64, u64),
) -> Option<Finding> {
    let is_xfs = system.kind == "xfs";
    let wrong = match (unit, width) {
        (0, 0) => return None,
        (0, _) if is_xfs => "a stripe width is set, but no unit".to_owned(),
        (_, 0) => "a stripe unit is set, but no width".to_owned(),
        (unit, width) if unit > 0 && width % unit != 0 => {
            format!(
                "the width of {} is not a multiple of the unit of {}",
                Exact(width),
                Exact(unit)
            )
        }
        (unit, width) if unit > 0 && width.div_euclid(unit) > DATA_MEMBERS_MAX => format!(
            "a width of {} would be {} data disks of {} each",
            Exact(width),
            width.div_euclid(unit),
            Exact(unit)
        ),
        _ => return None,
    };
    // Linux mounts an ext4 with any values, and no XFS with these.
    let is_refused = is_xfs && !(unit > 0 && width > 0 && width % unit == 0);
    let severity = if is_refused { Severity::Error } else { Severity::Warning };
    let mut finding = finding("ST205", severity, id).says(wrong);
    if is_refused {
        finding = finding.says("Linux refuses to mount it".to_owned());
    }
    let below = beneath(case, id).first().map(|&(chunk, full, _)| (chunk, full));
    let below = below.filter(|&(chunk, _)| !is_xfs || takes_unit(system, chunk));
    let stripe = below.or_else(|| own_stripe(system, (unit, width))).unwrap_or((0, 0));
    if is_xfs && unit == 0 {
        // Linux 6.18 refuses it with any options.
        let block = system.xfs.map_or(4096, |places| places.block_bytes);
        let blocks = stripe.0.checked_div(block).filter(|&blocks| blocks > 0);
        let blocks = blocks.map_or_else(|| "BLOCKS".to_owned(), |blocks| blocks.to_string());
        return Some(finding.fixed_by([Remedy::tell(format!(
            "no mount option repairs it; first on a copy of the device: xfs_db -x -c 'sb 0' -c \
             'write unit {blocks}' COPY"
        ))]));
    }
    Some(finding.fixed_by([tell_stripe(case, id, system, stripe)]))
}

fn takes_unit(system: &FileSystem, unit: u64) -> bool {
    system.xfs.is_some_and(|places| places.takes_unit(unit))
}

/// The stripe of an XFS with contradicting values that keeps its root inode in place: its own unit,
/// or the one by which mkfs placed that inode; and as many whole units as the width has.
fn own_stripe(system: &FileSystem, (unit, width): (u64, u64)) -> Option<(u64, u64)> {
    let units = [Some(unit), system.xfs.map(|places| places.root_at_bytes)];
    let unit = units.into_iter().flatten().find(|&unit| takes_unit(system, unit))?;
    let members = width.checked_div(unit)?.max(1);
    let members = if members > DATA_MEMBERS_MAX { 1 } else { members };
    Some((unit, unit.checked_mul(members)?))
}

/// Geometry of an array that is not there: the file system was copied from one, or a controller
/// hides its array, which then may say so in its preferred sizes.
fn told_of_none(
    case: &RuleInput<'_>,
    id: LayerId,
    system: &FileSystem,
    (unit, width): (u64, u64),
) -> Option<Finding> {
    let mut leaves = Vec::new();
    for below in case.stack.under(id) {
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
    let finding = finding("ST204", Severity::Info, id).says(format!(
        "made for a stripe unit of {} and a width of {}; no layer below has stripes, and no drive \
         prefers such sizes",
        Exact(unit),
        Exact(width)
    ));
    let otherwise = match system.kind {
        "xfs" => Remedy::tell("mount it with -o noalign"),
        _ => tell_stripe(case, id, system, (0, 0)),
    };
    let hidden = Remedy::tell("nothing to do if a controller hides an array");
    Some(finding.fixed_by([hidden, otherwise]))
}

/// The file system's geometry against that of the arrays beneath it.
fn told_other(
    case: &RuleInput<'_>,
    id: LayerId,
    system: &FileSystem,
    (unit, width): (u64, u64),
) -> Option<Finding> {
    let fits = |&(chunk, full, _): &(u64, u64, bool)| {
        (unit == 0 || unit == chunk) && (width == 0 || width == full)
    };
    let beneath = beneath(case, id);
    if beneath.is_empty() && (unit > 0 || width > 0) {
        return told_of_none(case, id, system, (unit, width));
    }
    if (unit == 0 && width == 0) || beneath.is_empty() || beneath.iter().any(fits) {
        return None;
    }
    let (chunk, full, _) = beneath[0];
    let parity = beneath.iter().any(|&(_, _, parity)| parity);
    let severity = if parity { Severity::Warning } else { Severity::Info };
    let finding = finding("ST204", severity, id).says(format!(
        "made for a stripe unit of {} and a width of {}; the array below has {} and {}",
        Exact(unit),
        Exact(width),
        Exact(chunk),
        Exact(full)
    ));
    Some(finding.fixed_by([tell_stripe(case, id, system, (chunk, full))]))
}
