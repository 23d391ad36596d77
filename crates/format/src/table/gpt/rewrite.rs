//! The places that a rewrite of a GPT's copies overwrites, and what else may be there.
//!
//! `sfdisk --relocate gpt-bak-std` writes the first copy's entries from sector 2 on where it has no
//! sound header that says otherwise, and the backup into the last sectors of the disk. Boards keep
//! boot loaders in the first of these places, other formats their metadata in the second.
//!
//! Source: util-linux, `libfdisk/src/gpt.c` (`gpt_copy_header`, `gpt_fix_alternative_lba`).

use device::{Disk, disk};
use units::{Lba, SectorSize};

use super::copy::Copy;
use super::{GptCopies, header};
use crate::signature;

/// Bytes of an entry as every partitioner writes it.
const ENTRY_BYTES: u32 = 128;

/// Reasons against a rewrite, each the end of a sentence.
const ODD: &str = "partitioners spoil a table whose entries are not 128 bytes long";
const FIRST: &str =
    "it would overwrite something else in sectors 1 and following, where the first copy would go";
pub(super) const LAST: &str =
    "it would overwrite something else at the end, where the backup would go";

/// Something else where a rewrite would write.
#[derive(Clone, Copy)]
pub(super) enum RewriteObstacle {
    /// In the place of the first copy.
    First,
    /// In the place of the first copy, after so many entries, of which no later one is used.
    AfterEntries(u32),
    /// In the place of the backup.
    Last,
}

impl RewriteObstacle {
    /// Why no command may write, as the end of a sentence.
    pub(super) fn reason(self) -> &'static str {
        match self {
            RewriteObstacle::First | RewriteObstacle::AfterEntries(_) => FIRST,
            RewriteObstacle::Last => LAST,
        }
    }
}

