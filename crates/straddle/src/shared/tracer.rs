//! From a file to a stack with the file on top: file system, device, and where that is a loop, the
//! file behind it, and so on down.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use device::mountinfo::MountLine;
use device::{Extents as _, ExtentsError};
use host::{FileDisk, FileFacts, PathIdentity};
use report::Refusal;
use stack::file_extents::{self, FileRun, RunState, Space};
use stack::kernel::{NodeId, Number};
use stack::mapping::Below;
use stack::{Layer, LayerId, LayerKind, Mapping, Stack};
use units::{ByteRange, Known, Source, text};

use crate::shared::btrfs;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::mount;
use crate::shared::off_disk_mount::{self, Away};

/// Number of files that may lie in each other.
const DEPTH_MAX: usize = 8;

/// File systems whose FIEMAP addresses count from the start of their volume.
const FROM_THE_START: [&str; 12] = [
    "ext2", "ext3", "ext4", "xfs", "f2fs", "gfs2", "ocfs2", "nilfs2", "erofs", "ntfs3", "hfsplus",
    "udf",
];

/// Puts stacks under files.
pub(crate) struct Tracer<'a> {
    pub(crate) inspected: &'a InspectedMachine,
    pub(crate) stack: Stack,
    pub(crate) notes: Vec<String>,
    sync: bool,
    /// True if holes count as what they will be: blocks of the file system.
    pub(crate) fills_holes: bool,
    /// Layers that are in the stack, by the first of the devices that are joined.
    joined: BTreeMap<NodeId, Range<usize>>,
    /// Mounts, read when they are first asked for.
    mounts: Option<Vec<MountLine>>,
    /// The files that are being traced, the outermost first.
    inside: Vec<((u32, u32), u64)>,
}

/// A file in the stack.
pub(crate) struct Traced {
    /// Its layer.
    pub(crate) id: LayerId,
    /// The layer of the file system in whose addresses its extents are specified.
    pub(crate) system: Option<LayerId>,
    /// Its length in bytes.
    pub(crate) length_bytes: u64,
    /// Its extents and holes.
    pub(crate) runs: Vec<FileRun>,
    /// Facts that statx gives of it.
    pub(crate) facts: FileFacts,
    /// Mount that it is on.
    pub(crate) mount: MountLine,
}

/// The facts of the file at `path`, if it is the one behind a loop device.
fn confirm(name: &str, path: &Path) -> Result<FileFacts, String> {
    let node = Path::new("/dev").join(name.replace('!', "/"));
    let behind = host::loop_file(&node)
        .map_err(|error| format!("cannot confirm which file is behind it: {error}"))?;
    let facts = host::file_facts(path).map_err(|error| {
        let path = text::escape(path.as_os_str().as_bytes());
        format!(
            "cannot open {path}: {error}; the file was deleted, or is in another mount namespace"
        )
    })?;
    if (behind.device, behind.inode) == (facts.device, facts.inode) {
        return Ok(facts);
    }
    let path = text::escape(path.as_os_str().as_bytes());
    Err(format!(
        "{path} is another file here: the loop device's own was replaced, or is in another mount \
         namespace"
    ))
}

/// A refusal to trace `name`.
pub(crate) fn refused(name: &str, reason: &str, hint: Option<&str>) -> Refusal {
    Refusal::new(format!("cannot trace {name}: {reason}"), hint.map(str::to_owned))
}

