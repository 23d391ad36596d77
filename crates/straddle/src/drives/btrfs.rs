//! The data of a btrfs on several devices: its chunks of data one after the other, as its chunk
//! tree lays them on the devices. Each device by itself shows but a part of it.

use std::collections::BTreeMap;
use std::rc::Rc;

use device::Disk;
use format::filesystem::{Beside, FileSystem, btrfs};
use stack::mapping::{Mapping, Segment};
use stack::view::View;
use stack::volumes::btrfs_mapping;
use stack::{Layer, LayerId, LayerKind, Stack};
use units::{ByteRange, Known, Source};

/// The bit of a chunk that holds data (`BTRFS_BLOCK_GROUP_DATA`, `btrfs_tree.h`).
const HOLDS_DATA: u64 = 1;

/// A btrfs on several devices.
struct Volume {
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
pub(super) fn add_data(stack: &mut Stack, notes: &mut Vec<String>) -> Vec<LayerId> {
    let mut replaced = Vec::new();
    for Volume { system, count, devices, parts } in volumes(stack) {
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
                "a btrfs on several devices is simulated on each by itself, since {why}: give \
                 all of them as --stack A B C"
            )),
        }
    }
    replaced
}

fn volumes(stack: &Stack) -> Vec<Volume> {
    let mut found: BTreeMap<String, Volume> = BTreeMap::new();
    for (id, layer) in stack.iter() {
        let LayerKind::FileSystem(system) = &layer.kind else { continue };
        let Some(Beside::OneOf { of, uuid, number }) = &system.beside else { continue };
        let ("btrfs", [device]) = (system.kind, &layer.mapping.below()[..]) else { continue };
        let volume = found.entry(uuid.clone()).or_insert_with(|| Volume {
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
    let disks = View::all(&Rc::new(stack.clone()), devices.values().copied());
    let disks: Vec<&dyn Disk> = disks.iter().map(Rc::as_ref).collect();
    let found = btrfs::chunks(&disks).ok_or("its chunk tree cannot be read")?.value;
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
