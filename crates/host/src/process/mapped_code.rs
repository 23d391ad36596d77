//! The files that a process runs code of, opened as they are in its memory.
//!
//! `/proc/PID/map_files` leads to the very file, in whatever container it is and also where it was
//! deleted since; that takes root. Else the path is followed within the process's own root, and
//! what is found there must have the number of what is in memory. Nothing is opened that is no
//! regular file: opening a device may do something.

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags, fstat, open};
use units::text;

use super::preloads::Preload;
use super::procfs::read;
use super::rights;
use super::root_files::{readable, within};
use crate::FileDisk;

/// The most files that are opened.
const FILES_MAX: usize = 256;
const DELETED: &[u8] = b" (deleted)";

/// A file that a process runs code of.
#[derive(Debug)]
pub struct MappedFile {
    /// Its path as the process sees it, harmless to print.
    pub path: String,
    /// True if it is the program itself.
    pub is_program: bool,
    /// Reasons that put it before other libraries, among those that were looked for.
    pub preloads: Vec<Preload>,
    /// Its content; or why that cannot be read.
    pub file: Result<FileDisk, String>,
}

/// A line of `maps`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MapsLine {
    start: u64,
    end: u64,
    inode: u64,
    /// The kernel's spelling.
    path: Vec<u8>,
}

impl MapsLine {
    /// The line of a file whose code may be run; `None` of any other.
    fn parse(line: &[u8]) -> Option<MapsLine> {
        let slash = line.iter().position(|&byte| byte == b'/')?;
        let head = std::str::from_utf8(&line[..slash]).ok()?;
        let fields: Vec<&str> = head.split_ascii_whitespace().collect();
        let [range, may, _, _, inode] = fields[..] else { return None };
        let (start, end) = range.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let line = MapsLine {
            start: number(start)?,
            end: number(end)?,
            inode: inode.parse().ok()?,
            path: line[slash..].to_vec(),
        };
        may.contains('x').then_some(line)
    }

    /// Its path, where it still has one.
    fn linked(&self) -> Option<Vec<u8>> {
        // The kernel writes a line feed so, and nothing else otherwise (seq_path).
        let mut path = Vec::new();
        let mut rest = &self.path[..];
        while let Some((first, behind)) = rest.split_first() {
            match rest.strip_prefix(b"\\012") {
                Some(behind) => (path, rest) = ([&path[..], b"\n"].concat(), behind),
                None => {
                    path.push(*first);
                    rest = behind;
                }
            }
        }
        (!path.ends_with(DELETED)).then_some(path)
    }
}

/// The files of the process at `base`.
///
/// # Errors
/// When they cannot be listed; the text says why, and what may help.
pub(super) fn of(base: &str, preloads: &[Preload]) -> Result<Vec<MappedFile>, String> {
    let maps = read(&format!("{base}/maps"))
        .map_err(|error| rights::told("the list of what is in its memory", &error))?;
    let mut lines: Vec<MapsLine> = Vec::new();
    for line in maps.split(|&byte| byte == b'\n').filter_map(MapsLine::parse) {
        if lines.iter().all(|known| (known.inode, &known.path) != (line.inode, &line.path)) {
            lines.push(line);
        }
        if lines.len() > FILES_MAX {
            return Err(format!("it runs code of more than {FILES_MAX} files"));
        }
    }
    if lines.is_empty() {
        return Err("no program is in its memory: it is about to start or to end".to_owned());
    }
    let program = std::fs::read_link(format!("{base}/exe")).unwrap_or_default();
    let inodes: Vec<Option<u64>> = preloads.iter().map(|one| inode(base, &one.raw)).collect();
    Ok(lines
        .iter()
        .map(|line| {
            let named = preloads.iter().zip(&inodes).filter(|(one, inode)| {
                **inode == Some(line.inode) || is_called(&line.path, &one.raw)
            });
            MappedFile {
                path: text::escape(&line.path),
                is_program: line.path == program.as_os_str().as_bytes(),
                preloads: named.map(|(one, _)| one.clone()).collect(),
                file: opened(base, line),
            }
        })
        .collect())
}

/// The number of the file that a list names by its path.
fn inode(base: &str, name: &[u8]) -> Option<u64> {
    name.starts_with(b"/").then_some(())?;
    let file = within(base, Path::new(OsStr::from_bytes(name))).ok()?;
    fstat(&file).ok().map(|stat| stat.st_ino)
}

/// Returns whether a path ends in the name of a library, which its version may follow.
fn is_called(path: &[u8], name: &[u8]) -> bool {
    let last = |path: &[u8]| path.rsplit(|&byte| byte == b'/').next().map(<[u8]>::to_vec);
    let (Some(path), Some(name)) = (last(path), last(name)) else { return false };
    path.strip_suffix(DELETED)
        .unwrap_or(&path)
        .strip_prefix(&name[..])
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
}

fn opened(base: &str, line: &MapsLine) -> Result<FileDisk, String> {
    let exact = format!("{base}/map_files/{:x}-{:x}", line.start, line.end);
    if let Ok(file) = open(&*exact, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        return reopened(&file).map_err(|error| rights::told("it", &error));
    }
    let path = line.linked().ok_or_else(|| {
        format!("it was deleted or replaced since it was loaded; {}", rights::advice_on_memory())
    })?;
    let file = within(base, Path::new(OsStr::from_bytes(&path)));
    let file = file.map_err(|error| rights::told("it", &error))?;
    let stat = fstat(&file).map_err(|error| rights::told("it", &error.into()))?;
    if stat.st_ino != line.inode {
        return Err("another file is at its path now".to_owned());
    }
    reopened(&file).map_err(|error| rights::told("it", &error))
}

fn reopened(file: impl AsFd) -> io::Result<FileDisk> {
    FileDisk::of_file(readable(file)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_code_are_told_and_others_are_not() {
        let line = b"7f10-7f2a r-xp 00001000 fe:01 4711                 /usr/lib/lib x\\012.so";
        let found = MapsLine::parse(line).unwrap();
        assert_eq!((found.start, found.end, found.inode), (0x7f10, 0x7f2a, 4711));
        assert_eq!(found.path, b"/usr/lib/lib x\\012.so");
        assert_eq!(found.linked().unwrap(), b"/usr/lib/lib x\n.so");
        let gone = MapsLine { path: b"/usr/lib/libx.so (deleted)".to_vec(), ..found };
        assert_eq!(gone.linked(), None);
        for other in [
            &b"7f10-7f2a r--p 00001000 fe:01 4711 /usr/lib/libx.so"[..],
            b"7f10-7f2a r-xp 00000000 00:00 0 [vdso]",
            b"7f10-7f2a rwxp 00000000 00:00 0",
            b"7f10 r-xp 0 0:0 1 /x",
            b"/x",
            b"",
        ] {
            assert_eq!(MapsLine::parse(other), None);
        }
    }

    #[test]
    fn a_library_is_known_by_its_name_with_and_without_its_version() {
        assert!(is_called(b"/usr/lib/libjemalloc.so.2", b"libjemalloc.so"));
        assert!(is_called(b"/usr/lib/libjemalloc.so.2 (deleted)", b"/opt/$LIB/libjemalloc.so.2"));
        assert!(!is_called(b"/usr/lib/libjemalloc.so.2", b"libjemalloc.so.1"));
        assert!(!is_called(b"/usr/lib/libc.so.6", b"lib"));
    }
}
