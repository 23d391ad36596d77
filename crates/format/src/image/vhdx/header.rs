//! The two headers and the two region tables.

use device::{Disk, disk};
use units::{ByteRange, DiskText};
use uuid::{Uuid, uuid};

use crate::bytes::{self, Block};
use crate::checksum::CRC32C;
use crate::image::Image;
use crate::{Problem, ProblemKind};

const KIB: u64 = 1 << 10;
const HEADERS: [u64; 2] = [64 * KIB, 128 * KIB];
const REGION_TABLES: [u64; 2] = [192 * KIB, 256 * KIB];
const REGION_TABLE_BYTES: u64 = 64 * KIB;
const REGIONS_MAX: u32 = 2047;

const TABLE: Uuid = uuid!("2dc27766-f623-4200-9d64-115e9bfd4a08");
const METADATA: Uuid = uuid!("8b7ca206-4790-4b9a-b8fe-575f050f886e");

pub(super) type Header = Block<4096>;

/// Reads the headers: who made the file. Returns the newest one.
pub(super) fn read(
    file: &dyn Disk,
    image: &mut Image,
    problems: &mut Vec<Problem>,
) -> Result<Header, String> {
    if let Ok(creator) = disk::read_array::<512>(file, 8) {
        let creator = DiskText::from_utf16le(&creator);
        image.details.push(("creator", creator.to_string()));
    }
    let mut newest: Option<Header> = None;
    for at in HEADERS {
        match header(file, at) {
            Ok(header)
                if newest.as_ref().is_none_or(|last| header.le64::<8>() > last.le64::<8>()) =>
            {
                newest = Some(header);
            }
            Ok(_) => {}
            Err(problem) => problems.push(problem),
        }
    }
    let header = newest.ok_or("neither header is valid")?;
    let version = header.le16::<66>();
    image.version = version.to_string();
    if version != 1 {
        return Err(format!("version {version} of VHDX is not known"));
    }
    Ok(header)
}

fn header(file: &dyn Disk, at: u64) -> Result<Header, Problem> {
    let bytes = disk::read_array::<4096>(file, at)
        .map_err(|error| Problem::unreadable("a header", at, &error))?;
    if !bytes.starts_with(b"head") {
        let detail = "a header has no signature";
        return Err(Problem::new(ProblemKind::Field, at, detail));
    }
    checked(&bytes, at, "a header")?;
    Ok(Block(bytes))
}

/// Returns whether the checksum at byte 4 is right.
fn checked(bytes: &[u8], at: u64, what: &str) -> Result<(), Problem> {
    let stored = bytes::block_at::<4>(bytes, 4).map_or(0, |field| field.le32::<0>());
    let computed = sum([bytes]);
    if stored == computed {
        return Ok(());
    }
    let detail = format!("{what}'s checksum is {stored:#010x}, computed {computed:#010x}");
    Err(Problem::new(ProblemKind::Checksum, at + 4, detail))
}

/// The checksum of all `pieces`, in the first of which it is stored at byte 4.
pub(super) fn sum<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let mut digest = CRC32C.digest();
    for (number, piece) in pieces.into_iter().enumerate() {
        let (head, rest) = piece.split_at(if number == 0 { piece.len().min(8) } else { 0 });
        digest.update(head.get(..4).unwrap_or(head));
        digest.update(&[0; 4][..head.len().saturating_sub(4)]);
        digest.update(rest);
    }
    digest.finalize()
}

/// The regions of a file.
pub(super) struct Regions {
    /// The block allocation table.
    pub(super) table: ByteRange,
    /// The metadata.
    pub(super) metadata: ByteRange,
}

/// The regions by the first region table that is valid.
pub(super) fn regions(file: &dyn Disk, problems: &mut Vec<Problem>) -> Result<Regions, Problem> {
    let none = "neither region table is valid";
    let mut last = Problem::new(ProblemKind::Unsupported, REGION_TABLES[0], none);
    for at in REGION_TABLES {
        let table = match disk::read_vec(file, at, REGION_TABLE_BYTES) {
            Ok(table) => table,
            Err(error) => {
                problems.push(Problem::unreadable("a region table", at, &error));
                continue;
            }
        };
        let valid = if table.starts_with(b"regi") {
            checked(&table, at, "a region table")
        } else {
            Err(Problem::new(ProblemKind::Field, at, "a region table has no signature"))
        };
        match valid.map(|()| find(&table, at)) {
            Ok(Ok(regions)) => return Ok(regions),
            Ok(Err(problem)) => last = problem,
            Err(problem) => problems.push(problem),
        }
    }
    Err(last)
}

/// The regions in a table at byte `at`.
fn find(bytes: &[u8], at: u64) -> Result<Regions, Problem> {
    let lacks =
        |what: &str| Problem::new(ProblemKind::Field, at, format!("no region holds {what}"));
    let count = bytes::block_at::<4>(bytes, 8).map_or(0, |field| field.le32::<0>());
    let (mut table, mut metadata) = (None, None);
    let (entries, _) = bytes.get(16..).unwrap_or_default().as_chunks::<32>();
    for entry in entries.iter().take(usize::try_from(count.min(REGIONS_MAX)).unwrap_or(0)) {
        let entry = Block(*entry);
        let range = ByteRange::new(entry.le64::<16>(), u64::from(entry.le32::<24>()));
        match Uuid::from_bytes_le(entry.array::<0, 16>()) {
            TABLE => table = range,
            METADATA => metadata = range,
            other if entry.le32::<28>() & 1 != 0 => {
                let reason = format!("required region {other} is not known");
                return Err(Problem::new(ProblemKind::Unsupported, at, reason));
            }
            _ => {}
        }
    }
    Ok(Regions {
        table: table.ok_or_else(|| lacks("the block table"))?,
        metadata: metadata.ok_or_else(|| lacks("the metadata"))?,
    })
}
