//! btrfs over its devices: the address space of a mounted one, and the data of one on several
//! devices, of which each by itself shows but a part. Both are its chunks, as its chunk tree lays
//! them on the devices.

use std::collections::BTreeMap;
use std::rc::Rc;

use device::Disk;
use format::Parsed;
use format::filesystem::btrfs::{self, ChunkMap};
use format::filesystem::{Beside, FileSystem};
use host::FileDisk;
use stack::btrfs_mapping::btrfs_mapping;
use stack::file_extents::Space;
use stack::layer_bytes::LayerView;
use stack::mapping::{Mapping, Segment};
use stack::{Layer, LayerId, LayerKind, Stack};
use units::{ByteRange, Known, Source};

/// Adds to `stack` the btrfs that `file` is on. `devices` are the layers of its devices by their
/// numbers; `notes` take what is wrong with its chunk tree.
pub(crate) fn space(
    stack: &mut Stack,
    notes: &mut Vec<String>,
    devices: &BTreeMap<u64, LayerId>,
    file: &FileDisk,
) -> Space {
    let on: Vec<LayerId> = devices.values().copied().collect();
    let (found, source) = match chunks(stack, file, &on) {
        Ok(found) => found,
        Err(reason) => return Space::Unknown { on, reason },
    };
    for problem in found.problems.iter().take(4) {
        notes.push(format!("chunk tree of the btrfs: {}", problem.detail));
    }
    let end = found.value.chunks().last().map_or(0, |chunk| chunk.logical.end_bytes());
    let mapping = btrfs_mapping(&found.value, devices);
    let layer = Layer::new(kind(stack, &on), "btrfs".to_owned(), Known::yes(end, source), mapping);
    Space::Of(stack.add(layer))
}

/// Returns what was read of the file system on one of its devices, else its name alone.
fn kind(stack: &Stack, devices: &[LayerId]) -> LayerKind {
    let above = devices.iter().flat_map(|&device| stack.above(device));
    let mut kinds = above.map(|&id| &stack.layer(id).kind);
    let found =
        kinds.find(|kind| matches!(kind, LayerKind::FileSystem(system) if system.kind == "btrfs"));
    found.cloned().unwrap_or_else(|| LayerKind::Mounted("btrfs".to_owned()))
}

/// Its chunks: from the kernel, which has them as they are now, else from its devices' bytes.
fn chunks(
    stack: &Stack,
    file: &FileDisk,
    devices: &[LayerId],
) -> Result<(Parsed<ChunkMap>, Source), String> {
    let refused = match host::btrfs_chunk_items(file) {
        Ok(items) => {
            let items = items.iter().map(|(logical, bytes)| (*logical, bytes.as_slice()));
            return Ok((ChunkMap::of_items(items), Source::Ioctl));
        }
        Err(error) => error,
    };
    let found = chunks_on(stack, devices.iter().copied());
    let found = found.filter(|found| found.value.chunks().next().is_some());
    found.map(|found| (found, Source::OnDisk)).ok_or_else(|| {
        format!(
            "the chunks of the btrfs cannot be read, neither from the kernel ({refused}) nor from \
             its devices; try sudo"
        )
    })
}

/// The chunks that the bytes of these devices say.
fn chunks_on(stack: &Stack, devices: impl Iterator<Item = LayerId>) -> Option<Parsed<ChunkMap>> {
    let disks = LayerView::all(&Rc::new(stack.clone()), devices);
    let disks: Vec<&dyn Disk> = disks.iter().map(Rc::as_ref).collect();
    btrfs::chunks(&disks)
}

/// The bit of a chunk that holds data (`BTRFS_BLOCK_GROUP_DATA`, `btrfs_tree.h`).
const HOLDS_DATA: u64 = 1;

/// A btrfs on several devices.
struct SpreadBtrfs {
    system: Box<FileSystem>,
    /// Number of devices it says that it has.
    count: u64,
    /// The layers that hold it, by their numbers.
    devices: BTreeMap<u64, LayerId>,
    /// Layers that its superblocks on them became.
    parts: Vec<LayerId>,
}

/// Adds to `stack` the data of each btrfs on several devices, and returns the layers that these
/// stand for: what was read of them on each device by itself. What could not be added is noted.
pub(crate) fn add_data(stack: &mut Stack, notes: &mut Vec<String>) -> Vec<LayerId> {
    let mut replaced = Vec::new();
    for SpreadBtrfs { system, count, devices, parts } in spread(stack) {
        let given = u64::try_from(devices.len()).unwrap_or(u64::MAX);
        let found = match count.saturating_sub(given) {
            0 => data(stack, &devices),
            missing => Err(format!("{missing} of its devices are missing")),
        };
        match found {
            Ok((mapping, bytes)) => {
                let kind = LayerKind::FileSystem(system);
                let length = Known::yes(bytes, Source::OnDisk);
                stack.add(Layer::new(kind, "btrfs data".to_owned(), length, mapping));
                replaced.extend(parts);
            }
            Err(why) => notes.push(format!(
                "a btrfs on several devices is simulated on each device by itself, since {why}; \
                 give all of them: --stack A B C"
            )),
        }
    }
    replaced
}

fn spread(stack: &Stack) -> Vec<SpreadBtrfs> {
    let mut found: BTreeMap<String, SpreadBtrfs> = BTreeMap::new();
    for (id, layer) in stack.iter() {
        let LayerKind::FileSystem(system) = &layer.kind else { continue };
        let Some(Beside::OneOf { of, uuid, number }) = &system.beside else { continue };
        let ("btrfs", [device]) = (system.kind, &layer.mapping.below()[..]) else { continue };
        let volume = found.entry(uuid.clone()).or_insert_with(|| SpreadBtrfs {
            system: system.clone(),
            count: *of,
            devices: BTreeMap::new(),
            parts: Vec::new(),
        });
        volume.devices.insert(*number, *device);
        volume.parts.push(id);
    }
    found.into_values().collect()
}

/// Returns how its data lie, and how many bytes there are; or why that is not known.
fn data(stack: &Stack, devices: &BTreeMap<u64, LayerId>) -> Result<(Mapping, u64), String> {
    let found = chunks_on(stack, devices.values().copied());
    let found = found.ok_or("its chunk tree cannot be read")?.value;
    let Mapping::Segments(all) = btrfs_mapping(&found, devices) else {
        return Err("its chunk tree cannot be read".to_owned());
    };
    let mut segments: Vec<Segment> = Vec::new();
    let mut end = 0;
    for (chunk, segment) in found.chunks().zip(all) {
        let length = segment.range.length_bytes();
        let range = ByteRange::new(end, length).filter(|_| chunk.holds & HOLDS_DATA != 0);
        if let Some(range) = range {
            segments.push(Segment { range, ..segment });
            end = range.end_bytes();
        }
    }
    match segments.is_empty() {
        true => Err("it has no chunk of data yet".to_owned()),
        false => Ok((Mapping::Segments(segments), end)),
    }
}
