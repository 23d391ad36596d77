//! `probe --dry-run`: what would be written, where and for how long; and what would be refused.

use host::{Pinned, claim, file_facts};
use report::Refusal;
use report::probe::Probe as Document;
use stack::UnitKind;
use units::prefix::Size;

use super::document;
use super::open_target::device_disk;
use super::preflight::{possible, raw_bytes, scratch_bytes};
use super::session::Session;
use crate::shared::busy::SHARE_PERCENT;
use crate::shared::measure_target::{MeasureTarget, cannot};
use crate::shared::measured_bytes::MeasuredBytes;
use crate::shared::printer::shown;
use crate::shared::raw_claim;
use crate::world::World;

/// Bytes of the target that are looked at to say what it lies on.
const LOOK_BYTES: u64 = 1 << 20;

/// Returns what a probe would do, in the document; nothing is made.
///
/// # Errors
/// With what the run would be refused for, as far as that is known without opening anything for
/// writing.
pub(super) fn run<W: World>(
    run: &Session<'_>,
    world: &W,
    target: &MeasureTarget,
    found: &mut Document,
) -> Result<(), Refusal> {
    let place = match target {
        MeasureTarget::Directory(directory) => {
            in_directory(run, world, directory, found)?;
            glance(run, target)
        }
        MeasureTarget::Device { node, number } => {
            on_device(run, node, found)?;
            let length_bytes = found.target.length_bytes;
            let tried = format!("probe {}", shown(node.given()));
            let place = place(run, *number, length_bytes);
            Some(place.map_err(|refusal| cannot(&tried, refusal))?)
        }
    };
    if let Some(place) = &place {
        document::of_place(place, found);
    }
    Ok(())
}

/// Returns what lies at the beginning of the device of `target`; `None` where that is not known.
pub(super) fn glance(run: &Session<'_>, target: &MeasureTarget) -> Option<MeasuredBytes> {
    let number = match target {
        MeasureTarget::Directory(directory) => file_facts(&directory.path()).ok()?.device,
        MeasureTarget::Device { number, .. } => *number,
    };
    place(run, number, LOOK_BYTES).ok()
}

fn place(
    run: &Session<'_>,
    number: (u32, u32),
    length_bytes: u64,
) -> Result<MeasuredBytes, Refusal> {
    MeasuredBytes::of_device(&run.inspected, number, length_bytes, UnitKind::Granule)
}

fn in_directory<W: World>(
    run: &Session<'_>,
    world: &W,
    directory: &Pinned,
    found: &mut Document,
) -> Result<(), Refusal> {
    let length_bytes = scratch_bytes(run)?;
    possible(run, world, directory, length_bytes)?;
    found.target.length_bytes = length_bytes;
    found.target.writes = true;
    found.envelope.notes.push(format!(
        "other programs on this drive are slower meanwhile; if they keep it busy, probe uses \
         {SHARE_PERCENT} % of the time; a scratch file takes {} of free space",
        Size(length_bytes)
    ));
    Ok(())
}

fn on_device(run: &Session<'_>, node: &Pinned, found: &mut Document) -> Result<(), Refusal> {
    let disk = device_disk(node)?;
    let length_bytes = raw_bytes(run, node.given(), device::Disk::length_bytes(&disk))?;
    drop(disk);
    found.target.length_bytes = length_bytes;
    found.target.writes = run.probe.raw.write_device;
    if !run.probe.raw.write_device {
        found.spent.bytes_max = 0;
        found.envelope.notes.push("the device is read, never written".to_owned());
        return Ok(());
    }
    raw_claim::rehearse(&run.probe.raw, node, length_bytes)?;
    let name = shown(node.given());
    found.envelope.notes.push(format!(
        "the first {} of {name} (bytes 0 to {}) are overwritten again and again, and lost",
        Size(length_bytes),
        length_bytes.saturating_sub(1)
    ));
    if run.probe.raw.confirm.is_none() {
        let wanted = claim::identity_words(node).map(|words| words.wanted());
        let wanted = wanted.unwrap_or("serial number or WWN");
        found.envelope.notes.push(format!(
            "the run itself needs --confirm with the {wanted} of {name}; to see it: straddle check \
             {name}"
        ));
    }
    Ok(())
}
