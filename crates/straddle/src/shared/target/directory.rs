//! Targets that a directory names: the device that it is mounted from, or the images in it.

use std::path::Path;

use host::Omitted;
use report::Refusal;
use units::text::shell_word;

use super::description::{CheckTarget, FoundInDirectory, MOUNT_SYS, What, meant, plain, refused};
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::shown;

/// A mount point is the device under it; any other directory is searched for images.
pub(super) fn targets(path: &Path, inspected: &InspectedMachine) -> Vec<CheckTarget> {
    let name = shown(path);
    let canonical = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(mount) =
        stack::kernel::mount::at(inspected.tree(), canonical.as_os_str().as_encoded_bytes())
    {
        return vec![under(name, &mount, inspected)];
    }
    if inspected.tree().bytes("/proc/self/mountinfo").is_err() && is_mount_point(&canonical) {
        let message =
            format!("cannot tell what {name} is mounted from: /proc/self/mountinfo is missing");
        return vec![refused(name, message, Some("mount it: mount -t proc proc /proc"))];
    }
    match host::list_files(path) {
        Ok(listing) if listing == host::Listing::default() => {
            let what = What::Refused(holds_none(&name));
            vec![CheckTarget { name, what, found: None }]
        }
        Ok(listing) => {
            let files =
                listing.files.into_iter().map(|path| plain(&path)).map(|path| CheckTarget {
                    name: shown(&path),
                    what: What::Found(path),
                    found: FoundInDirectory::file(None),
                });
            let others = listing.others.into_iter().map(|Omitted { path, reason }| {
                let name = shown(&path);
                let target = refused(name.clone(), format!("cannot open {name}: {reason}"), None);
                CheckTarget { found: FoundInDirectory::file(Some((path, reason))), ..target }
            });
            let omitted = listing.omitted.into_iter().map(|omitted| {
                let name = shown(&omitted.path);
                let message = format!("cannot open {name}: {}", omitted.reason);
                refused(name, message, None)
            });
            files.chain(others).chain(omitted).collect()
        }
        Err(error) => {
            let message = format!("cannot list {name}: {error}");
            let hint = format!("check its permissions: ls -ld {}", shell_word(&name));
            vec![refused(name, message, Some(&hint))]
        }
    }
}

/// Why the directory called `name` cannot be judged: it holds no disk image.
pub(crate) fn holds_none(name: &str) -> Refusal {
    Refusal::hinted(
        format!("cannot read {name}: no disk image is in it"),
        format!(
            "name a directory of disk images, or check whether it is mounted: findmnt {}",
            shell_word(name)
        ),
    )
}

/// Returns whether a directory is on another file system than the one that holds it, or is the
/// root.
fn is_mount_point(path: &Path) -> bool {
    let device = |path: &Path| host::file_facts(path).ok().map(|facts| facts.device);
    path.parent().is_none_or(|parent| device(parent) != device(path))
}

/// The device under a mount point.
fn under(
    name: String,
    mount: &device::mountinfo::MountLine,
    inspected: &InspectedMachine,
) -> CheckTarget {
    let machine = match inspected.machine() {
        Ok(machine) => machine,
        Err(reason) => {
            let message = format!("cannot tell what {name} is mounted from: {reason}");
            return refused(name, message, Some(MOUNT_SYS));
        }
    };
    if mount.kind == "overlay" {
        let message =
            format!("cannot use {name}: it is an overlay, whose files are in other directories");
        let hint = "name the mount point of its upper or lower directory; to list them: findmnt -t \
                    overlay";
        return refused(name, message, Some(hint));
    }
    match machine.of_mount(mount) {
        // A file system on several devices lies on all of them.
        Some(id) if machine.is_shared(id) => CheckTarget {
            name,
            what: What::Devices { nodes: machine.joined(id), meant: None },
            found: None,
        },
        Some(id) => meant(name, machine, id),
        None => {
            let kind = &mount.kind;
            let message =
                format!("cannot use {name}: its file system ({kind}) is on no block device");
            let hint =
                "name an image, a directory of images, or a device; to list devices: lsblk -p";
            refused(name, message, Some(hint))
        }
    }
}
