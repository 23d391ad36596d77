//! Linux md superblocks: 0.90, 1.0, 1.1, 1.2.
//!
//! A member can carry several of them, old ones included, and one at the end of a disk can really
//! belong to the last partition: so every place is looked at, and what is found says whether it
//! stands where it says.
//!
//! Source: `include/uapi/linux/raid/md_p.h`, `drivers/md/md.c`, mdadm `super0.c` and `super1.c`.

mod layout;
mod superblock_0_90;
mod superblock_1;

pub use layout::Raid10Copies;

use device::{Disk, disk};
use units::DiskText;

use crate::{Parsed, Problem, ProblemKind};

/// The kind of metadata, which says where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MdVersion {
    /// 0.90: 64 KiB before the end, aligned down.
    V090,
    /// 1.0: 8 KiB before the end, aligned down to 4 KiB.
    V10,
    /// 1.1: at the start.
    V11,
    /// 1.2: 4 KiB from the start.
    V12,
    /// Intel's (IMSM), at the end: of a running array, whose members md lays out.
    Imsm,
    /// The industry's (DDF), at the end: of a running array, whose members md lays out.
    Ddf,
    /// Of a running array: none (`mdadm --build`), or metadata without a name.
    Other,
}

impl MdVersion {
    /// The words for the metadata.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            MdVersion::V090 => "md 0.90",
            MdVersion::V10 => "md 1.0",
            MdVersion::V11 => "md 1.1",
            MdVersion::V12 => "md 1.2",
            MdVersion::Imsm => "IMSM",
            MdVersion::Ddf => "DDF",
            MdVersion::Other => "md",
        }
    }
}

/// Facts that one member stores of its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MdMember {
    /// The format.
    pub version: MdVersion,
    /// Place where the superblock was found, in bytes from the member's start.
    pub superblock_at_bytes: u64,
    /// Place where the superblock says that it stands, in bytes from its member's start; `None` for
    /// 0.90, which does not say.
    pub recorded_at_bytes: Option<u64>,
    /// The array's UUID as mdadm prints it without colons: 32 hexadecimal digits.
    pub array_id: String,
    /// This member's UUID in the same form (1.x).
    pub member_id: Option<String>,
    /// The array's name (1.x), host included.
    pub name: Option<DiskText>,
    /// RAID level: 0, 1, 4, 5, 6, 10, -1 linear, -4 multipath, and others as stored.
    pub level: i32,
    /// The layout word as stored; its meaning depends on the level.
    pub layout: u32,
    /// The chunk in bytes; 0 for levels that have none.
    pub chunk_bytes: u64,
    /// Members in the array, spares not counted.
    pub raid_disks: u32,
    /// This member's place: 0 to `raid_disks - 1`; `None` for a spare, faulty or journal device.
    pub role: Option<u32>,
    /// Number of places no device has any more, as far as this one knows: the array is degraded.
    pub gone: u32,
    /// This member's role in its array.
    pub standing: MdStanding,
    /// Place where this member's data starts, in bytes from its start. A number beyond 2^64 stands
    /// as
    /// `u64::MAX`, here and in the other byte fields; it is then among the problems.
    pub data_offset_bytes: u64,
    /// Bytes of this member's data that the array uses. RAID 0 and linear use all that there is, in
    /// whole chunks; so does a journal.
    pub data_bytes: u64,
    /// Update counter: the higher, the newer.
    pub events: u64,
    /// True if a reshape is under way, so that chunk, layout or level hold only for a part.
    pub reshaping: bool,
    /// Place where that reshape stands and leads; `None` when there is none.
    pub reshape: Option<MdReshape>,
    /// Length of this member that is rebuilt, in bytes from the start of its data; `None` when it
    /// is not being rebuilt (1.x).
    pub recovered_bytes: Option<u64>,
    /// The logical sector that the array offers, where the superblock fixes it (Linux 6.19 and
    /// later); `None` when it follows from the members.
    pub logical_block_bytes: Option<u64>,
}

/// A member's role in its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MdStanding {
    /// It has a role, in sync or being rebuilt.
    Active,
    /// It waits.
    Spare,
    /// It was thrown out.
    Faulty,
    /// It holds the write journal of a RAID 4, 5 or 6.
    Journal,
}

/// A reshape that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MdReshape {
    /// Its progress, in bytes of the array.
    pub position_bytes: u64,
    /// The level that it leads to.
    pub level: i32,
    /// The layout that it leads to.
    pub layout: u32,
    /// The chunk that it leads to, in bytes.
    pub chunk_bytes: u64,
    /// Members that it adds, or takes away when negative.
    pub delta_disks: i32,
    /// Place where this member's data will start, in bytes from its start.
    pub data_offset_bytes: u64,
}

impl MdMember {
    /// Returns whether the superblock stands where it says, counted from the start of what was
    /// read:
    /// `false` when it belongs to a partition that ends here, or to something larger. `None` when
    /// the format does not say (0.90); then a partition that covers
    /// [`MdMember::superblock_at_bytes`] has the better claim.
    #[must_use]
    pub fn belongs_here(&self) -> Option<bool> {
        Some(self.recorded_at_bytes? == self.superblock_at_bytes)
    }
}

