//! Devices that a mounted file system has beside its own, to which syncs go, too: that of its log,
//! or of more of its files. A sync is as durable as all of them are.
//!
//! | file system | who tells |
//! |---|---|
//! | XFS | the mount's `logdev`, and `rtdev` where the files here are realtime ones (xfs(5)) |
//! | ext3, ext4 | the journal's thread, which is named for its device: `jbd2/sdb1` |
//! | `ReiserFS` | the mount's `jdev`, else the superblock |
//! | JFS, f2fs | the superblock |
//!
//! A journal in the file system itself is named `sda1-8`, with its inode: `jbd2_journal_init_dev`
//! and `jbd2_journal_init_inode` in Linux `fs/jbd2/journal.c`. A sync of XFS flushes the realtime
//! device for realtime files alone (`xfs_file_fsync`), one of f2fs those of its devices that the
//! file was written to (`f2fs_issue_flush`).

use device::KernelTree;
use device::mountinfo::MountLine;
use format::filesystem::{Companion as Named, companions};
use stack::assemble::Devices as _;
use stack::kernel::{Machine, NodeId, Number};
use units::text::escape;

use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::path_mount::{PathMount, node_of};

/// Another device of a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExternalDevice {
    /// Its node; or why that is not known, though there is one, or may be.
    pub(super) device: Result<NodeId, String>,
    /// Its content.
    pub(super) holds: Holds,
}

/// Content of another device of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Its log.
    Log,
    /// All files of the directory that is looked at; its own device has the rest.
    Files,
    /// A share of all, as its own device has one.
    Share,
}

impl Holds {
    /// Why not every sync flushes the file system's own device, and why not this one; empty where
    /// every sync does.
    pub(super) fn uncounted(self) -> (&'static str, &'static str) {
        let log = "only a file system's log is there, which not every sync flushes";
        let rest = "files here lie on a realtime device, and not every sync flushes this one";
        let share =
            "the file system has several devices, and a sync flushes those that it wrote to";
        match self {
            Holds::Log => ("", log),
            Holds::Files => (rest, ""),
            Holds::Share => (share, share),
        }
    }
}

/// The other devices of the file system that `path_mount` has on `node`; none where all of it lies
/// there, and where nobody tells.
pub(super) fn of(
    inspected: &InspectedMachine,
    mounted: &PathMount,
    node: NodeId,
) -> Vec<ExternalDevice> {
    let Ok(machine) = inspected.machine() else { return Vec::new() };
    let own = &machine.node(node).name;
    let asked = CompanionQuestion { tree: inspected.tree(), machine, mount: &mounted.mount, own };
    match mounted.mount.kind.as_str() {
        "xfs" => asked.xfs(|| mounted.is_realtime()),
        "ext3" | "ext4" => asked.of_thread().into_iter().collect(),
        "reiserfs" | "jfs" | "f2fs" => asked.of_superblock(|kind| {
            let disk = inspected.open(own).ok_or("no device may be opened for a capture")??;
            companions(disk.as_ref(), kind)
                .ok_or_else(|| format!("no superblock of {kind} can be read on {own}"))
        }),
        _ => Vec::new(),
    }
}

/// Whom is asked, about what.
struct CompanionQuestion<'a> {
    tree: &'a dyn KernelTree,
    machine: &'a Machine,
    mount: &'a MountLine,
    /// Name that the kernel gives the file system's own device.
    own: &'a str,
}

