//! NVMe Identify Namespace (CNS 00h) and Identify Controller (CNS 01h).
//!
//! Source: NVM Express Base Specification 2.1, "Identify Controller data structure"; NVM Command
//! Set Specification 1.1, "Identify Namespace data structure" and "LBA Format". All numbers are
//! little-endian.

use serde::Serialize;
use units::DiskText;

use super::{NoAnswer, blocks, blocks_less_one, head, wrong};
use crate::bytes::Block;
use crate::{Parsed, Problem};

/// The length of either answer in bytes.
pub const ANSWER_BYTES: usize = 4096;
/// The most formats that an answer has room for.
const FORMATS_MAX: u8 = 64;
/// The largest preferred unit that a drive can mean, in bytes.
const PREFERRED_BYTES_MAX: u64 = 16 << 20;

/// A format's speed relative to the drive's other formats, as the drive says: the field RP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Performance {
    /// 0: best.
    Best,
    /// 1: better.
    Better,
    /// 2: good.
    Good,
    /// 3: degraded.
    Degraded,
}

units::words!(Performance);

/// A format in which a namespace can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LbaFormat {
    /// Its number, as `nvme format --lbaf` takes it.
    pub number: u8,
    /// The logical block in bytes, without metadata: a power of two from 512.
    pub data_bytes: u64,
    /// Metadata beside each logical block, in bytes.
    pub metadata_bytes: u16,
    /// The drive's own word for its speed.
    pub performance: Performance,
}

/// Lengths that are written as a whole or not at all, in bytes. `None` is what the namespace does
/// not say; the controller's value then holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Atomic {
    /// NAWUN: while power stays.
    pub normal_bytes: Option<u64>,
    /// NAWUPF: also when power fails.
    pub power_fail_bytes: Option<u64>,
    /// NACWU: compare and write.
    pub compare_bytes: Option<u64>,
    /// NABSN: the distance of boundaries that a normal write must not cross; `None` when there are
    /// none.
    pub boundary_bytes: Option<u64>,
    /// NABSPF: the same where power fails.
    pub boundary_power_fail_bytes: Option<u64>,
    /// NABO: where the first boundary is.
    pub boundary_offset_bytes: u64,
}

/// Amazon's fields of torn write prevention in the vendor's own area, in bytes. They mean this on
/// Amazon's drives alone.
///
/// Source: Amazon EC2 user guide, "Identify instance support for torn write prevention".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmazonTornWrites {
    /// NTWPU: the longest write that is never torn.
    pub unit_bytes: u64,
    /// NTWPG: a write that is never torn is a multiple of this long.
    pub granularity_bytes: u64,
    /// NTWPB: the distance of boundaries that it must not cross; `None` when there are none.
    pub boundary_bytes: Option<u64>,
}

/// Facts that a namespace reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its length: NSZE.
    pub size_bytes: Option<u64>,
    /// The formats that it can have, by number; those that the drive does not offer are left out.
    pub formats: Vec<LbaFormat>,
    /// The format that it has; `None` when the answer names one that it does not offer.
    pub format: Option<LbaFormat>,
    /// True if metadata stands within the data that the host sends, and not apart from it.
    pub metadata_within: bool,
    /// NPWG: a write should be a multiple of this long.
    pub write_granularity_bytes: Option<u64>,
    /// NPWA: a write should start at a multiple of this.
    pub write_alignment_bytes: Option<u64>,
    /// NPDG: a deallocation should be a multiple of this long.
    pub discard_granularity_bytes: Option<u64>,
    /// NPDA: a deallocation should start at a multiple of this.
    pub discard_alignment_bytes: Option<u64>,
    /// NOWS: the best length of a write. A hint, and no granule.
    pub optimal_write_bytes: Option<u64>,
    /// NOIOB: an I/O should not cross a multiple of this.
    pub boundary_bytes: Option<u64>,
    /// Atomic writes, where the namespace has values of its own.
    pub atomic: Atomic,
    /// Bytes 640 to 647 as Amazon's drives use them; `None` without a format in use.
    pub amazon: Option<AmazonTornWrites>,
    /// True if several controllers may reach it (NMIC bit 0).
    pub shared: bool,
    /// The meaning of the other Identify Namespace answer, and of long untorn writes.
    pub features: Features,
}

