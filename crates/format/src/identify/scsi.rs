//! SCSI READ CAPACITY (16), and the VPD pages B0h (block limits) and B1h (block device
//! characteristics).
//!
//! Source: SBC-4, "READ CAPACITY (16) parameter data", "Block Limits VPD page" and "Block Device
//! Characteristics VPD page". All numbers are big-endian.

use super::{NoAnswer, Rotation, Zones, blocks, head, rotation, wrong, zones};
use crate::bytes::block_at;
use crate::{Parsed, Problem};

/// The length of READ CAPACITY (16)'s answer in bytes.
pub const CAPACITY_BYTES: usize = 32;
/// The fields of it that every answer has, in bytes.
const CAPACITY_LEAST: usize = 16;
/// The largest physical block that a drive can mean, in bytes.
const PHYSICAL_BYTES_MAX: u64 = 16 << 20;

/// Facts of READ CAPACITY (16).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// The length of the unit; `None` when it does not fit in 64 bits.
    pub size_bytes: Option<u64>,
    /// The logical block, without protection; `None` when it is no power of two from 512 to 65536.
    pub logical_bytes: Option<u64>,
    /// The physical block: the logical one times two to the stored exponent.
    pub physical_bytes: Option<u64>,
    /// The address of the first logical block that starts a physical one.
    pub lowest_aligned_bytes: u64,
    /// True if blocks can be unmapped (LBPME).
    pub unmaps: bool,
    /// True if unmapped blocks read as zeros (LBPRZ).
    pub zeroes: bool,
    /// True if it is formatted with protection information (PROT_EN).
    pub protected: bool,
}

/// The facts of READ CAPACITY (16)'s answer.
///
/// # Errors
/// When it is shorter than 16 bytes, or all zeros.
pub fn capacity(bytes: &[u8]) -> Result<Parsed<Capacity>, NoAnswer> {
    let block = head::<CAPACITY_LEAST>("SCSI READ CAPACITY (16)", bytes)?;
    let mut problems = Vec::new();
    let stored = u64::from(block.be32::<8>());
    let logical_bytes =
        (stored.is_power_of_two() && (512..=1 << 16).contains(&stored)).then_some(stored);
    if logical_bytes.is_none() {
        problems.push(wrong(8, format!("the logical block has {stored} bytes")));
    }
    let exponent = block.byte::<13>() & 0xf;
    let per_physical = 1_u64 << exponent;
    let lowest = u64::from(block.be16::<14>() & 0x3fff);
    let physical_bytes = blocks(per_physical, logical_bytes);
    if let Some(bytes) = physical_bytes.filter(|&bytes| bytes > PHYSICAL_BYTES_MAX) {
        problems.push(wrong(13, format!("the physical block has {bytes} bytes, above 16 MiB")));
    }
    if lowest >= per_physical {
        problems.push(wrong(
            14,
            format!(
                "the lowest aligned block is {lowest}, and a physical block holds {per_physical}"
            ),
        ));
    }
    let count = block.be64::<0>().checked_add(1);
    let value = Capacity {
        size_bytes: count.and_then(|count| blocks(count, logical_bytes)),
        logical_bytes,
        physical_bytes,
        lowest_aligned_bytes: blocks(lowest % per_physical, logical_bytes).unwrap_or(0),
        unmaps: block.byte::<14>() & 0x80 != 0,
        zeroes: block.byte::<14>() & 0x40 != 0,
        protected: block.byte::<12>() & 1 != 0,
    };
    Ok(Parsed { value, problems })
}

/// Limits of atomic writes in bytes. `None` where the drive has none or does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Atomic {
    /// The longest atomic write.
    pub length_bytes: Option<u64>,
    /// Place where an atomic write must start.
    pub alignment_bytes: Option<u64>,
    /// The unit of its length.
    pub granularity_bytes: Option<u64>,
    /// The longest atomic write where it has boundaries.
    pub length_with_boundary_bytes: Option<u64>,
    /// The largest distance of such boundaries.
    pub boundary_bytes: Option<u64>,
}

/// Facts of VPD page B0h, in bytes. `None` where the drive sets no limit or does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    /// The unit of efficient transfers.
    pub optimal_granularity_bytes: Option<u64>,
    /// The longest transfer.
    pub maximum_bytes: Option<u64>,
    /// The longest transfer that is not slower: a stripe, on arrays. USB bridges put 65535 here.
    pub optimal_bytes: Option<u64>,
    /// The longest unmap.
    pub unmap_maximum_bytes: Option<u64>,
    /// The unit of efficient unmaps.
    pub unmap_granularity_bytes: Option<u64>,
    /// The address of the first unmap unit; `None` when the drive does not say (UGAVALID is 0).
    pub unmap_alignment_bytes: Option<u64>,
    /// Atomic writes.
    pub atomic: Atomic,
}

