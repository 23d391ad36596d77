//! Whose the measurement is: which drive's addresses are used, and of which drive it is what is
//! found.

use report::Refusal;
use report::probe::Probe as Document;
use stack::UnitKind;
use stack::drive::KernelDrive;

use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::measured_bytes::MeasuredBytes;

/// The place by the leaves' addresses; by the array's own where there are several.
pub(super) fn placed(
    of: impl Fn(UnitKind) -> Result<MeasuredBytes, Refusal>,
) -> Result<MeasuredBytes, Refusal> {
    let place = of(UnitKind::Granule)?;
    let leaves: std::collections::BTreeSet<_> = place.runs.iter().map(|run| run.leaf).collect();
    match leaves.len() {
        0 | 1 => Ok(place),
        _ => Ok(of(UnitKind::Chunk).unwrap_or(place)),
    }
}

/// The drive of which it is what is found at `place`; where a cache lies above it, that is noted.
///
/// # Errors
/// Why what is found is of none: there are several, or none, or a cache lies above it.
pub(super) fn drive(
    inspected: &InspectedMachine,
    place: &MeasuredBytes,
    document: &mut Document,
) -> Result<KernelDrive, String> {
    if let Some((name, note)) = place.cached.as_ref().zip(place.cache_note()) {
        document.envelope.notes.push(note);
        return Err(format!("the page cache below {name} lies above the drive"));
    }
    let drive =
        place.drive.as_ref().ok_or("it lies on several drives, or on none that is known")?;
    Ok(KernelDrive::read(inspected.tree(), &drive.name))
}
