//! The process that a thread is of, and the threads of a process and of those that it started.
//!
//! Source: proc_pid_status(5), proc_pid_stat(5), proc_pid_task(5), proc_pid_cgroup(5).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use units::text;

use super::procfs::{COUNT_MAX, Stat, field, read};

/// The process that a thread is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadOwner {
    /// Number of the process.
    pub process: u32,
    /// Its name, harmless to print.
    pub name: String,
    /// True for a thread of the kernel.
    pub is_kernel: bool,
    /// Path of its control group (cgroup v2, else the first that has one), harmless to print;
    /// `None` where it is in none.
    pub control_group: Option<String>,
}

/// The process that `thread` is of; `None` where it has ended, or cannot be seen.
#[must_use]
pub fn thread_owner(thread: u32) -> Option<ThreadOwner> {
    let status = read(&format!("/proc/{thread}/status")).ok()?;
    let process = u32::try_from(field(&status, b"Tgid:")?).ok()?;
    let stat = Stat::parse(&read(&format!("/proc/{process}/stat")).ok()?)?;
    let groups = read(&format!("/proc/{thread}/cgroup")).unwrap_or_default();
    Some(ThreadOwner {
        process,
        name: text::escape(&stat.name),
        is_kernel: stat.is_kernel,
        control_group: control_group(&groups),
    })
}

/// The path in the line of cgroup v2, which begins with `0::`; in machines that have v1 too, of the
/// first line whose path is not the root where that of v2 is.
fn control_group(lines: &[u8]) -> Option<String> {
    let paths = lines.split(|&byte| byte == b'\n').filter_map(|line| {
        let mut fields = line.splitn(3, |&byte| byte == b':');
        let (number, path) = (fields.next()?, fields.nth(1)?);
        Some((number == b"0", path))
    });
    let paths: Vec<(bool, &[u8])> = paths.collect();
    let unified = paths.iter().find(|(is_unified, _)| *is_unified).map(|(_, path)| *path);
    let other = || paths.iter().map(|(_, path)| *path).find(|path| *path != b"/");
    let path = unified.filter(|path| *path != b"/").or_else(other).or(unified)?;
    Some(text::escape(path))
}

/// The threads that run now of process `process` and of all processes that descend from it; at
/// most 4096.
#[must_use]
pub fn threads_below(process: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (number, _) in numbered(Path::new("/proc")) {
        let stat = read(&format!("/proc/{number}/stat")).ok();
        if let Some(stat) = stat.and_then(|stat| Stat::parse(&stat)) {
            children.entry(stat.parent).or_default().push(number);
        }
    }
    let (mut found, mut todo) = (BTreeSet::new(), vec![process]);
    let mut threads = Vec::new();
    while let Some(next) = todo.pop() {
        if !found.insert(next) {
            continue;
        }
        let tasks = PathBuf::from(format!("/proc/{next}/task"));
        threads.extend(numbered(&tasks).map(|(number, _)| number));
        todo.extend(children.get(&next).into_iter().flatten());
    }
    threads.truncate(COUNT_MAX);
    threads
}

/// Entries of `directory` whose names are numbers.
fn numbered(directory: &Path) -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
}

/// Numbers of the processes that run now.
#[must_use]
pub fn processes() -> Vec<u32> {
    numbered(Path::new("/proc")).map(|(number, _)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_of_its_process_and_a_child_is_below_it() {
        let own = std::process::id();
        let thread = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
        let owner = thread_owner(thread).unwrap();
        assert_eq!((owner.process, owner.is_kernel), (own, false));
        assert!(threads_below(own).contains(&thread));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(threads_below(own).contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(thread_owner(u32::MAX), None);
    }

    #[test]
    fn the_group_of_the_unified_tree_counts_and_another_where_that_is_the_root() {
        let group = |text: &str| control_group(text.as_bytes());
        assert_eq!(group("0::/system.slice/db.service\n"), Some("/system.slice/db.service".into()));
        assert_eq!(group("4:memory:/docker/abc\n0::/\n"), Some("/docker/abc".into()));
        assert_eq!(group("4:memory:/\n0::/\n"), Some("/".into()));
        assert_eq!(group("4:memory:/a:b\n"), Some("/a:b".into()));
        assert_eq!(group("garbage"), None);
    }
}
