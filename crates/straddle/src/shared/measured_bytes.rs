//! Final place of the bytes to be measured, and the unit that they must fit.

use std::collections::BTreeSet;
use std::path::Path;

use measure::MappedRun;
use report::Refusal;
use report::bench::{Effort, Predicted};
use stack::amplify::{self, Io};
use stack::resolve::{self, On};
use stack::{LayerId, LayerKind, Stack, UnitKind};
use units::text::shell_word;
use units::{ByteRange, Source, Unit};

use crate::shared::busy;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::stack_beneath;
use crate::shared::title;

/// Bytes of which the stack is asked at once, so that no answer is cut.
const WINDOW_BYTES: u64 = 64 << 20;
/// A minute, in nanoseconds.
const TURN_MINUTE_NS: u64 = 60_000_000_000;

/// The drive that everything lies on.
#[derive(Clone, Debug)]
pub(crate) struct Drive {
    /// The kernel's name, harmless to print.
    pub(crate) name: String,
    pub(crate) model: Option<String>,
    pub(crate) firmware: Option<String>,
    pub(crate) rotating: Option<bool>,
    pub(crate) capacity_bytes: Option<u64>,
    /// Time of a turn of the platter; `None` where there is none, or it is not known.
    pub(crate) turn_ns: Option<u64>,
}

/// Bytes whose way down is known.
pub(crate) struct MeasuredBytes {
    stack: Stack,
    id: LayerId,
    /// Runs of the bytes that offsets count, in their order, each on its leaf or on the array whose
    /// chunks are meant; nothing between them can be used.
    pub(crate) runs: Vec<MappedRun>,
    first_address_bytes: Option<u64>,
    /// The unit that arms are placed by.
    pub(crate) unit: Unit,
    pub(crate) unit_source: Source,
    /// The greatest addressable unit of the leaves.
    pub(crate) logical_sector_bytes: Option<u64>,
    /// The one drive; `None` when there are several, or it is no drive. Where a loop device goes
    /// through the page cache of its host file, that device: nothing is seen of what lies below.
    pub(crate) drive: Option<Drive>,
    /// The kernel's name of that loop device; `None` where there is none.
    pub(crate) cached: Option<String>,
    /// The layers passed, the topmost first.
    pub(crate) layers: Vec<String>,
    /// The device whose counters tell what reached the drive: the one drive, else the device of the
    /// file system or the device itself; `None` when it is not known.
    pub(crate) counted: Option<(u32, u32)>,
}

impl MeasuredBytes {
    /// Returns where the file at `path` lies, `length_bytes` of it.
    pub(crate) fn of_file(
        inspected: &InspectedMachine,
        path: &Path,
        length_bytes: u64,
        wanted: UnitKind,
    ) -> Result<MeasuredBytes, Refusal> {
        let (stack, id, facts) = stack_beneath::of_file(inspected, path)?;
        Ok(MeasuredBytes::of(stack, id, length_bytes, wanted)?.counted_by(inspected, facts.device))
    }

    /// Returns where the block device with this number lies.
    pub(crate) fn of_device(
        inspected: &InspectedMachine,
        number: (u32, u32),
        length_bytes: u64,
        wanted: UnitKind,
    ) -> Result<MeasuredBytes, Refusal> {
        let (stack, id) = stack_beneath::of_device(inspected, number)?;
        Ok(MeasuredBytes::of(stack, id, length_bytes, wanted)?.counted_by(inspected, number))
    }

