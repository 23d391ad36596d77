//! Targets that the user's words name: disks, partitions, mount points, images, directories of
//! images.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use device::FileIdentity;
use host::{FileDisk, HeadCache, Identity, Omitted};
use report::Refusal;
use stack::assemble::{Start, StartKind};
use stack::kernel::{Machine, NodeId, NodeKind, Number, md};
use units::text::{self, shell_word};

use crate::shared::not_an_image;
use crate::shared::printer::shown;
use crate::shared::scene::Scene;

/// Hint where the kernel's tree is missing.
const MOUNT_SYS: &str = "mount it: mount -t sysfs sysfs /sys";

/// Something to be checked, not opened yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Name as given or found; harmless to print.
    pub(crate) name: String,
    /// Its kind.
    pub(crate) what: What,
    /// Place where it was found, if nobody named it.
    pub(crate) found: Option<FoundInDirectory>,
}

/// Something that was found in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundInDirectory {
    /// Index of the directory among the paths that were named.
    pub(crate) directory: usize,
    /// Its path and what it is, where it is no file: a link to nothing, a FIFO.
    pub(crate) odd: Option<(PathBuf, String)>,
}

impl FoundInDirectory {
    fn file(odd: Option<(PathBuf, String)>) -> Option<FoundInDirectory> {
        Some(FoundInDirectory { directory: 0, odd })
    }

    /// Returns whether it is no file, and its name is not that of an image.
    pub(crate) fn is_left_out(&self) -> bool {
        self.odd.as_ref().is_some_and(|(path, _)| !not_an_image::is_named_as_image(path))
    }
}

/// Kind of target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Block devices that have to be looked at together.
    Devices {
        /// All that are joined to the one that was meant.
        nodes: Vec<NodeId>,
        /// The one that was meant; `None` for all.
        meant: Option<NodeId>,
    },
    /// A regular file.
    File(PathBuf),
    /// A regular file that was named before, by another name.
    Again {
        /// Path by which it is named here.
        path: PathBuf,
        /// The name by which it was named before.
        first: String,
    },
    /// A regular file that was found in a directory, and may be anything.
    Found(PathBuf),
    /// Nothing that can be checked.
    Refused(Refusal),
}

/// The targets that `paths` name, in their order; every disk where there are none.
pub(crate) fn expand(paths: &[PathBuf], scene: &Scene) -> Vec<Target> {
    if paths.is_empty() {
        return every_disk(scene);
    }
    let mut seen = Seen::new();
    let mut targets = Vec::new();
    for (directory, path) in paths.iter().enumerate() {
        let named = match scene.is_captured {
            true => vec![captured(path, scene)],
            false => named(path, scene, &mut seen),
        };
        targets.extend(named.into_iter().map(|target| {
            let found = target.found.map(|found| FoundInDirectory { directory, ..found });
            Target { found, ..target }
        }));
    }
    targets
}

/// The numbers of file systems and of files that were named, and how.
type Seen = HashMap<(u64, u64), String>;