/// The facts of VPD page B0h, of a drive with logical blocks of `logical_bytes`. Fields behind the
/// page's own length are not said.
///
/// # Errors
/// When it is shorter than 16 bytes, all zeros, or another page.
pub fn block_limits(bytes: &[u8], logical_bytes: u64) -> Result<Parsed<BlockLimits>, NoAnswer> {
    let said = page("SCSI block limits", 0xb0, 16, bytes)?;
    let mut problems = Vec::new();
    let field = |at: usize| {
        let stored = block_at::<4>(said, at).map_or(0, |field| field.be32::<0>());
        (stored != u32::MAX).then(|| blocks(u64::from(stored), Some(logical_bytes))).flatten()
    };
    let granularity = block_at::<2>(said, 6).map_or(0, |field| field.be16::<0>());
    let granularity = blocks(u64::from(granularity), Some(logical_bytes));
    let unmap_granularity_bytes = field(28);
    let unmap_alignment_bytes =
        unmap_alignment(said, logical_bytes, unmap_granularity_bytes, &mut problems);
    let value = BlockLimits {
        optimal_granularity_bytes: granularity,
        maximum_bytes: field(8),
        optimal_bytes: field(12),
        unmap_maximum_bytes: field(20),
        unmap_granularity_bytes,
        unmap_alignment_bytes,
        atomic: Atomic {
            length_bytes: field(44),
            alignment_bytes: field(48),
            granularity_bytes: field(52),
            length_with_boundary_bytes: field(56),
            boundary_bytes: field(60),
        },
    };
    Ok(Parsed { value, problems })
}

fn unmap_alignment(
    said: &[u8],
    logical_bytes: u64,
    granularity_bytes: Option<u64>,
    problems: &mut Vec<Problem>,
) -> Option<u64> {
    let stored = block_at::<4>(said, 32)?.be32::<0>();
    if stored & 1 << 31 == 0 {
        return None;
    }
    let bytes = u64::from(stored & !(1 << 31)).checked_mul(logical_bytes)?;
    let unit = granularity_bytes?;
    if bytes >= unit {
        let detail = format!("unmap units of {unit} bytes start at byte {bytes}, behind the first");
        problems.push(wrong(32, detail));
    }
    bytes.checked_rem(unit)
}

/// Facts of VPD page B1h.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Characteristics {
    /// The medium's rotation; `None` when it is not reported.
    pub rotation: Option<Rotation>,
    /// Zones, where the drive says that it has some.
    pub zones: Option<Zones>,
}

/// The facts of VPD page B1h.
///
/// # Errors
/// When it is shorter than 6 bytes, all zeros, or another page.
pub fn characteristics(bytes: &[u8]) -> Result<Parsed<Characteristics>, NoAnswer> {
    let said = page("SCSI block device characteristics", 0xb1, 6, bytes)?;
    let stored = block_at::<2>(said, 4).map_or(0, |field| field.be16::<0>());
    let mut problems = Vec::new();
    if matches!(stored, 2..=0x400 | 0xffff) {
        problems.push(wrong(4, format!("the rotation rate {stored:#06x} is reserved")));
    }
    let zoned = said.get(8).map_or(0, |byte| byte >> 4);
    let value = Characteristics { rotation: rotation(stored), zones: zones(zoned) };
    Ok(Parsed { value, problems })
}

