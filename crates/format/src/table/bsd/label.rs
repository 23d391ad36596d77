//! The label itself: its fields, as they stand, and whether they hold together.

use units::SectorSize;

use crate::bytes::{self, Block};
use crate::{Problem, ProblemKind};

const MAGIC: u32 = 0x8256_4557;
const HEADER: usize = 148;
const SLOT: usize = 16;

/// The most slots that are read. 22 fit in a sector of 512 bytes, which is what all BSDs kept to
/// until OpenBSD went on to 52.
const SLOTS_MAX: usize = 64;

/// The bytes that a BIOS runs, as in an MBR.
const CODE_BYTES: u64 = 440;

/// Returns whether a label may begin with `bytes`.
pub(super) fn is_magic(bytes: [u8; 4]) -> bool {
    u32::from_le_bytes(bytes) == MAGIC
}

/// A label that was recognized.
pub(super) struct BsdLabel {
    at_bytes: u64,
    header: Block<HEADER>,
    slots: Vec<Slot>,
    is_checksum_right: bool,
}

/// One slot, as it stands.
pub(super) struct Slot {
    /// The number of sectors; 0 for an empty slot.
    pub(super) length_sectors: u64,
    /// The first sector, counted from the slice or the disk.
    pub(super) start_sectors: u64,
    /// The type; 0 for an unused slot.
    pub(super) code: u8,
}

impl Slot {
    /// Returns whether it has a type and a length.
    pub(super) fn is_used(&self) -> bool {
        self.code != 0 && self.length_sectors != 0
    }

    // 48 bits of sectors of at most 65536 bytes fit in 64 bits.

    pub(super) fn start_bytes(&self, sector: SectorSize) -> u64 {
        self.start_sectors.saturating_mul(sector.bytes())
    }

    pub(super) fn length_bytes(&self, sector: SectorSize) -> u64 {
        self.length_sectors.saturating_mul(sector.bytes())
    }
}

impl BsdLabel {
    /// The label at `at_bytes` of `head`; `None` unless its first magic number is right and either
    /// the second or the checksum is. In the second sector of a size above 512, it must give that
    /// size.
    pub(super) fn find(head: &[u8], at_bytes: u64) -> Option<BsdLabel> {
        let at = usize::try_from(at_bytes).ok()?;
        let bytes = head.get(at..)?;
        let header: Block<HEADER> = bytes::block(bytes)?;
        if header.le32::<0>() != MAGIC {
            return None;
        }
        let count = usize::from(header.le16::<138>()).min(SLOTS_MAX);
        let bytes = &bytes[..bytes.len().min(HEADER + count * SLOT)];
        let words = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let is_checksum_right = words.fold(0, |sum, word| sum ^ word) == 0;
        let has_wide = header.le16::<114>() == 1;
        let slots = bytes[HEADER..].chunks_exact(SLOT);
        let slots = slots.filter_map(bytes::block).map(|slot| slot_of(&slot, has_wide)).collect();
        let label = BsdLabel { at_bytes, header, slots, is_checksum_right };
        let is_placed = at_bytes <= 512 || u64::from(label.header.le32::<40>()) == at_bytes;
        let is_label = label.header.le32::<132>() == MAGIC || is_checksum_right;
        (is_placed && is_label).then_some(label)
    }

    /// Returns whether both magic numbers and the checksum are right.
    pub(super) fn is_sound(&self) -> bool {
        self.is_checksum_right && self.header.le32::<132>() == MAGIC
    }

    /// Returns whether OpenBSD wrote it, since 2007: its version is 1 where others have zeros, and
    /// its addresses have 48 bits and count from the start of the disk.
    pub(super) fn is_openbsd(&self) -> bool {
        self.header.le16::<114>() == 1
    }

    /// The sector size that it gives; `None` when that is none.
    pub(super) fn sector(&self) -> Option<SectorSize> {
        SectorSize::new(u64::from(self.header.le32::<40>()))
    }

    /// Its slots, in order, used or not.
    pub(super) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The byte address of the slot at `place`.
    pub(super) fn slot_at(&self, place: usize) -> u64 {
        let within = u64::try_from(HEADER + place.min(SLOTS_MAX) * SLOT).unwrap_or(u64::MAX);
        self.at_bytes.saturating_add(within)
    }

    /// The number of bytes from the start that may be boot code: up to the label, at most 440.
    pub(super) fn code_length(&self) -> usize {
        usize::try_from(self.at_bytes.min(CODE_BYTES)).unwrap_or(0)
    }

    /// Returns what is wrong with its fields.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut note = |kind, detail: String| {
            problems.push(Problem::new(kind, self.at_bytes, format!("BSD label: {detail}")));
        };
        if !self.is_checksum_right {
            note(ProblemKind::Checksum, "the XOR of its words is not 0".to_owned());
        }
        let second = self.header.le32::<132>();
        if second != MAGIC {
            note(ProblemKind::Field, format!("the second magic number is {second:#010x}"));
        }
        let count = usize::from(self.header.le16::<138>());
        if count != self.slots.len() {
            note(ProblemKind::Field, format!("{count} slots; {} are read", self.slots.len()));
        }
        if self.sector().is_none() {
            let bytes = self.header.le32::<40>();
            note(ProblemKind::Field, format!("{bytes} is no sector size"));
        }
        problems
    }
}

fn slot_of(slot: &Block<SLOT>, has_wide: bool) -> Slot {
    let high = |half: u16| if has_wide { u64::from(half) << 32 } else { 0 };
    Slot {
        length_sectors: u64::from(slot.le32::<0>()) | high(slot.le16::<10>()),
        start_sectors: u64::from(slot.le32::<4>()) | high(slot.le16::<8>()),
        code: slot.byte::<12>(),
    }
}
