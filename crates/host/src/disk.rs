//! A regular file or a block device as a disk, opened read only.
//!
//! A block device is read past its page cache where the kernel allows that. Of each device the
//! kernel keeps pages apart: those of a disk stay as they were read once when a partition or an
//! array on it is written, and md and XFS write past them all. The kernel writes out what waits in
//! the device's own pages before such a read (Linux `mm/filemap.c`, `kiocb_write_and_wait`), so
//! that is seen as well.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use device::{Disk, ReadError, disk};
use rustix::fs::{FileType, Mode, OFlags, SeekFrom, Stat};
use rustix::io::Errno;
use thiserror::Error;
use units::DiskText;

use crate::block_ioctls::{self, Inquiry};
use crate::file_identity::PathIdentity;
use crate::head_cache::Sparse;
use crate::pinned::Pinned;

/// Alignment of direct reads and of their memory, in bytes: no device wants more of a reader.
const PAGE_BYTES: u64 = 4096;

/// Why something cannot be read as a disk.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OpenError {
    /// The kernel would not open it, or would not say how long it is.
    #[error("cannot open {path} for reading: {reason}")]
    Refused {
        /// The path as it was given.
        path: DiskText,
        /// The kernel's error text.
        reason: String,
        /// Advice; empty when there is none.
        hint: &'static str,
    },
    /// It is neither a regular file nor a block device.
    #[error("cannot read {path} as a disk: it is {found}, not a regular file or block device")]
    NotADisk {
        /// The path as it was given.
        path: DiskText,
        /// The kind of file that it is instead, with its article.
        found: &'static str,
        /// Advice; empty when there is none.
        hint: &'static str,
    },
}

impl OpenError {
    fn refused(path: &Path, error: Errno, kind: Option<DiskKind>) -> OpenError {
        let hint = match (error, kind) {
            (Errno::PERM | Errno::ACCESS, Some(DiskKind::Block)) if crate::is_root() => {
                "even root may not: a container or a security policy blocks this device; try on \
                 the host"
            }
            (Errno::ACCESS, Some(DiskKind::Block)) => {
                "reading a block device needs root, or membership of its group: try sudo"
            }
            (Errno::ACCESS, _) => "you may not read it or a directory on its path: try sudo",
            (Errno::PERM, _) => "a container or a security policy may forbid it: try on the host",
            (error, _) => hint_of(error),
        };
        OpenError::Refused { path: text(path), reason: crate::errno::words_of(error), hint }
    }

    /// Advice, in lower case and without a full stop; `None` when there is none.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        let (OpenError::Refused { hint, .. } | OpenError::NotADisk { hint, .. }) = self;
        (!hint.is_empty()).then_some(*hint)
    }
}

fn hint_of(error: Errno) -> &'static str {
    match error {
        Errno::NOENT => "check the path; lsblk -p lists block devices",
        Errno::NXIO | Errno::NODEV => "no device answers behind this node; lsblk -p lists those",
        Errno::NOMEDIUM => "insert a medium first",
        // This open asked for it (fcntl(2), "Leases").
        Errno::AGAIN => "a program that had a lease on it, as Samba has, gives it back: try again",
        _ => "",
    }
}

fn text(path: &Path) -> DiskText {
    DiskText::from_bytes(path.as_os_str().as_encoded_bytes())
}

/// A regular file or a block device, opened for reading only.
#[derive(Debug)]
pub struct FileDisk {
    file: OwnedFd,
    length_bytes: u64,
    identity: PathIdentity,
    kind: DiskKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiskKind {
    File,
    Block,
}

impl FileDisk {
    /// The disk at `path`, links followed.
    ///
    /// Anything but a regular file or a block device is refused before it is opened, since opening
    /// alone has effects elsewhere: a FIFO's writer wakes up, a tape rewinds, a watchdog starts.
    /// The opened file is checked once more, for the path may lead elsewhere by then; `O_NONBLOCK`
    /// keeps that from hanging.
    ///
    /// # Errors
    /// [`OpenError::Refused`] when the kernel says no, [`OpenError::NotADisk`] when it is something
    /// else.
    pub fn open(path: &Path) -> Result<FileDisk, OpenError> {
        FileDisk::called(path, path)
    }

    /// Same as [`FileDisk::open`], of a pinned file.
    ///
    /// # Errors
    /// Same as [`FileDisk::open`].
    pub fn of(pinned: &Pinned) -> Result<FileDisk, OpenError> {
        FileDisk::called(&pinned.path(), pinned.given())
    }