fn every_disk(scene: &Scene) -> Vec<Target> {
    let whose = if scene.is_captured { "the captured machine" } else { "this machine" };
    let machine = match scene.machine() {
        Ok(machine) => machine,
        Err(reason) => {
            return vec![refused(
                whose.to_owned(),
                format!("cannot list the disks of {whose}: {reason}"),
                Some("mount it: mount -t sysfs sysfs /sys; or name an image: straddle check FILE"),
            )];
        }
    };
    let targets: Vec<Target> = machine
        .components()
        .into_iter()
        .filter(|nodes| is_worth_showing(machine, nodes))
        .map(|nodes| {
            let name = name_of(machine, &nodes);
            Target { name, what: What::Devices { nodes, meant: None }, found: None }
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

/// The disks among `nodes`, by name.
fn name_of(machine: &Machine, nodes: &[NodeId]) -> String {
    let disks = nodes.iter().map(|&id| machine.node(id)).filter(|node| node.below.is_empty());
    let names: Vec<String> = disks.map(|node| text::escape(node.name.as_bytes())).collect();
    joined_names(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Names in a row; of many, the first and the last.
pub(crate) fn joined_names(names: &[&str]) -> String {
    match names {
        [first, .., last] if names.len() > 4 => {
            format!("{first} … {last} ({} targets)", names.len())
        }
        _ => names.join(" + "),
    }
}

fn refused(name: String, message: String, hint: Option<&str>) -> Target {
    let hint = hint.map(str::to_owned);
    Target { name, what: What::Refused(Refusal { message, hint }), found: None }
}

/// A device of a captured machine, by its name, its path or where it is mounted.
fn captured(path: &Path, scene: &Scene) -> Target {
    let name = shown(path);
    let machine = match scene.machine() {
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
                format!("cannot check {name}: the captured machine has no such block device");
            let hint = "use a name of its kernel, such as sda, /dev/sda1 or /dev/mapper/vg-lv";
            refused(name, message, Some(hint))
        }
    }
}

fn meant(name: String, machine: &Machine, id: NodeId) -> Target {
    Target { name, what: What::Devices { nodes: machine.joined(id), meant: Some(id) }, found: None }
}

/// The block device in `/dev` that a bare name like `vda` means, where no file here is called so.
fn bare_device(path: &Path) -> Option<PathBuf> {
    let [Component::Normal(_)] = path.components().collect::<Vec<_>>()[..] else { return None };
    let missing = std::fs::symlink_metadata(path)
        .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    let device = Path::new("/dev").join(path);
    let is_block = || matches!(host::identity(&device), Ok(Identity::Block { .. }));
    (missing && is_block()).then_some(device)
}

/// `path` without `./`, so that one file has one name however it was typed.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let is_here = |part: &Component<'_>| *part == Component::CurDir;
    let plain: PathBuf = path.components().filter(|part| !is_here(part)).collect();
    if plain.as_os_str().is_empty() { path.to_owned() } else { plain }
}

/// Targets that `path` names. A file that was named before is one disk and not two of an array:
/// none where its name is the same.
fn named(path: &Path, scene: &Scene, seen: &mut Seen) -> Vec<Target> {
    let path = &plain(path);
    let name = shown(path);
    let file = |name| vec![Target { name, what: What::File(path.to_owned()), found: None }];
    match std::fs::metadata(path) {
        Err(error) => {
            if let Some(device) = bare_device(path) {
                return named(&device, scene, seen);
            }
            if let Some((image, _)) = name.split_once('#').filter(|(it, _)| Path::new(it).exists())
            {
                let message = format!("cannot open {name}: a partition inside {image}");
                let hint = format!("straddle check {} shows all of it", text::shell_word(image));
                return vec![refused(name, message, Some(&hint))];
            }
            let message = format!("cannot open {name}: {error}");
            vec![refused(name, message, Some("check the path; to list block devices: lsblk -p"))]
        }
        Ok(data) if data.is_dir() => directory(path, scene),
        Ok(data) if data.file_type().is_block_device() => match host::identity(path) {
            Ok(Identity::Block { major, minor }) => {
                vec![device(name, Number { major, minor }, scene)]
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
                vec![Target { name, what: What::Again { path, first }, found: None }]
            }
        },
    }
}

fn device(name: String, number: Number, scene: &Scene) -> Target {
    let machine = match scene.machine() {
        Ok(machine) => machine,
        Err(reason) => {
            let message = format!("cannot find the device {name}: {reason}");
            return refused(name, message, Some(MOUNT_SYS));
        }
    };
    match machine.numbered(number) {
        Some(id) => meant(name, machine, id),
        None if md::is_container(scene.tree(), &format!("/sys/dev/block/{number}")) => {
            let message =
                format!("cannot check {name}: a container of IMSM or DDF arrays holds no data");
            refused(name, message, Some("check an array in it; to list them: cat /proc/mdstat"))
        }
        None => {
            let message = format!("cannot find the device {name}: /sys/block has no {number}");
            refused(name, message, Some("to list block devices: lsblk -p"))
        }
    }
}

/// A mount point is the device under it; any other directory is searched for images.
fn directory(path: &Path, scene: &Scene) -> Vec<Target> {
    let name = shown(path);
    let canonical = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(mount) =
        stack::kernel::mount::at(scene.tree(), canonical.as_os_str().as_encoded_bytes())
    {
        return vec![under(name, &mount, scene)];
    }
    if scene.tree().bytes("/proc/self/mountinfo").is_err() && is_mount_point(&canonical) {
        let message =
            format!("cannot tell what {name} is mounted from: /proc/self/mountinfo is missing");
        return vec![refused(name, message, Some("mount it: mount -t proc proc /proc"))];
    }
    match host::list_files(path) {
        Ok(listing) if listing == host::Listing::default() => {
            let what = What::Refused(holds_none(&name));
            vec![Target { name, what, found: None }]
        }
        Ok(listing) => {
            let files = listing.files.into_iter().map(|path| plain(&path)).map(|path| Target {
                name: shown(&path),
                what: What::Found(path),
                found: FoundInDirectory::file(None),
            });
            let others = listing.others.into_iter().map(|Omitted { path, reason }| {
                let name = shown(&path);
                let target = refused(name.clone(), format!("cannot open {name}: {reason}"), None);
                Target { found: FoundInDirectory::file(Some((path, reason))), ..target }
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
    Refusal {
        message: format!("cannot check {name}: no disk image is in it"),
        hint: Some(format!(
            "name a directory of disk images, or its mount point, which this shows: findmnt -T {}",
            shell_word(name)
        )),
    }
}

/// Returns whether a directory is on another file system than the one that holds it, or is the
/// root.
fn is_mount_point(path: &Path) -> bool {
    let device = |path: &Path| host::file_facts(path).ok().map(|facts| facts.device);
    path.parent().is_none_or(|parent| device(parent) != device(path))
}

/// The device under a mount point.
fn under(name: String, mount: &device::mountinfo::MountLine, scene: &Scene) -> Target {
    let machine = match scene.machine() {
        Ok(machine) => machine,
        Err(reason) => {
            let message = format!("cannot tell what {name} is mounted from: {reason}");
            return refused(name, message, Some(MOUNT_SYS));
        }
    };
    if mount.kind == "overlay" {
        let message =
            format!("cannot check {name}: it is an overlay, whose files are in other directories");
        let hint = "name the mount point of its upper or lower directory; to list them: findmnt -t \
                    overlay";
        return refused(name, message, Some(hint));
    }
    match machine.of_mount(mount) {
        // A file system on several devices lies on all of them.
        Some(id) if machine.is_shared(id) => Target {
            name,
            what: What::Devices { nodes: machine.joined(id), meant: None },
            found: None,
        },
        Some(id) => meant(name, machine, id),
        None => {
            let kind = &mount.kind;
            let message =
                format!("cannot check {name}: its {kind} is on no block device of this machine");
            let hint = "name the devices themselves; to list them: lsblk -p";
            refused(name, message, Some(hint))
        }
    }
}

/// Returns where the stack starts of what a directory has under the name of an image, and is no
/// file.
pub(crate) fn start_odd(path: &Path, what: &str) -> Start {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let identity = FileIdentity { device: 0, inode: 0 };
    let path = path.as_os_str().as_encoded_bytes().to_vec();
    let kind = StartKind::File { path, identity };
    let bytes = Some(Err(format!("cannot read it: {what}, not a file")));
    Start { kind, name: text::escape(name), bytes }
}

/// Returns where the stack of a file starts.
///
/// # Errors
/// When it cannot be opened; says why, and what helps.
pub(crate) fn start_file(path: &Path) -> Result<Start, Refusal> {
    let disk = FileDisk::open(path).map_err(|error| Refusal {
        message: error.to_string(),
        hint: error.hint().map(str::to_owned),
    })?;
    let identity = match disk.identity() {
        Identity::File { device, inode } => FileIdentity { device, inode },
        Identity::Block { major, minor } => {
            FileIdentity { device: u64::from(major), inode: u64::from(minor) }
        }
    };
    let name =
        path.file_name().map_or_else(|| shown(path), |name| text::escape(name.as_encoded_bytes()));
    let path = path.as_os_str().as_encoded_bytes().to_vec();
    let kind = StartKind::File { path, identity };
    Ok(Start { kind, name, bytes: Some(Ok(Rc::new(HeadCache::new(disk)))) })
}