/// The bits of NSFEAT that gate what stands elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Bit 5, of the two of OPTPERF: NPDGL and NPDAL may be there.
    pub large_discards: bool,
    /// Bit 6, MAM: a write of several atomic units is untorn in each of them.
    pub several_atomic: bool,
    /// Bit 7: NPRG, NPRA and NORS may be there.
    pub reads: bool,
}

/// Facts that a controller reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// MN.
    pub model: DiskText,
    /// SN.
    pub serial: DiskText,
    /// FR.
    pub firmware: DiskText,
    /// AWUN in logical blocks, 1 or more: whole or not at all while power stays.
    pub atomic_blocks: u32,
    /// AWUPF in logical blocks, 1 or more: also when power fails.
    pub atomic_power_fail_blocks: u32,
    /// True if there is a write cache that loses its content with power (VWC bit 0).
    pub volatile_cache: bool,
    /// True if it takes Dataset Management, which deallocates (ONCS bit 2).
    pub discards: bool,
    /// True if it takes Write Zeroes (ONCS bit 3).
    pub writes_zeroes: bool,
    /// The bits of LPA: which log pages it has.
    pub log_pages: u8,
    /// True if the subsystem may have more than one controller (CMIC bit 1).
    pub several_controllers: bool,
}

/// The facts of an Identify Namespace answer.
///
/// # Errors
/// When it is shorter than 4096 bytes, or all zeros as for a namespace that is not there.
pub fn namespace(bytes: &[u8]) -> Result<Parsed<Namespace>, NoAnswer> {
    let block = head::<ANSWER_BYTES>("NVMe Identify Namespace", bytes)?;
    let mut problems = Vec::new();
    let formats = formats(&block, &mut problems);
    let format = format(&block, &formats, &mut problems);
    let unit = format.map(|format| format.data_bytes);
    let features = block.byte::<24>();
    // Bits 4 and 5 (OPTPERF) say which of the preferred sizes are there: either of them those of
    // writes, bit 4 those of deallocation.
    let writes = features & 0x30 != 0;
    let discards = features & 0x10 != 0;
    let preferred = |there: bool, stored| blocks_less_one(stored, unit).filter(|_| there);
    let value = Namespace {
        size_bytes: blocks(block.le64::<0>(), unit),
        format,
        metadata_within: block.byte::<26>() & 0x10 != 0,
        write_granularity_bytes: preferred(writes, block.le16::<64>()),
        write_alignment_bytes: preferred(writes, block.le16::<66>()),
        discard_granularity_bytes: preferred(discards, block.le16::<68>()),
        discard_alignment_bytes: preferred(discards, block.le16::<70>()),
        optimal_write_bytes: preferred(writes, block.le16::<72>()),
        boundary_bytes: blocks(u64::from(block.le16::<46>()), unit),
        atomic: atomic(&block, features, unit),
        amazon: amazon(&block, unit),
        shared: block.byte::<30>() & 1 != 0,
        features: Features {
            large_discards: features & 0x20 != 0,
            several_atomic: features & 0x40 != 0,
            reads: features & 0x80 != 0,
        },
        formats,
    };
    problems.extend(doubts(&value));
    Ok(Parsed { value, problems })
}

