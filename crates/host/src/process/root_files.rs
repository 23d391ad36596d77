//! Files and directories in the root of a process, opened where they are regular files only.

use std::fs::{DirEntry, File, Metadata, metadata, read_dir};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};

use super::procfs::{COUNT_MAX, FILE_BYTES_MAX};

/// Finds `path` in the root of the process at `base`, without opening it yet.
pub(super) fn within(base: &str, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let root = open(&*format!("{base}/root"), flags | OFlags::DIRECTORY, Mode::empty())?;
    let inside = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(&root, path, flags, Mode::empty(), inside)?)
}

/// Opens a regular file for reading; anything else is refused unopened.
pub(super) fn readable(file: impl AsFd) -> io::Result<OwnedFd> {
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("it is no regular file"));
    }
    let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(rustix::fs::openat(CWD, &*path, flags, Mode::empty())?)
}

/// The content of the file at `path` in the root of the process at `base`, and when its inode was
/// last changed, in nanoseconds since 1970.
pub(super) fn content(base: &str, path: &Path) -> io::Result<(Vec<u8>, u64)> {
    let file = File::from(readable(within(base, path)?)?);
    let mut content = Vec::new();
    (&file).take(FILE_BYTES_MAX).read_to_end(&mut content)?;
    // Looked at after it was read: what changed meanwhile counts as changed.
    Ok((content, changed_ns(&file.metadata()?)?))
}

/// The names in the directory at `path` in the root of the process at `base`, and when its inode
/// was last changed, in nanoseconds since 1970.
pub(super) fn names(base: &str, path: &Path) -> io::Result<(Vec<String>, u64)> {
    let directory = within(base, path)?;
    let here = format!("/proc/self/fd/{}", directory.as_raw_fd());
    let name = |entry: io::Result<DirEntry>| {
        entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
    };
    let list = read_dir(&here)?.take(COUNT_MAX + 1).map(name);
    let names = list.collect::<io::Result<Vec<String>>>()?;
    if names.len() > COUNT_MAX {
        return Err(io::Error::other("it holds too many names"));
    }
    Ok((names, changed_ns(&metadata(&here)?)?))
}

fn changed_ns(stat: &Metadata) -> io::Result<u64> {
    let nanoseconds = || {
        let seconds = u64::try_from(stat.ctime()).ok()?.checked_mul(1_000_000_000)?;
        seconds.checked_add(u64::try_from(stat.ctime_nsec()).ok()?)
    };
    nanoseconds().ok_or_else(|| io::Error::other("its time is before 1970"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let error = content("/proc/self", Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.to_string(), "it is no regular file");
    }
}
