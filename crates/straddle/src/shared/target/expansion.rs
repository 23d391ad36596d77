//! Expansion of the user's words into targets.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use host::PathIdentity;
use stack::kernel::{Machine, NodeId, NodeKind, Number, md};
use units::text;

use super::description::{
    CheckTarget, FoundInDirectory, MOUNT_SYS, What, joined_names, meant, plain, refused,
};
use super::directory;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::shown;

/// The targets that `paths` name, in their order; every disk where there are none.
pub(crate) fn expand(paths: &[PathBuf], inspected: &InspectedMachine) -> Vec<CheckTarget> {
    if paths.is_empty() {
        return every_disk(inspected);
    }
    let mut seen = NamedFiles::new();
    let mut targets = Vec::new();
    for (directory, path) in paths.iter().enumerate() {
        let named = match inspected.is_captured {
            true => vec![captured(path, inspected)],
            false => named(path, inspected, &mut seen),
        };
        targets.extend(named.into_iter().map(|target| {
            let found = target.found.map(|found| FoundInDirectory { directory, ..found });
            CheckTarget { found, ..target }
        }));
    }
    targets
}

/// The numbers of file systems and of files that were named, and how.
type NamedFiles = HashMap<(u64, u64), String>;

fn every_disk(inspected: &InspectedMachine) -> Vec<CheckTarget> {
    let whose = if inspected.is_captured { "the captured machine" } else { "this machine" };
    let machine = match inspected.machine() {
        Ok(machine) => machine,
        Err(reason) => {
            return vec![refused(
                whose.to_owned(),
                format!("cannot list the disks of {whose}: {reason}"),
                Some("mount it: mount -t sysfs sysfs /sys; or name an image: straddle check FILE"),
            )];
        }
    };
    let targets: Vec<CheckTarget> = machine
        .components()
        .into_iter()
        .filter(|nodes| is_worth_showing(machine, nodes))
        .map(|nodes| {
            let names = disk_names(machine, &nodes);
            let name = joined_names(&names.iter().map(String::as_str).collect::<Vec<_>>());
            CheckTarget { name, what: What::Devices { nodes, meant: None }, found: None }
        })
        .collect();
    if targets.is_empty() {
        return vec![refused(
            whose.to_owned(),
            format!("cannot list the disks of {whose}: /sys/block shows none"),
            Some("name an image or a device: straddle check FILE"),
        )];
    }
    targets
}

/// The names of devices that are no disks of their own: they stand on others, or hold no data.
const NO_DISKS: [&str; 5] = ["loop", "ram", "zram", "fd", "sr"];

/// Returns whether devices that lie on each other are disks that a user means by "all": one of them
/// is a real disk that is not empty, or something was built on them.
fn is_worth_showing(machine: &Machine, nodes: &[NodeId]) -> bool {
    nodes.iter().any(|&id| {
        let node = machine.node(id);
        let kind = node.name.trim_end_matches(|last: char| last.is_ascii_digit());
        let is_disk = node.below.is_empty() && !NO_DISKS.contains(&kind);
        let is_built = !matches!(node.kind, NodeKind::Partition { .. }) && !node.below.is_empty();
        (is_disk || is_built) && node.length_bytes.value() != Some(&0)
    })
}

/// The names of the disks among `nodes`.
pub(crate) fn disk_names(machine: &Machine, nodes: &[NodeId]) -> Vec<String> {
    let disks = nodes.iter().map(|&id| machine.node(id)).filter(|node| node.below.is_empty());
    disks.map(|node| text::escape(node.name.as_bytes())).collect()
}

