//! The places of an open file's bytes in its file system, as the file system reports them.
//!
//! Source: `Documentation/filesystems/fiemap.rst` and `include/uapi/linux/fiemap.h` of Linux.

use thiserror::Error;
use units::ByteRange;

pub use crate::extent_flags::ExtentFlags;

/// The most extents that one question collects: a file of 4 TiB in runs of 4 MiB has as many.
pub const EXTENTS_MAX: usize = 1 << 20;

/// A run of a file's bytes that lies in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The run of the file.
    pub logical: ByteRange,
    /// Its start in the file system's address space, in bytes: the volume on most; 0 and
    /// meaningless where the flags say that the place is unknown, delayed or inline.
    pub physical_bytes: u64,
    /// Facts that the file system reports of it.
    pub flags: ExtentFlags,
}

/// The extents of a range of a file, in order; what lies between is a hole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtentList {
    /// The extents that overlap the range, whole.
    pub extents: Vec<Extent>,
    /// End of the list where that is early, in bytes of the file: more extents than
    /// [`EXTENTS_MAX`].
    pub cut_at_bytes: Option<u64>,
}

/// Why a file's extents cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExtentsError {
    /// The file system does not tell where its files lie.
    #[error("its file system does not tell where files lie (FIEMAP is not supported)")]
    Unsupported,
    /// It failed.
    #[error("FIEMAP failed: {0}")]
    Failed(String),
    /// It answered what cannot be; the text says what.
    #[error("FIEMAP answered what cannot be: {0}")]
    Nonsense(String),
}

/// A file that can say where its bytes lie.
pub trait Extents {
    /// The extents that overlap `range`, in order and without overlap, none of them empty. With
    /// `sync` the file is written to its place first, which is a write to the disk; without it,
    /// what still waits in memory is [`ExtentFlags::DELAYED`].
    ///
    /// # Errors
    /// When the file system cannot tell, fails, or answers what cannot be.
    fn extents(&self, range: ByteRange, sync: bool) -> Result<ExtentList, ExtentsError>;
}

/// Collects what a file system answers, one extent after the other, and checks it.
#[derive(Debug)]
pub struct Collector {
    range: ByteRange,
    list: ExtentList,
    end_bytes: u64,
}

impl Collector {
    /// Collects what overlaps `range`.
    #[must_use]
    pub fn new(range: ByteRange) -> Collector {
        Collector { range, list: ExtentList::default(), end_bytes: 0 }
    }

    /// Takes the next extent; `false` when no more are wanted.
    ///
    /// # Errors
    /// When it is empty, ends past the last address, or overlaps the one before.
    pub fn take(
        &mut self,
        logical_bytes: u64,
        physical_bytes: u64,
        length_bytes: u64,
        flags: ExtentFlags,
    ) -> Result<bool, ExtentsError> {
        let nonsense = |what: &str| {
            let place = format!("{length_bytes} bytes at {logical_bytes} {what}");
            Err(ExtentsError::Nonsense(place))
        };
        let Some(logical) =
            ByteRange::new(logical_bytes, length_bytes).filter(|_| length_bytes > 0)
        else {
            return nonsense("are empty or end past the last address");
        };
        if physical_bytes.checked_add(length_bytes).is_none() {
            return nonsense("would lie past the last address");
        }
        if logical_bytes < self.end_bytes {
            return nonsense("overlap the extent before");
        }
        self.end_bytes = logical.end_bytes();
        if logical_bytes >= self.range.end_bytes() {
            return Ok(false);
        }
        if logical.overlaps(self.range) {
            if self.list.extents.len() >= EXTENTS_MAX {
                self.list.cut_at_bytes = Some(logical_bytes);
                return Ok(false);
            }
            self.list.extents.push(Extent { logical, physical_bytes, flags });
        }
        Ok(!flags.has(ExtentFlags::LAST))
    }

    /// The byte of the file after the last extent that was taken.
    #[must_use]
    pub fn end_bytes(&self) -> u64 {
        self.end_bytes
    }

    /// Returns the collected extents.
    #[must_use]
    pub fn done(self) -> ExtentList {
        self.list
    }
}

/// A file in memory that has the extents it is given: a double for tests.
#[derive(Clone, Debug, Default)]
pub struct MemoryExtents {
    extents: Vec<Extent>,
}

impl MemoryExtents {
    /// A file with these extents, which need not be what a file system would answer.
    #[must_use]
    pub fn new(extents: Vec<Extent>) -> MemoryExtents {
        MemoryExtents { extents }
    }
}

impl Extents for MemoryExtents {
    fn extents(&self, range: ByteRange, sync: bool) -> Result<ExtentList, ExtentsError> {
        let mut collector = Collector::new(range);
        for extent in &self.extents {
            // Nothing waits in memory after a sync; where it went is another file's question.
            let flags = match sync && extent.flags.has(ExtentFlags::DELAYED) {
                true => ExtentFlags(extent.flags.0 & !ExtentFlags::DELAYED.0),
                false => extent.flags,
            };
            let (at, length) = (extent.logical.start_bytes(), extent.logical.length_bytes());
            if !collector.take(at, extent.physical_bytes, length, flags)? {
                break;
            }
        }
        Ok(collector.done())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, length: u64) -> ByteRange {
        ByteRange::new(start, length).unwrap()
    }

    fn extent(at: u64, physical: u64, length: u64) -> Extent {
        let flags = ExtentFlags::default();
        Extent { logical: range(at, length), physical_bytes: physical, flags }
    }

    #[test]
    fn only_what_overlaps_the_range_is_told() {
        let file = MemoryExtents::new(vec![extent(0, 100, 10), extent(20, 200, 10)]);
        assert_eq!(file.extents(range(10, 10), false).unwrap().extents, []);
        assert_eq!(file.extents(range(9, 12), false).unwrap().extents.len(), 2);
    }

    #[test]
    fn overlaps_empty_extents_and_overflows_are_errors() {
        let all = range(0, u64::MAX);
        for bad in [
            vec![extent(0, 0, 10), extent(9, 50, 10)],
            vec![extent(0, 0, 0)],
            vec![extent(0, u64::MAX, 10)],
        ] {
            let found = MemoryExtents::new(bad).extents(all, false);
            assert!(matches!(found, Err(ExtentsError::Nonsense(_))), "{found:?}");
        }
    }
}
