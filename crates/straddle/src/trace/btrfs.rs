//! The address space of a mounted btrfs: its chunks over its devices.

use std::collections::BTreeMap;
use std::rc::Rc;

use device::Disk;
use format::Parsed;
use format::filesystem::chunks::{self, ChunkMap};
use host::{FileDisk, Identity};
use report::Refusal;
use stack::file::Space;
use stack::view::View;
use stack::{Layer, LayerId, LayerKind, volumes};
use units::{Known, Source, text};

use super::tracer::{Tracer, refused};

/// Adds the btrfs that `file` is on, and the devices that it lies on.
pub(super) fn space(
    tracer: &mut Tracer<'_>,
    file: &FileDisk,
    name: &str,
) -> Result<Space, Refusal> {
    let devices = devices(tracer, file, name)?;
    let on: Vec<LayerId> = devices.values().copied().collect();
    let (found, source) = match chunks(tracer, file, &on) {
        Ok(found) => found,
        Err(reason) => return Ok(Space::Unknown { on, reason }),
    };
    for problem in found.problems.iter().take(4) {
        tracer.notes.push(format!("chunk tree of the btrfs: {}", problem.detail));
    }
    let end = found.value.chunks().last().map_or(0, |chunk| chunk.logical.end_bytes());
    let mapping = volumes::btrfs_mapping(&found.value, &devices);
    let layer = Layer::new(kind(tracer, &on), "btrfs".to_owned(), Known::yes(end, source), mapping);
    Ok(Space::Of(tracer.stack.add(layer)))
}

/// Returns what was read of the file system on one of its devices, else its name alone.
fn kind(tracer: &Tracer<'_>, devices: &[LayerId]) -> LayerKind {
    let above = devices.iter().flat_map(|&device| tracer.stack.above(device));
    let mut kinds = above.map(|&id| &tracer.stack.layer(id).kind);
    let found =
        kinds.find(|kind| matches!(kind, LayerKind::FileSystem(system) if system.kind == "btrfs"));
    found.cloned().unwrap_or_else(|| LayerKind::Mounted("btrfs".to_owned()))
}

/// The layers of its devices by their numbers; those that are missing are left out, and noted.
fn devices(
    tracer: &mut Tracer<'_>,
    file: &FileDisk,
    name: &str,
) -> Result<BTreeMap<u64, LayerId>, Refusal> {
    let listed = host::btrfs_devices(file).map_err(|error| {
        refused(name, &format!("its btrfs does not tell its devices: {error}"), None)
    })?;
    let mut found = BTreeMap::new();
    for device in listed {
        let path = text::escape(device.path.as_os_str().as_encoded_bytes());
        match host::identity(&device.path) {
            Ok(Identity::Block { major, minor }) => {
                found.insert(device.number, tracer.device((major, minor))?);
            }
            _ => {
                let number = device.number;
                tracer.notes.push(format!("device {number} of the btrfs ({path}) is not there"));
            }
        }
    }
    Ok(found)
}

/// Its chunks: from the kernel, which has them as they are now, else from its devices' bytes.
fn chunks(
    tracer: &Tracer<'_>,
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
    let stack = Rc::new(tracer.stack.clone());
    let disks = View::all(&stack, devices.iter().copied());
    let disks: Vec<&dyn Disk> = disks.iter().map(Rc::as_ref).collect();
    let found = chunks::read(&disks).filter(|found| found.value.chunks().next().is_some());
    found.map(|found| (found, Source::OnDisk)).ok_or_else(|| {
        format!(
            "how btrfs lays its addresses out cannot be read: neither from the kernel ({refused}) \
             nor from its devices; try as root"
        )
    })
}
