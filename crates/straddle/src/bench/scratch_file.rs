//! The scratch file in which everything is measured, and where it lies.

use host::Pinned;
use host::scratch::Scratch;
use report::Refusal;
use report::bench::ScratchFacts as Document;
use stack::UnitKind;
use units::prefix::Size;

use super::plan::{self, PlannedArm};
use super::session::Session;
use crate::shared::halt::{Halt, no_file};
use crate::shared::measure_target::cannot;
use crate::shared::measured_bytes::MeasuredBytes;
use crate::shared::printer::shown;
use crate::world::{ScratchSpace, World};

/// A scratch file whose way down is known.
pub(crate) struct ScratchFile<S = Scratch> {
    pub(crate) scratch: S,
    pub(crate) place: MeasuredBytes,
    prepared_ns: u64,
}

impl<S: ScratchSpace> ScratchFile<S> {
    /// Makes the file, writes it, and finds out where it lies.
    pub(crate) fn prepare<W: World<Scratch = S>>(
        session: &mut Session<'_>,
        world: &W,
        directory: &Pinned,
        wanted: UnitKind,
    ) -> Result<ScratchFile<S>, Refusal> {
        session.afford(session.scratch_bytes(), "the scratch file")?;
        let begun_ns = session.elapsed_ns();
        let plan = session.scratch_plan();
        let length_bytes = plan.length_bytes;
        let interrupt = session.interrupt.clone();
        let mut goes_on = |_| !interrupt.is_raised();
        world.clear_leftovers(directory);
        let scratch = world.scratch(directory, plan, &mut goes_on);
        let scratch = scratch.map_err(|error| no_file(&error))?;
        session.wrote(length_bytes);
        let name = shown(directory.given());
        if let Some(reason) = scratch.unusable() {
            let message = format!("cannot measure in {name}: {reason}");
            let hint = "name a directory on ext4 or XFS on the same drive";
            return Err(Refusal::hinted(message, hint));
        }
        let prepared_ns = session.elapsed_ns().saturating_sub(begun_ns);
        let place = world.place(&session.inspected, &scratch, wanted);
        let place = place.map_err(|refusal| cannot(&format!("measure in {name}"), refusal))?;
        Ok(ScratchFile { scratch, place, prepared_ns })
    }

    /// The smallest step by which direct I/O on the file can be shifted, in bytes; `Err` says why
    /// there is none.
    pub(crate) fn step_bytes(&self) -> Result<u64, Refusal> {
        let name = self.scratch.directory();
        let unit = self.scratch.direct_unit();
        shiftable(self.scratch.filesystem(), &name.to_string())?;
        match unit.value() {
            Some(&bytes) if bytes > 0 => {
                Ok(bytes.max(self.place.logical_sector_bytes.unwrap_or(bytes)))
            }
            _ => Err(Refusal::hinted(
                format!("cannot bypass the page cache in {name}: no direct I/O there"),
                "name a directory on ext4 or XFS on the same drive",
            )),
        }
    }

    /// Returns the arms of operations of this length in the file.
    ///
    /// # Errors
    /// When nothing can be shifted, or not so.
    pub(crate) fn arms(
        &self,
        session: &Session<'_>,
        operation_bytes: u64,
    ) -> Result<Vec<PlannedArm>, Halt> {
        let bench = session.bench;
        let (step, unit) = (self.step_bytes()?, self.place.unit);
        Ok(plan::arms(&bench.shift, bench.full, step, operation_bytes, unit)?)
    }

    /// Returns whether the file lies elsewhere now than when it was written; `Some` says so.
    pub(crate) fn moved(&self) -> Option<String> {
        self.scratch.moved()
    }

    /// Returns it as the document shows it.
    pub(crate) fn document(&self) -> Document {
        Document {
            place: self.scratch.directory().to_string(),
            length_bytes: self.scratch.length_bytes(),
            pieces: u64::try_from(self.place.runs.len()).unwrap_or(u64::MAX),
            drive_address_bytes: self.place.first_address_bytes(),
            prepared_ns: self.prepared_ns,
            written_bytes: 0,
        }
    }

    /// Its length for people.
    pub(crate) fn size(&self) -> Size {
        Size(self.scratch.length_bytes())
    }
}

impl ScratchFile {
    /// Makes parts real again that were set aside as zeros, before anything is timed on them; how
    /// many bytes that wrote.
    pub(crate) fn settle(&self) -> Result<u64, Halt> {
        Ok(self.scratch.rewrite_unwritten()?)
    }
}

/// Refuses to shift operations in a file of a `filesystem` that does not do as specified, in the
/// directory called `name`.
pub(super) fn shiftable(filesystem: &str, name: &str) -> Result<(), Refusal> {
    if filesystem != "btrfs" {
        return Ok(());
    }
    let message = format!(
        "cannot shift operations in a file in {name}: btrfs silently turns direct I/O that is not \
         on its sectors into buffered I/O"
    );
    Err(Refusal::hinted(message, "name a directory on ext4 or XFS on the same drive"))
}
