//! A file system that is being read, with what is wrong so far.

use super::facts::FileSystem;
use crate::heads::Heads;
use crate::{Parsed, Problem, ProblemKind};

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
