//! The address space of a mounted btrfs: its chunks over its devices.

use std::collections::BTreeMap;
use std::rc::Rc;

use device::Disk;
use format::Parsed;
use format::filesystem::btrfs::{self, ChunkMap};
use host::FileDisk;
use stack::file::Space;
use stack::view::View;
use stack::{Layer, LayerId, LayerKind, Stack, volumes};
use units::{Known, Source};

/// Adds to `stack` the btrfs that `file` is on. `devices` are the layers of its devices by their
/// numbers; `notes` take what is wrong with its chunk tree.
pub(super) fn space(
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
    let mapping = volumes::btrfs_mapping(&found.value, devices);
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
    let stack = Rc::new(stack.clone());
    let disks = View::all(&stack, devices.iter().copied());
    let disks: Vec<&dyn Disk> = disks.iter().map(Rc::as_ref).collect();
    let found = btrfs::chunks(&disks).filter(|found| found.value.chunks().next().is_some());
    found.map(|found| (found, Source::OnDisk)).ok_or_else(|| {
        format!(
            "how btrfs lays its addresses out cannot be read: neither from the kernel ({refused}) \
             nor from its devices; try as root"
        )
    })
}
