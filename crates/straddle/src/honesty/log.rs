//! Where a file system has its log, where that is a device of its own. A sync of metadata is as
//! durable as that is.
//!
//! | file system | who tells |
//! |---|---|
//! | XFS | the mount's `logdev` (xfs(5)) |
//! | ext3, ext4 | the journal's thread, which is named for its device: `jbd2/sdb1` |
//!
//! A journal in the file system itself is named `sda1-8`, with its inode: `jbd2_journal_init_dev`
//! and `jbd2_journal_init_inode` in Linux `fs/jbd2/journal.c`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use device::KernelTree;
use stack::kernel::{Machine, NodeId};
use stack::mountinfo::MountLine;
use units::text::escape;

use super::layers::of_link;

/// The device of the log of the file system that `mount` has on the device that the kernel calls
/// `own`. `None` where the log lies with the rest, where there is none, and where nobody tells.
///
/// # Errors
/// With the reason, when there is such a device, and it is not known which.
pub(super) fn of(
    tree: &dyn KernelTree,
    machine: &Machine,
    mount: &MountLine,
    own: &str,
) -> Option<Result<NodeId, String>> {
    match mount.kind.as_str() {
        "xfs" => of_option(machine, mount),
        "ext3" | "ext4" => of_thread(tree, machine, own),
        _ => None,
    }
}

fn of_option(machine: &Machine, mount: &MountLine) -> Option<Result<NodeId, String>> {
    let path = mount.option("logdev")?;
    let shown = escape(&path);
    let node = std::str::from_utf8(&path).ok().and_then(|path| machine.of_path(path));
    let node = node.or_else(|| of_link(machine, Path::new(OsStr::from_bytes(&path)).to_str()?));
    Some(node.ok_or_else(|| format!("its log is on {shown}, which is no block device known here")))
}

fn of_thread(
    tree: &dyn KernelTree,
    machine: &Machine,
    own: &str,
) -> Option<Result<NodeId, String>> {
    let task = tree.read(&format!("/sys/fs/ext4/{own}/journal_task")).ok()?;
    // `<none>` without a journal.
    let task: u32 = task.trim().parse().ok()?;
    let is_within = |name: &str| {
        let inode = name.strip_prefix(own).and_then(|rest| rest.strip_prefix('-'));
        inode.is_some_and(|inode| inode.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let journals = tree.list("/proc/fs/jbd2");
    if journals.iter().flatten().any(|name| is_within(name)) {
        return None;
    }
    let comm = tree.read(&format!("/proc/{task}/comm"));
    let name = comm.as_ref().ok().and_then(|comm| comm.trim_end().strip_prefix("jbd2/"));
    match name {
        Some(name) if is_within(name) => None,
        Some(name) => Some(machine.named(&name.replace('/', "!")).ok_or_else(|| {
            let name = escape(name.as_bytes());
            format!("its journal is on {name}, which is no block device known here")
        })),
        // In a container its thread has no number.
        None if journals.is_ok() => {
            Some(Err("its journal is on a device of its own; which is not seen from here".into()))
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use device::MemoryTree;
    use stack::mountinfo;

    use super::*;

    /// Where the log is of a file system of `kind` on sda1, mounted with `options`.
    fn found(kind: &str, options: &str, tree: MemoryTree) -> Option<Result<String, String>> {
        let tree = tree.with_file("/sys/block/sda/size", "8").with_file("/sys/block/sdb/size", "8");
        let machine = Machine::read(&tree).expect("it can be listed");
        let line = format!("1 0 8:1 / /m rw - {kind} /dev/sda1 rw{options}");
        let mount = mountinfo::lines(line.as_bytes()).next().expect("a mount");
        of(&tree, &machine, &mount, "sda1").map(|log| log.map(|id| machine.node(id).name.clone()))
    }

    fn journal(thread: &str, listed: &str) -> MemoryTree {
        MemoryTree::new()
            .with_file("/sys/fs/ext4/sda1/journal_task", "77\n")
            .with_file("/proc/77/comm", &format!("{thread}\n"))
            .with_file(&format!("/proc/fs/jbd2/{listed}/info"), "")
    }

    #[test]
    fn a_log_that_lies_with_the_rest_has_no_device_of_its_own() {
        assert_eq!(found("xfs", "", MemoryTree::new()), None);
        assert_eq!(found("ext4", "", MemoryTree::new()), None, "nobody tells");
        assert_eq!(found("ext4", "", journal("jbd2/sda1-8", "sda1-8")), None);
        // Before Linux 5.17 the name of a thread was cut to 15 bytes.
        assert_eq!(found("ext4", "", journal("jbd2/sda1-", "sda1-8")), None);
        let none = MemoryTree::new().with_file("/sys/fs/ext4/sda1/journal_task", "<none>\n");
        assert_eq!(found("ext4", "", none), None);
    }

    #[test]
    fn a_log_elsewhere_is_named_or_the_reason_why_not() {
        assert_eq!(found("xfs", ",logdev=/dev/sdb", MemoryTree::new()), Some(Ok("sdb".into())));
        assert_eq!(found("ext4", "", journal("jbd2/sdb", "sdb")), Some(Ok("sdb".into())));
        let unknown = |found: Option<Result<String, String>>, word: &str| {
            let reason = found.expect("it is elsewhere").expect_err("it is not known");
            assert!(reason.contains(word), "{reason}");
        };
        unknown(found("xfs", ",logdev=/dev/none", MemoryTree::new()), "/dev/none");
        unknown(found("ext4", "", journal("jbd2/sdz", "sdz")), "sdz");
        let contained = MemoryTree::new()
            .with_file("/sys/fs/ext4/sda1/journal_task", "0\n")
            .with_file("/proc/fs/jbd2/sdb/info", "");
        unknown(found("ext4", "", contained), "not seen from here");
    }
}
