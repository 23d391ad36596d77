//! The directory, and the layers and the drive under it, as far as they can be told.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use device::mountinfo::MountLine;
use host::{PathIdentity, Pinned};
use report::fsync::{FsyncLayer, FsyncTarget};
use stack::drive::KernelDrive;
use stack::{Layer, LayerId, LayerKind, Mapping, Stack};
use units::text::shell_word;
use units::{Known, text};

use super::session::Session;
use crate::shared::busy::{self, Others};
use crate::shared::halt::Halt;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::off_disk_mount::{Away, away};
use crate::shared::path_mount::{self, PathMount};
use crate::shared::printer::shown;
use crate::shared::stack_beneath;
use crate::shared::title;
use crate::world::World;

/// Number of files and overlays that may lie in each other.
const DEPTH_MAX: usize = 8;

/// Returns what is under `directory`.
pub(super) fn of(inspected: &InspectedMachine, directory: &Pinned) -> Result<FsyncTarget, Halt> {
    let name = shown(directory.given());
    let hint = || Some("check the path, or name another directory on the drive".to_owned());
    match directory.identity() {
        PathIdentity::Block { .. } => {
            return Err(Halt::refused(
                format!("cannot measure syncs on {name}: a device, not a directory"),
                Some(format!(
                    "name the directory where it is mounted, which this shows: findmnt {}",
                    shell_word(&name)
                )),
            ));
        }
        PathIdentity::File { .. } if directory.is_directory() => {}
        PathIdentity::File { .. } => {
            let parent = directory.given().parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = parent.map_or(".".to_owned(), shown);
            return Err(Halt::refused(
                format!("cannot measure syncs in {name}: not a directory"),
                Some(format!("measure in its directory: straddle fsync {}", shell_word(&parent))),
            ));
        }
    }
    let facts = host::file_facts(&directory.path())
        .map_err(|error| Halt::refused(format!("cannot open {name}: {error}"), hint()))?;
    let (major, minor) = facts.device;
    let mut target = FsyncTarget {
        path: name,
        device: Some(format!("{major}:{minor}")),
        ..FsyncTarget::default()
    };
    match PathMount::of(inspected, directory) {
        Ok(mounted) => {
            target.filesystem.clone_from(&mounted.mount.kind);
            target.mount_options = options(&mounted.mount);
            Beneath { inspected, target: &mut target, drives: Vec::new() }.fill(&mounted);
        }
        Err(reason) => target.unknown = Some(reason),
    }
    Ok(target)
}

/// Bytes a second that others read from and write to the drive now; `None` where that is not known.
pub(super) fn others<W: World>(session: &Session<'_>, world: &W) -> Option<u64> {
    let drive = session.document.target.drive.as_deref()?;
    let counters = world.counters(busy::numbers(&session.inspected, drive)?)?;
    let others = Others::of(counters, &*session.clock)?;
    Some(others.bytes_per_second)
}

fn options(mount: &MountLine) -> Vec<String> {
    mount.all_options().map(|option| text::escape(option.as_bytes())).collect()
}

/// Everything that lies under a directory, as it is named.
struct Beneath<'a> {
    inspected: &'a InspectedMachine,
    target: &'a mut FsyncTarget,
    /// The drives that were met.
    drives: Vec<KernelDrive>,
}

impl Beneath<'_> {
    /// Names all that is under the file system of a mount, and the drive where it is one alone.
    fn fill(mut self, mounted: &PathMount) {
        match (self.mounted(mounted, DEPTH_MAX), &self.drives[..]) {
            (Ok(()), [drive]) => named(self.target, drive),
            (Ok(()), _) => {}
            // What was not seen may hold another.
            (Err(reason), _) => self.target.unknown = Some(reason),
        }
    }

    /// Returns what is under a mount, `depth` files and overlays deep at most.
    fn mounted(&mut self, mounted: &PathMount, depth: usize) -> Result<(), String> {
        let kind = &mounted.mount.kind;
        let depth = depth.checked_sub(1).ok_or("it is nested too deeply")?;
        match away(kind) {
            Some(Away::Overlay) => {
                let upper = mounted.upper(self.inspected)?;
                self.push(&system(&upper.mount.kind));
                return self.mounted(&upper, depth);
            }
            Some(Away::Memory) => {
                return Err(format!("none: {kind} is in memory"));
            }
            Some(_) => return Err(format!("the devices under {kind} cannot be seen from here")),
            None => {}
        }
        let machine = self.inspected.machine().map_err(Clone::clone)?;
        let node = mounted.devices(self.inspected)?.first().copied();
        let number = node.and_then(|node| machine.node(node).number);
        let number = number.ok_or_else(|| format!("{kind} is on a device without a number"))?;
        let (stack, id) = stack_beneath::of_device(self.inspected, (number.major, number.minor))
            .map_err(|refusal| refusal.message)?;
        self.stack(&stack, id, depth)
    }

    /// The layer `id` and all under it.
    fn stack(&mut self, stack: &Stack, id: LayerId, depth: usize) -> Result<(), String> {
        let under: Vec<LayerId> = stack.under(id).into_iter().rev().collect();
        for &id in &under {
            let layer = stack.layer(id);
            if let LayerKind::Drive(drive) = &layer.kind
                && drive.slaves.is_empty()
                && drive.backing_file.is_none()
            {
                self.drives.push((**drive).clone());
            }
            self.push(layer);
        }
        let ends = under
            .iter()
            .map(|&id| stack.layer(id))
            .filter(|layer| matches!(&layer.mapping, Mapping::Unknown { on, .. } if on.is_empty()));
        for layer in ends {
            if let LayerKind::Drive(drive) = &layer.kind {
                self.behind(drive, depth)?;
            }
        }
        Ok(())
    }

    /// Returns what is behind a loop device whose file could not be traced: it may still be told
    /// which file system that is on.
    fn behind(&mut self, drive: &KernelDrive, depth: usize) -> Result<(), String> {
        let Some(path) = &drive.backing_file else { return Ok(()) };
        let path = Path::new(OsStr::from_bytes(path.raw()));
        let mounted = path_mount::behind_loop(self.inspected, &drive.name, path)?;
        let name = text::escape(path.file_name().unwrap_or(path.as_os_str()).as_bytes());
        self.push(&Layer::new(LayerKind::File, name, unread(), Mapping::Leaf));
        self.push(&system(&mounted.mount.kind));
        self.mounted(&mounted, depth)
    }

    fn push(&mut self, layer: &Layer) {
        self.target.layers.push(FsyncLayer {
            name: layer.name.clone(),
            kind: layer.kind.word().to_owned(),
            title: title::title(layer),
        });
    }
}

/// A file system of which nothing but its kind was read.
fn system(kind: &str) -> Layer {
    Layer::new(LayerKind::Mounted(kind.to_owned()), kind.to_owned(), unread(), Mapping::Leaf)
}

fn unread() -> Known<u64> {
    Known::no("nothing was read of it")
}

/// Puts into the target which drive it is.
fn named(target: &mut FsyncTarget, drive: &KernelDrive) {
    let identity = &drive.identity;
    let said = |text: &String| text::escape(text.trim().as_bytes());
    target.drive = Some(drive.name.clone());
    target.model = drive.model.as_ref().map(ToString::to_string);
    target.firmware = identity.firmware.value().map(said);
    target.identity = identity.wwid.value().or_else(|| identity.serial.value()).map(said);
    target.rotating = drive.rotational.value().copied();
    target.capacity_bytes = drive.length_bytes.value().copied();
}
