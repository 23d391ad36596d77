//! The mount that a file is on.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use device::KernelTree;
use device::mountinfo::{self, MountLine};
use host::FileFacts;

/// The table of mounts; empty where there is none.
pub(crate) fn table(tree: &dyn KernelTree) -> Vec<MountLine> {
    let table = tree.bytes("/proc/self/mountinfo").unwrap_or_default();
    mountinfo::lines(&table).collect()
}

/// The mount of the file with `facts`, to which a path through `/proc/PID/root` leads: by its
/// number, in the table of that process.
fn of_process(tree: &dyn KernelTree, facts: &FileFacts, path: &Path) -> Option<MountLine> {
    let mut names = path.strip_prefix("/proc").ok()?.iter();
    let process = names.next()?.to_str()?;
    let table = tree.bytes(&format!("/proc/{process}/mountinfo")).ok()?;
    let number = facts.mount.value()?;
    mountinfo::lines(&table).find(|line| line.id == *number)
}

/// The mount that the file with `facts` at `path` is on: the one of `mounts` with its number, else
/// with its device, else one of the process through whose root `path` leads, else the longest mount
/// point on the way.
pub(crate) fn of(
    tree: &dyn KernelTree,
    mounts: &[MountLine],
    facts: &FileFacts,
    path: &Path,
) -> Option<MountLine> {
    // The last mount on a place is the one in force.
    let last = |is: &dyn Fn(&MountLine) -> bool| mounts.iter().rev().find(|line| is(line));
    if let Some(&number) = facts.mount.value()
        && let Some(found) = last(&|line| line.id == number)
    {
        return Some(found.clone());
    }
    let device = format!("{}:{}", facts.device.0, facts.device.1);
    if let Some(found) = last(&|line| line.device == device) {
        return Some(found.clone());
    }
    // A number that the table does not have is of another mount namespace: that of a process, or
    // the one that this process left, where the same is mounted.
    match path.starts_with("/proc") {
        true => of_process(tree, facts, path),
        false => longest(mounts, &absolute(path)),
    }
}

/// `path` with its links followed, as far as that can be done.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The mount that `path` is on by its words alone: of what may not be looked at.
pub(crate) fn on_the_way(tree: &dyn KernelTree, path: &Path) -> Option<MountLine> {
    longest(&table(tree), &std::path::absolute(path).ok()?)
}

/// Of the mounts on the way to `path` that with the longest mount point; of several the last.
fn longest(mounts: &[MountLine], path: &Path) -> Option<MountLine> {
    let on_the_way = mounts.iter().filter(|line| path.starts_with(point(line)));
    on_the_way.max_by_key(|line| line.point.raw().len()).cloned()
}

pub(super) fn point(mount: &MountLine) -> &Path {
    Path::new(OsStr::from_bytes(mount.point.raw()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(line: &str) -> MountLine {
        mountinfo::lines(line.as_bytes()).next().unwrap()
    }

    #[test]
    fn a_mount_that_has_another_number_here_is_found_by_its_mount_point() {
        let unknown = || units::Known::no("not asked");
        let facts = FileFacts {
            device: (0, 55),
            inode: 1,
            is_block_device: false,
            length_bytes: 0,
            block_bytes: 4096,
            mount: units::Known::yes(99, units::Source::Ioctl),
            direct_offset_bytes: unknown(),
            direct_memory_bytes: unknown(),
            atomic_write_bytes: unknown(),
        };
        let mounts = [
            mount("7 1 0:40 / / rw - ext4 /dev/a rw"),
            mount("8 7 0:41 / /straddle-data rw - btrfs /dev/b rw"),
        ];
        let tree = device::MemoryTree::new();
        let found = of(&tree, &mounts, &facts, Path::new("/straddle-data/file"));
        assert_eq!(found.map(|line| line.kind), Some("btrfs".to_owned()));
        let elsewhere = of(&tree, &mounts, &facts, Path::new("/proc/7/root/straddle-data"));
        assert_eq!(elsewhere, None, "that process has no table here");
    }
}