    /// The disk at `path`, which is called `name`.
    fn called(path: &Path, name: &Path) -> Result<FileDisk, OpenError> {
        let unseen = |error| OpenError::refused(name, error, None);
        let found = kind(name, &rustix::fs::stat(path).map_err(unseen)?)?;
        let refused = |error| OpenError::refused(name, error, Some(found));
        // O_LARGEFILE is implied on 64-bit machines; where it is not, rustix sets it.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let past_cache = if found == DiskKind::Block { OFlags::DIRECT } else { OFlags::empty() };
        let open = |flags| rustix::fs::open(path, flags, Mode::empty());
        let file = match open(flags | past_cache) {
            Err(Errno::INVAL) => open(flags),
            opened => opened,
        };
        let file = file.map_err(refused)?;
        let stat = rustix::fs::fstat(&file).map_err(refused)?;
        let kind = kind(name, &stat)?;
        let length_bytes = match kind {
            DiskKind::File => u64::try_from(stat.st_size).unwrap_or(0),
            DiskKind::Block => block_ioctls::length_bytes(file.as_fd()).map_err(refused)?,
        };
        Ok(FileDisk { file, length_bytes, identity: PathIdentity::of(&stat), kind })
    }

    /// A block device that is open, of which this descriptor is another.
    pub(crate) fn of_device(file: OwnedFd) -> Result<FileDisk, Errno> {
        let stat = rustix::fs::fstat(&file)?;
        let length_bytes = block_ioctls::length_bytes(file.as_fd())?;
        Ok(FileDisk {
            file,
            length_bytes,
            identity: PathIdentity::of(&stat),
            kind: DiskKind::Block,
        })
    }

    /// A regular file that is open.
    pub(crate) fn of_file(file: OwnedFd) -> io::Result<FileDisk> {
        let stat = rustix::fs::fstat(&file)?;
        let length_bytes = u64::try_from(stat.st_size).unwrap_or(0);
        Ok(FileDisk { file, length_bytes, identity: PathIdentity::of(&stat), kind: DiskKind::File })
    }

    /// Makes a regular file that is open for writing longer, up to `length_bytes`.
    pub(crate) fn extend(&mut self, length_bytes: u64) -> Result<(), String> {
        if length_bytes > self.length_bytes {
            rustix::fs::ftruncate(&self.file, length_bytes).map_err(crate::errno::words_of)?;
            self.length_bytes = length_bytes;
        }
        Ok(())
    }

    /// The bytes of a block device within `offset_bytes` and `end_bytes`, read in whole pages into
    /// aligned memory.
    fn read_pages(&self, offset_bytes: u64, end_bytes: u64) -> Result<Vec<u8>, ReadError> {
        let asked = end_bytes - offset_bytes;
        let start = offset_bytes - offset_bytes % PAGE_BYTES;
        let end = end_bytes.checked_next_multiple_of(PAGE_BYTES).unwrap_or(end_bytes);
        let length = usize::try_from(end.min(self.length_bytes) - start)
            .map_err(|_| failed(offset_bytes, asked, Errno::NOMEM))?;
        let page = usize::try_from(PAGE_BYTES).expect("a page is short");
        let mut memory = vec![0; length + page];
        let skip = memory.as_ptr().align_offset(page).min(page);
        let pages = &mut memory[skip..skip + length];
        let mut done = 0;
        while done < length {
            let at_bytes = start + disk::length_of(&pages[..done]);
            match rustix::io::pread(&self.file, &mut pages[done..], at_bytes) {
                Ok(0) => return Err(ended(offset_bytes, asked, at_bytes)),
                Ok(count) => done += count,
                Err(Errno::INTR) => {}
                Err(Errno::INVAL) if self.stop_direct() => {}
                Err(error) => return Err(failed(offset_bytes, asked, error)),
            }
        }
        let before = usize::try_from(offset_bytes - start).expect("less than a page");
        memory.drain(..skip + before);
        memory.truncate(usize::try_from(asked).expect("at most the pages' length"));
        Ok(memory)
    }

    /// Reads through the page cache from now on; false where that was so.
    fn stop_direct(&self) -> bool {
        let Ok(flags) = rustix::fs::fcntl_getfl(&self.file) else { return false };
        flags.contains(OFlags::DIRECT)
            && rustix::fs::fcntl_setfl(&self.file, flags - OFlags::DIRECT).is_ok()
    }

    /// Returns the identity of the file, whatever path led to it.
    #[must_use]
    pub fn identity(&self) -> PathIdentity {
        self.identity
    }

    /// Returns whether it is a block device.
    #[must_use]
    pub fn is_block_device(&self) -> bool {
        self.kind == DiskKind::Block
    }

