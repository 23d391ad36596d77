//! Reads and writes of block devices as the kernel's tracepoints show them.
//!
//! Two places are watched: `block_rq_issue`, where a request goes to a drive, after all merging;
//! and `block_bio_queue`, where a layer above hands a piece of work in, by the thread that wants
//! it. Devices without a queue of requests (zram, md, most of dm) show the latter alone. A request
//! that a drive hands back and gets again is seen twice.
//!
//! Source: Linux `include/trace/events/block.h`, `block/blk-core.c` (the sector of a bio on a
//! partition is already that of the whole disk, its device still the partition's),
//! `kernel/trace/blktrace.c` (`blk_fill_rwbs`).

mod filter;
mod record;

pub use filter::{BlockFilter, BlockLevel, BlockShape, Direction, SECTOR_BYTES};
pub use record::{BlockRecord, RecordFields};

use crate::tracepoint::{
    CountedScope, EventFormat, Tracefs, TracepointCounter, TracepointError, TracepointStream,
};

/// The events of block devices that this kernel has.
#[derive(Debug)]
pub struct BlockEvents {
    request: EventFormat,
    bio: EventFormat,
}

impl BlockEvents {
    /// Looks the events up.
    ///
    /// # Errors
    /// When tracefs cannot be reached, or the kernel describes the events otherwise than expected.
    pub fn open(tracefs: &Tracefs) -> Result<BlockEvents, TracepointError> {
        let event = |level: BlockLevel| -> Result<EventFormat, TracepointError> {
            let format = tracefs.event(level.event())?;
            match record::missing_field(&format) {
                None => Ok(format),
                Some(field) => Err(TracepointError::NoEvent {
                    event: format.name,
                    reason: format!("its records have no field {field}"),
                }),
            }
        };
        let (request, bio) = (event(BlockLevel::Requests)?, event(BlockLevel::Bios)?);
        Ok(BlockEvents { request, bio })
    }

    /// Counts, from now on, what `filter` lets pass, in `scope`.
    ///
    /// # Errors
    /// When [`TracepointCounter::open`] fails.
    pub fn count(
        &self,
        filter: &BlockFilter,
        scope: CountedScope<'_>,
    ) -> Result<TracepointCounter, TracepointError> {
        TracepointCounter::open(self.format(filter.level), &filter.text(), scope)
    }

    /// Makes ready to copy what `filter` lets pass, with a ring of `ring_bytes` a processor.
    ///
    /// # Errors
    /// When [`TracepointStream::open`] fails.
    pub fn stream(
        &self,
        filter: &BlockFilter,
        ring_bytes: usize,
    ) -> Result<TracepointStream, TracepointError> {
        TracepointStream::open(self.format(filter.level), &filter.text(), ring_bytes)
    }

    /// The places of the fields in the records of `level`.
    ///
    /// # Panics
    /// Never: [`BlockEvents::open`] saw that all fields are there.
    #[must_use]
    pub fn fields(&self, level: BlockLevel) -> RecordFields<'_> {
        RecordFields::of(self.format(level))
    }

    fn format(&self, level: BlockLevel) -> &EventFormat {
        match level {
            BlockLevel::Requests => &self.request,
            BlockLevel::Bios => &self.bio,
        }
    }
}
