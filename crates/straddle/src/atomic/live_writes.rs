//! Writes to the data files while their server runs, as the drives beneath get them.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

use durability::untorn::{DataFile, LiveTally, LiveWrites};
use host::Interrupt;
use host::block_events::{BlockEvents, BlockShape};
use host::engine::now_ns;
use host::tracepoint::{Tracefs, TracepointError};
use stack::{LayerKind, Stack};
use units::ByteRange;

use super::data_files::FILES_MAX;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::shown;
use crate::shared::progress::{self, ProgressLine};
use crate::shared::write_sample::{
    FileKey, FilePlaces, SampleBounds, SampledDevice, SampledWrite, SampledWrites,
};

/// Most drives that are watched at once.
const DRIVES_MAX: usize = 16;
/// Bounds of the sample of one drive.
const BOUNDS: SampleBounds = SampleBounds {
    copies_a_second: 4000,
    ring_bytes: 512 << 10,
    shape: BlockShape::Any,
    is_by_bios: false,
};
/// A second, in nanoseconds.
const SECOND_NS: u64 = 1_000_000_000;
/// Longest wait before it is looked whether the user wants to end.
const STEP: Duration = Duration::from_millis(50);

/// Watches the writes to `files`, each with its path, for `seconds` or until `interrupt`. `stack`
/// holds them with the drives beneath. Errs with the reason where not all could be seen and no
/// write off the page was.
pub(super) fn watch(
    inspected: &InspectedMachine,
    stack: &Stack,
    files: &[DataFile],
    paths: &[PathBuf],
    seconds: u32,
    interrupt: &Interrupt,
) -> Result<LiveWrites, String> {
    let told = |error: TracepointError| error.to_string();
    let tracefs = Tracefs::open().map_err(told)?;
    let events = BlockEvents::open(&tracefs).map_err(told)?;
    host::raise_open_files_limit();
    let mut drives = Vec::new();
    for device in drives_beneath(inspected, stack, files)? {
        let places = FilePlaces::on(inspected, device.number, FILES_MAX);
        let writes = SampledWrites::open(&events, &device, BOUNDS).map_err(told)?;
        drives.push(WatchedDrive { places, writes });
    }
    let mut watched = WatchedFiles::new(paths);
    watched.look_up(&mut drives);
    let mut tally = LiveTally::new(files);
    let begun_ns = now_ns();
    let mut line = ProgressLine::new(progress::is_wanted(false), begun_ns);
    for second in 1..=u64::from(seconds) {
        let end_ns = begun_ns + second * SECOND_NS;
        each(&mut drives, SampledWrites::begin_second)?;
        while now_ns() < end_ns && !interrupt.is_raised() {
            let left = Duration::from_nanos(end_ns.saturating_sub(now_ns()));
            drives[0].writes.wait(STEP.min(left));
            each(&mut drives, |writes| writes.drain().map(|_| ()))?;
            let left = u64::from(seconds).saturating_sub(second);
            line.show(now_ns(), |look| {
                report::fsync::doing(&format!("watching writes to data files: {left} s left"), look)
            });
        }
        end_second(&mut drives, &mut watched, &mut tally).map_err(told)?;
        if interrupt.is_raised() {
            break;
        }
    }
    line.clear();
    let mut lost = Some(0_u64);
    for drive in &drives {
        let own = drive.writes.lost().map_err(told)?;
        lost = lost.zip(own).map(|(sum, own)| sum.saturating_add(own));
    }
    let live = tally.finish(now_ns() - begun_ns, lost);
    match watched.problem() {
        Some(problem) if live.off.is_empty() => Err(problem),
        _ => Ok(live),
    }
}

/// Adds the writes of a second to `tally`. A file may have moved meanwhile: a write counts where
/// its place holds the same bytes after.
fn end_second(
    drives: &mut [WatchedDrive<'_>],
    watched: &mut WatchedFiles<'_>,
    tally: &mut LiveTally<'_>,
) -> Result<(), TracepointError> {
    let mut seen: Vec<(usize, SampledWrite, Parts)> = Vec::new();
    for (number, drive) in drives.iter_mut().enumerate() {
        for write in drive.writes.end_second()? {
            let parts = watched.parts(&drive.places, &write);
            if !parts.is_empty() {
                seen.push((number, write, parts));
            }
        }
    }
    let has_moved = watched.look_up(drives);
    for (number, write, parts) in seen {
        if !has_moved || watched.parts(&drives[number].places, &write) == parts {
            tally.add(write.process_name().as_deref(), &parts);
        }
    }
    Ok(())
}

/// A drive beneath the data files.
struct WatchedDrive<'a> {
    places: FilePlaces<'a>,
    writes: SampledWrites<'a>,
}

/// Bytes of data files, each file by its number.
type Parts = Vec<(usize, ByteRange)>;