    fn of(
        stack: Stack,
        id: LayerId,
        length_bytes: u64,
        wanted: UnitKind,
    ) -> Result<MeasuredBytes, Refusal> {
        if stack.layer(id).length() == Some(0) {
            return Err(Refusal::hinted("it is 0 bytes long", known_of(&stack, id)));
        }
        let on_leaves = runs(&stack, id, length_bytes, None)?;
        let leaves: BTreeSet<LayerId> = on_leaves.iter().map(|run| LayerId(run.leaf)).collect();
        let under = stack.under(id);
        let owners: Vec<LayerId> = match wanted {
            UnitKind::Granule => leaves.iter().copied().collect(),
            _ => under.clone(),
        };
        // The coarsest unit is the one that everything must fit.
        let unit = owners
            .iter()
            .filter_map(|&owner| Some((owner, stack.layer(owner).units.used(wanted)?)))
            .max_by_key(|(_, (unit, _))| unit.length_bytes());
        let Some((owner, (unit, unit_source))) = unit else {
            let (message, hint) = match (wanted, leaves.first()) {
                (UnitKind::Granule, Some(&leaf)) => {
                    ("the granule of its drive is unknown", known_of(&stack, leaf))
                }
                _ => {
                    let hint = "measure by the granule: --unit granule";
                    ("it is on no array with chunks", hint.to_owned())
                }
            };
            return Err(Refusal::hinted(message, hint));
        };
        let sector = |leaf: &LayerId| stack.layer(*leaf).units.used_bytes(UnitKind::LogicalSector);
        let drive = match leaves.first() {
            Some(&leaf) if leaves.len() == 1 => drive(&stack, leaf),
            _ => None,
        };
        let logical_sector_bytes = leaves.iter().filter_map(sector).max();
        // A chunk is a chunk of the array's own bytes, before they go to its members.
        let first_address_bytes = on_leaves.first().map(|run| run.address_bytes);
        let runs = match wanted {
            UnitKind::Granule => on_leaves,
            _ => runs(&stack, id, length_bytes, Some(owner))?,
        };
        let above = under.iter().rev().filter(|&&layer| layer != id || drive.is_none());
        let layers = above.map(|&layer| named(&stack, layer)).collect();
        Ok(MeasuredBytes {
            stack,
            id,
            runs,
            first_address_bytes,
            unit,
            unit_source,
            logical_sector_bytes,
            drive,
            cached: None,
            layers,
            counted: None,
        })
    }

    /// That what is measured is of the loop device with the page cache, where there is one, and how
    /// to reach the drive.
    pub(crate) fn cache_note(&self) -> Option<String> {
        let name = self.cached.as_ref()?;
        Some(format!(
            "{name} goes through the page cache of its host file, so the result is of {name}, not \
             of the drive; to bypass that cache: losetup --direct-io=on /dev/{name}"
        ))
    }

    /// With a loop device on the way down that goes through the page cache in the drive's place.
    fn behind_cache(mut self, inspected: &InspectedMachine) -> MeasuredBytes {
        let of = |&id: &LayerId| is_cached_loop(inspected, &self.stack.layer(id).name);
        let Some(id) = self.stack.under(self.id).into_iter().find(of) else { return self };
        let name = self.stack.layer(id).name.clone();
        let first = self.runs.first().map_or(0, |run| run.length_bytes);
        let runs = runs(&self.stack, self.id, first, Some(id)).unwrap_or_default();
        self.first_address_bytes = runs.first().map(|run| run.address_bytes);
        self.drive = Some(Drive {
            name: name.clone(),
            model: None,
            firmware: None,
            rotating: None,
            capacity_bytes: None,
            turn_ns: None,
        });
        self.cached = Some(name);
        self
    }

    /// With the device that counts: the drive's own, else `other`, unless that is anonymous.
    fn counted_by(mut self, inspected: &InspectedMachine, other: (u32, u32)) -> MeasuredBytes {
        self = self.behind_cache(inspected);
        let named = (other.0 > 0).then_some(other);
        let drive = self.drive.as_ref().and_then(|it| busy::numbers(inspected, &it.name));
        self.counted = drive.or(named);
        self
    }

    /// The leaf's address of the first byte that can be used.
    pub(crate) fn first_address_bytes(&self) -> Option<u64> {
        self.first_address_bytes
    }

