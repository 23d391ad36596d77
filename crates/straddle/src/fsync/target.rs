//! The directory, and the layers and the drive under it, as far as they can be told.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use host::{FileFacts, Identity};
use report::fsync::{FsyncLayer, FsyncTarget};
use stack::mountinfo::MountLine;
use stack::{LayerKind, Stack};
use units::text;

use super::halt::Halt;
use crate::printer::shown;
use crate::scene::Scene;
use crate::{title, trace};

/// What is under `directory`.
pub(super) fn of(scene: &Scene, directory: &Path) -> Result<FsyncTarget, Halt> {
    let name = shown(directory);
    let hint = || Some("name a directory on the disk that is meant".to_owned());
    let facts = match host::identity(directory) {
        Ok(Identity::Block { .. }) => {
            return Err(Halt::refused(
                format!("cannot measure syncs on {name}: it is a device, not a directory"),
                Some("name the directory where it is mounted: findmnt".to_owned()),
            ));
        }
        Ok(_) if directory.is_dir() => host::file_facts(directory),
        Ok(_) => {
            let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = parent.map_or(".".to_owned(), shown);
            return Err(Halt::refused(
                format!("cannot measure syncs in {name}: it is not a directory"),
                Some(format!("straddle fsync {parent} measures beside it")),
            ));
        }
        Err(error) => {
            return Err(Halt::refused(format!("cannot measure syncs in {name}: {error}"), hint()));
        }
    };
    let facts =
        facts.map_err(|error| Halt::refused(format!("cannot look at {name}: {error}"), hint()))?;
    let mount = trace::mount_of(scene, &facts, directory);
    let (major, minor) = facts.device;
    let mut target = FsyncTarget {
        path: name,
        filesystem: mount.as_ref().map(|mount| mount.kind.clone()).unwrap_or_default(),
        mount_options: mount.as_ref().map(options).unwrap_or_default(),
        device: Some(format!("{major}:{minor}")),
        ..FsyncTarget::default()
    };
    match beneath(scene, &facts, mount.as_ref()) {
        Ok(stack) => fill(&mut target, &stack),
        Err(reason) => target.unknown = Some(reason),
    }
    Ok(target)
}

fn options(mount: &MountLine) -> Vec<String> {
    mount.options.iter().map(|option| text::escape(option.as_bytes())).collect()
}

/// The layers of the device that the file system is on, with those under them.
fn beneath(
    scene: &Scene,
    facts: &FileFacts,
    mount: Option<&MountLine>,
) -> Result<(Stack, stack::LayerId), String> {
    let number = match (facts.device, mount) {
        ((major, minor), _) if major > 0 => (major, minor),
        // The number is anonymous; what was mounted may be a device all the same, as on btrfs.
        (_, Some(mount)) => match source(mount).map(|path| host::identity(&path)) {
            Some(Ok(Identity::Block { major, minor })) => (major, minor),
            _ => return Err(format!("what lies under {} is not seen from here", mount.kind)),
        },
        _ => return Err("the mount is not known".to_owned()),
    };
    trace::beneath_device(scene, number).map_err(|refusal| refusal.message)
}

/// What was mounted, where that is a path.
fn source(mount: &MountLine) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(mount.source.raw()));
    path.is_absolute().then(|| path.to_owned())
}

fn fill(target: &mut FsyncTarget, (stack, id): &(Stack, stack::LayerId)) {
    let mut drives = Vec::new();
    for id in stack.under(*id).into_iter().rev() {
        let layer = stack.layer(id);
        if let LayerKind::Drive(drive) = &layer.kind
            && drive.slaves.is_empty()
            && drive.backing_file.is_none()
        {
            drives.push(drive);
        }
        target.layers.push(FsyncLayer {
            name: layer.name.clone(),
            kind: layer.kind.word().to_owned(),
            title: title::title(layer),
        });
    }
    let [drive] = &drives[..] else { return };
    let identity = &drive.identity;
    let said = |text: &String| text::escape(text.trim().as_bytes());
    target.drive = Some(drive.name.clone());
    target.model = drive.model.as_ref().map(ToString::to_string);
    target.firmware = identity.firmware.value().map(said);
    target.identity = identity.wwid.value().or_else(|| identity.serial.value()).map(said);
    target.rotating = drive.rotational.value().copied();
    target.capacity_bytes = drive.length_bytes.value().copied();
}