fn each<'a>(
    drives: &mut [WatchedDrive<'a>],
    step: impl Fn(&mut SampledWrites<'a>) -> Result<(), TracepointError>,
) -> Result<(), String> {
    let mut steps = drives.iter_mut().map(|drive| step(&mut drive.writes));
    steps.try_for_each(|done| done.map_err(|error| error.to_string()))
}

/// The lowest drives beneath the data files: of a loop device, what its file lies on, if known.
fn drives_beneath(
    inspected: &InspectedMachine,
    stack: &Stack,
    files: &[DataFile],
) -> Result<Vec<SampledDevice>, String> {
    let machine = inspected.machine()?;
    let systems: BTreeSet<_> = files.iter().filter_map(|file| file.system).collect();
    let mut drives = BTreeMap::new();
    for id in systems.into_iter().flat_map(|system| stack.under(system)) {
        let LayerKind::Drive(drive) = &stack.layer(id).kind else { continue };
        let is_drive = |below| matches!(stack.layer(below).kind, LayerKind::Drive(_));
        if stack.under(id).into_iter().any(|below| below != id && is_drive(below)) {
            continue;
        }
        let node = machine.named(&drive.name);
        let device = node.and_then(|node| SampledDevice::of(inspected, machine, node));
        let device = device.ok_or_else(|| format!("/sys/block has no {}", stack.layer(id).name))?;
        drives.insert(device.number, device);
    }
    match drives.len() {
        0 => Err("no drive was found beneath the data files".to_owned()),
        many if many > DRIVES_MAX => Err(format!(
            "the data files lie on {many} drives, and at most {DRIVES_MAX} are watched"
        )),
        _ => Ok(drives.into_values().collect()),
    }
}

/// The data files, and where they were last seen.
struct WatchedFiles<'a> {
    files: Vec<WatchedFile<'a>>,
    numbers: BTreeMap<FileKey, usize>,
}

struct WatchedFile<'a> {
    path: &'a PathBuf,
    key: Option<FileKey>,
    /// Device, inode, length and blocks when it was looked up.
    shape: Option<[u64; 4]>,
    /// Why not all of its bytes have a known place.
    problem: Option<String>,
}

impl<'a> WatchedFiles<'a> {
    fn new(paths: &'a [PathBuf]) -> WatchedFiles<'a> {
        let file = |path| WatchedFile { path, key: None, shape: None, problem: None };
        WatchedFiles { files: paths.iter().map(file).collect(), numbers: BTreeMap::new() }
    }

    /// Looks up files that changed their shape, and those that had no known place; returns true if
    /// there was one.
    fn look_up(&mut self, drives: &mut [WatchedDrive<'_>]) -> bool {
        let mut has_moved = false;
        for (number, file) in self.files.iter_mut().enumerate() {
            let facts = std::fs::metadata(file.path).ok();
            let shape = facts.map(|facts| [facts.dev(), facts.ino(), facts.len(), facts.blocks()]);
            if shape == file.shape && file.problem.is_none() {
                continue;
            }
            has_moved = true;
            (file.shape, file.problem) = (shape, None);
            if let Some(old) = file.key.take() {
                self.numbers.remove(&old);
                drives.iter_mut().for_each(|drive| drive.places.forget(old));
            }
            // One that is gone has no pages.
            let Some([.., blocks]) = shape else { continue };
            let mut placed_bytes = 0;
            for drive in drives.iter_mut() {
                let name = shown(file.path);
                match drive.places.learn(file.path, &name) {
                    Ok((key, bytes, unplaced)) => {
                        file.key = Some(key);
                        self.numbers.insert(key, number);
                        placed_bytes += bytes;
                        let unplaced = unplaced
                            .map(|reason| format!("part of {name} has no known place: {reason}"));
                        file.problem = file.problem.take().or(unplaced);
                    }
                    Err(reason) => {
                        file.problem = Some(format!("cannot look up {name}: {reason}"));
                    }
                }
            }
            if placed_bytes == 0 && blocks > 0 && file.problem.is_none() {
                let name = shown(file.path);
                file.problem = Some(format!("{name} lies on no drive that can be watched"));
            }
        }
        has_moved
    }

    /// The bytes of data files that a write to the drive of `places` holds.
    fn parts(&self, places: &FilePlaces<'_>, write: &SampledWrite) -> Parts {
        let Some(range) = ByteRange::new(write.start_bytes, write.length_bytes) else {
            return Vec::new();
        };
        let parts = places.parts(range).into_iter();
        parts.filter_map(|part| Some((*self.numbers.get(&part.file)?, part.range))).collect()
    }

    /// Why not all writes could be seen.
    fn problem(&self) -> Option<String> {
        self.files.iter().find_map(|file| file.problem.clone())
    }
}
