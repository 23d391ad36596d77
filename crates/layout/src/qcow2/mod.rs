//! The guest's disk in a qcow2 image, for writing.
//!
//! A cluster that the active table alone refers to is written in its place. Any other is never
//! touched: its guest content and the change go to a new cluster at the end of the file. The
//! refcounts are flushed first, then the data and a new L2 table, then the one entry that
//! leads there; the count of what was there before is lowered last. A power cut between two of them
//! leaves the old bytes or the new ones, and at worst a cluster that nobody uses.
//!
//! Snapshots and backing files are never written. Source: QEMU `docs/interop/qcow2.txt`.

mod entry;
mod header;
mod usage;

use std::rc::Rc;

use device::{Disk, ReadError, WritableDisk, disk};
use format::image::guest::Guest;
use format::image::{GuestPlace, Image};
use units::ByteRange;

use crate::refusal::NoPlan;
use entry::{COPIED, Entry};
use header::{Header, number, padded, unwritten};

/// Unit in which entries of tables are written, in bytes.
const SECTOR_BYTES: u64 = 512;

/// The guest's disk in a qcow2 image. Reads and writes are of guest bytes.
pub struct Qcow2Disk<F> {
    file: F,
    backing: Option<Rc<dyn Disk>>,
    image: Image,
    header: Header,
    /// References to each cluster of the file.
    used: Vec<u8>,
}

/// A cluster that goes to a new place.
struct Moved {
    guest_bytes: u64,
    old: Entry,
    content: Vec<u8>,
}

impl<F: Disk> Qcow2Disk<F> {
    /// The guest's disk of the image in `file`, over the guest bytes of its backing file. All
    /// tables are read and compared with the refcounts.
    ///
    /// # Errors
    /// Why the image is not written; in the hint, TARGET stands for its name.
    pub fn open(file: F, backing: Option<Rc<dyn Disk>>) -> Result<Qcow2Disk<F>, NoPlan> {
        let (header, image) = Header::read(&file)?;
        if !image.virtual_bytes.is_multiple_of(SECTOR_BYTES) {
            return Err(unwritten("its guest's disk is not a multiple of 512 bytes long"));
        }
        let used = usage::counted(&file, &header)?;
        Ok(Qcow2Disk { file, backing, image, header, used })
    }

    /// The file.
    #[must_use]
    pub fn into_file(self) -> F {
        self.file
    }

    /// Facts of the header.
    #[must_use]
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Number of internal snapshots.
    #[must_use]
    pub fn snapshots(&self) -> u32 {
        self.header.snapshots.1
    }

    /// Rejects writes that the image has no room for, or whose clusters cannot be read.
    ///
    /// # Errors
    /// The reason, and what to do instead.
    pub fn takes(&self, ranges: &[ByteRange]) -> Result<(), NoPlan> {
        let bytes = self.header.cluster_bytes();
        let mut fresh = 0;
        for range in ranges {
            let (first, last) = (range.start_bytes() / bytes, range.end_bytes().div_ceil(bytes));
            let span = self.header.span_bytes();
            fresh += last - first + range.length_bytes() / span + 2;
            for cluster in first..last {
                let read = self.entry(cluster * bytes).and_then(|_| self.content(cluster * bytes));
                read.map_err(|reason| NoPlan::new(reason, None))?;
            }
        }
        let per_block = self.header.per_block();
        let end = disk::length_of(&self.used) + fresh + fresh / per_block + 2;
        if end.div_ceil(per_block) > self.header.counts.length_bytes() / 8 {
            return Err(unwritten("its refcount table is full"));
        }
        Ok(())
    }

    /// The first byte at or after `guest_bytes` that may not be zero; the length of the guest's
    /// disk where none follows.
    #[must_use]
    pub fn next_data(&self, guest_bytes: u64) -> u64 {
        let mut at = guest_bytes;
        while let Ok(Some(extent)) = self.image.locate(&self.file, at) {
            match extent.place {
                GuestPlace::Zero => {}
                GuestPlace::Backing if self.image.references.is_empty() => {}
                _ => return at,
            }
            at = extent.guest.end_bytes();
        }
        at
    }

    fn word(&self, at: u64) -> Result<u64, String> {
        padded(&self.file, at, 8).map(|bytes| number(&bytes)).map_err(|error| error.to_string())
    }

    /// Place of the L1 entry for a guest byte.
    fn directory_place(&self, guest_bytes: u64) -> Result<u64, String> {
        let at = guest_bytes / self.header.span_bytes() * 8;
        let directory = self.header.directory;
        let is_in = at < directory.length_bytes();
        is_in.then(|| directory.start_bytes() + at).ok_or("its L1 table is too short".to_owned())
    }

