//! One copy of the table: a header and its entries, and what is wrong with them taken alone.

use device::{Disk, disk};
use units::{Lba, SectorSize};

use super::header::{self, GptHeader, HEADER_BYTES, REVISION};
use crate::checksum::crc32;
use crate::{Problem, ProblemKind};

/// The most entries that are read: tools write 128, Linux numbers no more than 255 partitions of a
/// disk.
const ENTRIES_MAX: u32 = 4096;

/// The longest entry that is read; the specification allows 128 times any power of two, and all
/// tools write 128.
const ENTRY_BYTES_MAX: u32 = 4096;

/// The most bytes of entries that are read: twice what the most entries of the usual length take.
/// (The kernel refuses more than `KMALLOC_MAX_SIZE`, 4 MiB, and any length but 128.)
const ENTRIES_BYTES_MAX: u64 = 1 << 20;

/// The copy's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GptCopyPlace {
    /// In the second sector.
    Primary,
    /// In the last sector, or where the primary says.
    Backup,
}

impl GptCopyPlace {
    /// The word for it in problems.
    pub(super) fn word(self) -> &'static str {
        match self {
            GptCopyPlace::Primary => "primary",
            GptCopyPlace::Backup => "backup",
        }
    }
}

/// A header with the right signature, and its entries.
pub(super) struct Copy {
    pub(super) place: GptCopyPlace,
    pub(super) lba: Lba,
    pub(super) at_bytes: u64,
    pub(super) header: GptHeader,
    /// The entries that could be read, one behind the other; empty when none could.
    pub(super) entries: Vec<u8>,
    /// Place where the entries begin.
    pub(super) entries_at_bytes: u64,
    /// The problems of this copy alone.
    pub(super) problems: Vec<Problem>,
    pub(super) is_header_sound: bool,
    are_entries_sound: bool,
}

impl Copy {
    /// The copy whose header is at `lba`; `None` when there is none or that is behind the disk.
    ///
    /// # Errors
    /// The problem, when the sector cannot be read.
    pub(super) fn read(
        disk: &dyn Disk,
        lba: Lba,
        sector: SectorSize,
        place: GptCopyPlace,
    ) -> Result<Option<Copy>, Problem> {
        let Some(at_bytes) = lba.to_bytes(sector) else { return Ok(None) };
        if disk::check_bounds(disk.length_bytes(), at_bytes, sector.bytes()).is_err() {
            return Ok(None);
        }
        // Where the signature cannot be read alone, reading the sector says why.
        if disk::read_array(disk, at_bytes).is_ok_and(|found| found != header::SIGNATURE) {
            return Ok(None);
        }
        let bytes = disk::read_vec(disk, at_bytes, sector.bytes()).map_err(|error| {
            Problem::unreadable(&format!("{} GPT header", place.word()), at_bytes, &error)
        })?;
        let Some(header) = GptHeader::parse(&bytes) else { return Ok(None) };
        let mut copy = Copy {
            place,
            lba,
            at_bytes,
            header,
            entries: Vec::new(),
            entries_at_bytes: 0,
            problems: Vec::new(),
            is_header_sound: false,
            are_entries_sound: false,
        };
        copy.check_header(&bytes);
        copy.are_entries_sound = copy.read_entries(disk, sector);
        Ok(Some(copy))
    }

    /// Returns whether both checksums hold and the header is where it says.
    pub(super) fn is_sound(&self) -> bool {
        self.is_header_sound && self.are_entries_sound
    }

