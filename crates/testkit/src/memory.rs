//! Memory that a piece of code takes: an allocator that counts, for one test binary.
//!
//! A test says `#[global_allocator] static COUNTING: Counting = Counting;` and asks [`peak_of`] or
//! [`allocations_of`]. Each thread is counted by itself, so that tests beside each other do not
//! mix.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counted.
#[derive(Debug)]
pub struct Counting;

/// Runs `code` and returns its value with the most bytes that it held at once beyond those held
/// before, on this thread. The peak is 0 where [`Counting`] is not the allocator.
pub fn peak_of<T>(code: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let value = code();
    (value, usize::try_from(PEAK.get().saturating_sub(before)).unwrap_or(0))
}

/// Runs `code` and returns its value with the number of times that it asked for memory, or for more
/// of it, on this thread: 0 where [`Counting`] is not the allocator.
pub fn allocations_of<T>(code: impl FnOnce() -> T) -> (T, u64) {
    let before = ASKED.get();
    let value = code();
    (value, ASKED.get() - before)
}

/// Notes that this thread asked for memory.
fn ask() {
    let _ = ASKED.try_with(|asked| asked.set(asked.get() + 1));
}

/// Notes that this thread holds `change` bytes more. `try_with`, since memory is also freed while a
/// thread ends and its counters are gone.
fn note(change: isize) {
    let _ = LIVE.try_with(|live| {
        let now = live.get().saturating_add(change);
        live.set(now);
        PEAK.try_with(|peak| peak.set(peak.get().max(now)))
    });
}

fn signed(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

#[expect(unsafe_code, reason = "an allocator is unsafe by nature; this one only counts")]
// SAFETY: every call goes to the system's allocator with the arguments it came with; counting
// neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ask();
        note(signed(layout.size()));
        // SAFETY: the caller's promises are the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ask();
        note(signed(layout.size()));
        // SAFETY: the caller's promises are the system's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        ask();
        note(signed(bytes).saturating_sub(signed(layout.size())));
        // SAFETY: the caller's promises are the system's.
        unsafe { System.realloc(place, layout, bytes) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        note(-signed(layout.size()));
        // SAFETY: the caller's promises are the system's.
        unsafe { System.dealloc(place, layout) }
    }
}
