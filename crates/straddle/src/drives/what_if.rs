//! `--what-if`: one workload as it is given, aligned, misaligned, on 512e, on RAID 5 and with or
//! without PLP, side by side.

use anyhow::anyhow;
use drive::profile::{DriveKind, DriveProfile};
use drive::run::Region;
use report::drive::SimulatedArm;

use super::profiles;
use super::variants::{Variant, changed};
use super::workload_place::{Owner, WorkloadPlace, place};
use super::workload_source::Workload;
use crate::arguments::Simulate;

/// By how much everything is shifted where nothing else is asked: a sector, what sector 63 and
/// what sector 34 leave over.
const SHIFTS: [u64; 3] = [512, 3584, 1024];
/// Granule at whose multiples aligned places begin: that of 512e disks and of most flash.
const GRANULE_BYTES: u64 = 4096;
/// The built-in array that RAID 5 is taken from: five members, 64 KiB chunks.
const RAID5: &str = "raid5-5x64k";

/// The drives of `asked`, each changed and placed as the variants want it; `first` counts arms.
///
/// # Errors
/// When a variant cannot be simulated.
pub(super) fn variants(
    arm: &Variant,
    workload: &Workload,
    first: usize,
    asked: &Simulate,
    notes: &mut Vec<String>,
) -> anyhow::Result<Vec<(Variant, WorkloadPlace<'static>)>> {
    let name = &arm.profile.name;
    let logical_bytes = arm.profile.amount("logical_sector").unwrap_or(512);
    let told = if asked.shift.is_empty() { &SHIFTS[..] } else { &asked.shift[..] };
    let (shifts, cut): (Vec<u64>, Vec<u64>) =
        told.iter().partition(|shift| shift.is_multiple_of(logical_bytes));
    if !cut.is_empty() {
        notes.push(format!("{name} has sectors of {logical_bytes} bytes: {cut:?} B off cannot be"));
    }
    let origin_bytes = arm.profile.amount("origin").unwrap_or(0);
    let off = workload.begins(asked).wrapping_sub(origin_bytes) % GRANULE_BYTES;
    let pad = (GRANULE_BYTES - off) % GRANULE_BYTES;
    let mut rows = Vec::new();
    match pad {
        0 => rows.push((arm.clone(), "aligned, as given".to_owned(), 0, 0)),
        _ => {
            rows.push((arm.clone(), format!("as given, {off} B off"), 0, 0));
            rows.push((arm.clone(), "aligned".to_owned(), pad, 0));
        }
    }
    let at = |shift| format!("{shift} B off");
    rows.extend(shifts.iter().map(|&shift| (arm.clone(), at(shift), pad, shift)));
    for Other { arm, what, is_shifted_too } in others(arm, notes)? {
        rows.push((arm.clone(), format!("{what}, aligned"), pad, 0));
        let first = shifts.first().filter(|_| is_shifted_too);
        rows.extend(first.map(|&shift| (arm, format!("{what}, {}", at(shift)), pad, shift)));
    }
    let against = u32::try_from(first).unwrap_or(u32::MAX);
    let mut length_bytes = u64::MAX;
    let spot = |(arm, variant, pad, shift_bytes): (Variant, String, u64, u64)| {
        let model = arm.model()?;
        let from = asked.start.saturating_add(pad);
        let place = place(&*model, from, shift_bytes, &shifts, asked)
            .map_err(|why| anyhow!("cannot simulate {name}, {variant}: {why}"))?;
        // As many bytes on each, so that all do the same.
        length_bytes = place.length_bytes.min(length_bytes);
        let place = Region { length_bytes, ..place };
        let told = SimulatedArm {
            variant: Some(variant),
            shift_bytes,
            start_bytes: place.start_bytes,
            against,
            ..SimulatedArm::default()
        };
        Ok((arm, WorkloadPlace { place, owner: Owner::Drive, told }))
    };
    rows.into_iter().map(spot).collect()
}

/// A drive that another could be instead.
struct Other {
    arm: Variant,
    what: &'static str,
    /// True if it is misaligned too: what PLP changes does not hang on that.
    is_shifted_too: bool,
}

/// The drives that `arm` could be instead.
fn others(arm: &Variant, notes: &mut Vec<String>) -> anyhow::Result<Vec<Other>> {
    let name = &arm.profile.name;
    let with = |changes: &[&str]| -> anyhow::Result<Variant> {
        let mut arm = arm.clone();
        arm.profile = changed(arm.profile, changes)?;
        arm.changed.extend(changes.iter().map(|change| (*change).to_owned()));
        Ok(arm)
    };
    let mut found = Vec::new();
    match (arm.profile.kind, arm.profile.amount("physical_sector")) {
        (DriveKind::HardDisk, Some(512)) => {
            let arm = with(&["physical_sector=4096", "rmw=per-sector"])?;
            found.push(Other { arm, what: "512e", is_shifted_too: true });
        }
        (DriveKind::HardDisk, _) => {
            notes.push(format!("{name} has 4 KiB sectors itself: no 512e row"))
        }
        _ => {}
    }
    if !matches!(arm.profile.kind, DriveKind::Array | DriveKind::Controller) {
        let array: DriveProfile = profiles::named(RAID5)?;
        let arm = Variant { array: Some(array), ..arm.clone() };
        found.push(Other { arm, what: "RAID 5, 5 x 64 KiB", is_shifted_too: true });
    }
    let mut protected = |change, what| -> anyhow::Result<()> {
        found.push(Other { arm: with(&[change])?, what, is_shifted_too: false });
        Ok(())
    };
    match arm.profile.amount("volatile") {
        Some(0) => protected("volatile=yes", "without PLP")?,
        Some(_) => protected("volatile=no", "with PLP")?,
        None => notes.push(format!("{name} has no write buffer that PLP could keep: no such row")),
    }
    Ok(found)
}
