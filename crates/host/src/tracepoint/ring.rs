//! The ring into which the kernel copies the records of one processor.
//!
//! Source: perf_event_open(2), section "MMAP layout"; Linux `tools/lib/perf/mmap.c` for the order
//! of reads and writes.

use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Offsets of the ends of the data in `struct perf_event_mmap_page`.
const DATA_HEAD: usize = 0x400;
const DATA_TAIL: usize = 0x408;
/// `struct perf_event_header`: kind, misc, length.
const HEADER_BYTES: usize = 8;
const PERF_RECORD_SAMPLE: u32 = 9;

/// The ring of one event's file.
#[derive(Debug)]
pub(super) struct Ring {
    pages: NonNull<u8>,
    page_bytes: usize,
    data_bytes: usize,
    /// A record that goes over the end of the ring is put together here.
    whole: Vec<u8>,
    pub(super) file: OwnedFd,
}

#[expect(unsafe_code, reason = "the kernel writes into memory that is mapped here")]
impl Ring {
    /// Maps a ring of `data_bytes`, a power of two of at least a page, over `file`.
    pub(super) fn map(file: OwnedFd, data_bytes: usize) -> Result<Ring, Errno> {
        let page_bytes = rustix::param::page_size();
        debug_assert!(data_bytes.is_power_of_two() && data_bytes >= page_bytes);
        let length = page_bytes + data_bytes;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let pages = unsafe {
            mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, file.as_fd(), 0)?
        };
        let pages = NonNull::new(pages.cast::<u8>()).ok_or(Errno::NOMEM)?;
        Ok(Ring { pages, page_bytes, data_bytes, whole: Vec::new(), file })
    }

    /// Hands each record that is there to `take`, oldest first, with its time in nanoseconds, and
    /// makes room.
    pub(super) fn drain(&mut self, mut take: impl FnMut(u64, &[u8])) {
        let head = self.end(DATA_HEAD).load(Ordering::Acquire);
        let mut tail = self.end(DATA_TAIL).load(Ordering::Relaxed);
        while tail < head {
            let header = self.copied(tail, HEADER_BYTES);
            let kind = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]);
            let length = usize::from(u16::from_ne_bytes([header[6], header[7]]));
            if length < HEADER_BYTES || length as u64 > head - tail {
                // The kernel never writes this; what is left cannot be told apart.
                tail = head;
                break;
            }
            let record = self.copied(tail, length);
            if kind == PERF_RECORD_SAMPLE
                && let Some((time_ns, raw)) = sample(&record[HEADER_BYTES..])
            {
                take(time_ns, raw);
            }
            tail += length as u64;
        }
        self.end(DATA_TAIL).store(tail, Ordering::Release);
    }

    /// `length` bytes from `start` on, where the ring goes round.
    fn copied(&mut self, start: u64, length: usize) -> &[u8] {
        let mask = self.data_bytes as u64 - 1;
        let at = usize::try_from(start & mask).expect("it is smaller than the ring");
        let first = length.min(self.data_bytes - at);
        self.whole.clear();
        for (from, count) in [(at, first), (0, length - first)] {
            // SAFETY: `from + count` ends within the mapped data, which the kernel does not write
            // between the tail and the head that it published.
            let part = unsafe {
                std::slice::from_raw_parts(self.pages.as_ptr().add(self.page_bytes + from), count)
            };
            self.whole.extend_from_slice(part);
        }
        &self.whole
    }

    /// One of the two ends in the first page, which kernel and reader share.
    fn end(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the first page is mapped as long as this lives, both ends are aligned 64-bit
        // numbers in it, and both sides use them by atomic loads and stores alone.
        unsafe { AtomicU64::from_ptr(self.pages.as_ptr().add(offset).cast()) }
    }
}

#[expect(unsafe_code, reason = "what was mapped is unmapped")]
impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: this is what was mapped, and no reference into it outlives `self`. A failure
        // would leave the mapping until the process ends.
        let _ = unsafe { munmap(self.pages.as_ptr().cast(), self.page_bytes + self.data_bytes) };
    }
}

/// The time and the raw record of a sample without its header.
fn sample(body: &[u8]) -> Option<(u64, &[u8])> {
    let time_ns = u64::from_ne_bytes(body.get(..8)?.try_into().ok()?);
    let length = u32::from_ne_bytes(body.get(8..12)?.try_into().ok()?);
    let end = usize::try_from(length).ok()?.checked_add(12)?;
    Some((time_ns, body.get(12..end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_raw_record_of_a_sample_is_as_long_as_it_says_and_a_cut_one_is_none() {
        let mut body = 5_u64.to_ne_bytes().to_vec();
        body.extend(3_u32.to_ne_bytes());
        body.extend(b"abcx");
        assert_eq!(sample(&body), Some((5, &b"abc"[..])));
        assert_eq!(sample(&body[..14]), None);
        assert_eq!(sample(&body[..9]), None);
    }
}