fn formats(block: &Block<ANSWER_BYTES>, problems: &mut Vec<Problem>) -> Vec<LbaFormat> {
    let last = block.byte::<25>();
    if last >= FORMATS_MAX {
        problems.push(wrong(25, format!("NLBAF is {last}, and there is room for 64 formats")));
    }
    let stored = block.array::<128, 256>();
    let rows = (0..=last.min(FORMATS_MAX - 1)).zip(stored.chunks_exact(4));
    let mut found = Vec::new();
    for (number, row) in rows {
        // A size of 0 says that the format is not available now.
        if row[2] == 0 {
            continue;
        }
        if !(9..=24).contains(&row[2]) {
            let detail = format!("format {number} has blocks of 2^{} bytes", row[2]);
            problems.push(wrong(128 + 4 * u64::from(number), detail));
            continue;
        }
        found.push(LbaFormat {
            number,
            data_bytes: 1 << row[2],
            metadata_bytes: u16::from_le_bytes([row[0], row[1]]),
            performance: match row[3] & 3 {
                0 => Performance::Best,
                1 => Performance::Better,
                2 => Performance::Good,
                _ => Performance::Degraded,
            },
        });
    }
    found
}

/// The format in use. FLBAS bits 5 and 6 are the upper bits of its number where there are more than
/// 16; older drives may leave anything in them.
fn format(
    block: &Block<ANSWER_BYTES>,
    formats: &[LbaFormat],
    problems: &mut Vec<Problem>,
) -> Option<LbaFormat> {
    let (last, stored) = (block.byte::<25>(), block.byte::<26>());
    let upper = if last >= 16 { (stored >> 5 & 3) << 4 } else { 0 };
    let number = upper | (stored & 0xf);
    let found = formats.iter().find(|format| format.number == number).copied();
    if found.is_none() {
        problems.push(wrong(26, format!("FLBAS names format {number}, which is not offered")));
    }
    found
}

fn atomic(block: &Block<ANSWER_BYTES>, features: u8, unit: Option<u64>) -> Atomic {
    // A stored 0 means "as the controller says" for sizes, and "none" for boundaries.
    let own = features & 2 != 0;
    let size = |stored: u16| blocks_less_one(stored, unit).filter(|_| own && stored != 0);
    let boundary = |stored: u16| blocks_less_one(stored, unit).filter(|_| stored != 0);
    Atomic {
        normal_bytes: size(block.le16::<34>()),
        power_fail_bytes: size(block.le16::<36>()),
        compare_bytes: size(block.le16::<38>()),
        boundary_bytes: boundary(block.le16::<40>()),
        boundary_power_fail_bytes: boundary(block.le16::<44>()),
        boundary_offset_bytes: blocks(u64::from(block.le16::<42>()), unit).unwrap_or(0),
    }
}

fn amazon(block: &Block<ANSWER_BYTES>, unit: Option<u64>) -> Option<AmazonTornWrites> {
    let boundary = u64::from(block.le32::<644>());
    Some(AmazonTornWrites {
        unit_bytes: blocks_less_one(block.le16::<640>(), unit)?,
        granularity_bytes: blocks_less_one(block.le16::<642>(), unit)?,
        boundary_bytes: match boundary {
            0 => None,
            stored => Some(blocks(stored + 1, unit)?),
        },
    })
}

/// Returns what cannot be right of the preferred sizes.
fn doubts(namespace: &Namespace) -> impl Iterator<Item = Problem> {
    let rows = [
        (64, "NPWG", namespace.write_granularity_bytes),
        (66, "NPWA", namespace.write_alignment_bytes),
    ];
    rows.into_iter().filter_map(|(at, name, bytes)| {
        let bytes = bytes.filter(|&bytes| !is_plausible(bytes))?;
        Some(wrong(at, format!("{name} is {bytes} bytes, above 16 MiB")))
    })
}

/// Returns whether NPWG or NPWA can be meant: not above 16 MiB, while mapping units of 64 KiB
/// exist.
#[must_use]
pub fn is_plausible(preferred_bytes: u64) -> bool {
    preferred_bytes <= PREFERRED_BYTES_MAX
}