/// Reads the superblock, trying every format; `None` when there is none. Where several are found,
/// one that stands where it says goes before one that does not, then one whose checksum holds, then
/// the array that was made last, as mdadm chooses; the others are among the problems.
pub fn read(disk: &dyn Disk) -> Option<Parsed<MdMember>> {
    let mut found: Vec<SuperblockCandidate> =
        PLACES.iter().filter_map(|place| place.found(disk)).collect();
    found.sort_by_key(|found| {
        (found.member.belongs_here() != Some(false), found.checksum_holds, found.made_at)
    });
    let chosen = found.pop()?;
    let mut problems = chosen.problems;
    problems.extend(found.iter().map(|other| {
        let at = other.member.superblock_at_bytes;
        let detail = format!("another md superblock, of array {}", other.member.array_id);
        Problem::new(ProblemKind::Copies, at, detail)
    }));
    Some(Parsed { value: chosen.member, problems })
}

/// A superblock with what decides between several.
struct SuperblockCandidate {
    member: MdMember,
    problems: Vec<Problem>,
    checksum_holds: bool,
    /// The array's creation, in seconds since 1970.
    made_at: u64,
}

/// A place where a superblock may stand.
struct SuperblockPlace {
    version: MdVersion,
    /// The address for a disk of so many bytes.
    at: fn(u64) -> Option<u64>,
    parse: fn(&Candidate) -> Option<SuperblockCandidate>,
}

const PLACES: [SuperblockPlace; 4] = [
    SuperblockPlace { version: MdVersion::V11, at: |_| Some(0), parse: superblock_1::parse },
    SuperblockPlace { version: MdVersion::V12, at: |_| Some(4096), parse: superblock_1::parse },
    SuperblockPlace {
        version: MdVersion::V10,
        at: |length| Some((length & !511).checked_sub(8192)? & !4095),
        parse: superblock_1::parse,
    },
    SuperblockPlace {
        version: MdVersion::V090,
        at: |length| (length & !0xffff).checked_sub(0x1_0000),
        parse: superblock_0_90::parse,
    },
];

/// The bytes at one place.
struct Candidate {
    version: MdVersion,
    at_bytes: u64,
    disk_bytes: u64,
    /// At most 4096; fewer where the disk ends.
    bytes: Vec<u8>,
}

/// A superblock is read whole: 4 KiB, of which 1.x uses a part.
const SUPERBLOCK_BYTES: u64 = 4096;
const MAGIC: u32 = 0xa92b_4efc;

impl SuperblockPlace {
    fn found(&self, disk: &dyn Disk) -> Option<SuperblockCandidate> {
        let disk_bytes = disk.length_bytes();
        let at_bytes = (self.at)(disk_bytes)?;
        let magic = disk::read_array(disk, at_bytes).ok()?;
        if u32::from_le_bytes(magic) != MAGIC && u32::from_be_bytes(magic) != MAGIC {
            return None;
        }
        let length = disk_bytes.checked_sub(at_bytes)?.min(SUPERBLOCK_BYTES);
        let bytes = disk::read_vec(disk, at_bytes, length).ok()?;
        (self.parse)(&Candidate { version: self.version, at_bytes, disk_bytes, bytes })
    }
}

impl Candidate {
    /// A problem of this superblock, with its field at `field` bytes from its start.
    fn problem(&self, kind: ProblemKind, field: u64, detail: String) -> Problem {
        Problem::new(kind, self.at_bytes.saturating_add(field), detail)
    }
}

/// Place where a superblock keeps the fields that both formats share, in bytes from its start.
struct Fields {
    level: u64,
    chunk: u64,
    raid_disks: u64,
}

/// Returns what the level, the chunk and the number of members are wrong about, in either format.
fn geometry_problems(
    from: &Candidate,
    at: &Fields,
    member: &MdMember,
    disks_limit: u32,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let (level, chunk, disks) = (member.level, member.chunk_bytes, member.raid_disks);
    let chunk_wrong = match level {
        0 => chunk == 0,
        4 | 5 | 6 | 10 => !chunk.is_power_of_two() || chunk < 4096,
        _ => false,
    };
    if !matches!(level, -4 | -1 | 0 | 1 | 4 | 5 | 6 | 10) {
        let detail = format!("unknown RAID level {level}");
        problems.push(from.problem(ProblemKind::Unsupported, at.level, detail));
    }
    if chunk_wrong {
        let detail = format!("a chunk of {chunk} bytes, which RAID {level} cannot have");
        problems.push(from.problem(ProblemKind::Field, at.chunk, detail));
    }
    if disks == 0 || disks > disks_limit {
        let detail = format!("{disks} members, expected 1 to {disks_limit}");
        problems.push(from.problem(ProblemKind::Field, at.raid_disks, detail));
    }
    problems
}

/// Two hexadecimal digits for each byte.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
