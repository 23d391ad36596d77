//! A program or a library: what kind of machine it is for, and which of some names a dynamic linker
//! finds in it.

use std::io;

use device::Disk;
use object::elf::{FileHeader32, FileHeader64, PT_DYNAMIC, PT_INTERP};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader as _};
use object::{Endianness, FileKind, Object as _, ObjectSymbol as _, ReadCache, ReadRef, read};
use thiserror::Error;

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elf {
    /// True if its addresses have 64 bits.
    pub is_64: bool,
    /// Its machine: `e_machine`, as 62 for x86-64.
    pub machine: u16,
    /// True if it names a dynamic linker: `PT_INTERP`. A program without is linked statically.
    pub is_linked: bool,
    /// Those of the names asked for that it defines for others, in their order.
    pub defines: Vec<&'static str>,
}

/// Why nothing can be told of a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoElf {
    /// It does not begin as one.
    #[error("not an ELF file")]
    Magic,
    /// What it says of itself does not fit, or it cannot be read.
    #[error("damaged ELF file: {0}")]
    Damaged(String),
}

impl From<read::Error> for NoElf {
    fn from(error: read::Error) -> NoElf {
        NoElf::Damaged(error.to_string())
    }
}

/// Returns what `file` is, and which of `names` it defines: its dynamic symbols are read.
///
/// # Errors
/// [`NoElf`] when it is none, or damaged in what was looked at.
pub fn read(file: &dyn Disk, names: &[&'static str]) -> Result<Elf, NoElf> {
    let cache = ReadCache::new(Reader { file, at_bytes: 0 });
    match FileKind::parse(&cache) {
        Ok(FileKind::Elf32) => parsed::<FileHeader32<Endianness>>(&cache, names),
        Ok(FileKind::Elf64) => parsed::<FileHeader64<Endianness>>(&cache, names),
        _ => Err(NoElf::Magic),
    }
}

fn parsed<'a, H: FileHeader<Endian = Endianness>>(
    data: impl ReadRef<'a>,
    names: &[&'static str],
) -> Result<Elf, NoElf> {
    let file = ElfFile::<H, _>::parse(data)?;
    let endian = file.endian();
    let is_dynamic = file.elf_program_headers().iter().any(|one| one.p_type(endian) == PT_DYNAMIC);
    if is_dynamic && file.elf_dynamic_symbol_table().is_empty() {
        return Err(NoElf::Damaged("its dynamic symbols have no section".to_owned()));
    }
    let mut defined = vec![false; names.len()];
    for symbol in file.dynamic_symbols() {
        let name = symbol.name_bytes()?;
        if let Some(place) = names.iter().position(|one| one.as_bytes() == name) {
            defined[place] |= !symbol.is_undefined() && !symbol.is_local();
        }
    }
    let defines = names.iter().zip(defined).filter_map(|(&name, is)| is.then_some(name)).collect();
    Ok(Elf {
        is_64: file.is_64(),
        machine: file.elf_header().e_machine(endian),
        is_linked: file.elf_program_headers().iter().any(|one| one.p_type(endian) == PT_INTERP),
        defines,
    })
}

/// A disk's bytes as a stream.
struct Reader<'a> {
    file: &'a dyn Disk,
    at_bytes: u64,
}

impl io::Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.file.length_bytes().saturating_sub(self.at_bytes);
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        self.file.read_at(self.at_bytes, &mut buffer[..length]).map_err(io::Error::other)?;
        self.at_bytes += length as u64;
        Ok(length)
    }
}

impl io::Seek for Reader<'_> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let length_bytes = self.file.length_bytes();
        let at_bytes = match to {
            io::SeekFrom::Start(at) => Some(at),
            io::SeekFrom::End(by) => length_bytes.checked_add_signed(by),
            io::SeekFrom::Current(by) => self.at_bytes.checked_add_signed(by),
        };
        self.at_bytes = at_bytes.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at_bytes)
    }
}

#[cfg(test)]
mod tests;
