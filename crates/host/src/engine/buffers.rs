//! The slots' buffers: one piece of memory, aligned as direct I/O and the processor like.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use units::random::Random;

use super::error::EngineError;

/// The most slots of a queue, as many as the kernel's completion ring takes at its default size.
pub const SLOTS_MAX: u16 = 16384;

/// Alignment of every slot's buffer, in bytes: no direct I/O of any drive wants more.
const PAGE_BYTES: usize = 4096;
/// Alignment of memory that is as long, in bytes: large pages may back it then.
const LARGE_BYTES: usize = 1 << 20;
/// The most memory: what the kernel registers as one buffer (`io_uring/rsrc.c`, 1 GiB).
const BYTES_MAX: usize = 1 << 30;

/// Buffers of one length, each on a multiple of 4096 bytes, in one piece of memory.
#[derive(Debug)]
pub struct Buffers {
    start: NonNull<u8>,
    layout: Layout,
    stride_bytes: usize,
    slot_bytes: usize,
    slots: u16,
    /// True if the kernel may still write to them, so that they are never given back.
    in_use: bool,
}

#[expect(unsafe_code, reason = "the memory is owned, and its pointer says nothing of that")]
// SAFETY: the pointer is to memory that this value alone owns, and nothing of it is bound to a
// thread (std::alloc: an allocation may be freed by any thread).
unsafe impl Send for Buffers {}

impl Buffers {
    /// `slots` (1 to [`SLOTS_MAX`]) buffers of `slot_bytes` (at least 1) zeros, 1 GiB in all at
    /// most.
    ///
    /// # Errors
    /// [`EngineError::Buffers`] when it is none, too many, too much, or there is no memory.
    #[expect(unsafe_code, reason = "vectors cannot be aligned")]
    pub fn new(slots: u16, slot_bytes: u32) -> Result<Buffers, EngineError> {
        let refused = |reason| EngineError::Buffers { slots, slot_bytes, reason };
        if slots == 0 || slot_bytes == 0 {
            return Err(refused("there must be something in them"));
        }
        if slots > SLOTS_MAX {
            return Err(refused("16384 is the most"));
        }
        let length = usize::try_from(slot_bytes).map_err(|_| refused("too long"))?;
        let stride = length.checked_next_multiple_of(PAGE_BYTES);
        let bytes = stride.and_then(|stride| stride.checked_mul(slots.into()));
        let (Some(stride_bytes), Some(bytes)) = (stride, bytes.filter(|&all| all <= BYTES_MAX))
        else {
            return Err(refused("1 GiB in all is the most"));
        };
        let align = if bytes >= LARGE_BYTES { LARGE_BYTES } else { PAGE_BYTES };
        let layout = Layout::from_size_align(bytes, align).expect("a power of two, and short");
        // SAFETY: the layout's size is not 0, since neither slots nor their length is.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).ok_or_else(|| refused("there is not enough memory"))?;
        Ok(Buffers { start, layout, stride_bytes, slot_bytes: length, slots, in_use: false })
    }

    /// Returns how many there are.
    #[must_use]
    pub fn slots(&self) -> u16 {
        self.slots
    }

    /// Returns how long each is.
    #[must_use]
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// The buffer of `slot`.
    ///
    /// # Panics
    /// When there is no such slot.
    #[expect(unsafe_code, reason = "the memory is not a vector's")]
    pub fn slot(&mut self, slot: u16) -> &mut [u8] {
        let place = self.place(slot);
        // SAFETY: `place` is the start of slot_bytes bytes that were allocated and set to zero, and
        // that no other reference covers, since this one borrows all buffers; while the kernel has
        // one, the queue hands it out to nobody.
        unsafe { std::slice::from_raw_parts_mut(place, self.slot_bytes) }
    }

    /// Returns the start of the buffer of `slot`: `slot_bytes` bytes are there.
    ///
    /// # Panics
    /// When there is no such slot.
    #[expect(unsafe_code, reason = "an address within the memory is reckoned")]
    pub(super) fn place(&self, slot: u16) -> *mut u8 {
        assert!(slot < self.slots, "there is no slot {slot}, but {} of them", self.slots);
        // SAFETY: the slot was checked, so the place lies within the one allocation, whose length
        // fits in an isize.
        unsafe { self.start.as_ptr().add(usize::from(slot) * self.stride_bytes) }
    }

    /// All of the memory: where it starts, and its length.
    pub(super) fn whole(&self) -> (*mut u8, usize) {
        (self.start.as_ptr(), self.layout.size())
    }

    /// Fills all buffers with random bytes that `seed` decides, which no drive can compress.
    pub fn fill(&mut self, seed: u64) {
        let mut random = Random::new(seed);
        for slot in 0..self.slots {
            fill(self.slot(slot), &mut random);
        }
    }

    /// Never gives the memory back, since the kernel may still write to it.
    pub(super) fn keep_for_ever(&mut self) {
        self.in_use = true;
    }
}

/// Fills `bytes` with what `random` gives.
pub(crate) fn fill(bytes: &mut [u8], random: &mut Random) {
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&random.next_u64().to_le_bytes()[..chunk.len()]);
    }
}

#[expect(unsafe_code, reason = "the memory is not a vector's")]
impl Drop for Buffers {
    fn drop(&mut self) {
        if !self.in_use {
            // SAFETY: `start` came from alloc_zeroed with this layout, and is freed once, here.
            unsafe { dealloc(self.start.as_ptr(), self.layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_buffer_is_aligned_and_apart_and_random_when_filled() {
        for (slots, slot_bytes) in [(1, 512), (3, 4096), (5, 4097), (300, 4096)] {
            let mut buffers = Buffers::new(slots, slot_bytes).unwrap();
            buffers.fill(1);
            let align = if buffers.layout.size() >= LARGE_BYTES { LARGE_BYTES } else { PAGE_BYTES };
            assert_eq!(buffers.whole().0.addr() % align, 0);
            let mut seen = Vec::new();
            for slot in 0..slots {
                assert_eq!(buffers.place(slot).addr() % PAGE_BYTES, 0);
                let bytes = buffers.slot(slot).to_vec();
                assert_eq!(bytes.len(), usize::try_from(slot_bytes).unwrap());
                assert!(!seen.contains(&bytes), "slot {slot} is like another");
                seen.push(bytes);
            }
        }
    }

    #[test]
    fn buffers_that_cannot_be_are_refused() {
        for (slots, slot_bytes) in [(0, 1), (1, 0), (SLOTS_MAX + 1, 1), (1024, u32::MAX)] {
            assert!(Buffers::new(slots, slot_bytes).is_err(), "{slots} of {slot_bytes}");
        }
    }

    #[test]
    #[should_panic(expected = "there is no slot 2")]
    fn a_slot_that_is_not_there_panics() {
        let _ = Buffers::new(2, 8).unwrap().slot(2);
    }
}