    /// Returns how little speaks for this copy: 0 when it is sound, 1 when its header is, 2 when
    /// there are entries to describe, 3 when there is only the signature.
    pub(super) fn doubt(&self) -> u8 {
        match (self.is_header_sound, self.are_entries_sound) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) if !self.entries.is_empty() => 2,
            (false, _) => 3,
        }
    }

    /// Notes a problem of this copy, at its header.
    fn note(&mut self, kind: ProblemKind, detail: &str) {
        let detail = format!("{} GPT header: {detail}", self.place.word());
        self.problems.push(Problem::new(kind, self.at_bytes, detail));
    }

    fn check_header(&mut self, bytes: &[u8]) {
        let header = self.header.clone();
        let crc = header.computed_crc(bytes);
        match crc {
            None => self.note(
                ProblemKind::Field,
                &format!(
                    "its length is {}, not {HEADER_BYTES} to {}",
                    header.header_bytes,
                    bytes.len()
                ),
            ),
            Some(crc) if crc != header.header_crc => self.note(
                ProblemKind::Checksum,
                &format!("checksum is {:#010x}, computed {crc:#010x}", header.header_crc),
            ),
            Some(_) => {}
        }
        if header.my_lba != self.lba {
            let detail = format!("it says it is at LBA {}, not {}", header.my_lba.0, self.lba.0);
            self.note(ProblemKind::Field, &detail);
        }
        if header.revision != REVISION {
            let detail = format!("revision is {:#010x}, not {REVISION:#010x}", header.revision);
            self.note(ProblemKind::Field, &detail);
        }
        let (first, last) = (header.first_usable_lba.0, header.last_usable_lba.0);
        if last < first {
            let detail = format!("the usable range ends at LBA {last}, before its start {first}");
            self.note(ProblemKind::Field, &detail);
        } else if (first..=last).contains(&self.lba.0) {
            let detail =
                format!("the usable range, LBA {first} to {last}, holds the header itself");
            self.note(ProblemKind::Overlap, &detail);
        }
        self.is_header_sound = crc == Some(header.header_crc) && header.my_lba == self.lba;
    }

    /// Reads the entries, within bounds, and says whether all of them were read and their checksum
    /// holds.
    fn read_entries(&mut self, disk: &dyn Disk, sector: SectorSize) -> bool {
        let (count, size) = (self.header.entry_count, self.header.entry_bytes);
        if !(size >= 128 && size.is_power_of_two() && size <= ENTRY_BYTES_MAX) {
            let detail =
                format!("entries of {size} bytes, not 128, 256 or on to {ENTRY_BYTES_MAX}");
            self.note(ProblemKind::Field, &detail);
            return false;
        }
        let most = u64::from(ENTRIES_MAX).min(ENTRIES_BYTES_MAX.div_euclid(u64::from(size)));
        let taken = u64::from(count).min(most);
        if taken < u64::from(count) || count == 0 {
            let detail = format!("{count} entries of {size} bytes; 1 to {most} are read");
            self.note(ProblemKind::Field, &detail);
        }
        let place = self.place.word();
        let lba = self.header.entries_lba;
        let Some(at_bytes) = lba.to_bytes(sector) else {
            self.note(ProblemKind::Outside, &format!("entries at LBA {}, beyond any disk", lba.0));
            return false;
        };
        self.entries_at_bytes = at_bytes;
        let wanted = taken * u64::from(size);
        if disk::check_bounds(disk.length_bytes(), at_bytes, wanted).is_err() {
            let detail = format!("its entries at LBA {} end past the end of the disk", lba.0);
            self.note(ProblemKind::Outside, &detail);
            return false;
        }
        match disk::read_vec(disk, at_bytes, wanted) {
            Ok(entries) => self.entries = entries,
            Err(error) => {
                let what = format!("{place} GPT entries");
                self.problems.push(Problem::unreadable(&what, at_bytes, &error));
                return false;
            }
        }
        if taken < u64::from(count) {
            return false;
        }
        let (stored, computed) = (self.header.entries_crc, crc32(&self.entries));
        if stored != computed {
            let detail = format!(
                "{place} GPT entries: checksum is {stored:#010x}, computed {computed:#010x}"
            );
            self.problems.push(Problem::new(ProblemKind::Checksum, at_bytes, detail));
        }
        stored == computed && count > 0
    }
}