/// The bytes of a VPD page as far as it says that it goes: at least `least`, or there is no answer.
fn page<'a>(
    what: &'static str,
    code: u8,
    least: usize,
    bytes: &'a [u8],
) -> Result<&'a [u8], NoAnswer> {
    let header = head::<4>(what, bytes)?;
    let found = header.byte::<1>();
    if found != code {
        return Err(NoAnswer::Other { what, found });
    }
    let length = usize::from(header.be16::<2>()) + 4;
    let said = &bytes[..length.min(bytes.len())];
    if said.len() < least {
        return Err(NoAnswer::Short { what, found: said.len(), least });
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(exponent: u8, lowest: u16) -> [u8; CAPACITY_BYTES] {
        let mut bytes = [0; CAPACITY_BYTES];
        bytes[0..8].copy_from_slice(&((1_u64 << 21) - 1).to_be_bytes());
        bytes[8..12].copy_from_slice(&512_u32.to_be_bytes());
        bytes[13] = exponent;
        bytes[14..16].copy_from_slice(&lowest.to_be_bytes());
        bytes
    }

    #[test]
    fn capacity_gives_both_blocks_and_the_first_aligned_one() {
        let found = capacity(&answer(3, 0xc007)).unwrap();
        assert_eq!(found.problems, []);
        assert_eq!(found.value.size_bytes, Some(1 << 30));
        assert_eq!(found.value.logical_bytes, Some(512));
        assert_eq!(found.value.physical_bytes, Some(4096));
        assert_eq!(found.value.lowest_aligned_bytes, 3584);
        assert!(found.value.unmaps && found.value.zeroes);
    }

    #[test]
    fn a_lowest_aligned_block_behind_the_first_physical_one_is_a_problem() {
        let found = capacity(&answer(3, 15)).unwrap();
        assert_eq!(found.value.lowest_aligned_bytes, 3584);
        assert_eq!(
            found.problems[0].detail,
            "the lowest aligned block is 15, and a physical block holds 8"
        );
    }

    #[test]
    fn blocks_of_no_power_of_two_are_named_and_leave_sizes_unknown() {
        let mut bytes = answer(0, 0);
        bytes[8..12].copy_from_slice(&520_u32.to_be_bytes());
        let found = capacity(&bytes).unwrap();
        assert_eq!(found.value.physical_bytes, None);
        assert_eq!(found.problems[0].detail, "the logical block has 520 bytes");
    }

    #[test]
    fn a_capacity_beyond_64_bits_is_left_out() {
        let mut bytes = answer(0, 0);
        bytes[..8].fill(0xff);
        assert_eq!(capacity(&bytes).unwrap().value.size_bytes, None);
    }

    fn limits(values: &[(usize, u32)]) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[1] = 0xb0;
        bytes[3] = 60;
        for &(at, value) in values {
            bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
        }
        bytes
    }

    #[test]
    fn limits_are_in_bytes_and_an_alignment_needs_its_bit() {
        let bytes = limits(&[(4, 8), (12, 1024), (28, 2048), (32, 8), (44, 32)]);
        let found = block_limits(&bytes, 512).unwrap();
        assert_eq!(found.problems, []);
        assert_eq!(found.value.optimal_granularity_bytes, Some(4096));
        assert_eq!(found.value.optimal_bytes, Some(512 << 10));
        assert_eq!(found.value.unmap_granularity_bytes, Some(1 << 20));
        assert_eq!(found.value.unmap_alignment_bytes, None);
        assert_eq!(found.value.atomic.length_bytes, Some(16384));
        assert_eq!(found.value.maximum_bytes, None);
        let bytes = limits(&[(28, 2048), (32, 1 << 31 | 8)]);
        let found = block_limits(&bytes, 512).unwrap().value;
        assert_eq!(found.unmap_alignment_bytes, Some(4096));
    }

    #[test]
    fn a_page_of_linuxs_scsi_debug_gives_what_it_was_told_to() {
        // modprobe scsi_debug unmap_granularity=64 unmap_alignment=8 physblk_exp=3, Linux 6.12.
        let mut page = limits(&[(4, 8), (8, 0x8000), (12, 0x400), (20, u32::MAX), (24, 0x100)]);
        page[28..36].copy_from_slice(&[0, 0, 0, 64, 0x80, 0, 0, 8]);
        let found = block_limits(&page, 512).unwrap();
        assert_eq!(found.problems, []);
        assert_eq!(found.value.unmap_granularity_bytes, Some(32768));
        assert_eq!(found.value.unmap_alignment_bytes, Some(4096));
        assert_eq!(found.value.unmap_maximum_bytes, None);
        assert_eq!(found.value.optimal_bytes, Some(524_288));
    }

    #[test]
    fn fields_behind_the_pages_own_length_are_not_said() {
        let mut bytes = limits(&[(12, 8), (28, 2048)]);
        bytes[3] = 12;
        let found = block_limits(&bytes, 512).unwrap().value;
        assert_eq!(found.optimal_bytes, Some(4096));
        assert_eq!(found.unmap_granularity_bytes, None);
    }

    #[test]
    fn another_page_is_no_answer() {
        let error = characteristics(&limits(&[])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "SCSI block device characteristics was asked for, and page 0xb0 came"
        );
    }

    #[test]
    fn characteristics_tell_what_turns_and_zones() {
        let page = |rate: u16, zoned: u8| {
            let rate = rate.to_be_bytes();
            [0, 0xb1, 0, 60, rate[0], rate[1], 0, 0, zoned << 4]
        };
        let read = |rate, zoned| characteristics(&page(rate, zoned)).unwrap().value;
        assert_eq!(read(7200, 0).rotation, Some(Rotation::PerMinute(7200)));
        assert_eq!(read(1, 1).rotation, Some(Rotation::None));
        assert_eq!(read(1, 1).zones, Some(Zones::HostAware));
        assert_eq!(read(0, 0).rotation, None);
        assert_eq!(characteristics(&page(0xffff, 0)).unwrap().problems.len(), 1);
    }
}
