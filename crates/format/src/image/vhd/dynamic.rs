//! The header of dynamic and differencing disks: the block table, and the parent.

use device::{Disk, disk};
use units::{ByteRange, DiskText};
use uuid::Uuid;

use super::VhdTables;
use super::footer::{DIFFERENCING, Footer, checksum};
use crate::bytes::{self, Block};
use crate::image::{Image, Reference, ReferenceRole};
use crate::{Problem, ProblemKind};

const COOKIE: &[u8; 8] = b"cxsparse";
/// The longest parent path that is read, in bytes.
const PATH_BYTES_MAX: u32 = 8192;

type Header = Block<1024>;

/// The tables of the dynamic disk with `footer`, or why there are none.
pub(super) fn read(
    file: &dyn Disk,
    footer: &Footer,
    image: &mut Image,
    problems: &mut Vec<Problem>,
) -> Result<VhdTables, String> {
    let differencing = footer.disk_type() == DIFFERENCING;
    if differencing {
        // Named below where the header can be read; what is not here is not zero in any case.
        let path = DiskText::default();
        image.references.push(Reference { role: ReferenceRole::Backing, path, format: None });
    }
    let at = footer.data_offset();
    let header: Header = disk::read_array(file, at)
        .map(Block)
        .map_err(|error| format!("the dynamic header: {error}"))?;
    if header.array::<0, 8>() != *COOKIE {
        return Err(format!("no dynamic header at {at}"));
    }
    check(&header, at, problems);
    if differencing {
        parent(file, &header, image, problems);
    }

    let block_bytes = u64::from(header.be32::<32>());
    if !block_bytes.is_power_of_two() || block_bytes < 512 {
        return Err(format!("blocks of {block_bytes} bytes; a power of two from 512 is expected"));
    }
    image.block_bytes = Some(block_bytes);
    // One bit for each sector, in whole sectors.
    let bitmap_bytes = block_bytes.div_ceil(512 * 8).next_multiple_of(512);
    image.details.push(("bitmap bytes before each block", bitmap_bytes.to_string()));
    let table = table(file, &header, image.virtual_bytes, problems)?;
    let keeps_4k = footer.writer_keeps_4k();
    Ok(VhdTables { table, block_bytes, bitmap_bytes, differencing, keeps_4k })
}

fn check(header: &Header, at: u64, problems: &mut Vec<Problem>) {
    let (stored, computed) = (header.be32::<36>(), checksum(&header.0, 36));
    let mut problem = |kind, field, detail| {
        problems.push(Problem::new(kind, at.saturating_add(field), detail));
    };
    if stored != computed {
        let detail =
            format!("the dynamic header's checksum is {stored:#010x}, computed {computed:#010x}");
        problem(ProblemKind::Checksum, 36, detail);
    }
    let version = header.be32::<24>();
    if version != 0x0001_0000 {
        problem(ProblemKind::Field, 24, format!("dynamic header version {version:#010x}"));
    }
}

/// The block table, checked against the guest's size and the file's.
fn table(
    file: &dyn Disk,
    header: &Header,
    virtual_bytes: u64,
    problems: &mut Vec<Problem>,
) -> Result<ByteRange, String> {
    let (offset, entries) = (header.be64::<16>(), u64::from(header.be32::<28>()));
    let needed = virtual_bytes.div_ceil(u64::from(header.be32::<32>()));
    if entries < needed {
        let detail =
            format!("the block table has {entries} entries; the guest's size needs {needed}");
        problems.push(Problem::new(ProblemKind::Field, offset, detail));
    }
    let range = ByteRange::new(offset, entries * 4)
        .ok_or_else(|| format!("the block table at {offset} ends beyond 64 bits"))?;
    let used = offset.saturating_add(needed.min(entries) * 4);
    if used > file.length_bytes() {
        let end = file.length_bytes();
        let detail = format!("the block table ends at {used}, past the end of the file at {end}");
        problems.push(Problem::new(ProblemKind::Outside, offset, detail));
    }
    Ok(range)
}

/// The parent: its name relative to this file where a locator gives one, else an absolute one, else
/// the name in the header.
fn parent(file: &dyn Disk, header: &Header, image: &mut Image, problems: &mut Vec<Problem>) {
    let uuid = Uuid::from_bytes(header.array::<40, 16>());
    image.details.push(("parent UUID", uuid.to_string()));
    let name = DiskText::from_utf16be(&header.array::<64, 512>());
    image.details.push(("parent name", name.to_string()));
    let mut paths = [None, None];
    for number in 0..8 {
        let Some(locator) = bytes::block_at::<24>(&header.0, 576 + number * 24) else { continue };
        let rank = match &locator.array::<0, 4>() {
            b"W2ru" => 0,
            b"W2ku" => 1,
            _ => continue,
        };
        let path = path(file, &locator, problems);
        // Windows writes `.\parent.vhd`.
        let path = path.map(|path| if rank == 0 { path.with_slashes() } else { path });
        paths[rank] = path.or(paths[rank].take());
    }
    let path = paths.into_iter().flatten().next().unwrap_or(name);
    if let Some(reference) = image.references.first_mut() {
        reference.path = path;
    }
}

/// The path that a locator names, in UTF-16 little-endian.
fn path(file: &dyn Disk, locator: &Block<24>, problems: &mut Vec<Problem>) -> Option<DiskText> {
    let (length, offset) = (locator.be32::<8>(), locator.be64::<16>());
    if length == 0 || length > PATH_BYTES_MAX {
        let detail = format!("a parent's path of {length} bytes; 2 to {PATH_BYTES_MAX} are read");
        problems.push(Problem::new(ProblemKind::Field, offset, detail));
        return None;
    }
    match disk::read_vec(file, offset, u64::from(length)) {
        Ok(bytes) => Some(DiskText::from_utf16le(&bytes)).filter(|path| !path.is_empty()),
        Err(error) => {
            problems.push(Problem::unreadable("the parent's path", offset, &error));
            None
        }
    }
}
