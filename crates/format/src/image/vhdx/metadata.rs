//! The metadata: sizes, sectors, and whether there is a parent.

use device::{Disk, disk};
use units::ByteRange;
use uuid::{Uuid, uuid};

use crate::bytes::Block;
use crate::{Problem, ProblemKind};

const SIGNATURE: &[u8; 8] = b"metadata";
const TABLE_BYTES: u64 = 64 << 10;
const ITEMS_MAX: u16 = 2047;
/// The largest disk, 64 TiB.
const VIRTUAL_BYTES_MAX: u64 = 64 << 40;

const PARAMETERS: Uuid = uuid!("caa16737-fa36-4d43-b3b6-33f0aa44e76b");
const VIRTUAL_SIZE: Uuid = uuid!("2fa54224-cd1b-4876-b211-5dbed83bf4b8");
const DISK_IDENTIFIER: Uuid = uuid!("beca12ab-b2e6-4523-93ef-c309e000c746");
const LOGICAL_SECTOR: Uuid = uuid!("8141bf1d-a96f-4709-ba47-f233a8faab5f");
const PHYSICAL_SECTOR: Uuid = uuid!("cda348c7-445d-4471-9cc9-e9885251c556");
const PARENT: Uuid = uuid!("a8d35f2d-b30b-454d-abf7-d3d84834ab0c");

/// Facts of the metadata.
#[derive(Clone, Debug)]
pub(super) struct Items {
    pub(super) virtual_bytes: u64,
    /// A power of two from 1 MiB to 256 MiB.
    pub(super) block_bytes: u64,
    pub(super) has_parent: bool,
    /// True if no block may be given back: how a fixed disk is marked.
    fixed: bool,
    /// 512 or 4096.
    pub(super) logical_sector_bytes: u64,
    pub(super) physical_sector_bytes: Option<u64>,
    /// Place where the parent locator stands.
    pub(super) parent: Option<ByteRange>,
    /// A required item that is not known.
    pub(super) unknown: Option<String>,
}

impl Items {
    pub(super) fn kind(&self) -> &'static str {
        match (self.has_parent, self.fixed) {
            (true, _) => "differencing",
            (false, true) => "fixed",
            (false, false) => "dynamic",
        }
    }
}

/// Fields as they stand, each absent until found.
#[derive(Default)]
struct MetadataFields {
    parameters: Option<u64>,
    virtual_bytes: Option<u64>,
    logical: Option<u32>,
    physical: Option<u32>,
    parent: Option<ByteRange>,
    unknown: Option<String>,
}

/// The metadata of the region `region`; an error when one that places depend on is absent or
/// impossible.
pub(super) fn read(
    file: &dyn Disk,
    region: ByteRange,
    problems: &mut Vec<Problem>,
) -> Result<Items, String> {
    let start = region.start_bytes();
    let table = disk::read_vec(file, start, TABLE_BYTES.min(region.length_bytes()))
        .map_err(|error| format!("the metadata table: {error}"))?;
    if !table.starts_with(SIGNATURE) {
        return Err(format!("no metadata table at {start}"));
    }
    let count = table.get(10..12).map_or(0, |field| u16::from_le_bytes([field[0], field[1]]));
    let (entries, _) = table.get(32..).unwrap_or_default().as_chunks::<32>();
    let mut found = MetadataFields::default();
    for entry in entries.iter().take(usize::from(count.min(ITEMS_MAX))) {
        found.take(file, region, &Block(*entry), problems);
    }
    found.check(start, problems)
}

impl MetadataFields {
    /// Reads one item.
    fn take(
        &mut self,
        file: &dyn Disk,
        region: ByteRange,
        entry: &Block<32>,
        problems: &mut Vec<Problem>,
    ) {
        let (offset, length) = (u64::from(entry.le32::<16>()), u64::from(entry.le32::<20>()));
        let item =
            region.start_bytes().checked_add(offset).and_then(|at| ByteRange::new(at, length));
        let Some(item) = item else { return };
        let mut unreadable = |what: &str, error: &device::ReadError| {
            problems.push(Problem::unreadable(what, item.start_bytes(), error));
        };
        match Uuid::from_bytes_le(entry.array::<0, 16>()) {
            PARAMETERS => match number::<8>(file, item) {
                Ok(bytes) => self.parameters = Some(u64::from_le_bytes(bytes)),
                Err(error) => unreadable("the file parameters", &error),
            },
            VIRTUAL_SIZE => match number::<8>(file, item) {
                Ok(bytes) => self.virtual_bytes = Some(u64::from_le_bytes(bytes)),
                Err(error) => unreadable("the virtual disk's size", &error),
            },
            LOGICAL_SECTOR => match number::<4>(file, item) {
                Ok(bytes) => self.logical = Some(u32::from_le_bytes(bytes)),
                Err(error) => unreadable("the logical sector's size", &error),
            },
            PHYSICAL_SECTOR => match number::<4>(file, item) {
                Ok(bytes) => self.physical = Some(u32::from_le_bytes(bytes)),
                Err(error) => unreadable("the physical sector's size", &error),
            },
            PARENT => self.parent = Some(item),
            DISK_IDENTIFIER => {}
            other => {
                // Bit 2: who does not know the item must not read the file.
                if entry.le32::<24>() & 4 != 0 {
                    self.unknown = Some(format!("required metadata item {other} is not known"));
                }
            }
        }
    }

    fn check(self, at: u64, problems: &mut Vec<Problem>) -> Result<Items, String> {
        let parameters = self.parameters.ok_or("no file parameters")?;
        let (block_bytes, flags) = (parameters & 0xffff_ffff, parameters >> 32);
        if !block_bytes.is_power_of_two() || !(1 << 20..=256 << 20).contains(&block_bytes) {
            return Err(format!(
                "blocks of {block_bytes} bytes; a power of two from 1 MiB to 256 MiB is expected"
            ));
        }
        let virtual_bytes = self.virtual_bytes.ok_or("no size of the virtual disk")?;
        if virtual_bytes > VIRTUAL_BYTES_MAX {
            return Err(format!("a size of {virtual_bytes} bytes; at most 64 TiB are allowed"));
        }
        let logical = u64::from(self.logical.ok_or("no size of the logical sector")?);
        if !matches!(logical, 512 | 4096) {
            return Err(format!("logical sectors of {logical} bytes; 512 or 4096 are allowed"));
        }
        let physical = self.physical.map(u64::from);
        if !matches!(physical, Some(512 | 4096)) {
            let detail = format!("physical sectors of {physical:?} bytes; 512 or 4096 are allowed");
            problems.push(Problem::new(ProblemKind::Field, at, detail));
        }
        Ok(Items {
            virtual_bytes,
            block_bytes,
            has_parent: flags & 2 != 0,
            fixed: flags & 1 != 0,
            logical_sector_bytes: logical,
            physical_sector_bytes: physical.filter(|bytes| matches!(bytes, 512 | 4096)),
            parent: self.parent,
            unknown: self.unknown,
        })
    }
}

fn number<const N: usize>(file: &dyn Disk, item: ByteRange) -> Result<[u8; N], device::ReadError> {
    disk::read_array(file, item.start_bytes())
}
