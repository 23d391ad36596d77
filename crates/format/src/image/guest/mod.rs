//! The guest's disk, read through an image: what lies inside is read like any other disk.
//!
//! The last windows of tables and the last decompressed cluster are held, so that reading a
//! superblock and then its neighbors costs a read each; zeros and what is nowhere cost none. A
//! backing file may be a guest too. Whoever opens a chain of them bounds its length and refuses a
//! file that is already in it (by device and inode, not by name): an image may name itself.

use std::cell::RefCell;
use std::ops::Deref;

use device::{Disk, ReadError, disk};

use super::inflate::{Wrapping, inflate};
use super::run::GuestRun;
use super::table_windows::{SEEK_BYTES, Windows};
use super::walk::follow;
use super::{GuestPlace, Image, ImageLayout, ReferenceRole, qcow2, vmdk};

/// Greatest number of images in a chain of backing files. Each one costs some stack when
/// bytes of the last are read, so whoever opens them has to bound them.
pub const CHAIN_MAX: usize = 64;

/// The largest cluster or grain that is decompressed.
const INFLATED_BYTES_MAX: u64 = 2 << 20;
/// The marker before a compressed grain: its sector and its length.
const MARKER_BYTES: u64 = 12;

/// The guest's disk.
///
/// The image and the disks are borrowed or shared: whatever the owner of the stack has.
pub struct Guest<I, D> {
    image: I,
    file: D,
    references: Vec<Option<D>>,
    backing: Option<D>,
    state: RefCell<GuestState>,
}

struct GuestState {
    windows: Windows,
    /// The guest address of the cluster that was last decompressed, and its bytes.
    inflated: Option<(u64, Vec<u8>)>,
}

impl<I: Deref<Target = Image>, D: Disk + Clone> Guest<I, D> {
    /// The guest of `image`, which was read from `file`. `references` has the disk of each of
    /// [`Image::references`] in order: the bytes of a raw file, the guest of an image. `None` for
    /// one that could not be opened: reading what lies in it then fails.
    #[must_use]
    pub fn new(image: I, file: D, references: Vec<Option<D>>) -> Guest<I, D> {
        let windows = Windows::new(SEEK_BYTES);
        let state = RefCell::new(GuestState { windows, inflated: None });
        let number = image.reference(ReferenceRole::Backing);
        let backing = number.and_then(|number| references.get(number).cloned().flatten());
        Guest { image, file, references, backing, state }
    }

    /// The run from `guest_bytes` on, joined with those that follow it up to `most` bytes.
    fn run(&self, windows: &mut Windows, guest_bytes: u64, most: u64) -> GuestRun {
        let mut run = self.image.run(&self.file, windows, guest_bytes);
        while run.length_bytes < most {
            let follows =
                run.place.as_ref().ok().and_then(|place| follow(*place, run.length_bytes));
            let next = guest_bytes.saturating_add(run.length_bytes);
            let (Some(follows), true) = (follows, next < self.image.virtual_bytes) else { break };
            let after = self.image.run(&self.file, windows, next);
            if after.place != Ok(follows) {
                break;
            }
            run.length_bytes = run.length_bytes.saturating_add(after.length_bytes);
        }
        run
    }

    /// Fills `buffer` from `guest_bytes` on, all of which lies at `run`.
    fn fill(
        &self,
        state: &mut GuestState,
        run: &GuestRun,
        guest_bytes: u64,
        buffer: &mut [u8],
    ) -> Result<(), ReadError> {
        let place = run.place.clone()?;
        let fail = |reason: &str| Err(failed(guest_bytes, disk::length_of(buffer), reason));
        match place {
            GuestPlace::Zero => buffer.fill(0),
            GuestPlace::Backing => return self.fill_from_backing(guest_bytes, buffer),
            _ if self.image.encrypted => return fail("the guest's bytes are encrypted"),
            GuestPlace::Here(offset) => return self.fill_from(&self.file, offset, buffer),
            GuestPlace::In(reference, offset) => {
                match self.references.get(reference).and_then(Option::as_ref) {
                    Some(disk) => return self.fill_from(disk, offset, buffer),
                    None => return fail("a file that holds it was not read (ST503)"),
                }
            }
            GuestPlace::Compressed(offset) => {
                let block_bytes = self.image.block_bytes.unwrap_or(0).max(1);
                let within = guest_bytes % block_bytes;
                let start = guest_bytes - within;
                if state.inflated.as_ref().is_none_or(|(held, _)| *held != start) {
                    state.inflated = None;
                    state.inflated = Some((start, self.inflated(run, offset, start)?));
                }
                let bytes = state.inflated.as_ref().map_or(&[][..], |(_, bytes)| bytes);
                let piece = usize::try_from(within)
                    .ok()
                    .and_then(|within| bytes.get(within..)?.get(..buffer.len()));
                match piece {
                    Some(piece) => buffer.copy_from_slice(piece),
                    None => return fail("they are missing from the compressed cluster"),
                }
            }
        }
        Ok(())
    }

    /// Returns what the backing file has; zeros behind its end, and where there is none.
    fn fill_from_backing(&self, guest_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let Some(backing) = &self.backing else {
            if self.image.reference(ReferenceRole::Backing).is_some() {
                let length = disk::length_of(buffer);
                return Err(failed(guest_bytes, length, "the backing file was not read (ST503)"));
            }
            buffer.fill(0);
            return Ok(());
        };
        read_padded(backing, guest_bytes, buffer)
    }

