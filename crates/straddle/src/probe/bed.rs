//! Where a probe measures: a scratch file in a directory, or a device.

use std::os::fd::OwnedFd;
use std::path::Path;

use host::FileDisk;
use host::claim::Claim;
use host::engine::{Access, open_measured};
use host::scratch::{Scratch, ScratchError, ScratchPlan};
use report::Refusal;
use report::probe::{Probe as Document, RunRefusal};
use stack::UnitKind;
use stack::drive::Drive;

use super::{Run, from_bench, refused};
use crate::bench::place::Place;
use crate::bench::raw;
use crate::bench::target::{Target, from_trace};
use crate::leftover;
use crate::printer::shown;
use crate::scene::Scene;

/// The scratch file's length, where the bytes allow it.
const SCRATCH_BYTES: u64 = 64 << 20;
/// The shortest in which there is room to compare anything.
const SCRATCH_BYTES_LEAST: u64 = 16 << 20;
/// How much of a device is read at most: enough that no cache holds it.
const READ_BYTES: u64 = 4 << 30;
/// What a scratch file's length is a multiple of.
const PAGE_BYTES: u64 = 4096;

/// Where a probe measures.
pub(super) struct Bed {
    pub(super) place: Place,
    /// The one drive.
    ///
    /// # Errors
    /// Why what is found here is of none: there are several, or none, or a cache lies above it.
    pub(super) drive: Result<Drive, String>,
    pub(super) writes: bool,
    pub(super) length_bytes: u64,
    /// What writing it took of the bytes that may be written.
    pub(super) prepared_bytes: u64,
    /// The least step.
    pub(super) sector_bytes: u64,
    ground: Ground,
}

enum Ground {
    Scratch(Scratch),
    Claimed(Claim),
    Device(std::path::PathBuf),
}

impl Bed {
    /// What `target` gives.
    pub(super) fn made(
        run: &Run<'_>,
        target: &Target,
        document: &mut Document,
    ) -> Result<Bed, RunRefusal> {
        match target {
            Target::Directory(directory) => Bed::in_directory(run, directory, document),
            Target::Device { node, number } => Bed::on_device(run, node, *number, document),
        }
    }

    fn in_directory(
        run: &Run<'_>,
        directory: &Path,
        document: &mut Document,
    ) -> Result<Bed, RunRefusal> {
        let length_bytes = scratch_bytes(run)?;
        let plan = possible(run, directory, length_bytes)?;
        let interrupt = run.interrupt.clone();
        leftover::clear(directory);
        let scratch = Scratch::create_while(directory, plan, |_| !interrupt.is_raised())
            .map_err(|error| no_file(&error))?;
        let name = shown(directory);
        if let Some(reason) = unusable(&scratch) {
            let message = format!("cannot probe in {name}: {reason}");
            let hint = "probe on ext4 or XFS on the same drive";
            return Err(refused(message, Some(hint)));
        }
        let place =
            placed(|wanted| Place::of_file(&run.scene, &scratch.path(), length_bytes, wanted))
                .map_err(|refusal| of_place(&name, refusal))?;
        let step = scratch.direct_units().offset_bytes.value().copied().filter(|step| *step > 0);
        let Some(step) = step else {
            let message = format!("cannot pass by the page cache in {name}: no direct I/O there");
            return Err(refused(message, Some("probe on ext4 or XFS on the same drive")));
        };
        let sector_bytes = step.max(place.logical_sector_bytes.unwrap_or(step)).max(512);
        Ok(Bed {
            drive: drive(&run.scene, &place, document),
            place,
            writes: true,
            length_bytes,
            prepared_bytes: length_bytes,
            sector_bytes,
            ground: Ground::Scratch(scratch),
        })
    }

    fn on_device(
        run: &Run<'_>,
        node: &Path,
        number: (u32, u32),
        document: &mut Document,
    ) -> Result<Bed, RunRefusal> {
        let name = shown(node);
        let open = |node: &Path| {
            FileDisk::open(node).map_err(|error| refused(error.to_string(), error.hint()))
        };
        let disk = open(node)?;
        let device_bytes = device::Disk::length_bytes(&disk);
        let writes = run.probe.raw.write_device;
        let length_bytes = raw_bytes(run, node, device_bytes)?;
        let confirm = run.probe.raw.confirm.as_deref();
        let ground = match writes {
            true => Ground::Claimed(raw::claimed(confirm, node, disk).map_err(from_bench)?),
            false => Ground::Device(node.to_owned()),
        };
        let place = placed(|wanted| Place::of_device(&run.scene, number, length_bytes, wanted))
            .map_err(|refusal| of_place(&name, refusal))?;
        if !writes {
            let note = "reads do not say what writes cost: the granule and the turns need a \
                        directory on the drive, or --write-device";
            document.notes.push(note.to_owned());
        }
        Ok(Bed {
            drive: drive(&run.scene, &place, document),
            sector_bytes: place.logical_sector_bytes.unwrap_or(512).max(512),
            place,
            writes,
            length_bytes,
            prepared_bytes: 0,
            ground,
        })
    }

    /// It, opened past the page cache.
    pub(super) fn open(&self, access: Access) -> Result<OwnedFd, RunRefusal> {
        let engine = |error: host::engine::EngineError| refused(error.to_string(), error.hint());
        match &self.ground {
            Ground::Scratch(scratch) => scratch.open(access, true).map_err(engine),
            Ground::Device(node) => open_measured(node, Access::Read, true).map_err(engine),
            Ground::Claimed(claim) => claim
                .try_clone()
                .map_err(|error| refused(format!("cannot use the claimed device: {error}"), None)),
        }
    }

