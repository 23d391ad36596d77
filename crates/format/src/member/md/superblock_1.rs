//! Superblock 1.x: 256 bytes, little-endian, and two bytes for the role of each device.
//!
//! Source: `include/uapi/linux/raid/md_p.h`, `struct mdp_superblock_1`; `super_1_load` in
//! `drivers/md/md.c`. The logical block size at 224 came with Linux 6.19.

use units::DiskText;

use super::{
    Candidate, Fields, MAGIC, MdMember, MdReshape, MdStanding, MdVersion, SuperblockCandidate,
};
use crate::bytes::{self, Block};
use crate::{Problem, ProblemKind};

/// `MD_FEATURE_*` bits.
const RECOVERY_OFFSET: u32 = 2;
const RESHAPE_ACTIVE: u32 = 4;
const NEW_OFFSET: u32 = 64;
const KNOWN_FEATURES: u32 = 0x1fff;

const HEAD: usize = 256;
/// Number of roles that fit into 4 KiB behind the head.
const DEVICES: u32 = 1920;
const ROLE_FAULTY: u16 = 0xfffe;
const ROLE_JOURNAL: u16 = 0xfffd;
/// Roles from here on are no places in the array.
const ROLE_LIMIT: u16 = 0xff00;

const AT: Fields = Fields { level: 72, chunk: 88, raid_disks: 92 };

/// The head and the roles behind it.
struct Superblock<'a> {
    head: Block<HEAD>,
    /// Head and roles; fewer than it says where the disk ends.
    bytes: &'a [u8],
}

pub(super) fn parse(from: &Candidate) -> Option<SuperblockCandidate> {
    let sb = Superblock { head: bytes::block(&from.bytes)?, bytes: &from.bytes };
    if sb.head.le32::<0>() != MAGIC || sb.head.le32::<4>() != 1 {
        return None;
    }
    let member = member(from, &sb);
    let mut problems = super::geometry_problems(from, &AT, &member, DEVICES);
    let checksum = checksum_problem(from, &sb);
    let checksum_holds = checksum.is_none();
    problems.extend(checksum);
    problems.extend(place_problem(from, &member));
    problems.extend(unknown_problems(from, &sb));
    problems.extend(role_problem(from, &sb, &member));
    problems.extend(extent_problems(from, &sb, &member));
    // Seconds are the low 40 bits, microseconds the rest.
    let made_at = sb.head.le64::<64>() & ((1 << 40) - 1);
    Some(SuperblockCandidate { member, problems, checksum_holds, made_at })
}

fn member(from: &Candidate, sb: &Superblock<'_>) -> MdMember {
    let head = &sb.head;
    let features = head.le32::<8>();
    let data_offset_bytes = sectors(head.le64::<128>());
    let (standing, role) = sb.standing();
    let reshape = (features & RESHAPE_ACTIVE != 0).then(|| MdReshape {
        position_bytes: sectors(head.le64::<104>()),
        level: head.le32::<100>().cast_signed(),
        layout: head.le32::<116>(),
        chunk_bytes: sectors(u64::from(head.le32::<120>())),
        delta_disks: head.le32::<112>().cast_signed(),
        data_offset_bytes: sb.new_data_offset_bytes(),
    });
    let mut member = MdMember {
        version: from.version,
        superblock_at_bytes: from.at_bytes,
        recorded_at_bytes: Some(sectors(head.le64::<144>())),
        array_id: super::hexadecimal(&head.array::<16, 16>()),
        member_id: Some(super::hexadecimal(&head.array::<168, 16>())),
        name: Some(DiskText::from_padded(&head.array::<32, 32>())).filter(|name| !name.is_empty()),
        level: head.le32::<72>().cast_signed(),
        layout: head.le32::<76>(),
        chunk_bytes: sectors(u64::from(head.le32::<88>())),
        raid_disks: head.le32::<92>(),
        role,
        gone: sb.gone(),
        standing,
        data_offset_bytes,
        data_bytes: sectors(head.le64::<80>()),
        events: head.le64::<200>(),
        reshaping: reshape.is_some(),
        reshape,
        recovered_bytes: (features & RECOVERY_OFFSET != 0).then(|| sectors(head.le64::<152>())),
        logical_block_bytes: Some(u64::from(head.le32::<224>())).filter(|&bytes| bytes != 0),
    };
    if matches!(member.level, -1 | 0) || standing == MdStanding::Journal {
        member.data_bytes = member.whole_chunks(sectors(head.le64::<136>()));
    }
    member
}

