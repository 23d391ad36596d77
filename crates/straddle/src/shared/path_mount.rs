//! The source that a path is mounted from, and where that leads on to: block devices, an overlay's
//! upper directory, the file behind a loop device.
//!
//! One idea: who names what lies under a directory and who judges syncs there take the same steps
//! down. Where a step cannot be taken the reason is the answer.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use device::mountinfo::{self, MountLine};
use host::{FileFacts, Pinned};
use stack::kernel::{Machine, NodeId, Number};
use units::text::escape;

use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::mount;

const TABLE: &str = "/proc/self/mountinfo";

/// A path's mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathMount {
    /// Its line in the table.
    pub(crate) mount: MountLine,
    /// The path, where it leads there from here.
    path: Option<PathBuf>,
    /// The number of the file system's device, as statx has it: of btrfs it is another than the
    /// table's.
    pub(crate) device: (u32, u32),
}

impl PathMount {
    /// Returns what a path is mounted from that was pinned.
    ///
    /// # Errors
    /// With the reason, when the path cannot be looked at, or no table of mounts has it.
    pub(crate) fn of(inspected: &InspectedMachine, pinned: &Pinned) -> Result<PathMount, String> {
        let path = pinned.path();
        let facts = host::file_facts(&path).map_err(|error| error.to_string())?;
        let mounted = PathMount::with(inspected, &facts, pinned.given())?;
        Ok(PathMount { path: Some(path), ..mounted })
    }

    fn with(
        inspected: &InspectedMachine,
        facts: &FileFacts,
        path: &Path,
    ) -> Result<PathMount, String> {
        let mount = mount::of(inspected.tree(), &mount::table(inspected.tree()), facts, path)
            .ok_or_else(|| format!("{TABLE} does not list its mount"))?;
        Ok(PathMount { mount, path: Some(path.to_owned()), device: facts.device })
    }

    /// The block devices that the file system is on, in no order.
    ///
    /// # Errors
    /// With the reason, when it is on none that is known here.
    pub(crate) fn devices(&self, inspected: &InspectedMachine) -> Result<Vec<NodeId>, String> {
        let machine = inspected.machine().map_err(Clone::clone)?;
        let (major, minor) = self.device;
        let numbers = [Number::parse(&self.mount.device), Some(Number { major, minor })];
        let numbered = numbers.into_iter().flatten().find_map(|number| machine.numbered(number));
        let source = self.mount.source.to_string();
        let node = numbered.or_else(|| node_of(machine, &source));
        let node = node
            .ok_or_else(|| format!("{} is on no block device of this machine", self.mount.kind))?;
        Ok(machine.beside(node))
    }

    /// Returns whether what is at the path is a realtime file of XFS, or its new files will be.
    ///
    /// # Errors
    /// With the reason, when that cannot be asked.
    pub(crate) fn is_realtime(&self) -> Result<bool, String> {
        host::is_realtime(self.path()?).map_err(|error| error.to_string())
    }

    fn path(&self) -> Result<&Path, String> {
        self.path.as_deref().ok_or_else(|| "its path leads to another file here".to_owned())
    }

    /// Returns where an overlay writes: what its upper directory is mounted from.
    ///
    /// # Errors
    /// With the reason, when this namespace does not show that directory. A directory of its name
    /// on a file system with other room is another one.
    pub(crate) fn upper(&self, inspected: &InspectedMachine) -> Result<PathMount, String> {
        let upper = self.mount.option("upperdir").ok_or("it has no upper directory")?;
        let path = Path::new(OsStr::from_bytes(&upper));
        let unseen = |reason: &dyn std::fmt::Display| {
            format!("its upper directory {} cannot be seen from here: {reason}", escape(&upper))
        };
        if !path.is_absolute() {
            let upper = escape(&upper);
            return Err(format!(
                "its upper directory has a relative path ({upper}), so it cannot be found from here"
            ));
        }
        let facts = host::file_facts(path).map_err(|error| unseen(&error))?;
        let own = self.path().map_err(|reason| unseen(&reason))?;
        match have_same_room(path, own).map_err(|error| unseen(&error))? {
            true => PathMount::with(inspected, &facts, path),
            false => Err(unseen(&"another file system has that path here")),
        }
    }
}

/// Number of times that rooms are compared: others may write between two looks.
const LOOKS: usize = 32;

/// Returns whether the same file system has room for both: an overlay tells the room of what is
/// under its upper directory (`ovl_statfs`).
fn have_same_room(one: &Path, other: &Path) -> std::io::Result<bool> {
    for _ in 0..LOOKS {
        if host::have_same_room(one, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The device that is called `source`: a number, `/dev/sda1`, or a link such as
/// `/dev/disk/by-uuid/…` or `/dev/vg/lv`.
pub(crate) fn node_of(machine: &Machine, source: &str) -> Option<NodeId> {
    machine.of_path(source).or_else(|| {
        let path = Path::new(source);
        let path = path.is_absolute().then(|| std::fs::canonicalize(path))?;
        machine.of_path(path.ok()?.to_str()?)
    })
}

/// Returns what the file behind the loop device that the kernel calls `name` is mounted from.
/// `path` is that of the file as the kernel has it, and leads there if what it leads to is the same
/// file; where the device may not be asked which that is, if it is as long as the device says. Else
/// the number of its file system leads there.
///
/// # Errors
/// With the reason, when neither does.
pub(crate) fn behind_loop(
    inspected: &InspectedMachine,
    name: &str,
    path: &Path,
) -> Result<PathMount, String> {
    let node = PathBuf::from("/dev").join(name.replace('!', "/"));
    let told = host::loop_file(&node);
    let facts = host::file_facts(path);
    if let Ok(facts) = &facts {
        let is_same = match &told {
            Ok(file) => (file.device, file.inode) == (facts.device, facts.inode),
            Err(_) => is_as_long(inspected, name, facts.length_bytes),
        };
        if is_same {
            return PathMount::with(inspected, facts, path);
        }
    }
    let file = told.map_err(|error| {
        let shown = escape(path.as_os_str().as_bytes());
        let found = match facts {
            Ok(_) => "another file has its path here".to_owned(),
            Err(error) => error.to_string(),
        };
        format!(
            "the file behind {name}, {shown}, cannot be found ({found}), and {name} cannot be \
             asked ({error}); try sudo"
        )
    })?;
    let number = format!("{}:{}", file.device.0, file.device.1);
    let table = inspected.tree().bytes(TABLE).unwrap_or_default();
    let found = mountinfo::lines(&table).find(|line| line.device == number);
    let gone = || format!("the file behind {name} was deleted, or is in another mount namespace");
    let mount = found.ok_or_else(gone)?;
    Ok(PathMount { path: None, device: file.device, mount })
}

/// Returns whether a loop device over a file of so many bytes would be as long as this one is.
fn is_as_long(inspected: &InspectedMachine, name: &str, file_bytes: u64) -> bool {
    let number = |file: &str| -> Option<u64> {
        inspected.tree().read(&format!("/sys/block/{name}/{file}")).ok()?.trim().parse().ok()
    };
    let told = || {
        let (offset, limit) = (number("loop/offset")?, number("loop/sizelimit")?);
        let rest = file_bytes.checked_sub(offset)?;
        let bytes = if limit == 0 { rest } else { rest.min(limit) };
        Some(number("size")? == bytes.div_euclid(512))
    };
    told() == Some(true)
}
