//! File systems that went down: which did, and what to do then.
//!
//! One idea: after an error of its own a file system refuses everything, and no other directory of
//! it nor another try is of use. What it lost is told by the kernel's log and by its own checker.
//! Sources: xfs_repair(8), which wants the log replayed first, e2fsck(8), btrfs-check(8),
//! fsck.f2fs(8).

use std::path::Path;

use device::mountinfo::MountLine;
use host::Pinned;
use units::text::escape;

use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::mount;

/// Signs by which file systems show that they went down: XFS by an error of every call, others by
/// an option (`ext4_show_options`); those that only stop writing are mounted read-only.
const OPTIONS: [&str; 2] = ["shutdown", "emergency_ro"];
const EIO: i32 = 5;

/// Checks of each, unmounted.
const CHECKS: [(&str, &str); 6] = [
    ("xfs", "mount and unmount it once, which replays its log; then: xfs_repair -n"),
    ("ext2", "then: e2fsck -f"),
    ("ext3", "then: e2fsck -f"),
    ("ext4", "then: e2fsck -f"),
    ("btrfs", "then: btrfs check --readonly"),
    ("f2fs", "then: fsck.f2fs --dry-run"),
];

/// Returns what to do about the file system of `directory` where that went down; `None` where it
/// did not.
/// `was_written` says that files could be made there before.
pub(crate) fn advice(
    inspected: &InspectedMachine,
    directory: &Path,
    was_written: bool,
) -> Option<String> {
    let mount = mount::on_the_way(inspected.tree(), directory)?;
    let answers = host::identity(directory);
    let refuses = answers.is_err_and(|error| error.raw_os_error() == Some(EIO));
    let is_down = refuses || is_down(&mount, was_written);
    is_down.then(|| format!("{}{}", room_first(directory), what_to_do(&mount)))
}

/// Advice to free space where the file system went down for lack of it on a layer below.
fn room_first(directory: &Path) -> String {
    let full = Pinned::at(directory).ok().and_then(|directory| host::full_below(&directory));
    let advice = |store: host::StoreBelow| {
        format!("{store} is full: free some space {} first; ", store.place())
    };
    full.map_or(String::new(), advice)
}

fn is_down(mount: &MountLine, was_written: bool) -> bool {
    let told = mount.options.iter().any(|option| OPTIONS.contains(&option.as_str()));
    told || (was_written && mount.is_read_only())
}

fn what_to_do(mount: &MountLine) -> String {
    let (kind, source) = (&mount.kind, escape(mount.source.raw()));
    let point = &mount.point;
    let check = CHECKS.iter().find(|(known, _)| known == kind);
    let check = match check {
        Some((_, check)) => format!("{check} {source}"),
        None => format!("then check {source} with its own tool"),
    };
    format!(
        "the {kind} on {point} went down, and what was written last may be lost: read the kernel's \
         log (dmesg); umount {point}; {check}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(line: &str) -> MountLine {
        device::mountinfo::lines(line.as_bytes()).next().expect("a mount")
    }

    #[test]
    fn each_file_system_is_checked_unmounted_and_by_its_own_tool() {
        let check = |kind: &str, expected: &str| {
            let said = what_to_do(&mount(&format!("1 0 8:1 / /m rw - {kind} /dev/sda1 rw")));
            let (_, behind) = said.split_once("dmesg); umount /m; ").expect("in this order");
            assert_eq!(behind, expected);
        };
        check(
            "xfs",
            "mount and unmount it once, which replays its log; then: xfs_repair -n /dev/sda1",
        );
        check("ext4", "then: e2fsck -f /dev/sda1");
        check("zfs", "then check /dev/sda1 with its own tool");
    }

    #[test]
    fn what_is_read_only_since_files_were_made_there_went_down() {
        let down = |flags: &str, options: &str, was_written| {
            let line = format!("1 0 8:1 / /m {flags} - ext4 /dev/sda1 {options}");
            is_down(&mount(&line), was_written)
        };
        assert!(down("rw", "rw,shutdown", false) && down("rw", "ro,emergency_ro", false));
        assert!(down("rw", "ro", true) && !down("rw", "ro", false) && !down("rw", "rw", true));
    }
}
