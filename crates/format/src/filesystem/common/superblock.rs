//! What the superblocks of several families have in common: identifiers, labels, bounded powers of
//! two, checksums, and the question whether the volume is large enough.

use units::DiskText;
use uuid::Uuid;

use crate::filesystem::{FileSystem, Heads};
use crate::{Parsed, Problem, ProblemKind};

/// A UUID as `blkid` prints it; `None` when it is all zeros, which means that there is none.
pub(super) fn uuid_text(bytes: [u8; 16]) -> Option<String> {
    let uuid = Uuid::from_bytes(bytes);
    (!uuid.is_nil()).then(|| uuid.to_string())
}

/// A serial of four bytes as `blkid` prints it, `ABCD-0123`; `None` when it is 0.
pub(super) fn serial_text(serial: u32) -> Option<String> {
    (serial != 0).then(|| format!("{:04X}-{:04X}", serial >> 16, serial & 0xffff))
}

/// A label; `None` when it is empty.
pub(super) fn label(text: DiskText) -> Option<DiskText> {
    (!text.is_empty()).then_some(text)
}

/// 2 to the power of `shift`, when that is within `least..=most`.
pub(super) fn power(shift: u32, least: u64, most: u64) -> Option<u64> {
    1_u64.checked_shl(shift).filter(|value| (least..=most).contains(value))
}

/// `value`, when it is a power of two within `least..=most`.
pub(super) fn power_of_two(value: impl Into<u64>, least: u64, most: u64) -> Option<u64> {
    let value = value.into();
    (value.is_power_of_two() && (least..=most).contains(&value)).then_some(value)
}

/// Returns how many of `claims` hold: a damaged superblock keeps most of them, random bytes almost
/// none.
pub(super) fn holding(claims: &[bool]) -> usize {
    claims.iter().filter(|&&holds| holds).count()
}

/// A number of bytes, for a detail.
pub(super) fn bytes_text(bytes: u64) -> String {
    format!("{bytes} bytes")
}

/// A file system that is being read, with what is wrong so far.
pub(super) type Found = Parsed<FileSystem>;

impl Found {
    /// A file system of `kind`, nothing wrong yet.
    pub(super) fn of(kind: &'static str) -> Found {
        Parsed::sound(FileSystem::named(kind))
    }

    /// Adds a detail of the file system.
    pub(super) fn note(&mut self, term: &'static str, value: String) {
        self.value.details.push((term, value));
    }

    /// Adds that the field at `at_bytes` holds what the format does not allow.
    pub(super) fn wrong_field(&mut self, at_bytes: u64, detail: impl Into<String>) {
        self.problems.push(Problem::new(ProblemKind::Field, at_bytes, detail));
    }

    /// Adds a checksum problem when `stored`, which stands at `at_bytes`, is not `computed`.
    pub(super) fn compare_checksums(&mut self, at_bytes: u64, stored: u32, computed: u32) {
        if stored != computed {
            let detail = format!(
                "checksum of the superblock is {stored:#010x}, its bytes give {computed:#010x}"
            );
            self.problems.push(Problem::new(ProblemKind::Checksum, at_bytes, detail));
        }
    }

    /// Adds that a part of the format is unknown to this reader.
    pub(super) fn unsupported(&mut self, at_bytes: u64, detail: impl Into<String>) {
        self.problems.push(Problem::new(ProblemKind::Unsupported, at_bytes, detail));
    }

    /// Sets the size, `count` times `unit_bytes`, as the field at `at_bytes` says, and adds a
    /// problem when it cannot be or is more than the volume.
    pub(super) fn set_size(
        &mut self,
        heads: &Heads<'_>,
        at_bytes: u64,
        count: u64,
        unit_bytes: u64,
    ) {
        self.value.size_bytes = count.checked_mul(unit_bytes);
        let have = heads.length_bytes();
        match self.value.size_bytes {
            None => self.wrong_field(at_bytes, format!("{count} units of {unit_bytes} bytes")),
            Some(size) if size > have => {
                let detail = format!("file system of {size} bytes on a volume of {have} bytes");
                self.problems.push(Problem::new(ProblemKind::Outside, at_bytes, detail));
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_stay_within_their_bounds_for_any_shift() {
        assert_eq!(power(12, 512, 65536), Some(4096));
        assert_eq!(power(8, 512, 65536), None);
        assert_eq!(power(u32::MAX, 512, 65536), None);
        assert_eq!(power_of_two(3_u16, 1, 8), None);
    }

    #[test]
    fn identifiers_of_zeros_are_none() {
        assert_eq!(uuid_text([0; 16]), None);
        assert_eq!(serial_text(0x00ab_0012).as_deref(), Some("00AB-0012"));
    }
}