    /// Returns what one operation at `offset_bytes` costs on the drives when it is where it is and
    /// when it is `shift_bytes` further; `None` where the stack cannot tell.
    pub(crate) fn predicted(
        &self,
        write: bool,
        offset_bytes: u64,
        length_bytes: u64,
        shift_bytes: u64,
    ) -> Option<Predicted> {
        let effort = |offset: u64| {
            let range = ByteRange::new(offset, length_bytes)?;
            let found = amplify::amplify(&self.stack, self.id, Io { write, range }).ok()?;
            Some(Effort {
                reads: found.reads,
                writes: found.writes,
                read_modify_writes: found.rmws,
                drives: found.leaves,
            })
        };
        let shifted = effort(offset_bytes.checked_add(shift_bytes)?)?;
        Some(Predicted { aligned: effort(offset_bytes)?, shifted })
    }

    /// The longest stretch of bytes that all lie alike within the unit: its first byte on a
    /// boundary of the unit, and its length in whole units. Devices are made of it.
    pub(crate) fn stretch(&self) -> Option<ByteRange> {
        stretch(&self.runs, self.unit)
    }
}

/// True if `name` is a loop device that writes its file through the page cache, of which the pages
/// are read before a part of them is written (Linux, block/loop.c, `LO_FLAGS_DIRECT_IO`). Where the
/// kernel does not say, it is taken to.
fn is_cached_loop(inspected: &InspectedMachine, name: &str) -> bool {
    let told = |file: &str| inspected.tree().read(&format!("/sys/block/{name}/loop/{file}"));
    let is_direct = || told("dio").is_ok_and(|direct| direct.trim() == "1");
    told("backing_file").is_ok() && !is_direct()
}

/// The hint that leads to what is known of a drive.
fn known_of(stack: &Stack, id: LayerId) -> String {
    let name = match &stack.layer(id).kind {
        LayerKind::Drive(drive) => format!(" /dev/{}", shell_word(&drive.name)),
        _ => String::new(),
    };
    format!("see what is known of it: straddle check{name}")
}

fn drive(stack: &Stack, leaf: LayerId) -> Option<Drive> {
    let layer = stack.layer(leaf);
    let LayerKind::Drive(drive) = &layer.kind else { return None };
    Some(Drive {
        name: drive.name.clone(),
        model: drive.model.as_ref().map(ToString::to_string),
        firmware: drive.identity.firmware.value().map(|text| units::text::escape(text.as_bytes())),
        rotating: drive.rotational.value().copied(),
        capacity_bytes: drive.length_bytes.value().copied(),
        turn_ns: drive
            .said
            .turns_per_minute()
            .and_then(|turns| TURN_MINUTE_NS.checked_div(turns.into())),
    })
}

fn named(stack: &Stack, id: LayerId) -> String {
    let layer = stack.layer(id);
    let title = title::title(layer);
    if title.is_empty() { layer.name.clone() } else { format!("{}: {title}", layer.name) }
}

/// The runs of layer `id` that lie on leaves, or on the layer `onto`.
fn runs(
    stack: &Stack,
    id: LayerId,
    length_bytes: u64,
    onto: Option<LayerId>,
) -> Result<Vec<MappedRun>, Refusal> {
    let mut runs: Vec<MappedRun> = Vec::new();
    let mut at = 0;
    while at < length_bytes {
        let length = (length_bytes - at).min(WINDOW_BYTES);
        let range = ByteRange::new(at, length).expect("it ends within the file");
        let pieces = match onto {
            None => resolve::resolve(stack, id, range),
            Some(onto) => resolve::resolve_onto(stack, id, range, onto),
        };
        for piece in pieces {
            let On::Leaf(leaf, address_bytes) = piece.on else {
                return Err(lost(stack, id, &piece.on, piece.at_bytes));
            };
            let run = MappedRun {
                offset_bytes: piece.at_bytes,
                length_bytes: piece.length_bytes,
                leaf: leaf.0,
                address_bytes,
            };
            match runs.last_mut() {
                Some(last) if continues(last, &run) => last.length_bytes += run.length_bytes,
                _ => runs.push(run),
            }
        }
        at += length;
    }
    Ok(runs)
}