/// A device of a captured machine, by its name, its path or where it is mounted.
fn captured(path: &Path, inspected: &InspectedMachine) -> CheckTarget {
    let name = shown(path);
    let machine = match inspected.machine() {
        Ok(machine) => machine,
        Err(reason) => {
            let message = format!("cannot look for {name} in the captured tree: {reason}");
            return refused(name, message, Some("capture it again: straddle generate sysroot"));
        }
    };
    let found = path.to_str().and_then(|path| {
        machine.named(path).or_else(|| machine.of_path(path)).or_else(|| machine.mounted(path))
    });
    match found {
        Some(id) => meant(name, machine, id),
        None => {
            let message =
                format!("cannot use {name}: the captured machine has no such block device");
            let hint = "use a name of its kernel, such as sda, /dev/sda1 or /dev/mapper/vg-lv";
            refused(name, message, Some(hint))
        }
    }
}

/// The block device in `/dev` that a bare name like `vda` means, where no file here is called so.
fn bare_device(path: &Path) -> Option<PathBuf> {
    let [Component::Normal(_)] = path.components().collect::<Vec<_>>()[..] else { return None };
    let missing = std::fs::symlink_metadata(path)
        .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    let device = Path::new("/dev").join(path);
    let is_block = || matches!(host::identity(&device), Ok(PathIdentity::Block { .. }));
    (missing && is_block()).then_some(device)
}

/// The image in `name`, where that is a partition inside an image, as output names it: `disk.raw`
/// of `disk.raw#1`.
pub(crate) fn image_around(name: &str) -> Option<&str> {
    let (image, _) = name.split_once('#')?;
    (!Path::new(name).exists() && Path::new(image).exists()).then_some(image)
}

/// Targets that `path` names. A file that was named before is one disk and not two of an array:
/// none where its name is the same.
fn named(path: &Path, inspected: &InspectedMachine, seen: &mut NamedFiles) -> Vec<CheckTarget> {
    let path = &plain(path);
    let name = shown(path);
    let file = |name| vec![CheckTarget { name, what: What::File(path.to_owned()), found: None }];
    match std::fs::metadata(path) {
        Err(error) => {
            if let Some(device) = bare_device(path) {
                return named(&device, inspected, seen);
            }
            if let Some(image) = image_around(&name) {
                let message = format!("cannot open {name}: a partition inside {image}");
                let hint = format!("straddle check {} shows all of it", text::shell_word(image));
                return vec![refused(name, message, Some(&hint))];
            }
            let message = format!("cannot open {name}: {error}");
            vec![refused(name, message, Some("check the path; to list block devices: lsblk -p"))]
        }
        Ok(data) if data.is_dir() => directory::targets(path, inspected),
        Ok(data) if data.file_type().is_block_device() => match host::identity(path) {
            Ok(PathIdentity::Block { major, minor }) => {
                vec![device(name, Number { major, minor }, inspected)]
            }
            _ => file(name),
        },
        Ok(data) => match seen.entry((data.dev(), data.ino())) {
            Entry::Vacant(place) => {
                place.insert(name.clone());
                file(name)
            }
            Entry::Occupied(first) if *first.get() == name => Vec::new(),
            Entry::Occupied(first) => {
                let (path, first) = (path.clone(), first.get().clone());
                vec![CheckTarget { name, what: What::Again { path, first }, found: None }]
            }
        },
    }
}

fn device(name: String, number: Number, inspected: &InspectedMachine) -> CheckTarget {
    let machine = match inspected.machine() {
        Ok(machine) => machine,
        Err(reason) => {
            let message = format!("cannot find the device {name}: {reason}");
            return refused(name, message, Some(MOUNT_SYS));
        }
    };
    match machine.numbered(number) {
        Some(id) => meant(name, machine, id),
        None if md::is_container(inspected.tree(), &format!("/sys/dev/block/{number}")) => {
            let message =
                format!("cannot use {name}: a container of IMSM or DDF arrays holds no data");
            refused(name, message, Some("check an array in it; to list them: cat /proc/mdstat"))
        }
        None => {
            let message = format!("cannot find the device {name}: /sys/block has no {number}");
            refused(name, message, Some("to list block devices: lsblk -p"))
        }
    }
}