    /// Byte of the L2 entry for a guest byte within its table.
    fn slot(&self, guest_bytes: u64) -> u64 {
        guest_bytes % self.header.span_bytes() / self.header.cluster_bytes() * 8
    }

    /// The L1 entry and the L2 entry for a guest byte.
    fn entry(&self, guest_bytes: u64) -> Result<(Entry, Entry), String> {
        let table = Entry(self.word(self.directory_place(guest_bytes)?)?);
        let place = table.place(&self.header, true).map_err(|()| "an L1 entry is damaged")?;
        let entry = match place {
            None => 0,
            Some((at, _)) => self.word(at + self.slot(guest_bytes))?,
        };
        Ok((table, Entry(entry)))
    }

    /// The place of a cluster that the active table alone refers to; `None` for any other.
    fn own(&self, entry: Entry) -> Result<Option<u64>, String> {
        let Some(at) = entry.own() else { return Ok(None) };
        let cluster = at / self.header.cluster_bytes();
        let used = usize::try_from(cluster).ok().and_then(|cluster| self.used.get(cluster));
        let is_own = used == Some(&1) && self.count(cluster)? == 1;
        Ok(is_own.then_some(at))
    }

    /// Place of a cluster's refcount; `None` where no block counts it.
    fn count_place(&self, cluster: u64) -> Result<Option<u64>, String> {
        let slot = cluster / self.header.per_block() * 8;
        if slot >= self.header.counts.length_bytes() {
            return Err("its refcount table is full".to_owned());
        }
        let block = self.word(self.header.counts.start_bytes() + slot)?;
        let within = cluster % self.header.per_block() * self.header.count_bytes;
        Ok((block != 0).then_some(block + within))
    }

    fn count(&self, cluster: u64) -> Result<u64, String> {
        let Some(at) = self.count_place(cluster)? else { return Ok(0) };
        let bytes = padded(&self.file, at, self.header.count_bytes);
        bytes.map(|bytes| number(&bytes)).map_err(|error| error.to_string())
    }

    /// Guest bytes of the whole cluster that starts at `guest_bytes`; zeros past the guest's end.
    fn content(&self, guest_bytes: u64) -> Result<Vec<u8>, String> {
        let bytes = self.header.cluster_bytes();
        let there = bytes.min(self.image.virtual_bytes.saturating_sub(guest_bytes));
        let read = disk::read_vec(self, guest_bytes, there);
        let mut content = read.map_err(|error| error.to_string())?;
        content.resize(index(bytes), 0);
        Ok(content)
    }
}

impl<F: WritableDisk> Qcow2Disk<F> {
    /// Writes `bytes`, all of them under one L2 table.
    fn put(&mut self, guest_bytes: u64, bytes: &[u8]) -> Result<(), String> {
        let cluster_bytes = self.header.cluster_bytes();
        let (table, _) = self.entry(guest_bytes)?;
        let own_table = self.own(table)?;
        let (mut at, mut rest, mut moved) = (guest_bytes, bytes, Vec::new());
        while !rest.is_empty() {
            let within = at % cluster_bytes;
            let take = index(cluster_bytes - within).min(rest.len());
            let (piece, after) = rest.split_at(take);
            let (_, old) = self.entry(at)?;
            match self.own(old)?.filter(|_| own_table.is_some()) {
                Some(place) => self.file.write_at(place + within, piece)?,
                None => {
                    let mut content = self.content(at - within)?;
                    content[index(within)..][..take].copy_from_slice(piece);
                    moved.push(Moved { guest_bytes: at - within, old, content });
                }
            }
            (at, rest) = (at + disk::length_of(piece), after);
        }
        if moved.is_empty() { Ok(()) } else { self.put_elsewhere(&moved, table, own_table) }
    }

    /// Writes clusters to new places, and the entries that lead there.
    fn put_elsewhere(
        &mut self,
        moved: &[Moved],
        table: Entry,
        own_table: Option<u64>,
    ) -> Result<(), String> {
        let mut places = Vec::new();
        for _ in moved {
            places.push(self.allocated()?);
        }
        let new_table = if own_table.is_none() { Some(self.allocated()?) } else { None };
        self.file.flush()?;
        for (one, &place) in moved.iter().zip(&places) {
            self.file.write_at(place, &one.content)?;
        }
        if let Some(place) = new_table {
            let content = self.table_with(table, moved, &places)?;
            self.file.write_at(place, &content)?;
        }
        self.file.flush()?;
        let first = moved.first().map_or(0, |one| one.guest_bytes);
        match (new_table, own_table) {
            (Some(place), _) => self.put_word(self.directory_place(first)?, place | COPIED)?,
            (None, Some(at)) => {
                for (one, &place) in moved.iter().zip(&places) {
                    self.put_word(at + self.slot(one.guest_bytes), place | COPIED)?;
                }
            }
            (None, None) => {}
        }
        self.file.flush()?;
        moved.iter().try_for_each(|one| self.release(one.old, false))?;
        if new_table.is_some() { self.release(table, true) } else { Ok(()) }
    }

