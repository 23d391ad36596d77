//! The durable writes that are wanted, and how much room their files take.

use device::durable::{DurableMethod, WritePlace};

use crate::scratch::{Scratch, ScratchError, ScratchPlan};
use crate::{Interrupt, Pinned};

/// Length of a small file, before it is made empty.
pub(super) const SEED_BYTES: u64 = 4096;
/// The most that the other writer writes in one slice, in bytes.
pub(super) const NEIGHBOR_BYTES_MAX: u64 = 1 << 20;

/// The durable writes that are wanted, and their directory.
#[derive(Clone, Debug)]
pub struct DurablePlan<'a> {
    /// The directory whose file system is meant.
    pub directory: Pinned,
    /// The ways, each known by its number here.
    pub ways: &'a [DurableMethod],
    /// The length of the file that is written over, in bytes: a multiple of 4096.
    pub file_bytes: u64,
    /// Greatest length of each file that grows, or whose space is taken, in bytes.
    pub room_bytes: u64,
    /// Seed of the written bytes.
    pub seed: u64,
    /// Largest number of bytes that making the files may write.
    pub budget_bytes: u64,
    /// Longest time for making the files, in nanoseconds; a call that is under way is waited for.
    pub ready_ns: u64,
    /// Ends it early when raised.
    pub interrupt: Interrupt,
}

impl DurablePlan<'_> {
    /// Largest number of bytes in all files together.
    #[must_use]
    pub fn scratch_bytes(&self) -> u64 {
        let rooms = self.small_files().saturating_mul(self.room_bytes);
        let bytes = self.file_bytes.saturating_add(rooms);
        match self.ways.iter().any(|way| way.is_contended) {
            true => bytes.saturating_add(NEIGHBOR_BYTES_MAX),
            false => bytes,
        }
    }

    /// Number of bytes that are written to make them.
    #[must_use]
    pub fn made_bytes(&self) -> u64 {
        let neighbors = u64::from(self.ways.iter().any(|way| way.is_contended));
        let small = self.small_files().saturating_add(neighbors);
        self.file_bytes.saturating_add(small.saturating_mul(SEED_BYTES))
    }

    /// Returns whether the files could be made, as far as that can be told without making them.
    ///
    /// # Errors
    /// Same as [`crate::DurableFiles::create`], but for what only a write meets.
    pub fn possible(&self) -> Result<(), ScratchError> {
        Scratch::possible_anywhere(&self.directory, self.whole())
    }

    /// Number of files that grow, or whose space is taken.
    fn small_files(&self) -> u64 {
        let is_wanted =
            |place: WritePlace| u64::from(self.ways.iter().any(|way| way.place == place));
        is_wanted(WritePlace::Preallocated) + is_wanted(WritePlace::Append)
    }

    /// A scratch file as long as all of them together.
    pub(super) fn whole(&self) -> ScratchPlan {
        let bytes = self.scratch_bytes();
        self.of_length(bytes.checked_next_multiple_of(4096).unwrap_or(bytes))
    }

    /// A scratch file of `length_bytes`.
    pub(super) fn of_length(&self, length_bytes: u64) -> ScratchPlan {
        ScratchPlan {
            length_bytes,
            seed: self.seed,
            budget_bytes: self.budget_bytes,
            nocow_on_btrfs: false,
            may_move: true,
        }
    }
}
