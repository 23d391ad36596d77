//! File systems whose files are on no disk of this machine: in memory, elsewhere, or in layers.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use device::mountinfo::MountLine;
use report::Refusal;

use super::mount::{absolute, point};

/// Types whose files are in memory.
const MEMORY: [&str; 10] = [
    "tmpfs",
    "ramfs",
    "devtmpfs",
    "hugetlbfs",
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "debugfs",
    "tracefs",
];
/// Types whose files are on another machine.
const NETWORK: [&str; 12] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "ceph",
    "9p",
    "afs",
    "glusterfs",
    "lustre",
    "virtiofs",
    "ncpfs",
];

/// Place where the bytes of a file are that is on no block device of this machine, as far as that
/// can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Away {
    /// In memory.
    Memory,
    /// On another machine.
    Network,
    /// In other directories.
    Overlay,
    /// Place where a program puts them.
    Program,
}

/// Returns whether files of a file system of this kind are somewhere else than on a block device.
pub(crate) fn away(kind: &str) -> Option<Away> {
    match kind {
        kind if MEMORY.contains(&kind) => Some(Away::Memory),
        kind if NETWORK.contains(&kind) => Some(Away::Network),
        "overlay" => Some(Away::Overlay),
        "fuse" | "fuseblk" => Some(Away::Program),
        kind if kind.starts_with("fuse.") => Some(Away::Program),
        _ => None,
    }
}

/// Why a file of this mount cannot be traced; `None` when it may be.
pub(crate) fn refusal(mount: &MountLine, name: &str, path: &Path) -> Option<Refusal> {
    let kind = mount.kind.as_str();
    let refuse = |reason: String, hint: String| {
        Some(Refusal::hinted(format!("cannot trace {name}: {reason}"), hint))
    };
    match away(kind)? {
        Away::Memory => {
            let hint = "copy it to a file system on a disk, and trace the copy".to_owned();
            refuse(format!("it is on {kind}, so its bytes are in memory alone"), hint)
        }
        Away::Network => {
            let server = &mount.source;
            let hint = "run straddle trace on the machine that has the disks".to_owned();
            refuse(format!("its bytes are on another machine, {server} ({kind})"), hint)
        }
        Away::Overlay => {
            let hint = match below_overlay(mount, path) {
                Some(below) => {
                    format!("straddle trace {}", units::text::escape(below.as_os_str().as_bytes()))
                }
                None => "name the file in the upper or lower directory, which this lists: findmnt \
                         -t overlay"
                    .to_owned(),
            };
            let reason = format!(
                "it is on an overlay, whose files are in other directories: {}",
                layers(mount)
            );
            refuse(reason, hint)
        }
        Away::Program => {
            let hint = "name the file or device that the program uses: findmnt shows its source"
                .to_owned();
            let reason =
                format!("it is on {kind}, and only the program that serves it knows where");
            refuse(reason, hint)
        }
    }
}

/// The upper and lower directories as text.
fn layers(mount: &MountLine) -> String {
    let option = |name: &str| {
        let value = mount.option(name)?;
        Some(format!("{name}={}", units::text::escape(&value)))
    };
    let found: Vec<String> = ["upperdir", "lowerdir"].into_iter().filter_map(option).collect();
    found.join(", ")
}

/// The file itself below an overlay: in the upper directory, else in the first lower one that has
/// it.
fn below_overlay(mount: &MountLine, path: &Path) -> Option<PathBuf> {
    let path = absolute(path);
    let within = path.strip_prefix(point(mount)).ok()?;
    let upper = mount.option("upperdir").into_iter();
    let lower = mount.option("lowerdir").unwrap_or_default();
    let lower = lower.split(|&byte| byte == b':').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let places = upper.chain(lower).filter(|place| !place.is_empty());
    let mut files = places.map(|place| Path::new(OsStr::from_bytes(&place)).join(within));
    files.find(|file| host::identity(file).is_ok())
}

#[cfg(test)]
mod tests {
    use device::mountinfo;

    use super::*;

    fn mount(line: &str) -> MountLine {
        mountinfo::lines(line.as_bytes()).next().unwrap()
    }

    #[test]
    fn memory_network_and_overlay_are_refused_with_what_to_do() {
        for (line, words) in [
            ("1 0 0:5 / /t rw - tmpfs tmpfs rw", "in memory"),
            ("1 0 0:6 / /n rw - nfs4 server:/export rw", "server:/export"),
            ("1 0 0:7 / /o rw - overlay o rw,lowerdir=/l1:/l2,upperdir=/u", "upperdir=/u"),
            ("1 0 0:8 / /f rw - fuse.sshfs me@there rw", "program"),
        ] {
            let found = refusal(&mount(line), "x", Path::new("/o/x")).unwrap();
            assert!(found.message.contains(words), "{found:?}");
            assert!(found.hint.is_some());
        }
        assert_eq!(refusal(&mount("1 0 8:1 / / rw - ext4 /dev/sda1 rw"), "x", "/x".as_ref()), None);
    }
}