    /// Why what was measured is nothing: it lies elsewhere now.
    pub(super) fn moved(&self) -> Option<String> {
        let Ground::Scratch(scratch) = &self.ground else { return None };
        match scratch.has_moved() {
            Ok(false) => None,
            Ok(true) => Some("the file system moved the scratch file meanwhile".to_owned()),
            Err(error) => Some(format!("whether the scratch file moved cannot be told: {error}")),
        }
    }
}

/// The place by the leaves' addresses; by the array's own where there are several.
fn placed(of: impl Fn(UnitKind) -> Result<Place, Refusal>) -> Result<Place, Refusal> {
    let place = of(UnitKind::Granule)?;
    let leaves: std::collections::BTreeSet<_> = place.runs.iter().map(|run| run.leaf).collect();
    match leaves.len() {
        0 | 1 => Ok(place),
        _ => Ok(of(UnitKind::Chunk).unwrap_or(place)),
    }
}

/// The drive of which it is what is found at `place`; where a cache lies above it, that is noted.
fn drive(scene: &Scene, place: &Place, document: &mut Document) -> Result<Drive, String> {
    if let Some(name) = cached_loop(scene, place) {
        document.notes.push(format!(
            "{name} goes through the page cache of its host file: what is found is of {name}, not \
             of the drive beneath; losetup --direct-io=on passes that cache by"
        ));
        return Err(format!("the page cache below {name} lies above the drive"));
    }
    let drive =
        place.drive.as_ref().ok_or("it lies on several drives, or on none that is known")?;
    Ok(Drive::read(scene.tree(), &drive.name))
}

/// A loop device on the way down that writes its file through the page cache, of which the pages
/// are read before a part of them is written (Linux, block/loop.c, `LO_FLAGS_DIRECT_IO`). Where the
/// kernel does not say, it is taken to.
fn cached_loop(scene: &Scene, place: &Place) -> Option<String> {
    let is_cached = |name: &&str| {
        let told = |file: &str| scene.tree().read(&format!("/sys/block/{name}/loop/{file}"));
        let is_direct = || told("dio").is_ok_and(|direct| direct.trim() == "1");
        told("backing_file").is_ok() && !is_direct()
    };
    place.names().find(is_cached).map(str::to_owned)
}

/// How long the scratch file will be.
///
/// # Errors
/// When the bytes that may be written leave no room for it.
pub(super) fn scratch_bytes(run: &Run<'_>) -> Result<u64, RunRefusal> {
    let third = run.probe.bytes_max.div_euclid(3);
    let bytes = third.min(SCRATCH_BYTES);
    let bytes = bytes - bytes % PAGE_BYTES;
    if bytes < SCRATCH_BYTES_LEAST {
        let message = "fewer than 48 MiB leave no room to compare anything";
        return Err(refused(message, Some("allow more: --bytes-max 256M")));
    }
    Ok(bytes)
}

/// How much of a device of `device_bytes` is used.
///
/// # Errors
/// When that is to be written to, and is too short.
pub(super) fn raw_bytes(run: &Run<'_>, node: &Path, device_bytes: u64) -> Result<u64, RunRefusal> {
    if !run.probe.raw.write_device {
        return Ok(device_bytes.min(READ_BYTES));
    }
    let length_bytes = device_bytes.min(scratch_bytes(run)?);
    if length_bytes < SCRATCH_BYTES_LEAST {
        let message = format!(
            "{} has {device_bytes} bytes; fewer than 16 MiB leave no room to compare anything",
            shown(node)
        );
        return Err(refused(message, Some("probe the drive that it is a part of")));
    }
    Ok(length_bytes)
}

/// The scratch file that is wanted in `directory`, where nothing is made yet.
///
/// # Errors
/// When none can be made there, or what it would tell is nothing.
pub(super) fn possible(
    run: &Run<'_>,
    directory: &Path,
    length_bytes: u64,
) -> Result<ScratchPlan, RunRefusal> {
    let plan = plan(run, length_bytes);
    let filesystem = Scratch::possible(directory, plan).map_err(|error| no_file(&error))?;
    if filesystem == "btrfs" {
        let message = format!(
            "cannot probe in {}: btrfs turns direct I/O that is not on its sectors into buffered \
             I/O",
            shown(directory)
        );
        return Err(refused(message, Some("probe on ext4 or XFS on the same drive")));
    }
    Ok(plan)
}

fn plan(run: &Run<'_>, length_bytes: u64) -> ScratchPlan {
    ScratchPlan {
        length_bytes,
        seed: run.seed,
        budget_bytes: run.probe.bytes_max,
        nocow_on_btrfs: true,
        may_move: false,
    }
}

/// That there is no scratch file, with the bytes to write of which one that fits is a third.
fn no_file(error: &ScratchError) -> RunRefusal {
    let room_bytes = error.room_bytes().filter(|bytes| *bytes >= SCRATCH_BYTES_LEAST);
    let smaller = room_bytes.map(|bytes| format!("--bytes-max {}M", (bytes >> 20) * 3));
    refused(error.to_string(), error.hint(smaller.as_deref()).as_deref())
}

fn unusable(scratch: &Scratch) -> Option<String> {
    match scratch.usable() {
        Ok(usable) => usable.unusable.map(|reason| reason.to_string()),
        Err(error) => Some(error.to_string()),
    }
}

pub(super) fn of_place(name: &str, refusal: Refusal) -> RunRefusal {
    let mut refusal = from_bench(from_trace(refusal));
    refusal.message = format!("cannot probe {name}: {}", refusal.message);
    refusal
}
