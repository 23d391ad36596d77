//! Target of a probe, opened: a scratch file in a directory, or a device.

use host::claim::Claim;
use host::engine::{Access, EngineError, open_pinned};
use host::{FileDisk, Pinned};
use report::Refusal;
use report::probe::Probe as Document;
use stack::drive::KernelDrive;

use super::drive_identity::{drive, placed};
use super::pauses::Pauses;
use super::preflight::{no_file, possible, raw_bytes, scratch_bytes, usable};
use super::session::Session;
use crate::shared::measure_target::{MeasureTarget, cannot};
use crate::shared::measured_bytes::MeasuredBytes;
use crate::shared::printer::shown;
use crate::shared::raw_claim;
use crate::world::{ScratchSpace, World};

/// MeasuredBytes where a probe measures.
pub(super) struct OpenTarget<S> {
    pub(super) place: MeasuredBytes,
    /// The one drive; `Err` says why what is found here is of none.
    pub(super) drive: Result<KernelDrive, String>,
    pub(super) writes: bool,
    pub(super) length_bytes: u64,
    /// Bytes that writing it took of those that may be written.
    pub(super) prepared_bytes: u64,
    /// The least step.
    pub(super) sector_bytes: u64,
    ground: SiteBase<S>,
}

enum SiteBase<S> {
    Scratch(S),
    Claimed(Claim),
    Device(Pinned),
}

/// The device at `node`, opened for reading.
pub(super) fn device_disk(node: &Pinned) -> Result<FileDisk, Refusal> {
    FileDisk::of(node)
        .map_err(|error| Refusal::new(error.to_string(), error.hint().map(str::to_owned)))
}

/// That no queue can be had.
pub(super) fn unopened(error: &EngineError) -> Refusal {
    Refusal::new(error.to_string(), error.hint().map(str::to_owned))
}

impl<S: ScratchSpace> OpenTarget<S> {
    /// Opens `target`.
    pub(super) fn opened<W: World<Scratch = S>>(
        run: &Session<'_>,
        world: &W,
        target: &MeasureTarget,
        watched: &mut Pauses<'_>,
        document: &mut Document,
    ) -> Result<OpenTarget<S>, Refusal> {
        match target {
            MeasureTarget::Directory(directory) => {
                OpenTarget::in_directory(run, world, directory, watched, document)
            }
            MeasureTarget::Device { node, number } => {
                OpenTarget::on_device(run, node, *number, document)
            }
        }
    }

    fn in_directory<W: World<Scratch = S>>(
        run: &Session<'_>,
        world: &W,
        directory: &Pinned,
        watched: &mut Pauses<'_>,
        document: &mut Document,
    ) -> Result<OpenTarget<S>, Refusal> {
        let length_bytes = scratch_bytes(run)?;
        let (plan, step) = possible(run, world, directory, length_bytes)?;
        world.clear_leftovers(directory);
        watched.begin("the scratch file");
        let scratch = world.scratch(directory, plan, &mut |_| watched.pause(0));
        let scratch = scratch.map_err(|error| no_file(&error))?;
        usable(&scratch, directory.given())?;
        let place = placed(|wanted| world.place(&run.inspected, &scratch, wanted));
        let place = place
            .map_err(|refusal| cannot(&format!("probe {}", shown(directory.given())), refusal))?;
        Ok(OpenTarget {
            drive: drive(&run.inspected, &place, document),
            sector_bytes: step.max(place.logical_sector_bytes.unwrap_or(step)).max(512),
            place,
            writes: true,
            length_bytes,
            prepared_bytes: length_bytes,
            ground: SiteBase::Scratch(scratch),
        })
    }

    fn on_device(
        run: &Session<'_>,
        node: &Pinned,
        number: (u32, u32),
        document: &mut Document,
    ) -> Result<OpenTarget<S>, Refusal> {
        let name = shown(node.given());
        let writes = run.probe.raw.write_device;
        let (ground, device_bytes) = match writes {
            true => {
                let claim = raw_claim::claimed(&run.probe.raw, node, scratch_bytes(run)?)?;
                let length_bytes = claim.length_bytes();
                (SiteBase::Claimed(claim), length_bytes)
            }
            false => {
                let disk = device_disk(node)?;
                (SiteBase::Device(node.clone()), device::Disk::length_bytes(&disk))
            }
        };
        let length_bytes = raw_bytes(run, node.given(), device_bytes)?;
        let place =
            placed(|wanted| MeasuredBytes::of_device(&run.inspected, number, length_bytes, wanted))
                .map_err(|refusal| cannot(&format!("probe {name}"), refusal))?;
        if !writes {
            let note = "reads do not show what writes cost: for the granule and the turns, name a \
                        directory on the drive, or use --write-device";
            document.envelope.notes.push(note.to_owned());
        }
        Ok(OpenTarget {
            drive: drive(&run.inspected, &place, document),
            sector_bytes: place.logical_sector_bytes.unwrap_or(512).max(512),
            place,
            writes,
            length_bytes,
            prepared_bytes: 0,
            ground,
        })
    }

    /// It, opened past the page cache.
    pub(super) fn open<W: World<File = S::File>>(
        &self,
        world: &W,
        access: Access,
    ) -> Result<S::File, Refusal> {
        let device = match &self.ground {
            SiteBase::Scratch(scratch) => {
                return scratch.open(access).map_err(|error| unopened(&error));
            }
            SiteBase::Device(node) => {
                open_pinned(node, Access::Read, true).map_err(|error| unopened(&error))
            }
            SiteBase::Claimed(claim) => claim.try_clone().map_err(|error| {
                Refusal::new(format!("cannot open the claimed device again: {error}"), None)
            }),
        };
        device.map(|device| world.adopted(device))
    }

    /// Why what was measured is nothing: it lies elsewhere now.
    pub(super) fn moved(&self) -> Option<String> {
        let SiteBase::Scratch(scratch) = &self.ground else { return None };
        scratch.moved()
    }
}