    /// Returns the kernel's answers about a block device; `None` for a regular file, which has no
    /// sectors.
    #[must_use]
    pub fn inquiry(&self) -> Option<Inquiry> {
        self.is_block_device().then(|| Inquiry::of(self.file.as_fd()))
    }
}

impl Sparse for FileDisk {
    fn next_data(&self, offset_bytes: u64) -> u64 {
        if self.is_block_device() {
            return offset_bytes;
        }
        // Moving the offset changes nothing here, since every read gives its own.
        match rustix::fs::seek(&self.file, SeekFrom::Data(offset_bytes)) {
            Ok(next) => next.min(self.length_bytes),
            // Only a hole follows, up to where the file ends by now; after that, reading fails.
            Err(Errno::NXIO) => {
                let end = rustix::fs::seek(&self.file, SeekFrom::End(0));
                end.map_or(offset_bytes, |end| end.clamp(offset_bytes, self.length_bytes))
            }
            Err(_) => offset_bytes,
        }
    }

    fn next_hole(&self, offset_bytes: u64) -> u64 {
        if self.is_block_device() {
            return self.length_bytes;
        }
        let next = rustix::fs::seek(&self.file, SeekFrom::Hole(offset_bytes));
        next.map_or(self.length_bytes, |next| next.min(self.length_bytes))
    }

    fn read_fresh(&self, offset_bytes: u64, length_bytes: usize) -> Result<Vec<u8>, ReadError> {
        let asked = u64::try_from(length_bytes).unwrap_or(u64::MAX);
        disk::check_bounds(self.length_bytes, offset_bytes, asked)?;
        if self.is_block_device() {
            return self.read_pages(offset_bytes, offset_bytes + asked);
        }
        let mut bytes = Vec::with_capacity(length_bytes);
        while bytes.len() < length_bytes {
            let at_bytes = offset_bytes + disk::length_of(&bytes);
            // Nothing is cleared first: this is most of what is read.
            let room = rustix::buffer::spare_capacity(&mut bytes);
            match rustix::io::pread(&self.file, room, at_bytes) {
                Ok(0) => return Err(ended(offset_bytes, asked, at_bytes)),
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(failed(offset_bytes, asked, error)),
            }
        }
        bytes.truncate(length_bytes);
        Ok(bytes)
    }
}

impl AsFd for FileDisk {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Disk for FileDisk {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let length_bytes = disk::length_of(buffer);
        disk::check_bounds(self.length_bytes, offset_bytes, length_bytes)?;
        if self.is_block_device() {
            buffer.copy_from_slice(&self.read_pages(offset_bytes, offset_bytes + length_bytes)?);
            return Ok(());
        }
        let mut done = 0;
        while done < buffer.len() {
            let at_bytes = offset_bytes + disk::length_of(&buffer[..done]);
            match rustix::io::pread(&self.file, &mut buffer[done..], at_bytes) {
                Ok(0) => return Err(ended(offset_bytes, length_bytes, at_bytes)),
                Ok(count) => done += count,
                Err(Errno::INTR) => {}
                Err(error) => return Err(failed(offset_bytes, length_bytes, error)),
            }
        }
        Ok(())
    }
}

fn ended(offset_bytes: u64, length_bytes: u64, at_bytes: u64) -> ReadError {
    let reason = format!("nothing is left at {at_bytes}: it became shorter");
    ReadError::Failed { offset_bytes, length_bytes, reason }
}

fn failed(offset_bytes: u64, length_bytes: u64, error: Errno) -> ReadError {
    let reason = crate::errno::text_of(error);
    ReadError::Failed { offset_bytes, length_bytes, reason }
}

fn kind(path: &Path, stat: &Stat) -> Result<DiskKind, OpenError> {
    let (found, hint) = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(DiskKind::File),
        FileType::BlockDevice => return Ok(DiskKind::Block),
        FileType::Directory => ("a directory", "name a file in it, or the device it is on"),
        FileType::Fifo => ("a FIFO", "copy what it carries into a file first"),
        FileType::Socket => ("a socket", ""),
        FileType::CharacterDevice => {
            ("a character device", "disks are block devices; lsblk -p lists them")
        }
        FileType::Symlink | FileType::Unknown => ("of an unknown kind", ""),
    };
    Err(OpenError::NotADisk { path: text(path), found, hint })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_was_tried_on_what_and_what_helps_and_escapes_the_path() {
        let error = FileDisk::open(Path::new("/nonexistent/\x1b[31m")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot open /nonexistent/\\u{1b}[31m for reading: \
             No such file or directory"
        );
        assert_eq!(error.hint(), Some("check the path; lsblk -p lists block devices"));
    }

    #[test]
    fn a_character_device_is_refused_without_being_opened() {
        let error = FileDisk::open(Path::new("/dev/null")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot read /dev/null as a disk: it is a character device, \
             not a regular file or block device"
        );
    }
}