fn continues(last: &MappedRun, next: &MappedRun) -> bool {
    last.leaf == next.leaf
        && last.offset_bytes.checked_add(last.length_bytes) == Some(next.offset_bytes)
        && last.address_bytes.checked_add(last.length_bytes) == Some(next.address_bytes)
}

fn lost(stack: &Stack, id: LayerId, on: &On, at_bytes: u64) -> Refusal {
    let why = match on {
        On::Unknown(reason) => reason.clone(),
        On::Zeros => "the image has a hole there".to_owned(),
        On::Compressed(_) => "the data there is compressed".to_owned(),
        On::Leaf(..) => String::new(),
    };
    // The image that a loop device is over, where that is what it lies on.
    let below = stack.under(id).into_iter().filter(|&layer| layer != id);
    let image = below.map(|layer| stack.layer(layer));
    let image =
        image.filter(|layer| matches!(layer.kind, LayerKind::File)).find_map(|it| it.path.clone());
    let hint = match (image, on) {
        (Some(image), On::Zeros) => format!(
            "name a directory that is mounted from it, or use a copy without holes: cp \
             --sparse=never {} COPY",
            shell_word(&image)
        ),
        (Some(image), _) => format!("see what is known: straddle trace {}", shell_word(&image)),
        (None, _) => "see where a file there is: straddle trace FILE".to_owned(),
    };
    Refusal::hinted(format!("the place of byte {at_bytes} on the drive is unknown: {why}"), hint)
}

/// Returns what [`MeasuredBytes::stretch`] does, of these runs and this unit.
fn stretch(runs: &[MappedRun], unit: Unit) -> Option<ByteRange> {
    let phase = |run: &MappedRun| {
        let misses = unit.misalignment(run.address_bytes);
        let offset = run.offset_bytes % unit.length_bytes();
        (misses + unit.length_bytes() - offset) % unit.length_bytes()
    };
    let mut best: Option<ByteRange> = None;
    let mut at = 0;
    while let Some(first) = runs.get(at) {
        let mut end = first.offset_bytes + first.length_bytes;
        let mut next = at + 1;
        while let Some(run) = runs.get(next)
            && run.offset_bytes == end
            && phase(run) == phase(first)
        {
            end += run.length_bytes;
            next += 1;
        }
        at = next;
        let ahead =
            (unit.length_bytes() - unit.misalignment(first.address_bytes)) % unit.length_bytes();
        let start = first.offset_bytes + ahead;
        let length = end.saturating_sub(start);
        let length = length - length % unit.length_bytes();
        if length > best.map_or(0, ByteRange::length_bytes) {
            best = ByteRange::new(start, length);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(offset_bytes: u64, length_bytes: u64, address_bytes: u64) -> MappedRun {
        MappedRun { offset_bytes, length_bytes, leaf: 0, address_bytes }
    }

    #[test]
    fn a_stretch_starts_on_a_boundary_and_goes_on_over_runs_that_lie_alike() {
        let unit = Unit::new(4096).unwrap();
        let alike = [run(0, 8192, 512), run(8192, 8192, 40960 + 512)];
        let found = stretch(&alike, unit).unwrap();
        assert_eq!((found.start_bytes(), found.length_bytes()), (3584, 12288 - 4096 + 4096));
        let unlike = [run(0, 8192, 0), run(8192, 16384, 100 * 4096 + 512)];
        let found = stretch(&unlike, unit).unwrap();
        assert_eq!((found.start_bytes(), found.length_bytes()), (8192 + 3584, 12288));
    }

    #[test]
    fn no_stretch_is_found_where_no_unit_is_whole() {
        let unit = Unit::new(1 << 20).unwrap();
        assert_eq!(stretch(&[run(0, 4096, 0)], unit), None);
        assert_eq!(stretch(&[], unit), None);
    }
}