impl Superblock<'_> {
    /// The number of roles that it has, at most [`DEVICES`]; `None` when it says more.
    fn devices(&self) -> Option<usize> {
        let devices = self.head.le32::<220>();
        usize::try_from(devices).ok().filter(|_| devices <= DEVICES)
    }

    /// The role of the device of `number`; `None` when it has none or it is cut off.
    fn role_of(&self, number: u32) -> Option<u16> {
        let number =
            usize::try_from(number).ok().filter(|&number| Some(number) < self.devices())?;
        let role = self.bytes.get(HEAD + 2 * number..)?.first_chunk()?;
        Some(u16::from_le_bytes(*role))
    }

    /// The places that no device has.
    fn gone(&self) -> u32 {
        let raid_disks = self.head.le32::<92>();
        let numbers = 0..self.head.le32::<220>().min(DEVICES);
        let mut held: Vec<u32> = numbers
            .filter_map(|number| self.role_of(number))
            .filter(|&role| role < ROLE_LIMIT)
            .map(u32::from)
            .filter(|&role| role < raid_disks)
            .collect();
        held.sort_unstable();
        held.dedup();
        raid_disks.saturating_sub(u32::try_from(held.len()).unwrap_or(u32::MAX))
    }

    fn standing(&self) -> (MdStanding, Option<u32>) {
        match self.role_of(self.head.le32::<160>()) {
            Some(role) if role < ROLE_LIMIT => (MdStanding::Active, Some(u32::from(role))),
            Some(ROLE_FAULTY) => (MdStanding::Faulty, None),
            Some(ROLE_JOURNAL) => (MdStanding::Journal, None),
            _ => (MdStanding::Spare, None),
        }
    }

    /// Returns where data will start behind a reshape: the offset moves by a signed number of
    /// sectors.
    fn new_data_offset_bytes(&self) -> u64 {
        let offset = self.head.le64::<128>();
        if self.head.le32::<8>() & NEW_OFFSET == 0 {
            return sectors(offset);
        }
        sectors(offset.saturating_add_signed(i64::from(self.head.le32::<124>().cast_signed())))
    }

    /// The sum over head and roles without the checksum itself; `None` when not all are there.
    fn checksum(&self) -> Option<u32> {
        let bytes = self.bytes.get(..HEAD + 2 * self.devices()?)?;
        let (words, rest) = bytes.as_chunks::<4>();
        let whole: u64 = words.iter().map(|word| u64::from(u32::from_le_bytes(*word))).sum();
        // An odd number of roles leaves two bytes.
        let last = rest.first_chunk().map_or(0, |half| u64::from(u16::from_le_bytes(*half)));
        Some(super::superblock_0_90::fold(whole + last - u64::from(self.head.le32::<216>())))
    }
}

fn checksum_problem(from: &Candidate, sb: &Superblock<'_>) -> Option<Problem> {
    let stored = sb.head.le32::<216>();
    let (kind, at, detail) = match sb.checksum() {
        Some(computed) if computed == stored => return None,
        Some(computed) => {
            let detail = format!("checksum {stored:#010x}, computed {computed:#010x}");
            (ProblemKind::Checksum, 216, detail)
        }
        None if sb.devices().is_none() => {
            let detail = format!("{} roles, at most {DEVICES} fit", sb.head.le32::<220>());
            (ProblemKind::Field, 220, detail)
        }
        None => (ProblemKind::Unreadable, 256, "the roles end past the disk".to_owned()),
    };
    Some(from.problem(kind, at, detail))
}

/// A superblock that names another place than its own: it was read through the wrong device.
fn place_problem(from: &Candidate, member: &MdMember) -> Option<Problem> {
    let (found, recorded) = (from.at_bytes, member.recorded_at_bytes?);
    let owner = match found.checked_sub(recorded) {
        Some(0) => return None,
        Some(start) => format!("it belongs to something that starts at {start}"),
        None => "it belongs to something that starts before".to_owned(),
    };
    let detail = format!("the superblock at {found} says that it stands at {recorded}: {owner}");
    Some(from.problem(ProblemKind::Field, 144, detail))
}

/// Bits and bytes that have a meaning only for newer kernels.
fn unknown_problems(from: &Candidate, sb: &Superblock<'_>) -> Vec<Problem> {
    let unknown = sb.head.le32::<8>() & !KNOWN_FEATURES;
    let padding = sb.head.le32::<12>() != 0 || sb.head.array::<228, 28>() != [0; 28];
    let mut problems = Vec::new();
    if unknown != 0 {
        let detail = format!("unknown feature bits {unknown:#x}");
        problems.push(from.problem(ProblemKind::Unsupported, 8, detail));
    }
    if padding {
        let detail = "padding is not zero: perhaps a newer feature".to_owned();
        problems.push(from.problem(ProblemKind::Unsupported, 228, detail));
    }
    problems
}

fn role_problem(from: &Candidate, sb: &Superblock<'_>, member: &MdMember) -> Option<Problem> {
    let number = sb.head.le32::<160>();
    let detail = match (sb.role_of(number), member.role) {
        (None, _) => format!("device number {number} has no role"),
        // A reshape may still use members that it takes away.
        (Some(_), Some(role)) if role >= member.raid_disks && !member.reshaping => {
            format!("role {role} of {} members", member.raid_disks)
        }
        _ => return None,
    };
    Some(from.problem(ProblemKind::Field, 160, detail))
}

/// Data that ends past the disk, or lies on the superblock.
fn extent_problems(from: &Candidate, sb: &Superblock<'_>, member: &MdMember) -> Vec<Problem> {
    if member.belongs_here() == Some(false) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let (offset, room) = (member.data_offset_bytes, sectors(sb.head.le64::<136>()));
    let end = offset.saturating_add(member.data_bytes);
    if end > from.disk_bytes {
        let detail = format!("data ends at {end}, past the end at {}", from.disk_bytes);
        problems.push(from.problem(ProblemKind::Outside, 128, detail));
    }
    if member.data_bytes > room {
        let detail = format!("the array uses {} of {room} bytes of data", member.data_bytes);
        problems.push(from.problem(ProblemKind::Outside, 136, detail));
    }
    let superblock_end = from.at_bytes.saturating_add(512);
    let apart = if member.version == MdVersion::V10 {
        end <= from.at_bytes
    } else {
        offset >= superblock_end
    };
    if !apart {
        let detail = format!("data from {offset} to {end} lies on the superblock");
        problems.push(from.problem(ProblemKind::Overlap, 128, detail));
    }
    problems
}

fn sectors(count: u64) -> u64 {
    count.saturating_mul(512)
}
