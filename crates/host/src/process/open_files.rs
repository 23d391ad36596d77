//! The regular files that a process has open for writing, and the mounts that they are on.
//!
//! Sources: proc_pid_fd(5) (the permissions of a link are those of the descriptor),
//! proc_pid_fdinfo(5) (`mnt_id`), proc_pid_mountinfo(5).

use std::fs;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::procfs::{COUNT_MAX, field, read};
use super::{rights, root_files};

/// The bit of a descriptor's link that says it is open for writing.
const MAY_WRITE: u32 = 0o200;

/// A file of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// Its path as the process sees it.
    pub path: Vec<u8>,
    /// The number of the mount that it is on, as in the mount table of the process.
    pub mount_id: u64,
    /// Path that leads to the very file, whatever the process's root and mounts; `None` where the
    /// process does not have it open.
    pub link: Option<PathBuf>,
}

/// Returns the regular files that process `pid` has open for writing; the first 4096 descriptors
/// are looked at.
///
/// # Errors
/// When they cannot be listed; the text says why, and what may help.
pub fn open_for_writing(pid: u32) -> Result<Vec<OpenFile>, String> {
    let list = fs::read_dir(format!("/proc/{pid}/fd"))
        .map_err(|error| rights::told("the list of its open files", &error))?;
    let one = |entry: fs::DirEntry| {
        let link = entry.path();
        let may_write = fs::symlink_metadata(&link).ok()?.permissions().mode() & MAY_WRITE != 0;
        // Followed, not opened.
        let is_file = may_write && fs::metadata(&link).ok()?.is_file();
        let path = is_file.then(|| fs::read_link(&link).ok()).flatten()?;
        let number = entry.file_name();
        let mount_id = mount_id(&format!("/proc/{pid}/fdinfo/{}", number.to_str()?))?;
        let path = path.as_os_str().as_bytes().to_vec();
        Some(OpenFile { path, mount_id, link: Some(link) })
    };
    Ok(list.take(COUNT_MAX).flatten().filter_map(one).collect())
}

/// The file or directory at `path` in the root of process `pid`; `None` where it cannot be looked
/// at.
#[must_use]
pub fn placed(pid: u32, path: &Path) -> Option<OpenFile> {
    let file = root_files::within(&format!("/proc/{pid}"), path).ok()?;
    let mount_id = mount_id(&format!("/proc/self/fdinfo/{}", file.as_fd().as_raw_fd()))?;
    Some(OpenFile { path: path.as_os_str().as_bytes().to_vec(), mount_id, link: None })
}

/// Returns whether paths of process `pid` may lead elsewhere here: it has another mount namespace,
/// another root directory, or hides which.
#[must_use]
pub fn has_own_paths(pid: u32) -> bool {
    let link = |process: &str, name: &str| fs::read_link(format!("/proc/{process}/{name}")).ok();
    let other = pid.to_string();
    ["ns/mnt", "root"].iter().any(|name| {
        let found = link(&other, name);
        found.is_none() || found != link("self", name)
    })
}

/// The mount table of process `pid`, as in `mountinfo`.
///
/// # Errors
/// When it cannot be read.
pub fn mount_table(pid: u32) -> io::Result<Vec<u8>> {
    read(&format!("/proc/{pid}/mountinfo"))
}

fn mount_id(fdinfo: &str) -> Option<u64> {
    field(&read(fdinfo).ok()?, b"mnt_id:")
}