impl CompanionQuestion<'_> {
    fn xfs(&self, is_realtime: impl Fn() -> Result<bool, String>) -> Vec<ExternalDevice> {
        let log = self.option("logdev").map(|device| ExternalDevice { device, holds: Holds::Log });
        let realtime = self.option("rtdev").and_then(|device| match is_realtime() {
            Ok(true) => Some(ExternalDevice { device, holds: Holds::Files }),
            Ok(false) => None,
            Err(error) => {
                let why = "cannot tell whether files here are on its realtime device";
                Some(ExternalDevice { device: Err(format!("{why}: {error}")), holds: Holds::Log })
            }
        });
        log.into_iter().chain(realtime).collect()
    }

    /// The device that an option of the mount names; `None` without that option.
    fn option(&self, name: &str) -> Option<Result<NodeId, String>> {
        let path = self.mount.option(name)?;
        let node = std::str::from_utf8(&path).ok().and_then(|path| node_of(self.machine, path));
        Some(node.ok_or_else(|| {
            format!(
                "its mount option {name}={} names no block device of this machine",
                escape(&path)
            )
        }))
    }

    fn of_superblock(
        &self,
        read: impl Fn(&str) -> Result<Vec<Named>, String>,
    ) -> Vec<ExternalDevice> {
        let kind = self.mount.kind.as_str();
        let (holds, what) = match kind {
            "f2fs" => (Holds::Share, "cannot tell whether it is on more devices"),
            _ => (Holds::Log, "cannot tell whether its log is on another device"),
        };
        if let Some(device) = self.option("jdev").filter(|_| kind == "reiserfs") {
            return vec![ExternalDevice { device, holds }];
        }
        // JFS keeps no log then (lmLogOpen).
        if kind == "jfs" && self.mount.options.iter().any(|option| option == "nointegrity") {
            return Vec::new();
        }
        match read(kind) {
            Ok(named) => {
                let device = |named: &Named| ExternalDevice { device: self.named(named), holds };
                named.iter().map(device).collect()
            }
            Err(error) => {
                vec![ExternalDevice { device: Err(format!("{what}: {error}")), holds }]
            }
        }
    }

    /// The device that a superblock names.
    fn named(&self, named: &Named) -> Result<NodeId, String> {
        let (found, shown) = match named {
            Named::Path(path) => {
                let found = std::str::from_utf8(path.raw()).ok();
                (found.and_then(|path| node_of(self.machine, path)), path.to_string())
            }
            Named::Number { major, minor } => {
                let number = Number { major: *major, minor: *minor };
                (self.machine.numbered(number), number.to_string())
            }
            Named::Unnamed => (None, "a device without a name".to_owned()),
        };
        found.ok_or_else(|| {
            format!("its superblock names {shown}, which is no block device of this machine")
        })
    }

    /// The device of a journal that a thread of the kernel's own writes.
    fn of_thread(&self) -> Option<ExternalDevice> {
        let own = self.own;
        let task = self.tree.read(&format!("/sys/fs/ext4/{own}/journal_task")).ok()?;
        // `<none>` without a journal.
        let task: u32 = task.trim().parse().ok()?;
        let is_within = |name: &str| {
            let inode = name.strip_prefix(own).and_then(|rest| rest.strip_prefix('-'));
            inode.is_some_and(|inode| inode.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let journals = self.tree.list("/proc/fs/jbd2");
        if journals.iter().flatten().any(|name| is_within(name)) {
            return None;
        }
        let comm = self.tree.read(&format!("/proc/{task}/comm"));
        let name = comm.as_ref().ok().and_then(|comm| comm.trim_end().strip_prefix("jbd2/"));
        let device = match name {
            Some(name) if is_within(name) => return None,
            Some(name) => self.machine.named(&name.replace('/', "!")).ok_or_else(|| {
                let name = escape(name.as_bytes());
                format!("its journal is on {name}, which is no block device of this machine")
            }),
            // In a container its thread has no number.
            None if journals.is_ok() => {
                Err("its journal is on a device of its own, which cannot be seen from here".into())
            }
            None => return None,
        };
        Some(ExternalDevice { device, holds: Holds::Log })
    }
}

#[cfg(test)]
mod tests {
    use device::MemoryTree;
    use device::mountinfo;

    use super::*;

    /// The other devices that `ask` tells of a file system of `kind` on sda1, mounted with
    /// `options`: their names, or why those are not known.
    fn found(
        (kind, options): (&str, &str),
        tree: MemoryTree,
        ask: impl Fn(&CompanionQuestion<'_>) -> Vec<ExternalDevice>,
    ) -> Vec<(Result<String, String>, Holds)> {
        let tree = tree
            .with_file("/sys/block/sda/size", "8")
            .with_file("/sys/block/sdb/size", "8")
            .with_file("/sys/block/sdb/dev", "8:16");
        let machine = Machine::read(&tree).expect("it can be listed");
        let line = format!("1 0 8:1 / /m rw - {kind} /dev/sda1 rw{options}");
        let mount = &mountinfo::lines(line.as_bytes()).next().expect("a mount");
        let told = ask(&CompanionQuestion { tree: &tree, machine: &machine, mount, own: "sda1" })
            .into_iter();
        let name = |id: NodeId| machine.node(id).name.clone();
        told.map(|one| (one.device.map(name), one.holds)).collect()
    }

    fn xfs(options: &str, is_realtime: Result<bool, &str>) -> Vec<(Result<String, String>, Holds)> {
        let is_realtime = is_realtime.map_err(str::to_owned);
        found(("xfs", options), MemoryTree::new(), |asked| asked.xfs(|| is_realtime.clone()))
    }

    fn ext4(tree: MemoryTree) -> Vec<(Result<String, String>, Holds)> {
        found(("ext4", ""), tree, |asked| asked.of_thread().into_iter().collect())
    }

    fn superblock(
        mount: (&str, &str),
        told: Result<Vec<Named>, &str>,
    ) -> Vec<(Result<String, String>, Holds)> {
        let told = told.map_err(str::to_owned);
        found(mount, MemoryTree::new(), |asked| asked.of_superblock(|_| told.clone()))
    }

    fn journal(thread: &str, listed: &str) -> MemoryTree {
        MemoryTree::new()
            .with_file("/sys/fs/ext4/sda1/journal_task", "77\n")
            .with_file("/proc/77/comm", &format!("{thread}\n"))
            .with_file(&format!("/proc/fs/jbd2/{listed}/info"), "")
    }

    /// That one device is there, not known for a reason that has `word`.
    #[track_caller]
    fn unknown(found: &[(Result<String, String>, Holds)], word: &str) {
        let [(Err(reason), _)] = found else { panic!("one that is not known: {found:?}") };
        assert!(reason.contains(word), "{reason}");
    }

    #[test]
    fn a_log_that_lies_with_the_rest_has_no_device_of_its_own() {
        assert_eq!(xfs("", Ok(false)), []);
        assert_eq!(ext4(MemoryTree::new()), [], "nobody tells");
        assert_eq!(ext4(journal("jbd2/sda1-8", "sda1-8")), []);
        // Before Linux 5.17 the name of a thread was cut to 15 bytes.
        assert_eq!(ext4(journal("jbd2/sda1-", "sda1-8")), []);
        let none = MemoryTree::new().with_file("/sys/fs/ext4/sda1/journal_task", "<none>\n");
        assert_eq!(ext4(none), []);
        for kind in ["reiserfs", "jfs", "f2fs"] {
            assert_eq!(superblock((kind, ""), Ok(Vec::new())), []);
        }
    }

    #[test]
    fn a_log_elsewhere_is_named_or_the_reason_why_not() {
        let on_sdb = [(Ok("sdb".to_owned()), Holds::Log)];
        assert_eq!(xfs(",logdev=/dev/sdb", Ok(false)), on_sdb);
        assert_eq!(ext4(journal("jbd2/sdb", "sdb")), on_sdb);
        unknown(&xfs(",logdev=/dev/none", Ok(false)), "/dev/none");
        unknown(&ext4(journal("jbd2/sdz", "sdz")), "sdz");
        let contained = MemoryTree::new()
            .with_file("/sys/fs/ext4/sda1/journal_task", "0\n")
            .with_file("/proc/fs/jbd2/sdb/info", "");
        unknown(&ext4(contained), "cannot be seen from here");
    }

    #[test]
    fn a_log_that_a_superblock_names_is_followed_or_unknown() {
        let on_sdb = [(Ok("sdb".to_owned()), Holds::Log)];
        let number = |minor| Ok(vec![Named::Number { major: 8, minor }]);
        for kind in ["reiserfs", "jfs"] {
            assert_eq!(superblock((kind, ""), number(16)), on_sdb, "{kind}");
            unknown(&superblock((kind, ""), number(32)), "8:32");
            unknown(&superblock((kind, ""), Ok(vec![Named::Unnamed])), "without a name");
            unknown(&superblock((kind, ""), Err("permission denied")), "permission denied");
        }
        // What was mounted with overrules what the file system was made with.
        assert_eq!(superblock(("reiserfs", ",jdev=/dev/sdb"), number(32)), on_sdb);
        unknown(&superblock(("reiserfs", ",jdev=/dev/sdz"), number(16)), "jdev=/dev/sdz");
        assert_eq!(superblock(("jfs", ",nointegrity"), number(16)), [], "it keeps no log");
    }

    #[test]
    fn all_devices_of_an_f2fs_have_a_share_of_it() {
        let path = |path: &str| Ok(vec![Named::Path(path.into())]);
        let shared = [(Ok("sdb".to_owned()), Holds::Share)];
        assert_eq!(superblock(("f2fs", ""), path("/dev/sdb")), shared);
        unknown(&superblock(("f2fs", ""), path("/dev/none")), "/dev/none");
        unknown(&superblock(("f2fs", ""), Err("permission denied")), "more devices");
        assert!(shared[0].1.uncounted().0.contains("several devices"));
    }

    #[test]
    fn a_realtime_device_counts_where_the_files_lie_on_it_and_not_elsewhere() {
        let realtime = |is_realtime| xfs(",rtdev=/dev/sdb", is_realtime);
        assert_eq!(realtime(Ok(true)), [(Ok("sdb".to_owned()), Holds::Files)]);
        assert_eq!(realtime(Ok(false)), []);
        unknown(&realtime(Err("permission denied")), "are on its realtime device: permission");
        let both = xfs(",logdev=/dev/none,rtdev=/dev/sdb", Ok(true));
        assert_eq!((both.len(), both[0].1, both[1].1), (2, Holds::Log, Holds::Files));
        assert!(Holds::Files.uncounted().1.is_empty(), "syncs flush the realtime device");
    }
}
