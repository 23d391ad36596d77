//! The bytes of a served drive.

mod file;
mod memory;

use std::fs::File;

use file::FileStore;
use memory::MemoryStore;

use crate::ServeFault;

/// The bytes of a drive, sparse: what was never written reads as zeros and takes no room.
#[derive(Debug)]
pub struct Store(Kept);

#[derive(Debug)]
enum Kept {
    Memory(MemoryStore),
    File(FileStore),
}

impl Store {
    /// A store in memory for `capacity_bytes`, of which it holds at most `memory_bytes` at once.
    #[must_use]
    pub fn memory(capacity_bytes: u64, memory_bytes: u64) -> Store {
        Store(Kept::Memory(MemoryStore::new(capacity_bytes, memory_bytes)))
    }

    /// A store in `file`, which is open for reading and writing, made `capacity_bytes` long.
    ///
    /// # Errors
    /// When the file cannot be made so long.
    pub fn file(file: File, capacity_bytes: u64) -> std::io::Result<Store> {
        Ok(Store(Kept::File(FileStore::new(file, capacity_bytes)?)))
    }

    /// Fills `buffer` from byte `offset_bytes` on.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ServeFault> {
        match &self.0 {
            Kept::Memory(memory) => {
                memory.read(offset_bytes, buffer);
                Ok(())
            }
            Kept::File(file) => file.read(offset_bytes, buffer),
        }
    }

    /// Writes `data` from byte `offset_bytes` on.
    ///
    /// # Errors
    /// When there is no room for it, or the file fails; a part may be written then.
    pub fn write(&self, offset_bytes: u64, data: &[u8]) -> Result<(), ServeFault> {
        match &self.0 {
            Kept::Memory(memory) => memory.write(offset_bytes, data),
            Kept::File(file) => file.write(offset_bytes, data),
        }
    }

    /// Makes `length_bytes` from `offset_bytes` on read as zeros, and frees their room.
    ///
    /// # Errors
    /// When the file fails.
    pub fn discard(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), ServeFault> {
        match &self.0 {
            Kept::Memory(memory) => {
                memory.discard(offset_bytes, length_bytes);
                Ok(())
            }
            Kept::File(file) => file.discard(offset_bytes, length_bytes),
        }
    }

    /// Bytes of memory that it holds; `None` for a file.
    #[must_use]
    pub fn memory_bytes(&self) -> Option<u64> {
        match &self.0 {
            Kept::Memory(memory) => Some(memory.held_bytes()),
            Kept::File(_) => None,
        }
    }
}