impl GptCopies {
    /// Returns why no partitioner may write this table at all; `None` where one may.
    pub(super) fn unwritable(&self) -> Option<&'static str> {
        (self.chosen().header.entry_bytes != ENTRY_BYTES).then_some(ODD)
    }

    /// Returns what writing both copies again would overwrite beside zeros and what is left of the
    /// table; `None` where that is nothing.
    pub(super) fn obstacle(&self, disk: &dyn Disk) -> Option<RewriteObstacle> {
        let primary = self.primary.as_ref();
        if !primary.is_some_and(Copy::is_sound) {
            let is_free =
                || self.is_header_place_free(disk, Lba(1)) || self.is_spoiled_header(disk);
            if primary.is_none() && !is_free() {
                return Some(RewriteObstacle::First);
            }
            if let Some(foreign) = self.foreign_entries(disk, Lba(2)) {
                let shortened = self.entries_before(foreign).map(RewriteObstacle::AfterEntries);
                return Some(shortened.unwrap_or(RewriteObstacle::First));
            }
        }
        (!self.is_last_free(disk)).then_some(RewriteObstacle::Last)
    }

    /// The number of entries that end before byte `foreign` of the place of the first copy, where
    /// something else begins: a boot loader that its board reads from there.
    fn entries_before(&self, foreign: usize) -> Option<u32> {
        let is_in_place = |primary: &Copy| {
            primary.is_header_sound
                && primary.header.entries_lba == Lba(2)
                && primary.header.alternate_lba == self.last
        };
        let backup = self.backup.as_ref().filter(|backup| self.is_standard_backup(backup))?;
        let sector = usize::try_from(self.sector.bytes()).ok()?;
        let kept_bytes = foreign.div_euclid(sector) * sector;
        let is_listed = backup.entries.get(kept_bytes..)?.iter().any(|&byte| byte != 0);
        let count = u32::try_from(kept_bytes).ok()?.div_euclid(ENTRY_BYTES);
        let is_possible = self.primary.as_ref().is_some_and(is_in_place)
            && self.sector == SectorSize::B512
            && count > 0
            && !is_listed;
        is_possible.then_some(count)
    }

    /// Returns whether a backup is sound and where every partitioner would write it.
    fn is_standard_backup(&self, backup: &Copy) -> bool {
        let entries = self.last.0.checked_sub(self.entry_sectors());
        backup.is_sound() && backup.lba == self.last && Some(backup.header.entries_lba.0) == entries
    }

    fn is_last_free(&self, disk: &dyn Disk) -> bool {
        if self.backup.as_ref().is_some_and(|backup| self.is_standard_backup(backup)) {
            return true;
        }
        let first = self.last.0.checked_sub(self.entry_sectors()).map(Lba);
        self.is_header_place_free(disk, self.last)
            && first.is_some_and(|first| self.foreign_entries(disk, first).is_none())
    }

    /// Returns whether the last sectors of a disk that was cut short hold nothing but this table's
    /// entries, as far as the backup whose header belongs in sector `end` would take them.
    pub(super) fn is_free_before_the_end(&self, disk: &dyn Disk, end: Lba) -> bool {
        let Some(first) = end.0.checked_sub(self.entry_sectors()).map(Lba) else { return false };
        let (Some(at), length) = (first.to_bytes(self.sector), disk.length_bytes()) else {
            return false;
        };
        let Some(left) = length.checked_sub(at) else { return true };
        let Ok(found) = disk::read_vec(disk, at, left) else { return false };
        let written = &self.chosen().entries;
        found
            .iter()
            .zip(written.iter().chain(std::iter::repeat(&0)))
            .all(|(found, own)| *found == 0 || found == own)
    }

    /// Returns whether sector `lba` holds nothing, or a header of this table, damaged or not.
    fn is_header_place_free(&self, disk: &dyn Disk, lba: Lba) -> bool {
        let found = lba.to_bytes(self.sector);
        let found = found.and_then(|at| disk::read_vec(disk, at, self.sector.bytes()).ok());
        found.is_some_and(|found| {
            disk::is_filled_with(&found, 0)
                || found.starts_with(&header::SIGNATURE)
                || found.get(header::DISK_GUID) == Some(&self.chosen().header.disk_guid[..])
        })
    }

    /// Returns whether the bytes in the place of the first header can only be what is left of it:
    /// they have no mark of anything else, and the first entries follow, whole.
    fn is_spoiled_header(&self, disk: &dyn Disk) -> bool {
        let entries = &self.chosen().entries;
        let read = |lba: Lba, length| disk::read_vec(disk, lba.to_bytes(self.sector)?, length).ok();
        let are_there = read(Lba(2), disk::length_of(entries)).is_some_and(|it| it == *entries);
        // At its own distance from the start of the disk, where marks are looked for.
        let header = read(Lba(1), self.sector.bytes());
        let header = header.map(|header| [vec![0; header.len()], header].concat());
        are_there
            && !disk::is_filled_with(entries, 0)
            && header.is_some_and(|header| signature::marks(&header).is_empty())
    }

    /// The first byte from sector `lba` on, counted from there, that belongs to something else than
    /// the entries of this table; 0 where they cannot be read. An entry is the table's if it is
    /// unused, or has the type or the id of the sound copy's.
    fn foreign_entries(&self, disk: &dyn Disk, lba: Lba) -> Option<usize> {
        let length = self.entry_sectors() * self.sector.bytes();
        let found = lba.to_bytes(self.sector);
        let Some(found) = found.and_then(|at| disk::read_vec(disk, at, length).ok()) else {
            return Some(0);
        };
        let slot_bytes = ENTRY_BYTES as usize;
        let mut slots = found.chunks(slot_bytes).enumerate().map(|(number, slot)| {
            let at = number * slot_bytes;
            (at, slot, self.chosen().entries.get(at..at + slot_bytes))
        });
        let is_foreign = |slot: &[u8], written: Option<&[u8]>| {
            let is_same = |field: std::ops::Range<usize>| {
                written.is_some_and(|written| slot.get(field.clone()) == written.get(field))
            };
            let is_used = written.is_some_and(|written| !disk::is_filled_with(written, 0));
            !disk::is_filled_with(slot, 0) && !(is_used && (is_same(0..16) || is_same(16..32)))
        };
        slots.find(|&(_, slot, written)| is_foreign(slot, written)).map(|(at, ..)| at)
    }

    /// The sectors that the entries take.
    fn entry_sectors(&self) -> u64 {
        disk::length_of(&self.chosen().entries).div_ceil(self.sector.bytes())
    }
}