    /// Bytes of `disk` from `offset_bytes` on. The last cluster of some formats may be cut where
    /// nothing was written yet: that much reads as zeros, and no more.
    fn fill_from(
        &self,
        disk: &dyn Disk,
        offset_bytes: u64,
        buffer: &mut [u8],
    ) -> Result<(), ReadError> {
        let cut = match &self.image.layout {
            ImageLayout::Vhdx(tables) if tables.replay.is_some() => u64::MAX,
            _ if self.image.may_end_early() => self.image.block_bytes.unwrap_or(1),
            _ => 1,
        };
        let end = offset_bytes.saturating_add(disk::length_of(buffer));
        if end.saturating_sub(disk.length_bytes()) < cut {
            return read_padded(disk, offset_bytes, buffer);
        }
        disk.read_at(offset_bytes, buffer)
    }

    /// The decompressed cluster or grain that starts at guest byte `start` and is compressed at
    /// `offset`.
    fn inflated(&self, run: &GuestRun, offset: u64, start: u64) -> Result<Vec<u8>, ReadError> {
        let block_bytes = self.image.block_bytes.unwrap_or(0);
        let fail = |reason: &str| Err(failed(start, block_bytes, reason));
        if block_bytes > INFLATED_BYTES_MAX {
            return fail("too large a compressed grain");
        }
        let most = usize::try_from(block_bytes).unwrap_or(0);
        let (input, wrapping) = match &self.image.layout {
            ImageLayout::Qcow2(tables) if tables.compression == qcow2::Compression::Zstd => {
                return fail("zstd compression is not read");
            }
            ImageLayout::Qcow2(_) => {
                (disk::read_vec(&self.file, offset, run.compressed_bytes)?, Wrapping::Raw)
            }
            ImageLayout::Vmdk(tables) => (self.grain(tables, offset, start)?, Wrapping::Zlib),
            _ => return fail("compressed bytes in a format that has none"),
        };
        let needed = block_bytes.min(self.image.virtual_bytes.saturating_sub(start));
        match inflate(&input, wrapping, most) {
            Some(mut bytes) if disk::length_of(&bytes) >= needed => {
                bytes.resize(most, 0);
                Ok(bytes)
            }
            Some(_) => fail("the compressed cluster is too short"),
            None => fail("the compressed cluster is damaged"),
        }
    }

    /// The compressed bytes of a grain.
    fn grain(
        &self,
        tables: &vmdk::VmdkTables,
        offset: u64,
        start: u64,
    ) -> Result<Vec<u8>, ReadError> {
        let most = tables.grain_bytes.saturating_mul(2);
        if tables.compression != Some(vmdk::Compression::Marked) {
            let rest = self.file.length_bytes().saturating_sub(offset);
            return disk::read_vec(&self.file, offset, most.min(rest));
        }
        let marker: [u8; 12] = disk::read_array(&self.file, offset)?;
        let marker = crate::bytes::Block(marker);
        let (sector, length) = (marker.le64::<0>(), u64::from(marker.le32::<8>()));
        if sector != start.div_euclid(512) {
            let reason = format!("the grain's marker names sector {sector}");
            return Err(failed(start, tables.grain_bytes, &reason));
        }
        if length > most {
            let reason = format!("the grain's marker names {length} compressed bytes");
            return Err(failed(start, tables.grain_bytes, &reason));
        }
        disk::read_vec(&self.file, offset.saturating_add(MARKER_BYTES), length)
    }
}

fn failed(offset_bytes: u64, length_bytes: u64, reason: &str) -> ReadError {
    ReadError::Failed { offset_bytes, length_bytes, reason: reason.to_owned() }
}

/// Bytes of `disk`, and zeros behind its end.
pub(super) fn read_padded(
    disk: &dyn Disk,
    offset_bytes: u64,
    buffer: &mut [u8],
) -> Result<(), ReadError> {
    let there = disk.length_bytes().saturating_sub(offset_bytes);
    let there = usize::try_from(there).unwrap_or(usize::MAX).min(buffer.len());
    let (head, tail) = buffer.split_at_mut(there);
    tail.fill(0);
    if head.is_empty() { Ok(()) } else { disk.read_at(offset_bytes, head) }
}

impl<I: Deref<Target = Image>, D: Disk + Clone> Disk for Guest<I, D> {
    fn length_bytes(&self) -> u64 {
        self.image.virtual_bytes
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let length = disk::length_of(buffer);
        disk::check_bounds(self.image.virtual_bytes, offset_bytes, length)?;
        // A guest that is its own backing file, which nobody should build, would find this
        // borrowed.
        let Ok(mut state) = self.state.try_borrow_mut() else {
            return Err(failed(offset_bytes, length, "the image is its own backing file"));
        };
        let mut done = 0;
        while done < buffer.len() {
            let guest_bytes = offset_bytes + u64::try_from(done).unwrap_or(u64::MAX);
            let rest = &mut buffer[done..];
            let run = self.run(&mut state.windows, guest_bytes, disk::length_of(rest));
            let take = usize::try_from(run.length_bytes).unwrap_or(usize::MAX).min(rest.len());
            self.fill(&mut state, &run, guest_bytes, &mut rest[..take])?;
            done += take;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