impl<'a> Tracer<'a> {
    pub(crate) fn new(inspected: &'a InspectedMachine, sync: bool) -> Tracer<'a> {
        Tracer {
            inspected,
            stack: Stack::new(),
            notes: Vec::new(),
            sync,
            fills_holes: false,
            joined: BTreeMap::new(),
            mounts: None,
            inside: Vec::new(),
        }
    }

    /// Adds the file at `path`, and all that it lies on.
    pub(crate) fn file(&mut self, path: &Path) -> Result<Traced, Refusal> {
        let name = text::escape(path.as_os_str().as_bytes());
        let facts = host::file_facts(path).map_err(|error| {
            let hint = Some("check the path and the permissions of its directories");
            refused(&name, &error.to_string(), hint)
        })?;
        let identity = (facts.device, facts.inode);
        if self.inside.contains(&identity) {
            return Err(refused(&name, "it is inside itself, by way of a loop device", None));
        }
        if self.inside.len() >= DEPTH_MAX {
            let reason = format!("it is {DEPTH_MAX} files deep, the most that are followed");
            return Err(refused(&name, &reason, None));
        }
        self.inside.push(identity);
        let traced = self.opened(path, &name, facts);
        self.inside.pop();
        traced
    }

    fn opened(&mut self, path: &Path, name: &str, facts: FileFacts) -> Result<Traced, Refusal> {
        if facts.is_block_device {
            let hint = format!("check the device: straddle check {name}");
            return Err(refused(name, "a block device, not a file", Some(&hint)));
        }
        let disk = FileDisk::open(path).map_err(|error| {
            if path.is_dir() {
                let hint = "name a file in it; for a mount point: straddle check DIRECTORY";
                return refused(name, "a directory, not a file", Some(hint));
            }
            Refusal::new(error.to_string(), error.hint().map(str::to_owned))
        })?;
        if disk.is_block_device() {
            return Err(refused(name, "it became a block device", None));
        }
        let mount = self.mount(&facts, path).ok_or_else(|| {
            let hint = Some("mount it: mount -t proc proc /proc");
            refused(name, "/proc/self/mountinfo does not list its mount", hint)
        })?;
        if let Some(refusal) = off_disk_mount::refusal(&mount, name, path) {
            return Err(refusal);
        }
        let whole = ByteRange::new(0, u64::MAX).expect("a range from 0");
        let list = disk.extents(whole, self.sync).map_err(|error| {
            let kind = &mount.kind;
            let hint = match error {
                ExtentsError::Unsupported => Some("use a file on ext4, XFS, btrfs or f2fs"),
                _ => None,
            };
            refused(name, &format!("on {kind}, {error}"), hint)
        })?;
        let runs = file_extents::runs(&list, facts.length_bytes);
        let space = self.space(&disk, &facts, &mount, name)?;
        let end = runs.last().map_or(0, |run| run.range.end_bytes());
        let length = Known::yes(end.max(facts.length_bytes), Source::Statx);
        let mapping = file_extents::mapping(&runs, &space);
        let mapping = match space {
            Space::Of(system) if self.fills_holes => {
                file_extents::filled(mapping, system, facts.block_bytes)
            }
            _ => mapping,
        };
        let short =
            path.file_name().map_or_else(|| name.to_owned(), |name| text::escape(name.as_bytes()));
        let mut layer = Layer::new(LayerKind::File, short, length, mapping);
        layer.path = Some(name.to_owned());
        let id = self.stack.add(layer);
        let system = match space {
            Space::Of(layer) => Some(layer),
            Space::Unknown { .. } => None,
        };
        Ok(Traced { id, system, length_bytes: facts.length_bytes, runs, facts, mount })
    }

    fn mount(&mut self, facts: &FileFacts, path: &Path) -> Option<MountLine> {
        let mounts = self.mounts.get_or_insert_with(|| mount::table(self.inspected.tree()));
        mount::of(self.inspected.tree(), mounts, facts, path)
    }

    /// Notes what a reader of the trace of the file at `path` should know.
    pub(crate) fn note(&mut self, Traced { runs, mount, .. }: &Traced, path: &Path) {
        if runs.iter().any(|run| run.state == RunState::Delayed) {
            let name = text::shell_word(&text::escape(path.as_os_str().as_bytes()));
            let why = "parts are not allocated yet (delayed allocation); to flush them first";
            self.notes.push(format!("{why}: straddle trace --sync {name}"));
        }
        let mut note = |text: &str| self.notes.push(text.to_owned());
        let shared = device::ExtentFlags::SHARED;
        if mount.kind == "btrfs" {
            note("btrfs relocates every write (copy-on-write) unless the file is nodatacow");
        } else if runs.iter().any(|run| run.flags.has(shared)) {
            note("a write to a shared extent is relocated (copy-on-write)");
        }
        let swaps = self.inspected.tree().read("/proc/swaps").unwrap_or_default();
        let absolute = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let own = absolute.as_os_str().as_bytes();
        let named = |line: &str| line.split_whitespace().next().map(str::to_owned);
        if swaps.lines().skip(1).filter_map(named).any(|path| path.as_bytes() == own) {
            note(
                "in use as swap: written in whole pages, past the file system; for their cost: \
                 --size 4K",
            );
        }
    }

    /// Returns what FIEMAP's addresses of a file count.
    fn space(
        &mut self,
        disk: &FileDisk,
        facts: &FileFacts,
        mount: &MountLine,
        name: &str,
    ) -> Result<Space, Refusal> {
        if mount.kind == "btrfs" {
            let devices = self.btrfs_devices(disk, name)?;
            return Ok(btrfs::space(&mut self.stack, &mut self.notes, &devices, disk));
        }
        if facts.device.0 == 0 {
            let reason =
                format!("its file system, {}, is not on a single block device", mount.kind);
            return Err(refused(name, &reason, Some("use a file on ext4, XFS, btrfs or f2fs")));
        }
        let device = self.device(facts.device)?;
        let system = self.system(device, &mount.kind);
        if FROM_THE_START.contains(&mount.kind.as_str()) {
            return Ok(Space::Of(system));
        }
        let reason = format!("where the addresses of {} count from is not known here", mount.kind);
        Ok(Space::Unknown { on: vec![system], reason })
    }

    /// The layer of the file system on a device, whose addresses are the device's.
    fn system(&mut self, device: LayerId, kind: &str) -> LayerId {
        let start = |id: &LayerId| {
            let layer = self.stack.layer(*id);
            let is_system = matches!(layer.kind, LayerKind::FileSystem(_) | LayerKind::Mounted(_));
            let from_the_start = matches!(&layer.mapping, Mapping::Linear(below)
                if below.layer == device && below.offset_bytes == 0);
            is_system && from_the_start && layer.name == kind
        };
        let found = self.stack.above(device).iter().copied().find(|id| start(id));
        found.unwrap_or_else(|| {
            let length = self.stack.layer(device).length_bytes.clone();
            let mapping = Mapping::Linear(Below { layer: device, offset_bytes: 0 });
            let kind_of = LayerKind::Mounted(kind.to_owned());
            self.stack.add(Layer::new(kind_of, kind.to_owned(), length, mapping))
        })
    }

    /// The layers of a btrfs's devices by their numbers; those that are missing are left out, and
    /// noted.
    fn btrfs_devices(
        &mut self,
        file: &FileDisk,
        name: &str,
    ) -> Result<BTreeMap<u64, LayerId>, Refusal> {
        let listed = host::btrfs_devices(file).map_err(|error| {
            refused(name, &format!("the devices of its btrfs cannot be listed: {error}"), None)
        })?;
        let mut found = BTreeMap::new();
        for device in listed {
            let path = text::escape(device.path.as_os_str().as_encoded_bytes());
            match host::identity(&device.path) {
                Ok(PathIdentity::Block { major, minor }) => {
                    found.insert(device.number, self.device((major, minor))?);
                }
                _ => {
                    let number = device.number;
                    self.notes.push(format!("device {number} of the btrfs ({path}) is missing"));
                }
            }
        }
        Ok(found)
    }

    /// The layer of a block device, added with all that it lies on unless it is there.
    pub(crate) fn device(&mut self, (major, minor): (u32, u32)) -> Result<LayerId, Refusal> {
        let number = Number { major, minor };
        let lost = |reason: &str, hint: &str| {
            Refusal::hinted(format!("cannot find the device {number}: {reason}"), hint)
        };
        let missing = || lost("not in /sys/block", "to list block devices: lsblk");
        let inspected = self.inspected;
        let machine = inspected.machine();
        let machine =
            machine.map_err(|reason| lost(reason, "mount it: mount -t sysfs sysfs /sys"))?;
        let node = machine.numbered(number).ok_or_else(missing)?;
        let joined = machine.joined(node);
        // The first of the devices that are joined stands for all of them.
        let first = joined.first().copied().unwrap_or(node);
        let layers = match self.joined.get(&first) {
            Some(layers) => layers.clone(),
            None => {
                let upper = inspected.assemble(machine, &joined, None).stack;
                let behind = self.behind_loops(&upper);
                let layers = self.stack.graft(&upper, &behind)..self.stack.len();
                self.joined.insert(first, layers.clone());
                layers
            }
        };
        let name = text::escape(machine.node(node).name.as_bytes());
        let is_it = |&id: &LayerId| self.stack.layer(id).device.as_ref() == Some(&name);
        layers.map(LayerId).find(is_it).ok_or_else(missing)
    }

    /// Takes what was put above devices out of the stack again: the next file may be on the same
    /// ones.
    pub(crate) fn keep_devices(&mut self) {
        let end = self.joined.values().map(|layers| layers.end).max().unwrap_or(0);
        self.stack.truncate(end);
        self.notes.clear();
    }

    /// The loop devices at the bottom of `upper`, as [`Tracer::behind_loops`] has them, but for
    /// those over files in memory: nothing lies beneath them that has granules.
    pub(crate) fn loops_on_disks(&mut self, upper: &Stack) -> Vec<(LayerId, Mapping)> {
        let mut behind = self.behind_loops(upper);
        behind.retain(|(id, mapping)| match (mapping, &upper.layer(*id).kind) {
            (Mapping::Unknown { .. }, LayerKind::Drive(drive)) => !self.is_in_memory(&drive.name),
            _ => true,
        });
        behind
    }

    /// Returns whether a process serves the device: its file is one of `drive serve`, of FUSE and
    /// mounted nowhere.
    fn is_served(&self, name: &str) -> bool {
        let own = Path::new("/").join(serve::file::DISK_NAME);
        let is_own = self.backing_file(name).is_ok_and(|path| path == own);
        let node = Path::new("/dev").join(name);
        let is_fuse = |file: host::LoopFile| host::FuseControl::is_there(file.device);
        is_own && host::loop_file(&node).is_ok_and(is_fuse)
    }

    fn is_in_memory(&mut self, name: &str) -> bool {
        let Ok(path) = self.backing_file(name) else { return false };
        let Ok(facts) = confirm(name, &path) else { return false };
        let mount = self.mount(&facts, &path);
        mount.is_some_and(|mount| off_disk_mount::away(&mount.kind) == Some(Away::Memory))
    }

    /// The loop devices at the bottom of `upper`, and how they lie on the files behind them;
    /// without those that a process serves, since it is the drive.
    fn behind_loops(&mut self, upper: &Stack) -> Vec<(LayerId, Mapping)> {
        let loops = upper.iter().filter_map(|(id, layer)| match &layer.kind {
            LayerKind::Drive(drive) if matches!(layer.mapping, Mapping::Leaf) => {
                drive.backing_file.as_ref()?;
                Some((id, drive.name.clone()))
            }
            _ => None,
        });
        let loops: Vec<(LayerId, String)> = loops.collect();
        let mut behind = Vec::new();
        for (id, name) in loops {
            if self.is_served(&name) {
                continue;
            }
            let mapping = self.loop_mapping(&name).unwrap_or_else(|reason| Mapping::Unknown {
                on: Vec::new(),
                reason: format!("behind {name}: {reason}"),
            });
            behind.push((id, mapping));
        }
        behind
    }

    fn loop_file(&self, name: &str, file: &str) -> Result<Vec<u8>, String> {
        let path = format!("/sys/block/{name}/loop/{file}");
        self.inspected.tree().bytes(&path).map_err(|error| error.to_string())
    }

    fn backing_file(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.loop_file(name, "backing_file")?;
        Ok(PathBuf::from(OsStr::from_bytes(path.trim_ascii_end())))
    }

    fn loop_mapping(&mut self, name: &str) -> Result<Mapping, String> {
        let path = self.backing_file(name)?;
        let offset =
            String::from_utf8_lossy(&self.loop_file(name, "offset")?).trim().parse::<u64>();
        let offset_bytes = offset.map_err(|error| format!("its offset is no number: {error}"))?;
        if matches!(host::identity(&path), Ok(PathIdentity::Block { .. })) {
            return self.on_device(&path, offset_bytes);
        }
        confirm(name, &path)?;
        let file = self.file(&path).map_err(|refusal| refusal.message)?;
        Ok(Mapping::Linear(Below { layer: file.id, offset_bytes }))
    }

    /// A loop may lie on a block device, too.
    fn on_device(&mut self, path: &Path, offset_bytes: u64) -> Result<Mapping, String> {
        let Ok(PathIdentity::Block { major, minor }) = host::identity(path) else {
            return Err("its file is gone".to_owned());
        };
        let identity = ((major, minor), u64::MAX);
        if self.inside.contains(&identity) || self.inside.len() >= DEPTH_MAX {
            return Err("it lies in itself, or too deep".to_owned());
        }
        self.inside.push(identity);
        let layer = self.device((major, minor));
        self.inside.pop();
        let layer = layer.map_err(|refusal| refusal.message)?;
        Ok(Mapping::Linear(Below { layer, offset_bytes }))
    }
}
