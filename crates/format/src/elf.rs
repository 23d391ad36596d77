//! A program or a library: what kind of machine it is for, and which of some names a dynamic linker
//! finds in it.
//!
//! Names are looked up as the linker does, by the file's own hash table; so a library of a hundred
//! MiB takes a few reads. Source: System V ABI, chapters 4 and 5 (ELF header, program header,
//! dynamic section, hash table, symbol table); glibc `elf/dl-lookup.c` for `DT_GNU_HASH`.

use device::{Disk, ReadError, disk};
use thiserror::Error;

/// The most entries of a program header, of a dynamic section, and of a chain of a hash table.
const ENTRIES_MAX: u64 = 1 << 14;

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elf {
    /// Whether its addresses have 64 bits.
    pub is_64: bool,
    /// Its machine: `e_machine`, as 62 for x86-64.
    pub machine: u16,
    /// Whether it names a dynamic linker: `PT_INTERP`. A program without is linked statically.
    pub is_linked: bool,
    /// Those of the names asked for that it defines for others.
    pub defines: Vec<&'static str>,
}

/// Why nothing can be told of a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoElf {
    /// It does not begin as one.
    #[error("it is no ELF file")]
    Magic,
    /// It is one of another age or order of bytes.
    #[error("it is no little-endian ELF file of version 1")]
    Kind,
    /// What it says of itself does not fit.
    #[error("it is a damaged ELF file: {0}")]
    Damaged(&'static str),
    /// It cannot be read where it should.
    #[error("it is cut short, or cannot be read: {0}")]
    Read(#[from] ReadError),
}

/// What `file` is, and which of `names` it defines.
///
/// # Errors
/// [`NoElf`] when it is none, or damaged in what was looked at.
pub fn read(file: &dyn Disk, names: &[&'static str]) -> Result<Elf, NoElf> {
    let head: [u8; 16] = disk::read_array(file, 0).map_err(|error| match error {
        ReadError::PastEnd { .. } => NoElf::Magic,
        failed @ ReadError::Failed { .. } => NoElf::Read(failed),
    })?;
    if !head.starts_with(b"\x7fELF") {
        return Err(NoElf::Magic);
    }
    // EI_CLASS, EI_DATA, EI_VERSION.
    let is_64 = match head[4..7] {
        [1, 1, 1] => false,
        [2, 1, 1] => true,
        _ => return Err(NoElf::Kind),
    };
    let image = Image::new(file, is_64)?;
    let defines = match image.tables()? {
        Some(tables) => tables.defined(names)?,
        None => Vec::new(),
    };
    let machine = image.small(18)?;
    Ok(Elf { is_64, machine, is_linked: image.is_linked, defines })
}

/// A part of the file that is mapped.
#[derive(Clone, Copy)]
struct Load {
    address: u64,
    offset_bytes: u64,
    length_bytes: u64,
}

/// The file, with what its program header says.
struct Image<'a> {
    file: &'a dyn Disk,
    is_64: bool,
    is_linked: bool,
    loads: Vec<Load>,
    /// Where the dynamic section is, and its length.
    dynamic: Option<(u64, u64)>,
}

impl<'a> Image<'a> {
    fn new(file: &'a dyn Disk, is_64: bool) -> Result<Image<'a>, NoElf> {
        let mut image = Image { file, is_64, is_linked: false, loads: Vec::new(), dynamic: None };
        // e_phoff, e_phentsize, e_phnum.
        let (start, entry, count) =
            if is_64 { (image.word(32)?, 54, 56) } else { (image.word(28)?, 42, 44) };
        let (entry, count) = (image.small(entry)?, image.small(count)?);
        if count > 0 && u64::from(entry) < if is_64 { 56 } else { 32 } {
            return Err(NoElf::Damaged("the entries of its program header are too short"));
        }
        for place in 0..u64::from(count).min(ENTRIES_MAX) {
            image.entry(sum(start, place * u64::from(entry))?)?;
        }
        Ok(image)
    }

    /// Takes one entry of the program header.
    fn entry(&mut self, at: u64) -> Result<(), NoElf> {
        const LOAD: u32 = 1;
        const DYNAMIC: u32 = 2;
        const INTERPRETER: u32 = 3;
        // p_offset, p_vaddr, p_filesz.
        let places = if self.is_64 { [8, 16, 32] } else { [4, 8, 16] };
        let [offset_bytes, address, length_bytes] = places.map(|place| sum(at, place));
        let (offset_bytes, address, length_bytes) =
            (self.word(offset_bytes?)?, self.word(address?)?, self.word(length_bytes?)?);
        match self.middle(at)? {
            LOAD => self.loads.push(Load { address, offset_bytes, length_bytes }),
            DYNAMIC => self.dynamic = Some((offset_bytes, length_bytes)),
            INTERPRETER => self.is_linked = true,
            _ => {}
        }
        Ok(())
    }

    /// The tables of names; `None` where it has none, as a static program.
    fn tables(&self) -> Result<Option<Tables<'_>>, NoElf> {
        let Some((start, length_bytes)) = self.dynamic else { return Ok(None) };
        let size = self.word_bytes();
        let (mut hash, mut gnu, mut symbols, mut text) = (None, None, None, None);
        for place in 0..length_bytes.div_euclid(2 * size).min(ENTRIES_MAX) {
            let at = sum(start, place * 2 * size)?;
            let value = self.word(sum(at, size)?)?;
            match self.word(at)? {
                0 => break,
                4 => hash = Some(value),
                5 => text = Some(value),
                6 => symbols = Some(value),
                // DT_GNU_HASH, whose upper half of 64 bits is nothing.
                0x6fff_fef5 => gnu = Some(value),
                _ => {}
            }
        }
        let (Some(symbols), Some(text)) = (symbols, text) else { return Ok(None) };
        // The linker takes the newer table where there are both.
        let table = match (gnu, hash) {
            (Some(gnu), _) => Hashed::Gnu(self.place(gnu)?),
            (None, Some(hash)) => Hashed::Old(self.place(hash)?),
            (None, None) => return Ok(None),
        };
        let (symbols, text) = (self.place(symbols)?, self.place(text)?);
        Ok(Some(Tables { image: self, table, symbols, text }))
    }

    /// Where in the file the byte at `address` is.
    fn place(&self, address: u64) -> Result<u64, NoElf> {
        let holds = |load: &&Load| {
            address.checked_sub(load.address).is_some_and(|within| within < load.length_bytes)
        };
        let load = self.loads.iter().find(holds);
        let load = load.ok_or(NoElf::Damaged("a table is in no part that is mapped"))?;
        sum(load.offset_bytes, address - load.address)
    }

    fn word_bytes(&self) -> u64 {
        if self.is_64 { 8 } else { 4 }
    }

    /// A number as long as an address.
    fn word(&self, at: u64) -> Result<u64, NoElf> {
        match self.is_64 {
            true => Ok(u64::from_le_bytes(disk::read_array(self.file, at)?)),
            false => self.middle(at).map(u64::from),
        }
    }

    fn middle(&self, at: u64) -> Result<u32, NoElf> {
        Ok(u32::from_le_bytes(disk::read_array(self.file, at)?))
    }

    fn small(&self, at: u64) -> Result<u16, NoElf> {
        Ok(u16::from_le_bytes(disk::read_array(self.file, at)?))
    }
}

fn sum(one: u64, other: u64) -> Result<u64, NoElf> {
    one.checked_add(other).ok_or(NoElf::Damaged("a place is out of all bounds"))
}

/// A hash table, and where in the file it is.
#[derive(Clone, Copy)]
enum Hashed {
    Old(u64),
    Gnu(u64),
}

/// Where in the file names are told.
struct Tables<'a> {
    image: &'a Image<'a>,
    table: Hashed,
    symbols: u64,
    text: u64,
}

