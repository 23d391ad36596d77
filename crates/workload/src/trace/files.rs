//! The files that an iolog names.

use std::collections::HashMap;

use units::DiskText;

use super::refusal::{damaged, shown};
use crate::InputError;

/// The most files of one iolog.
pub const FILES_MAX: usize = 4096;
/// The longest name of a file, in bytes: fio reads no longer one (`iolog.c`, `%256s`).
pub const NAME_BYTES_MAX: usize = 256;

/// Names in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct FileNames {
    names: Vec<DiskText>,
    numbers: HashMap<Box<[u8]>, u16>,
    /// The file that was asked for last: nearly always the next one too.
    last: u16,
}

impl FileNames {
    pub(super) fn names(&self) -> &[DiskText] {
        &self.names
    }

    /// Adds `name`, unless it is there.
    pub(super) fn add(&mut self, name: &[u8]) -> Result<(), InputError> {
        if name.len() > NAME_BYTES_MAX {
            let problem = format!("a file's name is longer than {NAME_BYTES_MAX} bytes");
            return Err(damaged(problem));
        }
        if self.numbers.contains_key(name) {
            return Ok(());
        }
        let number = u16::try_from(self.names.len()).ok().filter(|&n| usize::from(n) < FILES_MAX);
        let number = number.ok_or_else(|| {
            let problem = format!("the trace names more than {FILES_MAX} files");
            InputError::new(problem, "record fewer files in one trace")
        })?;
        self.numbers.insert(name.into(), number);
        self.names.push(DiskText::from_bytes(name));
        Ok(())
    }

    /// The number of `name`.
    pub(super) fn number(&mut self, name: &[u8]) -> Result<u16, InputError> {
        if self.names.get(usize::from(self.last)).is_some_and(|last| last.raw() == name) {
            return Ok(self.last);
        }
        let number = self.numbers.get(name);
        self.last = *number
            .ok_or_else(|| damaged(format!("file `{}` was not added before", shown(name))))?;
        Ok(self.last)
    }
}