    /// The content of an L2 table that replaces `table`, with the new entries.
    fn table_with(&self, table: Entry, moved: &[Moved], places: &[u64]) -> Result<Vec<u8>, String> {
        let damaged = |()| "an L1 entry is damaged".to_owned();
        let mut content = match table.place(&self.header, true).map_err(damaged)? {
            None => vec![0; index(self.header.cluster_bytes())],
            Some((at, length)) => {
                disk::read_vec(&self.file, at, length).map_err(|error| error.to_string())?
            }
        };
        for (one, place) in moved.iter().zip(places) {
            let slot = index(self.slot(one.guest_bytes));
            content[slot..slot + 8].copy_from_slice(&(place | COPIED).to_be_bytes());
        }
        Ok(content)
    }

    /// A new cluster at the end of the file, counted; a block that counts it is added before, where
    /// there is none.
    fn allocated(&mut self) -> Result<u64, String> {
        loop {
            let cluster = disk::length_of(&self.used);
            let at = cluster << self.header.cluster_bits;
            let counted = self.count_place(cluster)?;
            self.file.extend(at + self.header.cluster_bytes())?;
            self.used.push(1);
            if counted.is_some() {
                self.put_count(cluster, 1)?;
                return Ok(at);
            }
            // The block counts itself.
            let (width, within) = (self.header.count_bytes, cluster % self.header.per_block());
            let mut block = vec![0; index(self.header.cluster_bytes())];
            block[index(within * width + width - 1)] = 1;
            self.file.write_at(at, &block)?;
            self.file.flush()?;
            let slot = cluster / self.header.per_block() * 8;
            self.put_word(self.header.counts.start_bytes() + slot, at)?;
            self.file.flush()?;
        }
    }

    /// Lowers the counts of the clusters that `entry` refers to.
    fn release(&mut self, entry: Entry, is_table: bool) -> Result<(), String> {
        let damaged = |()| "an entry of a table is damaged".to_owned();
        let place = entry.place(&self.header, is_table).map_err(damaged)?;
        let Some((at, length)) = place else { return Ok(()) };
        let bytes = self.header.cluster_bytes();
        for cluster in at / bytes..(at + length).div_ceil(bytes) {
            let count = self.count(cluster)?;
            self.put_count(cluster, count.saturating_sub(1))?;
            // 255 stands for more, and stays.
            if let Some(used) = self.used.get_mut(index(cluster)).filter(|used| **used < u8::MAX) {
                *used = used.saturating_sub(1);
            }
        }
        Ok(())
    }

    fn put_count(&mut self, cluster: u64, count: u64) -> Result<(), String> {
        let at = self.count_place(cluster)?.ok_or("a cluster in use has no refcount")?;
        let width = index(self.header.count_bytes);
        self.patch(at, &count.to_be_bytes()[8 - width..])
    }

    fn put_word(&mut self, at: u64, word: u64) -> Result<(), String> {
        self.patch(at, &word.to_be_bytes())
    }

    /// Writes a few bytes that are within one sector.
    fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<(), String> {
        let within = index(at % SECTOR_BYTES);
        let start = at - at % SECTOR_BYTES;
        let mut sector: [u8; 512] =
            disk::read_array(&self.file, start).map_err(|error| error.to_string())?;
        sector[within..within + bytes.len()].copy_from_slice(bytes);
        self.file.write_at(start, &sector)
    }
}

/// A length or a place in memory.
fn index(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl<F: Disk> Disk for Qcow2Disk<F> {
    fn length_bytes(&self) -> u64 {
        self.image.virtual_bytes
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let file: &dyn Disk = &self.file;
        let backing = self.image.references.iter().map(|_| self.backing.as_deref()).collect();
        Guest::new(&self.image, file, backing).read_at(offset_bytes, buffer)
    }
}

impl<F: WritableDisk> WritableDisk for Qcow2Disk<F> {
    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), String> {
        let length = self.image.virtual_bytes;
        disk::check_bounds(length, offset_bytes, disk::length_of(bytes))
            .map_err(|error| error.to_string())?;
        // The last cluster may be cut where nothing was written yet.
        let whole = disk::length_of(&self.used) * self.header.cluster_bytes();
        if self.file.length_bytes() < whole {
            self.file.extend(whole)?;
        }
        let (mut at, mut rest) = (offset_bytes, bytes);
        while !rest.is_empty() {
            let span = self.header.span_bytes();
            let (piece, after) = rest.split_at(index(span - at % span).min(rest.len()));
            self.put(at, piece)?;
            (at, rest) = (at + disk::length_of(piece), after);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), String> {
        self.file.flush()
    }
}