impl Tables<'_> {
    fn defined(&self, names: &[&'static str]) -> Result<Vec<&'static str>, NoElf> {
        let mut found = Vec::new();
        for &name in names {
            let is_there = match self.table {
                Hashed::Old(table) => self.in_old(table, name)?,
                Hashed::Gnu(table) => self.in_gnu(table, name)?,
            };
            if is_there {
                found.push(name);
            }
        }
        Ok(found)
    }

    /// `DT_HASH`: the number of buckets and of links, buckets, links; link 0 ends a chain.
    fn in_old(&self, table: u64, name: &str) -> Result<bool, NoElf> {
        let buckets = self.image.middle(table)?;
        let Some(bucket) = old_hash(name).checked_rem(buckets) else { return Ok(false) };
        let at = |place: u32| sum(table, 8 + 4 * u64::from(place));
        let mut symbol = self.image.middle(at(bucket)?)?;
        for _ in 0..ENTRIES_MAX {
            if symbol == 0 {
                return Ok(false);
            }
            if self.is(symbol, name)? {
                return Ok(true);
            }
            symbol = self.image.middle(sum(at(buckets)?, 4 * u64::from(symbol))?)?;
        }
        Err(NoElf::Damaged("a chain of its hash table has no end"))
    }

    /// `DT_GNU_HASH`: the number of buckets, the first symbol, the words of the Bloom filter and
    /// its shift; the filter, buckets, and a hash for each symbol, whose lowest bit ends a chain.
    fn in_gnu(&self, table: u64, name: &str) -> Result<bool, NoElf> {
        let [buckets, first, words] = [0, 4, 8].map(|place| sum(table, place));
        let (buckets, first, words) =
            (self.image.middle(buckets?)?, self.image.middle(first?)?, self.image.middle(words?)?);
        let hash = gnu_hash(name);
        let Some(bucket) = hash.checked_rem(buckets) else { return Ok(false) };
        let start = sum(table, 16 + u64::from(words) * self.image.word_bytes())?;
        let mut symbol = self.image.middle(sum(start, 4 * u64::from(bucket))?)?;
        if symbol < first {
            return Ok(false);
        }
        let hashes = sum(start, 4 * u64::from(buckets))?;
        for _ in 0..ENTRIES_MAX {
            let stored = self.image.middle(sum(hashes, 4 * u64::from(symbol - first))?)?;
            if (stored ^ hash) >> 1 == 0 && self.is(symbol, name)? {
                return Ok(true);
            }
            if stored & 1 == 1 {
                return Ok(false);
            }
            symbol = symbol.checked_add(1).ok_or(NoElf::Damaged("a symbol has no number"))?;
        }
        Err(NoElf::Damaged("a chain of its hash table has no end"))
    }

    /// Whether a symbol has this name and is defined for others.
    fn is(&self, symbol: u32, name: &str) -> Result<bool, NoElf> {
        const UNDEFINED: u16 = 0;
        let (length, info, section) = if self.image.is_64 { (24, 4, 6) } else { (16, 12, 14) };
        let at = sum(self.symbols, length * u64::from(symbol))?;
        let [info, _] = self.image.small(sum(at, info)?)?.to_le_bytes();
        let section = self.image.small(sum(at, section)?)?;
        // STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE.
        if section == UNDEFINED || !matches!(info >> 4, 1 | 2 | 10) {
            return Ok(false);
        }
        let text = sum(self.text, u64::from(self.image.middle(at)?))?;
        let length_bytes = u64::try_from(name.len()).unwrap_or(u64::MAX).saturating_add(1);
        let stored = disk::read_vec(self.image.file, text, length_bytes)?;
        Ok(stored.strip_suffix(&[0]) == Some(name.as_bytes()))
    }
}

fn gnu_hash(name: &str) -> u32 {
    name.bytes().fold(5381, |hash: u32, byte| hash.wrapping_mul(33).wrapping_add(byte.into()))
}

fn old_hash(name: &str) -> u32 {
    name.bytes().fold(0, |hash: u32, byte| {
        let hash = (hash << 4).wrapping_add(byte.into());
        let high = hash & 0xf000_0000;
        (hash ^ high >> 24) & !high
    })
}

#[cfg(test)]
mod tests;
