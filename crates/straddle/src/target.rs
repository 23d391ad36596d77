//! What the user's words name: disks, partitions, mount points, images, directories of images.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use device::{Disk, FileIdentity, KernelTree};
use host::{FileDisk, HeadCache, Identity, Inquiry};
use report::Refusal;
use stack::assemble::{Start, StartKind};
use stack::drive::{Answers, Drive};
use units::text;

use crate::machine::{self, KernelPartition};

/// What helps where the kernel's tree is missing.
const MOUNT_SYS: &str = "mount it: mount -t sysfs sysfs /sys";

/// Something to be checked, not opened yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// As given or found; harmless to print.
    pub(crate) name: String,
    /// What it is.
    pub(crate) what: What,
}

/// What a target is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A block device by the kernel's name, and the partition of it that was meant.
    Device {
        /// The whole disk.
        disk: String,
        /// The node to open.
        node: PathBuf,
        /// The partition that was meant, where one was.
        partition: Option<KernelPartition>,
    },
    /// A regular file.
    File(PathBuf),
    /// A regular file that was found in a directory, and may be anything.
    Found(PathBuf),
    /// Nothing that can be checked.
    Refused(Refusal),
}

/// The targets that `paths` name, in their order; every disk where there are none.
pub(crate) fn expand(paths: &[PathBuf], tree: &dyn KernelTree) -> Vec<Target> {
    if paths.is_empty() {
        return every_disk(tree);
    }
    paths.iter().flat_map(|path| named(path, tree)).collect()
}

fn every_disk(tree: &dyn KernelTree) -> Vec<Target> {
    match machine::disks(tree) {
        Ok(disks) if disks.is_empty() => vec![refused(
            "this machine".to_owned(),
            "no disk is to be seen in /sys/block".to_owned(),
            Some("name an image or a device: straddle check FILE"),
        )],
        Ok(disks) => disks.into_iter().map(|disk| whole_disk(&disk)).collect(),
        Err(reason) => vec![refused(
            "this machine".to_owned(),
            format!("cannot list the disks of this machine: {reason}"),
            Some("mount -t sysfs sysfs /sys, or name an image: straddle check FILE"),
        )],
    }
}

fn whole_disk(disk: &str) -> Target {
    let what = What::Device { disk: disk.to_owned(), node: node(disk), partition: None };
    Target { name: text::escape(disk.as_bytes()), what }
}

/// The node of a disk by the kernel's name, which has `!` where the node has a directory:
/// cciss!c0d0.
fn node(disk: &str) -> PathBuf {
    Path::new("/dev").join(disk.replace('!', "/"))
}

fn refused(name: String, message: String, hint: Option<&str>) -> Target {
    let hint = hint.map(str::to_owned);
    Target { name, what: What::Refused(Refusal { message, hint }) }
}

fn shown(path: &Path) -> String {
    text::escape(path.as_os_str().as_encoded_bytes())
}

fn named(path: &Path, tree: &dyn KernelTree) -> Vec<Target> {
    let name = shown(path);
    match std::fs::metadata(path) {
        Err(error) => {
            let message = format!("cannot look at {name}: {error}");
            vec![refused(name, message, Some("check the path; lsblk -p lists block devices"))]
        }
        Ok(data) if data.is_dir() => directory(path, tree),
        Ok(_) => match host::identity(path) {
            Ok(Identity::Block { major, minor }) => {
                vec![device(name, Some(path), (major, minor), tree)]
            }
            _ => vec![Target { name, what: What::File(path.to_owned()) }],
        },
    }
}