/// The facts of an Identify Controller answer.
///
/// # Errors
/// When it is shorter than 4096 bytes, or all zeros.
pub fn controller(bytes: &[u8]) -> Result<Parsed<Controller>, NoAnswer> {
    let block = head::<ANSWER_BYTES>("NVMe Identify Controller", bytes)?;
    let optional = block.le16::<520>();
    Ok(Parsed::sound(Controller {
        serial: padded(&block.array::<4, 20>()),
        model: padded(&block.array::<24, 40>()),
        firmware: padded(&block.array::<64, 8>()),
        several_controllers: block.byte::<76>() & 2 != 0,
        log_pages: block.byte::<261>(),
        discards: optional & 4 != 0,
        writes_zeroes: optional & 8 != 0,
        volatile_cache: block.byte::<525>() & 1 != 0,
        atomic_blocks: u32::from(block.le16::<526>()) + 1,
        atomic_power_fail_blocks: u32::from(block.le16::<528>()) + 1,
    }))
}

/// Text that is padded with blanks, on the left too by some drives.
fn padded(bytes: &[u8]) -> DiskText {
    DiskText::from_padded(bytes.trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A namespace of 1 GiB with formats of 512 and 4096 bytes, the first in use.
    fn answer() -> Vec<u8> {
        let mut bytes = vec![0; ANSWER_BYTES];
        bytes[0..8].copy_from_slice(&(1_u64 << 21).to_le_bytes());
        bytes[25] = 1;
        bytes[128..136].copy_from_slice(&[0, 0, 9, 2, 8, 0, 12, 0]);
        bytes
    }

    fn put(bytes: &mut [u8], at: usize, value: u16) {
        bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }

    #[test]
    fn formats_have_data_metadata_and_the_drives_word_for_their_speed() {
        let found = namespace(&answer()).unwrap();
        assert_eq!(found.problems, []);
        let [small, large] = found.value.formats.as_slice() else { panic!("two formats") };
        assert_eq!((small.data_bytes, small.performance), (512, Performance::Good));
        assert_eq!((large.data_bytes, large.metadata_bytes), (4096, 8));
        assert_eq!(large.performance, Performance::Best);
        assert_eq!(found.value.format, Some(*small));
        assert_eq!(found.value.size_bytes, Some(1 << 30));
    }

    #[test]
    fn preferred_sizes_count_from_zero_and_are_gated_by_nsfeat() {
        let mut bytes = answer();
        for (at, value) in [(64, 31), (66, 7), (68, 31), (70, 31), (72, 255)] {
            put(&mut bytes, at, value);
        }
        assert_eq!(namespace(&bytes).unwrap().value.write_granularity_bytes, None);
        bytes[24] = 0x10;
        let found = namespace(&bytes).unwrap();
        assert_eq!(found.value.write_granularity_bytes, Some(16384));
        assert_eq!(found.value.write_alignment_bytes, Some(4096));
        assert_eq!(found.value.discard_granularity_bytes, Some(16384));
        assert_eq!(found.value.optimal_write_bytes, Some(131_072));
        assert_eq!(found.problems, []);
        bytes[24] = 0x20;
        let found = namespace(&bytes).unwrap().value;
        assert_eq!(found.write_alignment_bytes, Some(4096));
        assert_eq!(found.discard_alignment_bytes, None);
    }

    #[test]
    fn the_upper_bits_of_nsfeat_gate_what_stands_elsewhere() {
        let mut bytes = answer();
        assert_eq!(namespace(&bytes).unwrap().value.features, Features::default());
        for (bit, features) in [
            (0x20, Features { large_discards: true, ..Features::default() }),
            (0x40, Features { several_atomic: true, ..Features::default() }),
            (0x80, Features { reads: true, ..Features::default() }),
        ] {
            bytes[24] = bit;
            assert_eq!(namespace(&bytes).unwrap().value.features, features);
        }
    }

    #[test]
    fn the_upper_bits_of_flbas_count_only_beyond_16_formats() {
        let mut bytes = answer();
        bytes[26] = 0x20;
        assert_eq!(namespace(&bytes).unwrap().value.format.unwrap().number, 0);
        bytes[25] = 32;
        bytes[128 + 4 * 16 + 2] = 12;
        assert_eq!(namespace(&bytes).unwrap().value.format.unwrap().number, 16);
        bytes[26] = 0x45;
        let found = namespace(&bytes).unwrap();
        assert_eq!(found.value.format, None);
        assert_eq!(found.problems[0].detail, "FLBAS names format 37, which is not offered");
        assert_eq!(found.value.size_bytes, None);
    }

    #[test]
    fn atomic_sizes_of_zero_are_the_controllers_and_boundaries_of_zero_are_none() {
        let mut bytes = answer();
        put(&mut bytes, 36, 511);
        assert_eq!(namespace(&bytes).unwrap().value.atomic, Atomic::default());
        bytes[24] = 2;
        put(&mut bytes, 44, 15);
        put(&mut bytes, 42, 8);
        let found = namespace(&bytes).unwrap().value.atomic;
        assert_eq!(found.power_fail_bytes, Some(256 << 10));
        assert_eq!(found.normal_bytes, None);
        assert_eq!(found.boundary_bytes, None);
        assert_eq!(found.boundary_power_fail_bytes, Some(8192));
        assert_eq!(found.boundary_offset_bytes, 4096);
    }

    #[test]
    fn amazons_fields_count_from_zero_and_a_boundary_of_zero_is_none() {
        let mut bytes = answer();
        let fields = |bytes: &[u8]| {
            let found = namespace(bytes).unwrap().value.amazon.unwrap();
            (found.unit_bytes, found.granularity_bytes, found.boundary_bytes)
        };
        assert_eq!(fields(&bytes), (512, 512, None));
        for (at, value) in [(640, 31), (642, 7), (644, 63)] {
            put(&mut bytes, at, value);
        }
        assert_eq!(fields(&bytes), (16384, 4096, Some(32768)));
    }

    #[test]
    fn what_cannot_be_right_is_a_problem_and_stands_as_it_was_said() {
        let mut bytes = answer();
        bytes[24] = 0x10;
        bytes[26] = 1;
        put(&mut bytes, 64, 0xffff);
        bytes[128 + 2] = 8;
        let found = namespace(&bytes).unwrap();
        let said: Vec<&str> = found.problems.iter().map(|found| found.detail.as_str()).collect();
        assert_eq!(
            said,
            ["format 0 has blocks of 2^8 bytes", "NPWG is 268435456 bytes, above 16 MiB",]
        );
    }

    #[test]
    fn a_namespace_that_is_not_there_is_no_answer() {
        assert!(matches!(namespace(&[0; ANSWER_BYTES]), Err(NoAnswer::Zeros { .. })));
        assert_eq!(
            namespace(&[1; 512]).unwrap_err().to_string(),
            "NVMe Identify Namespace has 512 bytes, and needs 4096"
        );
    }

    #[test]
    fn a_controller_names_itself_and_its_caches() {
        let mut bytes = vec![0; ANSWER_BYTES];
        bytes[4..24].copy_from_slice(b"S123                ");
        bytes[24..64].copy_from_slice(b"Samsung SSD 980 1TB                     ");
        bytes[64..72].copy_from_slice(b"1B4QFXO7");
        put(&mut bytes, 520, 0x5f);
        put(&mut bytes, 526, 1023);
        put(&mut bytes, 528, 7);
        bytes[525] = 7;
        let found = controller(&bytes).unwrap().value;
        assert_eq!(found.model.to_string(), "Samsung SSD 980 1TB");
        assert_eq!(found.serial.to_string(), "S123");
        assert_eq!((found.atomic_blocks, found.atomic_power_fail_blocks), (1024, 8));
        assert!(found.volatile_cache && found.discards && found.writes_zeroes);
    }
}
