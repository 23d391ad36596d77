//! A disk or an image on which a partition table is written: a device under its claim, or a regular
//! file that nobody else uses.
//!
//! Source: fcntl(2) and flock(2); QEMU `docs/system/images.rst` on image locking.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use device::{Disk, ReadError, WritableDisk, disk};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::claim::Claim;
use crate::errno::words_of;
use crate::{FileDisk, PathIdentity, Pinned, block_ioctls, loop_file};

/// Memory past the page cache starts on such an address.
const PAGE_BYTES: usize = 4096;

/// Advice where somebody may write to an image.
pub(crate) const IMAGE_IN_USE_HINT: &str = "end the program that has it open, such as a virtual \
                                            machine, or detach its loop device; then try again";

/// A disk that is open for reading and writing.
#[derive(Debug)]
pub struct TableDisk {
    disk: FileDisk,
    /// Unit of a write, in bytes; 1 for a file.
    sector_bytes: u64,
}

impl TableDisk {
    /// The device of `claim`.
    ///
    /// # Errors
    /// When the kernel does not say its logical sector, or no more files may be open.
    pub fn of_claim(claim: &Claim) -> Result<TableDisk, String> {
        let words = |error: io::Error| error.to_string();
        let disk = FileDisk::of_device(claim.try_clone().map_err(words)?).map_err(words_of)?;
        let sector =
            disk.inquiry().and_then(|answers| answers.logical_sector_bytes.value().copied());
        let sector_bytes = sector.ok_or("the kernel does not say its logical sector")?;
        Ok(TableDisk { disk, sector_bytes })
    }

    /// The regular file `image`, locked for this process alone until it is dropped.
    ///
    /// # Errors
    /// The reason: a loop device shows it, another program has it locked, or it may not be written.
    /// Of the first two, also what to do.
    pub fn of_image(image: &Pinned) -> Result<TableDisk, (String, Option<&'static str>)> {
        if let Some(device) = loops_over(image.identity()).next() {
            return Err((format!("the loop device {device} shows it"), Some(IMAGE_IN_USE_HINT)));
        }
        let other = |reason: String| (reason, None);
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = rustix::fs::open(image.path(), flags, Mode::empty());
        let file = file.map_err(words_of).map_err(other)?;
        locked(&file)?;
        let disk = FileDisk::of_file(file).map_err(|error| other(error.to_string()))?;
        if disk.identity() != image.identity() {
            return Err(other("another file is in its place by now".to_owned()));
        }
        Ok(TableDisk { disk, sector_bytes: 1 })
    }

    /// The disk, for reading.
    #[must_use]
    pub fn disk(&self) -> &FileDisk {
        &self.disk
    }

    /// Writes whole sectors, from memory that fits direct I/O.
    fn write_all(&self, offset_bytes: u64, bytes: &[u8]) -> Result<(), String> {
        let mut memory = vec![0; bytes.len() + PAGE_BYTES];
        let skip = memory.as_ptr().align_offset(PAGE_BYTES).min(PAGE_BYTES);
        let pages = &mut memory[skip..skip + bytes.len()];
        pages.copy_from_slice(bytes);
        let mut done = 0;
        while done < pages.len() {
            let at = offset_bytes + disk::length_of(&pages[..done]);
            match rustix::io::pwrite(&self.disk, &pages[done..], at) {
                Ok(0) => return Err("nothing more is taken".to_owned()),
                Ok(count) => done += count,
                Err(Errno::INTR) => {}
                Err(error) => return Err(words_of(error)),
            }
        }
        Ok(())
    }
}

/// QEMU locks bytes of an image, others the whole file by one of two calls; all of them are asked.
fn locked(file: &OwnedFd) -> Result<(), (String, Option<&'static str>)> {
    let taken = |error: Errno| match error {
        Errno::AGAIN | Errno::ACCESS => {
            ("another program has it locked".to_owned(), Some(IMAGE_IN_USE_HINT))
        }
        error => (format!("it cannot be locked: {}", words_of(error)), None),
    };
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).map_err(taken)?;
    rustix::fs::fcntl_lock(file, FlockOperation::NonBlockingLockExclusive).map_err(taken)
}

/// The loop devices that show a file.
pub(crate) fn loops_over(identity: PathIdentity) -> impl Iterator<Item = String> {
    let names = std::fs::read_dir("/sys/block").into_iter().flatten();
    names.flatten().filter_map(move |entry| {
        let PathIdentity::File { device, inode } = identity else { return None };
        let name = entry.file_name().into_string().ok()?;
        let is_loop = name.starts_with("loop");
        let path = std::fs::read_to_string(entry.path().join("loop/backing_file"));
        let path = path.ok().filter(|_| is_loop)?;
        let node = std::path::PathBuf::from(format!("/dev/{name}"));
        let is_behind = match loop_file(&node) {
            Ok(behind) => {
                let device = (rustix::fs::major(device), rustix::fs::minor(device));
                behind.device == device && behind.inode == inode
            }
            // Only root opens the device; everybody may read the path.
            Err(_) => {
                let path = std::path::Path::new(path.trim_end_matches('\n'));
                crate::identity(path).is_ok_and(|file| file == identity)
            }
        };
        is_behind.then(|| node.display().to_string())
    })
}

impl Disk for TableDisk {
    fn length_bytes(&self) -> u64 {
        self.disk.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.disk.read_at(offset_bytes, buffer)
    }
}

impl WritableDisk for TableDisk {
    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), String> {
        let words = |error: ReadError| error.to_string();
        disk::check_bounds(self.length_bytes(), offset_bytes, disk::length_of(bytes))
            .map_err(words)?;
        let start = offset_bytes.div_euclid(self.sector_bytes) * self.sector_bytes;
        let end = (offset_bytes + disk::length_of(bytes)).next_multiple_of(self.sector_bytes);
        if start == offset_bytes && end == offset_bytes + disk::length_of(bytes) {
            return self.write_all(offset_bytes, bytes);
        }
        let mut whole = disk::read_vec(&self.disk, start, end - start).map_err(words)?;
        let at = usize::try_from(offset_bytes - start).map_err(|error| error.to_string())?;
        whole[at..at + bytes.len()].copy_from_slice(bytes);
        self.write_all(start, &whole)
    }

    fn flush(&mut self) -> Result<(), String> {
        rustix::fs::fsync(self.disk.as_fd()).map_err(words_of)?;
        if self.disk.is_block_device() {
            // Readers by way of the page cache would see what was there before.
            let _ = block_ioctls::forget_cached(self.disk.as_fd());
        }
        Ok(())
    }

    fn extend(&mut self, length_bytes: u64) -> Result<(), String> {
        self.disk.extend(length_bytes)
    }
}
