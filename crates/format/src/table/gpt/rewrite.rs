//! The places that a rewrite of a GPT's copies overwrites, and what else may be there.
//!
//! `sfdisk --relocate gpt-bak-std` writes the first copy's entries from sector 2 on where it has no
//! sound header that says otherwise, and the backup into the last sectors of the disk. Boards keep
//! boot loaders in the first of these places, other formats their metadata in the second.
//!
//! Source: util-linux, `libfdisk/src/gpt.c` (`gpt_copy_header`, `gpt_fix_alternative_lba`).

use device::{Disk, disk};
use units::Lba;

use super::GptCopies;
use super::copy::Copy;

/// Bytes of an entry as every partitioner writes it.
const ENTRY_BYTES: u32 = 128;

/// Reasons against a rewrite, each the end of a sentence.
const ODD: &str = "partitioners spoil a table whose entries are not 128 bytes long";
const FIRST: &str = "it would overwrite something else at sector 2, where the first copy would go";
const LAST: &str = "it would overwrite something else at the end, where the backup would go";

impl GptCopies {
    /// Returns why no partitioner may write this table at all; `None` where one may.
    pub(super) fn unwritable(&self) -> Option<&'static str> {
        (self.chosen().header.entry_bytes != ENTRY_BYTES).then_some(ODD)
    }

    /// Returns why no command may write both copies again; `None` where that overwrites nothing but
    /// zeros and what is left of the table.
    pub(super) fn obstacle(&self, disk: &dyn Disk) -> Option<&'static str> {
        if !self.is_first_free(disk) {
            return Some(FIRST);
        }
        (!self.is_last_free(disk)).then_some(LAST)
    }

    fn is_first_free(&self, disk: &dyn Disk) -> bool {
        let is_kept = |primary: &Copy| {
            primary.is_sound() || primary.is_header_sound && primary.header.entries_lba == Lba(2)
        };
        if self.primary.as_ref().is_some_and(is_kept) {
            return true;
        }
        let found = self.sectors(disk, Lba(2));
        let written = &self.chosen().entries;
        found.is_some_and(|found| disk::is_filled_with(&found, 0) || found.starts_with(written))
    }

    fn is_last_free(&self, disk: &dyn Disk) -> bool {
        let names_it =
            |primary: &Copy| primary.is_sound() && primary.header.alternate_lba == self.last;
        let is_it = |backup: &Copy| backup.is_sound() && backup.lba == self.last;
        if self.primary.as_ref().is_some_and(names_it) || self.backup.as_ref().is_some_and(is_it) {
            return true;
        }
        let header = self.last.to_bytes(self.sector);
        let header = header.and_then(|at| disk::read_vec(disk, at, self.sector.bytes()).ok());
        let first = self.last.0.checked_sub(self.entry_sectors()).map(Lba);
        let entries = first.and_then(|first| self.sectors(disk, first));
        let is_free =
            |found: Option<Vec<u8>>| found.is_some_and(|all| disk::is_filled_with(&all, 0));
        [header, entries].into_iter().all(is_free)
    }

    /// The sectors that the entries take.
    fn entry_sectors(&self) -> u64 {
        disk::length_of(&self.chosen().entries).div_ceil(self.sector.bytes())
    }

    /// The bytes from `first` on, as many as the entries take; `None` where they cannot be read.
    fn sectors(&self, disk: &dyn Disk, first: Lba) -> Option<Vec<u8>> {
        let length = self.entry_sectors() * self.sector.bytes();
        disk::read_vec(disk, first.to_bytes(self.sector)?, length).ok()
    }
}
