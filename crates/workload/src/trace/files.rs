//! The files that an iolog names.

use std::collections::HashMap;

use units::DiskText;

use super::error::{Problem, shown};

/// The most files of one iolog.
pub const FILES_MAX: usize = 4096;
/// The longest name of a file, in bytes: fio reads no longer one (`iolog.c`, `%256s`).
pub const NAME_BYTES_MAX: usize = 256;

/// Names in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Files {
    names: Vec<DiskText>,
    numbers: HashMap<Box<[u8]>, u16>,
    /// The file that was asked for last: nearly always the next one too.
    last: u16,
}

impl Files {
    pub(super) fn names(&self) -> &[DiskText] {
        &self.names
    }

    /// Adds `name`, unless it is there.
    pub(super) fn add(&mut self, name: &[u8]) -> Result<(), Problem> {
        if name.len() > NAME_BYTES_MAX {
            return Err(Problem::NameTooLong);
        }
        if self.numbers.contains_key(name) {
            return Ok(());
        }
        let number = u16::try_from(self.names.len()).ok().filter(|&n| usize::from(n) < FILES_MAX);
        self.numbers.insert(name.into(), number.ok_or(Problem::Files)?);
        self.names.push(DiskText::from_bytes(name));
        Ok(())
    }

    /// The number of `name`.
    pub(super) fn number(&mut self, name: &[u8]) -> Result<u16, Problem> {
        if self.names.get(usize::from(self.last)).is_some_and(|last| last.raw() == name) {
            return Ok(self.last);
        }
        let number = self.numbers.get(name);
        self.last = *number.ok_or_else(|| Problem::NotAdded { name: shown(name) })?;
        Ok(self.last)
    }
}