/// A device by its number; `given` is the node that the user named, where it was one.
fn device(
    name: String,
    given: Option<&Path>,
    (major, minor): (u32, u32),
    tree: &dyn KernelTree,
) -> Target {
    match machine::device(tree, major, minor) {
        Ok(device) => {
            // A partition is judged with the disk that it is on, for which nobody gave a node.
            let node = match (given, &device.partition) {
                (Some(given), None) => given.to_owned(),
                _ => node(&device.disk),
            };
            let what = What::Device { disk: device.disk, node, partition: device.partition };
            Target { name, what }
        }
        Err(reason) => {
            let message = format!("cannot tell which device {name} is: {reason}");
            refused(name, message, Some(MOUNT_SYS))
        }
    }
}

/// A mount point is the device under it; any other directory is searched for images.
fn directory(path: &Path, tree: &dyn KernelTree) -> Vec<Target> {
    let name = shown(path);
    let canonical = host::canonical(path).unwrap_or_else(|_| path.to_owned());
    let mounted = canonical.to_str().map(|path| machine::mounted(tree, path));
    if let Some(Ok(Some((major, minor, kind)))) = mounted {
        if tree.link(&format!("/sys/dev/block/{major}:{minor}")).is_ok() {
            return vec![device(name, None, (major, minor), tree)];
        }
        if tree.list("/sys/dev/block").is_err() {
            let message = format!("cannot tell what is under {name}: /sys/dev/block is not there");
            return vec![refused(name, message, Some(MOUNT_SYS))];
        }
        let message = format!(
            "cannot check {name}: its {} is on no single block device",
            text::escape(kind.as_bytes())
        );
        return vec![refused(name, message, Some("name the devices: straddle check /dev/sda …"))];
    }
    match host::list_files(path) {
        Ok(listing) if listing.files.is_empty() => {
            let message = format!("cannot check {name}: no file is in it");
            vec![refused(name, message, Some("name a directory that holds disk images"))]
        }
        Ok(listing) => {
            let files = listing
                .files
                .into_iter()
                .map(|path| Target { name: shown(&path), what: What::Found(path) });
            let omitted = listing.omitted.into_iter().map(|omitted| {
                let name = shown(&omitted.path);
                let message = format!("cannot look at {name}: {}", omitted.reason);
                refused(name, message, None)
            });
            files.chain(omitted).collect()
        }
        Err(error) => {
            let message = format!("cannot list {name}: {error}");
            vec![refused(name, message, None)]
        }
    }
}

/// Where the stack of a target starts; `Err` says why there is none.
pub(crate) fn start(target: &Target, tree: &dyn KernelTree) -> Result<Start, Refusal> {
    match &target.what {
        What::Refused(refusal) => Err(refusal.clone()),
        What::Device { disk, node, .. } => Ok(start_device(disk, node, tree)),
        What::File(path) | What::Found(path) => start_file(path),
    }
}

fn start_device(disk: &str, node: &Path, tree: &dyn KernelTree) -> Start {
    let mut drive = Drive::read(tree, disk);
    let bytes = FileDisk::open(node)
        .map(|disk| {
            if let Some(inquiry) = disk.inquiry() {
                drive.take_answers(answers(&inquiry));
            }
            Rc::new(HeadCache::new(disk)) as Rc<dyn Disk>
        })
        .map_err(|error| match error.hint() {
            Some(hint) => format!("{error}; {hint}"),
            None => error.to_string(),
        });
    let name = text::escape(disk.as_bytes());
    Start { kind: StartKind::Drive(Box::new(drive)), name, bytes }
}

/// Ioctls' answers, as the stack takes them.
fn answers(inquiry: &Inquiry) -> Answers {
    Answers {
        logical_bytes: inquiry.logical_sector_bytes.clone(),
        physical_bytes: inquiry.physical_sector_bytes.clone(),
        minimum_io_bytes: inquiry.minimum_io_bytes.clone(),
        optimal_io_bytes: inquiry.optimal_io_bytes.clone(),
        alignment_offset_bytes: inquiry.alignment_offset_bytes.clone(),
    }
}

fn start_file(path: &Path) -> Result<Start, Refusal> {
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
    Ok(Start { kind, name, bytes: Ok(Rc::new(HeadCache::new(disk))) })
}
