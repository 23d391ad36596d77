//! A few syncs of a small file, timed: what a scratch file is too much for. The file has no name,
//! or one that goes with the process where a file system does not sync what has none.
//!
//! Every return value is checked, and nothing is tried again: what a sync did that failed is not
//! known.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, ReadWriteFlags};
use std::io::IoSlice;
use thiserror::Error;
use units::DiskText;

use crate::Pinned;

use crate::engine::now_ns;
use crate::scratch::{Name, synced_file};

/// Length of each write, in bytes.
const WRITE_BYTES: usize = 8192;
/// Greatest length of the file, in bytes: a few hundred writes after each other.
const LENGTH_BYTES_MAX: u64 = 8 << 20;

/// Why no sync could be tried, or one failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{attempted} in {directory} failed: {reason}")]
pub struct TrialError {
    /// The call.
    pub attempted: &'static str,
    /// The directory.
    pub directory: DiskText,
    /// The kernel's error text, or the fault in its answer.
    pub reason: String,
    /// True if it was a sync that failed for more than lack of room: what was written may be lost,
    /// and nothing should be tried again.
    pub is_sync: bool,
    /// True if it was for lack of room: the file system is full, or a quota is reached.
    pub has_no_room: bool,
}

/// One thing that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialStep {
    /// The first bytes are written again, and `fdatasync`.
    Overwrite,
    /// The file is made longer, and `fdatasync`.
    Append,
    /// `fsync` with nothing to write.
    Empty,
    /// The first bytes are written again, without a sync. What it leaves is synced by the next.
    Write,
    /// The first bytes are written again with `RWF_DSYNC`.
    Dsync,
}

/// A file to try syncs on.
#[derive(Debug)]
pub struct SyncTrial {
    file: OwnedFd,
    /// Keeps the file's name, where it has one, until this is dropped.
    _name: Option<Name>,
    directory: DiskText,
    end_bytes: u64,
    bytes: Vec<u8>,
}

impl SyncTrial {
    /// A new file in `directory`, of a few KiB, written and synced; and how long that took, in
    /// nanoseconds.
    ///
    /// # Errors
    /// When the directory cannot be opened, a file cannot be made there, or a call fails. Nothing
    /// remains.
    pub fn create(directory: &Pinned) -> Result<(SyncTrial, u64), TrialError> {
        let place = directory.text();
        let failed = |attempted, error: Errno| TrialError {
            attempted,
            directory: place.clone(),
            reason: crate::errno::text_of(error),
            is_sync: false,
            has_no_room: has_no_room(error),
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(directory, c".", flags, Mode::empty())
            .map_err(|error| failed("opening the directory", error))?;
        let (file, name) = synced_file(&opened).map_err(|error| failed("making a file", error))?;
        let bytes = (0..=u8::MAX).cycle().take(WRITE_BYTES).collect();
        let mut trial = SyncTrial { file, _name: name, directory: place, end_bytes: 0, bytes };
        let made_ns = trial.step(TrialStep::Append)?;
        Ok((trial, made_ns))
    }

    /// Does `step`, and returns how long it took, in nanoseconds. An append that would make the
    /// file too long is an overwrite.
    ///
    /// # Errors
    /// When a call fails or writes less than asked.
    pub fn step(&mut self, step: TrialStep) -> Result<u64, TrialError> {
        // No two writes are the same, so that nothing can leave one out.
        self.bytes[0] = self.bytes[0].wrapping_add(1);
        let at_bytes = match step {
            TrialStep::Append if self.end_bytes < LENGTH_BYTES_MAX => self.end_bytes,
            _ => 0,
        };
        let begun_ns = now_ns();
        match step {
            TrialStep::Empty => {}
            TrialStep::Dsync => {
                self.write(at_bytes, ReadWriteFlags::DSYNC, "a write with RWF_DSYNC")?;
            }
            _ => self.write(at_bytes, ReadWriteFlags::empty(), "a write")?,
        }
        match step {
            TrialStep::Overwrite | TrialStep::Append => {
                let done = rustix::fs::fdatasync(&self.file);
                done.map_err(|error| self.failed("fdatasync", error))?;
            }
            TrialStep::Empty => {
                rustix::fs::fsync(&self.file).map_err(|error| self.failed("fsync", error))?;
            }
            TrialStep::Write | TrialStep::Dsync => {}
        }
        let took_ns = now_ns().saturating_sub(begun_ns);
        if at_bytes == self.end_bytes {
            self.end_bytes += self.written_bytes();
        }
        Ok(took_ns)
    }

    fn written_bytes(&self) -> u64 {
        device::disk::length_of(&self.bytes)
    }

    fn write(
        &self,
        at_bytes: u64,
        flags: ReadWriteFlags,
        attempted: &'static str,
    ) -> Result<(), TrialError> {
        let written = if flags.is_empty() {
            rustix::io::pwrite(&self.file, &self.bytes, at_bytes)
        } else {
            rustix::io::pwritev2(&self.file, &[IoSlice::new(&self.bytes)], at_bytes, flags)
        };
        match written {
            Ok(WRITE_BYTES) => Ok(()),
            Ok(bytes) => Err(TrialError {
                attempted,
                directory: self.directory.clone(),
                reason: format!("{bytes} of {WRITE_BYTES} bytes were written"),
                is_sync: false,
                // What is short for lack of room fails with it the next time.
                has_no_room: false,
            }),
            Err(error) => {
                // What cannot be asked for was not tried.
                let is_asked = !matches!(error, Errno::OPNOTSUPP | Errno::INVAL);
                let is_sync = !flags.is_empty() && is_asked;
                let failed = self.failed(attempted, error);
                Err(TrialError { is_sync: failed.is_sync && is_sync, ..failed })
            }
        }
    }

    fn failed(&self, attempted: &'static str, error: Errno) -> TrialError {
        let reason = crate::errno::text_of(error);
        let has_no_room = has_no_room(error);
        let directory = self.directory.clone();
        TrialError { attempted, directory, reason, is_sync: !has_no_room, has_no_room }
    }
}

/// Returns whether a file system is full, or a quota reached.
fn has_no_room(error: Errno) -> bool {
    matches!(error, Errno::NOSPC | Errno::DQUOT)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn syncs_can_be_tried_on_a_disk_and_in_memory_and_leave_nothing() {
        let scratch = testkit::Scratch::new();
        for directory in [scratch.path(), Path::new("/dev/shm")] {
            if !directory.exists() {
                continue;
            }
            let (mut trial, _) = SyncTrial::create(&Pinned::at(directory).unwrap()).unwrap();
            for step in [
                TrialStep::Overwrite,
                TrialStep::Append,
                TrialStep::Empty,
                TrialStep::Write,
                TrialStep::Dsync,
            ] {
                assert!(trial.step(step).unwrap() > 0, "{step:?}");
            }
            assert_eq!(trial.end_bytes, 2 * 8192);
        }
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_place_that_takes_no_file_says_what_was_tried() {
        let error = SyncTrial::create(&Pinned::at(Path::new("/proc")).unwrap()).unwrap_err();
        assert!(error.to_string().starts_with("making a file in /proc failed: "), "{error}");
        let file = Pinned::at(Path::new("/proc/version")).unwrap();
        let error = SyncTrial::create(&file).unwrap_err();
        assert!(error.to_string().starts_with("opening the directory in /proc/version"), "{error}");
    }
}
