//! Shifted devices: one part of the scratch file, attached as a block device so that its first byte
//! is on a boundary of the drive's unit, or a chosen distance after it.
//!
//! Programs that run on them see an ordinary disk that is truly misaligned; the drive sees it too.
//! Nothing else of the drive is touched, and the devices go with the process.

use std::any::Any;

use host::{LoopDevice, LoopPlan};
use report::Refusal;
use units::ByteRange;
use units::prefix::Size;

use super::scratch_file::ScratchFile;
use super::session::Session;
use crate::shared::halt::Halt;
use crate::world::ScratchSpace;

/// Refuses to run `what` for an ordinary user, who has no loop devices.
pub(crate) fn need_root(what: &str) -> Result<(), Refusal> {
    if host::is_root() {
        return Ok(());
    }
    Err(Refusal::hinted(
        format!("cannot run {what} on shifted devices: only root may attach loop devices"),
        "run it with sudo, or measure inside the scratch file, which needs no root: straddle \
         bench DIRECTORY",
    ))
}

/// The scratch file as one over which loop devices can be attached.
///
/// # Errors
/// When it is no file of the machine that runs the command.
pub(super) fn file_of<S: ScratchSpace + 'static>(
    ground: &ScratchFile<S>,
) -> Result<&ScratchFile, Refusal> {
    (ground as &dyn Any).downcast_ref().ok_or_else(|| {
        Refusal::new("cannot attach shifted devices: the scratch file is a model's", None)
    })
}

/// A part of the scratch file, of which devices are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    range: ByteRange,
    /// The length of every device in it, whatever its shift.
    pub(crate) device_bytes: u64,
}

impl Region {
    /// Returns where the data of an arm starts in the scratch file, in bytes.
    pub(crate) fn start_bytes(&self, shift_bytes: u64) -> u64 {
        self.range.start_bytes() + shift_bytes
    }
}

/// `count` regions of equal length, side by side in what of the scratch file lies alike within the
/// unit; each leaves room for shifts up to `shift_bytes`.
pub(crate) fn regions<S: ScratchSpace>(
    session: &Session<'_>,
    ground: &ScratchFile<S>,
    count: u64,
    shift_bytes: u64,
) -> Result<Vec<Region>, Refusal> {
    let unit_bytes = ground.place.unit.length_bytes();
    let none = || {
        let name = ground.scratch.directory();
        let message = format!(
            "cannot make devices of the scratch file of {} in {name}: no part of it is contiguous \
             within {}",
            ground.size(),
            Size(unit_bytes)
        );
        Refusal::hinted(message, session.longer_scratch())
    };
    let stretch = ground.place.stretch().ok_or_else(none)?;
    // Devices start on multiples of the unit and of 1 MiB within their part, as partitions do.
    let unit = unit_bytes.max(1 << 20);
    let each = stretch.length_bytes().div_euclid(count.max(1));
    let each = each - each % unit_bytes;
    let room = shift_bytes.next_multiple_of(unit_bytes).max(unit_bytes);
    let device_bytes = each.saturating_sub(room);
    let device_bytes = device_bytes - device_bytes % unit;
    if device_bytes == 0 {
        return Err(none());
    }
    let region = |number: u64| {
        let range = ByteRange::new(stretch.start_bytes() + number * each, each)?;
        Some(Region { range, device_bytes })
    };
    (0..count).map(region).collect::<Option<Vec<_>>>().ok_or_else(none)
}

/// Attaches a region, its data `shift_bytes` after the boundary.
pub(crate) fn attach(
    ground: &ScratchFile,
    region: Region,
    shift_bytes: u64,
) -> Result<LoopDevice, Halt> {
    let plan = LoopPlan {
        file: ground.scratch.fd(),
        offset_bytes: region.start_bytes(shift_bytes),
        length_bytes: region.device_bytes,
        sector_bytes: None,
        direct: true,
        read_only: false,
        partitions: false,
    };
    // A discard would punch holes into the scratch file, whose place is the whole point. Whatever
    // this leaves possible shows when the file's place is looked at again.
    Ok(LoopDevice::attach_without_discards(plan)?)
}
