//! bcache superblocks: backing and cache devices.
//!
//! Source: bcache-tools `bcache.h`, `drivers/md/bcache/features.h`, `include/uapi/linux/bcache.h`,
//! `read_super` in `drivers/md/bcache/super.c`.

use crc::{CRC_64_WE, Crc, Table};
use device::{Disk, disk};
use units::DiskText;

use crate::bytes::Block;
use crate::filesystem::is_bcachefs;
use crate::{Parsed, Problem, ProblemKind};

/// Facts of a bcache superblock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bcache {
    /// The device's UUID in lower case.
    pub id: String,
    /// The cache set's UUID in lower case.
    pub set_id: String,
    /// The label.
    pub label: Option<DiskText>,
    /// The superblock's version: 0 and 3 cache, 1 backing at 8 KiB, 4 backing with an offset, 5 and
    /// 6 the same with feature bits.
    pub version: u64,
    /// The device's kind.
    pub role: BcacheRole,
    /// The block size in bytes.
    pub block_bytes: u64,
}

/// Kind of a bcache device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BcacheRole {
    /// It holds the data, from `data_offset_bytes` on (8 KiB unless made otherwise).
    Backing {
        /// Place where data starts, in bytes from the device's start.
        data_offset_bytes: u64,
    },
    /// It caches, in buckets.
    Cache {
        /// The bucket in bytes.
        bucket_bytes: u64,
    },
    /// The version is not known, so neither is the role.
    Unknown,
}

const AT: u64 = 4096;
const SUPERBLOCK: usize = 2264;
const MAGIC: [u8; 16] = [
    0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81,
];
/// The journal's buckets stand behind the fixed fields, 8 bytes each.
const KEYS_AT: usize = 208;
const KEYS: usize = 256;
const DATA_SECTORS: u64 = 16;

/// Bits of `feature_incompat` that say how the bucket's size is written.
const LARGE_BUCKET_OLD: u64 = 1;
const LARGE_BUCKET: u64 = 2;

/// bcache computes it over the bytes in their order: no reflection, all bits inverted at both ends.
const CHECKSUM: Crc<u64, Table<1>> = Crc::<u64, Table<1>>::new(&CRC_64_WE);

/// Reads the superblock at 4096; `None` when there is none, or it is one of bcachefs, which had the
/// same magic once.
pub fn read(disk: &dyn Disk) -> Option<Parsed<Bcache>> {
    if disk::read_array(disk, AT + 24).ok()? != MAGIC || is_bcachefs(disk) {
        return None;
    }
    let sb = Block(disk::read_array::<SUPERBLOCK>(disk, AT).ok()?);
    let version = sb.le64::<16>();
    let value = Bcache {
        id: uuid(sb.array::<40, 16>()),
        set_id: uuid(sb.array::<56, 16>()),
        label: Some(DiskText::from_padded(&sb.array::<72, 32>())).filter(|label| !label.is_empty()),
        version,
        role: role(&sb),
        block_bytes: sectors(u64::from(sb.le16::<192>())),
    };
    let mut problems = Vec::new();
    let mut problem =
        |kind, field, detail: String| problems.push(Problem::new(kind, AT + field, detail));
    if let Some(detail) = checksum_wrong(&sb) {
        problem(ProblemKind::Checksum, 0, detail);
    }
    if sectors(sb.le64::<8>()) != AT {
        let detail = format!("it says that it stands at sector {}, expected 8", sb.le64::<8>());
        problem(ProblemKind::Field, 8, detail);
    }
    if !value.block_bytes.is_power_of_two() {
        problem(ProblemKind::Field, 192, format!("a block of {} bytes", value.block_bytes));
    }
    match value.role {
        BcacheRole::Unknown => problem(ProblemKind::Unsupported, 16, format!("version {version}")),
        BcacheRole::Backing { data_offset_bytes: data } => {
            if data < sectors(DATA_SECTORS) {
                problem(ProblemKind::Overlap, 184, format!("data at {data} is below 8 KiB"));
            } else if data > disk.length_bytes() {
                let detail = format!("data at {data} is past the end at {}", disk.length_bytes());
                problem(ProblemKind::Outside, 184, detail);
            }
        }
        BcacheRole::Cache { bucket_bytes } if !bucket_bytes.is_power_of_two() => {
            problem(ProblemKind::Field, 194, format!("a bucket of {bucket_bytes} bytes"));
        }
        BcacheRole::Cache { .. } => {}
    }
    Some(Parsed { value, problems })
}

fn role(sb: &Block<SUPERBLOCK>) -> BcacheRole {
    match sb.le64::<16>() {
        1 => BcacheRole::Backing { data_offset_bytes: sectors(DATA_SECTORS) },
        4 | 6 => BcacheRole::Backing { data_offset_bytes: sectors(sb.le64::<184>()) },
        0 | 3 => BcacheRole::Cache { bucket_bytes: sectors(u64::from(sb.le16::<194>())) },
        5 => BcacheRole::Cache { bucket_bytes: sectors(large_bucket_sectors(sb)) },
        _ => BcacheRole::Unknown,
    }
}

/// A bucket may have more sectors than 16 bits count: then the field holds the power of two, or, as
/// one release wrote it, the low half.
fn large_bucket_sectors(sb: &Block<SUPERBLOCK>) -> u64 {
    let (low, features) = (sb.le16::<194>(), sb.le64::<128>());
    if features & LARGE_BUCKET != 0 {
        return 1_u64.checked_shl(u32::from(low)).unwrap_or(0);
    }
    let high = if features & LARGE_BUCKET_OLD == 0 { 0 } else { sb.le16::<2256>() };
    u64::from(high) << 16 | u64::from(low)
}

/// The sum covers everything behind itself, up to the last of the journal's buckets.
fn checksum_wrong(sb: &Block<SUPERBLOCK>) -> Option<String> {
    let keys = usize::from(sb.le16::<206>());
    if keys > KEYS {
        return Some(format!("{keys} journal buckets, at most {KEYS} fit"));
    }
    let (stored, computed) = (sb.le64::<0>(), CHECKSUM.checksum(&sb.0[8..KEYS_AT + 8 * keys]));
    (stored != computed).then(|| format!("checksum {stored:#018x}, computed {computed:#018x}"))
}

fn sectors(count: u64) -> u64 {
    count.saturating_mul(512)
}

fn uuid(bytes: [u8; 16]) -> String {
    uuid::Uuid::from_bytes(bytes).hyphenated().to_string()
}
