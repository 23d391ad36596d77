//! Processes and mounts that keep a file system from being unmounted.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

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
        path: String,
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
        Holder::Mount { path } => {
            format!("{} is mounted on it", units::text::escape(path.as_bytes()))
        }
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
    let mounts = std::fs::read_to_string("/proc/thread-self/mountinfo").unwrap_or_default();
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let below = points.filter(|point| {
        let rest = path.to_str().and_then(|path| point.strip_prefix(path));
        rest.is_some_and(|rest| rest.starts_with('/'))
    });
    found.extend(below.map(|point| Holder::Mount { path: point.to_owned() }));
    found.into_iter().collect()
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
