//! A store in a sparse file.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt as _;

use rustix::fs::{FallocateFlags, fallocate};

use crate::ServeFault;

static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// A file that holds the bytes of a drive.
#[derive(Debug)]
pub(super) struct FileStore {
    file: File,
}

impl FileStore {
    pub(super) fn new(file: File, capacity_bytes: u64) -> std::io::Result<FileStore> {
        if file.metadata()?.len() < capacity_bytes {
            file.set_len(capacity_bytes)?;
        }
        Ok(FileStore { file })
    }

    pub(super) fn read(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ServeFault> {
        match self.file.read_exact_at(buffer, offset_bytes) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(ServeFault::Bounds),
            done => Ok(done?),
        }
    }

    pub(super) fn write(&self, offset_bytes: u64, data: &[u8]) -> Result<(), ServeFault> {
        Ok(self.file.write_all_at(data, offset_bytes)?)
    }

    pub(super) fn discard(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), ServeFault> {
        if length_bytes == 0 {
            return Ok(());
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if fallocate(&self.file, flags, offset_bytes, length_bytes).is_ok() {
            return Ok(());
        }
        // A file system without holes.
        let (mut at, end) = (offset_bytes, offset_bytes.saturating_add(length_bytes));
        while at < end {
            let length = (end - at).min(ZEROS.len() as u64);
            self.write(at, &ZEROS[..usize::try_from(length).unwrap_or(ZEROS.len())])?;
            at += length;
        }
        Ok(())
    }
}
