//! Processes and mounts that keep a file system from being unmounted.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use device::mountinfo;
use units::DiskText;

/// Somebody who keeps a file system busy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// A process.
    Process {
        /// Its number.
        number: u32,
        /// Its name, as the kernel keeps it: at most 15 bytes.
        name: String,
        /// Kind of use, as a clause.
        by: &'static str,
    },
    /// Another mount, on a directory of it.
    Mount {
        /// The mount point.
        path: DiskText,
    },
}

/// The holders as a text.
pub(super) fn list(holders: &[Holder]) -> String {
    if holders.is_empty() {
        return "it is busy, and who holds it could not be found".to_owned();
    }
    let texts = holders.iter().map(|holder| match holder {
        Holder::Process { number, name, by } => {
            format!("process {number} ({}) {by}", units::text::escape(name.as_bytes()))
        }
        Holder::Mount { path } => format!("{path} is mounted on it"),
    });
    texts.collect::<Vec<_>>().join("; ")
}

/// Finds the users of the file system at `path`, whose files are on `device` as stat(2) says.
/// Processes that this one may not look into are not found.
pub(super) fn of(path: &Path, device: Option<u64>) -> Vec<Holder> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some(by) = use_by(&entry.path(), device) {
            let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            found.insert(Holder::Process { number, name: name.trim_end().to_owned(), by });
        }
    }
    let table = std::fs::read("/proc/thread-self/mountinfo").unwrap_or_default();
    found.extend(mounts_below(&table, path));
    found.into_iter().collect()
}

/// The mounts of `table` on directories below `path`.
fn mounts_below(table: &[u8], path: &Path) -> impl Iterator<Item = Holder> {
    let points = mountinfo::lines(table).map(|mount| mount.point);
    let below = points.filter(move |point| {
        let point = Path::new(OsStr::from_bytes(point.raw()));
        point != path && point.starts_with(path)
    });
    below.map(|path| Holder::Mount { path })
}

/// Returns how the process with `directory` in `/proc` uses files of `device`, where it does.
fn use_by(directory: &Path, device: Option<u64>) -> Option<&'static str> {
    // The links lead to the files themselves, whatever they are called and where.
    let there = |path: &Path| std::fs::metadata(path).is_ok_and(|data| Some(data.dev()) == device);
    let any = |name: &str| {
        let entries = std::fs::read_dir(directory.join(name)).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).any(|path| there(&path))
    };
    let single = [
        ("cwd", "has its working directory there"),
        ("root", "has its root directory there"),
        ("exe", "runs a program from there"),
    ];
    if let Some((_, by)) = single.into_iter().find(|(name, _)| there(&directory.join(name))) {
        return Some(by);
    }
    if any("fd") {
        return Some("has a file open there");
    }
    any("map_files").then_some("has a file mapped from there")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_below_a_path_with_a_blank_are_found_and_named_as_they_are() {
        let table = b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
                      2 1 8:2 / /my\\040data rw - xfs /dev/sda2 rw\n\
                      3 2 8:3 / /my\\040data/a\\012b rw - xfs /dev/sda3 rw\n\
                      4 1 8:4 / /my\\040database rw - xfs /dev/sda4 rw\n";
        let found: Vec<Holder> = mounts_below(table, Path::new("/my data")).collect();
        assert_eq!(found, [Holder::Mount { path: DiskText::from("/my data/a\nb") }]);
        assert_eq!(list(&found), "/my data/a\\u{a}b is mounted on it");
    }
}
