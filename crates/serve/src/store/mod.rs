//! The bytes of a served drive.

mod file;
mod memory;

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::{Arc, PoisonError, RwLock};

use file::FileStore;
use memory::MemoryStore;

use crate::ServeFault;

/// The bytes of a drive, sparse: what was never written reads as zeros and takes no room.
#[derive(Debug)]
pub struct Store {
    kept: Kept,
    /// Sectors of 512 bytes that cannot be read until they are written.
    unreadable: RwLock<BTreeSet<u64>>,
}

/// Unit of what cannot be read, in bytes: every logical sector is a multiple of it.
const SECTOR_BYTES: u64 = 512;

#[derive(Debug)]
enum Kept {
    Memory(MemoryStore),
    File(FileStore),
}

impl Store {
    /// A store in memory for `capacity_bytes`, of which it holds at most `memory_bytes` at once.
    #[must_use]
    pub fn memory(capacity_bytes: u64, memory_bytes: u64) -> Store {
        Store::of(Kept::Memory(MemoryStore::new(capacity_bytes, memory_bytes, None)))
    }

    /// A store in memory that holds what `base` holds, which is not written any more, until other
    /// bytes are written over it.
    #[must_use]
    pub fn over(base: Arc<Store>, capacity_bytes: u64, memory_bytes: u64) -> Store {
        Store::of(Kept::Memory(MemoryStore::new(capacity_bytes, memory_bytes, Some(base))))
    }

    fn of(kept: Kept) -> Store {
        Store { kept, unreadable: RwLock::default() }
    }

    /// A store in `file`, which is open for reading and writing, made `capacity_bytes` long.
    ///
    /// # Errors
    /// When the file cannot be made so long.
    pub fn file(file: File, capacity_bytes: u64) -> std::io::Result<Store> {
        Ok(Store::of(Kept::File(FileStore::new(file, capacity_bytes)?)))
    }

    /// Fills `buffer` from byte `offset_bytes` on.
    ///
    /// # Errors
    /// When the file cannot be read, or a sector cannot.
    pub fn read(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ServeFault> {
        let end = offset_bytes.saturating_add(buffer.len() as u64).div_ceil(SECTOR_BYTES);
        let bad = self.unreadable.read().unwrap_or_else(PoisonError::into_inner);
        if bad.range(offset_bytes / SECTOR_BYTES..end).next().is_some() {
            return Err(ServeFault::Store);
        }
        drop(bad);
        match &self.kept {
            Kept::Memory(memory) => memory.read(offset_bytes, buffer),
            Kept::File(file) => file.read(offset_bytes, buffer),
        }
    }

    /// Writes `data` from byte `offset_bytes` on.
    ///
    /// # Errors
    /// When there is no room for it, or the file fails; a part may be written then.
    pub fn write(&self, offset_bytes: u64, data: &[u8]) -> Result<(), ServeFault> {
        self.mark(offset_bytes, data.len() as u64, false);
        match &self.kept {
            Kept::Memory(memory) => memory.write(offset_bytes, data),
            Kept::File(file) => file.write(offset_bytes, data),
        }
    }

    /// Makes `length_bytes` from `offset_bytes` on read as zeros, and frees their room.
    ///
    /// # Errors
    /// When the file fails.
    pub fn discard(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), ServeFault> {
        self.mark(offset_bytes, length_bytes, false);
        match &self.kept {
            Kept::Memory(memory) => memory.discard(offset_bytes, length_bytes),
            Kept::File(file) => file.discard(offset_bytes, length_bytes),
        }
    }

    /// Makes reads of these whole sectors of 512 bytes fail until they are written again.
    pub fn spoil(&self, offset_bytes: u64, length_bytes: u64) {
        self.mark(offset_bytes, length_bytes, true);
    }

    fn mark(&self, offset_bytes: u64, length_bytes: u64, is_bad: bool) {
        let sectors = offset_bytes / SECTOR_BYTES
            ..offset_bytes.saturating_add(length_bytes).div_ceil(SECTOR_BYTES);
        let bad = self.unreadable.read().unwrap_or_else(PoisonError::into_inner);
        if !is_bad && bad.range(sectors.clone()).next().is_none() {
            return;
        }
        drop(bad);
        let mut bad = self.unreadable.write().unwrap_or_else(PoisonError::into_inner);
        if is_bad {
            bad.extend(sectors);
        } else {
            bad.retain(|sector| !sectors.contains(sector));
        }
    }

    /// Calls `visit` with the place and the bytes of each piece that a store in memory holds
    /// itself, in order, until one call fails; a store in a file has none.
    ///
    /// # Errors
    /// That of the call that failed.
    pub fn each_piece(
        &self,
        visit: impl FnMut(u64, &[u8]) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        match &self.kept {
            Kept::Memory(memory) => memory.each_page(visit),
            Kept::File(_) => Ok(()),
        }
    }

    /// Bytes of memory that it holds; `None` for a file.
    #[must_use]
    pub fn memory_bytes(&self) -> Option<u64> {
        match &self.kept {
            Kept::Memory(memory) => Some(memory.held_bytes()),
            Kept::File(_) => None,
        }
    }
}
