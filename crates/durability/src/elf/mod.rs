//! A program or a library: the machine that it is for, and the names that it defines for a dynamic
//! linker. Source: System V ABI, chapters 4 and 5, as the `object` crate reads them.

use device::Disk;
use object::elf::{FileHeader32, FileHeader64, PT_DYNAMIC};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader as _};
use object::{
    Endianness, FileKind, Object as _, ObjectSymbol as _, ReadCache, ReadCacheOps, ReadRef, read,
};
use thiserror::Error;

/// A program or a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elf {
    /// True if its addresses have 64 bits.
    pub is_64: bool,
    /// Its machine: `e_machine`, as 62 for x86-64.
    pub machine: u16,
    /// Those of the names asked for that it defines for others, in their order.
    pub defines: Vec<&'static str>,
}

/// Reason why a file says nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoElf {
    /// It does not begin as one.
    #[error("not an ELF file")]
    Magic,
    /// Its headers or tables contradict each other, or cannot be read.
    #[error("damaged ELF file: {0}")]
    Damaged(String),
}

impl From<read::Error> for NoElf {
    fn from(error: read::Error) -> NoElf {
        NoElf::Damaged(error.to_string())
    }
}

/// Returns the machine of `file`, and those of `names` that are among its dynamic symbols.
///
/// # Errors
/// [`NoElf`] when `file` is not an ELF file, or when its headers or dynamic symbols cannot be read.
pub fn read(file: &dyn Disk, names: &[&'static str]) -> Result<Elf, NoElf> {
    let cache = ReadCache::new(ElfStream { file, at_bytes: 0 });
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
    if is_dynamic && file.elf_section_table().is_empty() {
        return Err(NoElf::Damaged("no section headers to find its dynamic symbols by".to_owned()));
    }
    let mut defined = vec![false; names.len()];
    for symbol in file.dynamic_symbols() {
        let name = symbol.name_bytes()?;
        if let Some(place) = names.iter().position(|one| one.as_bytes() == name) {
            defined[place] |= !symbol.is_undefined() && !symbol.is_local();
        }
    }
    let defines = names.iter().zip(defined).filter_map(|(&name, is)| is.then_some(name)).collect();
    Ok(Elf { is_64: file.is_64(), machine: file.elf_header().e_machine(endian), defines })
}

/// A disk's bytes as a stream.
struct ElfStream<'a> {
    file: &'a dyn Disk,
    at_bytes: u64,
}

impl ReadCacheOps for ElfStream<'_> {
    fn len(&mut self) -> Result<u64, ()> {
        Ok(self.file.length_bytes())
    }

    fn seek(&mut self, at_bytes: u64) -> Result<u64, ()> {
        self.at_bytes = at_bytes;
        Ok(at_bytes)
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ()> {
        let left = self.file.length_bytes().saturating_sub(self.at_bytes);
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        self.read_exact(&mut buffer[..length])?;
        Ok(length)
    }

    fn read_exact(&mut self, buffer: &mut [u8]) -> Result<(), ()> {
        self.file.read_at(self.at_bytes, buffer).map_err(drop)?;
        self.at_bytes += buffer.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
