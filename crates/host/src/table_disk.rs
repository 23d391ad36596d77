//! A disk or an image on which a partition table is written: a device under its claim, or a regular
//! file that nobody else uses.
//!
//! Source: fcntl(2) and flock(2); QEMU `docs/system/images.rst` on image locking.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use device::{Disk, ReadError, WritableDisk, disk};
use rustix::fs::{Access, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::claim::{self, Claim};
use crate::errno::words_of;
use crate::image_writer::{ImageRefusal, file_writer, loops_over};
use crate::{FileDisk, Pinned, block_ioctls};

/// Memory past the page cache starts on such an address.
const PAGE_BYTES: usize = 4096;

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
    /// A loop device shows it, another program has it open for writing or locked, or it may not be
    /// written.
    pub fn of_image(image: &Pinned) -> Result<TableDisk, ImageRefusal> {
        let file = unused(image, OFlags::RDWR)?;
        let lock = rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive);
        lock.map_err(|error| unlocked(image, error))?;
        let disk = FileDisk::of_file(file).map_err(|error| other(image, &error.to_string()))?;
        if disk.identity() != image.identity() {
            return Err(other(image, "another file is in its place by now"));
        }
        Ok(TableDisk { disk, sector_bytes: 1 })
    }

    /// Rejects `image` if somebody else uses it or it may not be written, without opening it for
    /// writing.
    ///
    /// # Errors
    /// Same as [`TableDisk::of_image`].
    pub fn rehearse_image(image: &Pinned) -> Result<(), ImageRefusal> {
        let may_write = rustix::fs::access(image.path(), Access::WRITE_OK);
        may_write.map_err(|error| other(image, &words_of(error)))?;
        unused(image, OFlags::RDONLY)?;
        match claim::is_locked(image.identity()) {
            true => Err(unlocked(image, Errno::AGAIN)),
            false => Ok(()),
        }
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

/// An image that nobody else shows or has open for writing, opened and locked by flock(2). QEMU
/// locks bytes of an image, others the whole file by one of two calls; the caller asks for the
/// other.
fn unused(image: &Pinned, access: OFlags) -> Result<OwnedFd, ImageRefusal> {
    let name = image.text().to_string();
    if let Some(device) = loops_over(image.identity()).next() {
        return Err(ImageRefusal::shown_by(&name, &device));
    }
    if let Some(writer) = file_writer(image.identity(), &image.path(), &name) {
        return Err(writer);
    }
    let flags = access | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = rustix::fs::open(image.path(), flags, Mode::empty());
    let file = file.map_err(|error| other(image, &words_of(error)))?;
    let lock = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
    lock.map_err(|error| unlocked(image, error))?;
    Ok(file)
}

fn other(image: &Pinned, why: &str) -> ImageRefusal {
    ImageRefusal { reason: format!("cannot write {}: {why}", image.text()), hint: None }
}

/// The refusal of an image that cannot be locked.
fn unlocked(image: &Pinned, error: Errno) -> ImageRefusal {
    let name = image.text().to_string();
    match error {
        Errno::AGAIN | Errno::ACCESS => {
            ImageRefusal::in_use(&name, "another program has it locked", claim::LOCKS_HINT)
        }
        error => other(image, &format!("it cannot be locked: {}", words_of(error))),
    }
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
