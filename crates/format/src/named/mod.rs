//! Things that are known by their marks alone and not read further: one table, asked by all who
//! have to know.
//!
//! A mark counts at its place only, and a short one only with what must stand beside it. The table
//! says what a thing is called and of what class it is; [`crate::signature`] takes the same marks
//! for whoever is about to write.

use device::Disk;

use crate::heads::Heads;

mod magic_numbers;
#[cfg(test)]
mod tests;

pub(crate) use magic_numbers::BITLOCKER;
pub use magic_numbers::NAMED;

/// A place on a volume or in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MagicPlace {
    /// Bytes from its start.
    Start(u64),
    /// Any of these bytes from its start.
    Starts(&'static [u64]),
    /// Bytes before its end, which is first rounded down to a multiple: bytes, multiple.
    End(u64, u64),
    /// Any of these sectors of 512 bytes before its end, which is first rounded down to one.
    EndSectors(&'static [u64]),
    /// At the start of any of the first so many sectors of 512 bytes.
    Sectors(usize),
}

impl MagicPlace {
    /// The bytes at which it is on a volume of this length; none where the volume is too short.
    pub(crate) fn of(self, length_bytes: u64) -> impl Iterator<Item = u64> {
        let count = match self {
            MagicPlace::Start(_) | MagicPlace::End(..) => 1,
            MagicPlace::Starts(all) | MagicPlace::EndSectors(all) => all.len(),
            MagicPlace::Sectors(count) => count,
        };
        let before_end = move |bytes: u64, multiple: u64| {
            (length_bytes - length_bytes % multiple).checked_sub(bytes)
        };
        (0..count).zip(0..).filter_map(move |(number, sector)| match self {
            MagicPlace::Start(bytes) => Some(bytes),
            MagicPlace::Starts(all) => all.get(number).copied(),
            MagicPlace::End(bytes, multiple) => before_end(bytes, multiple),
            MagicPlace::EndSectors(all) => before_end(all.get(number)? * 512, 512),
            MagicPlace::Sectors(_) => Some(sector * 512_u64),
        })
    }
}

/// Class of something that is only named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A file system, or a volume whose data counts from its start: its place can be judged.
    FileSystem,
    /// A member of an array that firmware and its driver lay out.
    Raid,
    /// A partition table.
    Table,
    /// A file that holds others, or another file in fewer bytes. The text is the command that
    /// unpacks it: `FILE` is the file, `NEW` what comes out of it.
    Packed(&'static str),
    /// A disk image. The text is as with [`Class::Packed`].
    Image(&'static str),
}

/// Something that is known by its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name that blkid uses where it knows the thing, else its usual short name.
    pub kind: &'static str,
    /// Its description, a few words that follow "a" or "an": `Intel RAID member (IMSM)`.
    pub what: &'static str,
    /// Its class.
    pub class: Class,
    /// Place where its mark stands.
    pub place: MagicPlace,
    /// The mark.
    pub mark: &'static [u8],
    /// Distance from the mark and bytes of all else that must stand there.
    pub also: &'static [(u64, &'static [u8])],
    /// Place where a label stands, in bytes from the start, and its length.
    pub label: Option<(u64, usize)>,
    /// Place where a UUID stands, in bytes from the start.
    pub uuid_bytes: Option<u64>,
    /// Place where the size of an image's guest stands.
    pub size: Option<SizeField>,
}

/// A number that is the size of an image's guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeField {
    /// Its distance from the mark, in bytes.
    pub at_bytes: u64,
    /// Its width in bytes.
    pub width: usize,
    /// True if its first byte is the largest.
    pub is_big_endian: bool,
    /// The unit that it counts, in bytes.
    pub unit_bytes: u64,
}

impl Named {
    /// Returns where the mark, with all that must stand beside it, is on the volume; `None` where
    /// it is not.
    #[must_use]
    pub fn find(&self, heads: &Heads<'_>) -> Option<u64> {
        let is_there = |&at: &u64| {
            heads.has(at, self.mark)
                && self.also.iter().all(|&(beside, also)| heads.has(at + beside, also))
        };
        self.place.of(heads.length_bytes()).find(is_there)
    }

    /// Returns whether the mark stands on `disk`, whatever is beside it.
    #[must_use]
    pub fn leaves_mark(&self, disk: &dyn Disk) -> bool {
        let heads = Heads::new(disk);
        self.place.of(disk.length_bytes()).any(|at| heads.has(at, self.mark))
    }

    /// The guest's size that stands beside the mark at `at_bytes`; `None` where none does.
    #[must_use]
    pub fn size_bytes(&self, heads: &Heads<'_>, at_bytes: u64) -> Option<u64> {
        let field = self.size?;
        let mut bytes = [0; 8];
        let number = if field.is_big_endian {
            bytes.get_mut(8_usize.checked_sub(field.width)?..)
        } else {
            bytes.get_mut(..field.width)
        };
        heads.read(at_bytes.checked_add(field.at_bytes)?, number?).ok()?;
        let number =
            if field.is_big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) };
        number.checked_mul(field.unit_bytes)
    }
}

/// The first entry of a class that is `wanted` and stands on the volume, and where its mark is.
#[must_use]
pub fn find(heads: &Heads<'_>, wanted: impl Fn(Class) -> bool) -> Option<(&'static Named, u64)> {
    let mut entries = NAMED.iter().filter(|entry| wanted(entry.class));
    entries.find_map(|entry| entry.find(heads).map(|at| (entry, at)))
}
