//! The scratch files, each made for a kind of place.

use device::DurableFault;
use device::durable::WritePlace;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use crate::engine::now_ns;
use crate::scratch::{Scratch, ScratchError};

use super::plan::{DurablePlan, SEED_BYTES};

#[derive(Debug)]
pub(super) struct OpenedFiles {
    /// Written in full.
    pub(super) first: Scratch,
    preallocated: Option<Scratch>,
    growing: Option<Scratch>,
    /// Greatest length of the last two, in bytes.
    room_bytes: u64,
    /// Offset of the next write in the first, in bytes.
    first_at: u64,
    /// And in the one whose space is taken; `None` before it is.
    preallocated_at: Option<u64>,
}

impl OpenedFiles {
    /// Makes them, no longer than until `end_ns`.
    pub(super) fn create(plan: &DurablePlan<'_>, end_ns: u64) -> Result<OpenedFiles, ScratchError> {
        Scratch::possible_anywhere(&plan.directory, plan.whole())?;
        let goes_on = |_| !plan.interrupt.is_raised() && now_ns() < end_ns;
        let scratch = |length_bytes| {
            Scratch::create_anywhere_while(&plan.directory, plan.of_length(length_bytes), goes_on)
        };
        let small = |place| match plan.ways.iter().any(|way| way.place == place) {
            true => scratch(SEED_BYTES).map(Some),
            false => Ok(None),
        };
        let made = OpenedFiles {
            first: scratch(plan.file_bytes)?,
            preallocated: small(WritePlace::Preallocated)?,
            growing: small(WritePlace::Append)?,
            room_bytes: plan.room_bytes,
            first_at: 0,
            preallocated_at: None,
        };
        Ok(made)
    }

    /// The file for writes to `place`.
    pub(super) fn of(&self, place: WritePlace) -> &Scratch {
        let own = match place {
            WritePlace::Preallocated => self.preallocated.as_ref(),
            WritePlace::Append => self.growing.as_ref(),
            WritePlace::Overwrite | WritePlace::Sequential | WritePlace::Nothing => None,
        };
        own.unwrap_or(&self.first)
    }

    /// Returns the offset for the next `bytes` of `place`. A full file starts over, untimed.
    pub(super) fn next(&mut self, place: WritePlace, bytes: u64) -> Result<u64, DurableFault> {
        match place {
            WritePlace::Overwrite | WritePlace::Nothing => Ok(0),
            WritePlace::Sequential => {
                let fits = self.first_at.saturating_add(bytes) <= self.first.length_bytes();
                let at_bytes = if fits { self.first_at } else { 0 };
                self.first_at = at_bytes.saturating_add(bytes);
                Ok(at_bytes)
            }
            WritePlace::Preallocated => {
                let at = self.preallocated_at.filter(|at| self.has_room(*at, bytes));
                let at_bytes = match at {
                    Some(at_bytes) => at_bytes,
                    None => self.renewed(place)?,
                };
                self.preallocated_at = Some(at_bytes.saturating_add(bytes));
                Ok(at_bytes)
            }
            WritePlace::Append => match self.end_bytes(place)? {
                end_bytes if self.has_room(end_bytes, bytes) => Ok(end_bytes),
                _ => self.renewed(place),
            },
        }
    }

    fn has_room(&self, at_bytes: u64, bytes: u64) -> bool {
        at_bytes.saturating_add(bytes) <= self.room_bytes
    }

    /// Returns the length of the file for `place`, in bytes.
    fn end_bytes(&self, place: WritePlace) -> Result<u64, DurableFault> {
        let stat = rustix::fs::fstat(self.of(place).fd()).map_err(|error| void("fstat", error))?;
        Ok(u64::try_from(stat.st_size).unwrap_or(0))
    }

    /// Makes the file for `place` empty, takes its space again where it is preallocated, and syncs
    /// that; where writing begins.
    fn renewed(&self, place: WritePlace) -> Result<u64, DurableFault> {
        let file = self.of(place).fd();
        rustix::fs::ftruncate(file, 0).map_err(|error| void("ftruncate", error))?;
        if place == WritePlace::Preallocated {
            let taken = rustix::fs::fallocate(file, FallocateFlags::empty(), 0, self.room_bytes);
            match taken {
                Ok(()) => {}
                Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                    let reason = "the file system does not take space ahead (fallocate)";
                    return Err(DurableFault::Unavailable(reason.to_owned()));
                }
                Err(error) => return Err(void("fallocate", error)),
            }
        }
        rustix::fs::fsync(file).map_err(|error| match error {
            Errno::NOSPC | Errno::DQUOT => void("fsync", error),
            _ => DurableFault::Stopped(format!("fsync failed: {}", std::io::Error::from(error))),
        })?;
        Ok(0)
    }
}

fn void(call: &str, error: Errno) -> DurableFault {
    let reason = format!("{call} of the scratch file failed: {}", std::io::Error::from(error));
    match error {
        Errno::NOSPC | Errno::DQUOT => DurableFault::NoRoom(reason),
        _ => DurableFault::Void(reason),
    }
}
