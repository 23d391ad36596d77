//! Disagreements of the kernel and the drive itself, in sentences that name both and the
//! one that is used.
//!
//! A difference that follows from how Linux folds several values into one is no disagreement.

use units::Known;

use super::KernelDrive;

/// Every disagreement between what `drive` says itself and what the kernel says of it.
pub(super) fn of(drive: &KernelDrive) -> Vec<String> {
    let mut found = Vec::new();
    namespace(drive, &mut found);
    capacity(drive, &mut found);
    ata(drive, &mut found);
    paths(drive, &mut found);
    found
}

const LARGER: &str = "the larger is used, since what is aligned to it is aligned to both";

fn namespace(drive: &KernelDrive, found: &mut Vec<String>) {
    let Some(said) = drive.said.namespace.value() else { return };
    if let (Some(&kernel), Some(format)) = (drive.logical_bytes.value(), said.format)
        && kernel != format.data_bytes
    {
        found.push(format!(
            "logical_block_size: sysfs says {kernel}, NVMe Identify {}; sysfs is used, since the \
             kernel takes nothing smaller",
            format.data_bytes
        ));
    }
    if let (Some(&kernel), Some(preferred)) =
        (drive.minimum_io_bytes.value(), drive.preferred_bytes())
        && kernel < preferred
    {
        found.push(format!(
            "minimum_io_size: sysfs says {kernel}, NVMe Identify {preferred} (NPWG); the drive is \
             used"
        ));
    }
}

fn capacity(drive: &KernelDrive, found: &mut Vec<String>) {
    let Some(said) = drive.said.capacity.value() else { return };
    logical(drive, "READ CAPACITY (16)", said.logical_bytes, found);
    physical(drive, "READ CAPACITY (16)", said.physical_bytes, found);
    if said.physical_bytes.is_some() {
        let lowest = Some(said.lowest_aligned_bytes);
        origin(drive, "READ CAPACITY (16)", (said.physical_bytes, lowest), found);
    }
}

fn ata(drive: &KernelDrive, found: &mut Vec<String>) {
    let Some(said) = drive.said.ata.value() else { return };
    if let (Some(&kernel), Some(own)) = (drive.logical_bytes.value(), said.logical_bytes)
        && kernel != own
    {
        found.push(format!(
            "logical_block_size: sysfs says {kernel}, ATA IDENTIFY {own}; sysfs is used. Something \
             between translates: without it, tables made here are not found"
        ));
    }
    physical(drive, "ATA IDENTIFY", said.physical_bytes, found);
    origin(drive, "ATA IDENTIFY", (said.physical_bytes, said.lowest_aligned_bytes), found);
}

fn logical(drive: &KernelDrive, source: &str, said: Option<u64>, found: &mut Vec<String>) {
    if let (Some(&kernel), Some(said)) = (drive.logical_bytes.value(), said)
        && kernel != said
    {
        found.push(format!(
            "logical_block_size: sysfs says {kernel}, {source} {said}; sysfs is used, since the \
             kernel takes nothing smaller"
        ));
    }
}

fn physical(drive: &KernelDrive, source: &str, said: Option<u64>, found: &mut Vec<String>) {
    let (Some(&kernel), Some(said)) = (drive.physical_bytes.value(), said) else { return };
    if kernel == said {
        return;
    }
    let used = match drive.absurd_physical() {
        Some(_) => "the drive is used, since the other cannot be right",
        // What is between cannot make sectors smaller than those that it offers.
        None if said < drive.sector().bytes() => "sysfs is used",
        None => LARGER,
    };
    found.push(format!("physical_block_size: sysfs says {kernel}, {source} {said}; {used}"));
}

/// Origins are compared only where both have physical sectors of the same length; else the other
/// sentence says enough.
fn origin(
    drive: &KernelDrive,
    source: &str,
    (own, said): (Option<u64>, Option<u64>),
    found: &mut Vec<String>,
) {
    let physical = drive.physical_bytes.value().copied().unwrap_or(0);
    let (Some(&kernel), Some(said)) = (drive.alignment_offset_bytes.value(), said) else { return };
    let Ok(kernel) = u64::try_from(kernel) else { return };
    if kernel != said && own == Some(physical) {
        let used = if kernel == 0 { "the drive is used" } else { "sysfs is used" };
        found.push(format!("alignment_offset: sysfs says {kernel}, {source} {said}; {used}"));
    }
}

/// A head of several paths offers what is safe on all of them: never less than a path asks for.
fn paths(drive: &KernelDrive, found: &mut Vec<String>) {
    for path in &drive.paths {
        let rows = [
            ("logical_block_size", &drive.logical_bytes, &path.logical_bytes),
            ("physical_block_size", &drive.physical_bytes, &path.physical_bytes),
            ("minimum_io_size", &drive.minimum_io_bytes, &path.minimum_io_bytes),
        ];
        for (name, head, own) in rows {
            if let (Known::Yes(head), Known::Yes(own)) = (head, own)
                && head.value < own.value
            {
                found.push(format!(
                    "{name}: the multipath head says {}, its path {} {}; the head is used",
                    head.value, path.name, own.value
                ));
            }
        }
    }
}
