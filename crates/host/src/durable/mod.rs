//! Writes made durable in every way that Linux has, one at a time, each call checked.
//!
//! All of it happens in scratch files ([`Scratch`]) that are gone with the process. The first is
//! written in full, as `pg_test_fsync` does; the others are made only where a way needs them: one
//! whose space is taken and never written, one that grows, and one that another thread writes.
//!
//! | failed | what follows |
//! |---|---|
//! | a sync, or a write that is one (`O_DSYNC`), with EIO | nothing is written or tried again |
//! | anything for lack of room (ENOSPC, EDQUOT), a sync too | its way means nothing; others go on |
//! | a write that is short, or fails otherwise | its way means nothing; others go on |
//! | direct I/O or a call that is not there | its way is not available; others go on |
//!
//! Source: open(2), pwrite(2), fsync(2), sync_file_range(2); PostgreSQL
//! `src/bin/pg_test_fsync/pg_test_fsync.c`; Rebello and others, ATC 2020, on syncs that fail.

mod checked_calls;
mod files;
mod neighbor;
mod plan;

pub use plan::DurablePlan;

use device::durable::{DurableMethod, Method, WritePlace};
use device::{Durable, DurableFault};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::Interrupt;
use crate::engine::{Buffers, EngineError, now_ns};
use crate::scratch::{Scratch, ScratchError};

use self::checked_calls::CallFailure;
use self::files::OpenedFiles;
use self::neighbor::Neighbor;

/// The files, and what is being done in them.
#[derive(Debug)]
pub struct DurableFiles {
    ways: Vec<DurableMethod>,
    files: OpenedFiles,
    neighbor: Option<Neighbor>,
    buffers: Buffers,
    interrupt: Interrupt,
    /// The file that the present way writes to.
    open: Option<OwnedFd>,
    written_bytes: u64,
}

impl DurableFiles {
    /// Makes the files in `plan.directory`, writes the first one and syncs it.
    ///
    /// # Errors
    /// When they cannot be made or would take too much room, when a call fails, and when the user
    /// wants no more, or the time for it is over ([`ScratchError::Stopped`]). Nothing remains.
    pub fn create(plan: &DurablePlan<'_>) -> Result<DurableFiles, ScratchError> {
        let end_ns = now_ns().saturating_add(plan.ready_ns);
        let files = OpenedFiles::create(plan, end_ns)?;
        let neighbor = match plan.ways.iter().any(|way| way.is_contended) {
            true => Some(Neighbor::start(plan, end_ns)?),
            false => None,
        };
        let longest = plan.ways.iter().map(|way| way.write_bytes).max().unwrap_or(0).max(4096);
        let no_memory = |error: EngineError| ScratchError::Refused {
            attempted: "get memory to write from in",
            directory: files.first.directory().clone(),
            reason: error.to_string(),
        };
        let mut buffers = Buffers::new(1, longest).map_err(no_memory)?;
        buffers.fill(plan.seed);
        let written_bytes = plan.made_bytes();
        Ok(DurableFiles {
            ways: plan.ways.to_vec(),
            interrupt: plan.interrupt.clone(),
            files,
            neighbor,
            buffers,
            open: None,
            written_bytes,
        })
    }

    /// The type of the file system: `ext4`.
    #[must_use]
    pub fn filesystem(&self) -> &str {
        self.files.first.filesystem()
    }

    /// The first file, on which the ways that write over what is there work.
    #[must_use]
    pub fn scratch(&self) -> &Scratch {
        &self.files.first
    }

    /// Opens what `way` writes to.
    fn opened(&self, way: DurableMethod) -> Result<OwnedFd, DurableFault> {
        let path = self.files.of(way.place).path();
        checked_calls::open(&path, way)
            .map_err(|error| checked_calls::not_opened(error, way, self.filesystem()))
    }

    /// Does the writes and the sync of `way` from `offset_bytes` on; how long that took.
    fn timed(&mut self, way: DurableMethod, offset_bytes: u64) -> Result<u64, CallFailure> {
        let length = usize::try_from(way.write_bytes).expect("32 bits fit");
        let bytes = &self.buffers.slot(0)[..length];
        let writes = if way.place == WritePlace::Nothing { 0 } else { way.writes };
        match way.method {
            Method::WriteFsyncClose | Method::WriteCloseFsync => {
                let path = self.files.first.path();
                let begun_ns = now_ns();
                checked_calls::on_descriptors(&path, way.method, bytes)?;
                Ok(now_ns().saturating_sub(begun_ns))
            }
            _ => {
                let file = self.open.as_ref().expect("begin opened it").as_fd();
                let begun_ns = now_ns();
                let mut at_bytes = offset_bytes;
                for _ in 0..writes {
                    checked_calls::write(file, bytes, at_bytes)?;
                    at_bytes += u64::from(way.write_bytes);
                }
                synced(file, way.method, offset_bytes, at_bytes - offset_bytes)?;
                Ok(now_ns().saturating_sub(begun_ns))
            }
        }
    }
}

/// Makes durable what was written to `file`.
#[inline]
fn synced(file: BorrowedFd<'_>, method: Method, at: u64, bytes: u64) -> Result<(), CallFailure> {
    match method {
        Method::Fdatasync => checked_calls::fdatasync(file),
        Method::Fsync => checked_calls::fsync(file),
        Method::SyncFileRange => checked_calls::sync_file_range(file, at, bytes),
        _ => Ok(()),
    }
}

impl Durable for DurableFiles {
    fn begin(&mut self, way: usize) -> Result<(), DurableFault> {
        let row = self.ways[way];
        if row.method == Method::Writethrough {
            let reason = "Linux has no fsync_writethrough (F_FULLFSYNC)";
            return Err(DurableFault::Unavailable(reason.to_owned()));
        }
        self.open = Some(self.opened(row)?);
        if let (true, Some(neighbor)) = (row.is_contended, &mut self.neighbor) {
            neighbor.go()?;
        }
        if row.method == Method::None {
            // The page cache takes them all; the drive gets what is left at the end.
            self.written_bytes = self.written_bytes.saturating_add(row.operation_bytes());
        }
        Ok(())
    }

    fn once(&mut self, way: usize) -> Result<u64, DurableFault> {
        let row = self.ways[way];
        let offset_bytes = self.files.next(row.place, row.operation_bytes())?;
        let took_ns = self.timed(row, offset_bytes).map_err(|step| step.fault(row))?;
        if row.method != Method::None {
            self.written_bytes = self.written_bytes.saturating_add(row.operation_bytes());
        }
        Ok(took_ns.max(1))
    }

    fn end(&mut self, way: usize) -> Result<(), DurableFault> {
        let row = self.ways[way];
        if let (true, Some(neighbor)) = (row.is_contended, &mut self.neighbor) {
            let written_bytes = neighbor.stop()?;
            self.written_bytes = self.written_bytes.saturating_add(written_bytes);
        }
        if matches!(row.method, Method::None | Method::SyncFileRange) {
            // What was left in caches is no row's to pay for.
            let file = self.open.as_ref().expect("begin opened it").as_fd();
            checked_calls::fsync(file).map_err(|step| step.fault(row))?;
        }
        self.open = None;
        Ok(())
    }

    fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    fn now_ns(&self) -> u64 {
        now_ns()
    }

    fn goes_on(&self) -> bool {
        !self.interrupt.is_raised()
    }
}

#[cfg(test)]
mod tests;
