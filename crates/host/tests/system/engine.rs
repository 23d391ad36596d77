//! The queues on real files: what they promise, and that they allocate nothing on the way.

#![expect(clippy::unwrap_used, reason = "in a test, unwrap is an assertion")]

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;

use device::{Action, Completion, Durability, Operation, Queue, SyncKind};
use host::engine::{
    Access, Buffers, EngineError, NullQueue, SyncQueue, UringQueue, now_ns, open_measured,
};
use testkit::memory::allocations_of;
use testkit::{Loop, Scratch, need_loops, skip};

const PAGE: u32 = 4096;
const WRITE: Action = Action::Write { durability: Durability::Cached, atomic: false };
const NOTHING: Completion = Completion { slot: 0, submitted_ns: 0, completed_ns: 0, result: Ok(0) };

fn at(slot: u16, action: Action, page: u64) -> Operation {
    let offset_bytes = page * u64::from(PAGE);
    Operation { action, file: 0, slot, offset_bytes, length_bytes: PAGE }
}

fn buffers(slots: u16) -> Buffers {
    let mut buffers = Buffers::new(slots, PAGE).unwrap();
    buffers.fill(7);
    buffers
}

/// A file of 16 pages, opened twice: for a queue, and to look at.
fn file(scratch: &Scratch) -> (Vec<OwnedFd>, File) {
    let path = scratch.image("measured", 16 * u64::from(PAGE));
    let queue = open_measured(&path, Access::Write, false).unwrap();
    (vec![queue], File::open(&path).unwrap())
}

/// The queue, or a skip where this machine has no `io_uring`.
fn uring(files: Vec<OwnedFd>, buffers: Buffers) -> Option<UringQueue> {
    match UringQueue::new(files, buffers) {
        Err(error @ EngineError::Forbidden { .. }) => {
            skip(&error.to_string());
            None
        }
        made => Some(made.unwrap()),
    }
}

/// Writes every slot's buffer to its own page, syncs, and reads the pages back in another order.
fn moves_bytes(queue: &mut impl Queue, seen: &File) {
    let depth = queue.depth();
    let written: Vec<Vec<u8>> = (0..depth).map(|slot| queue.buffer(slot).to_vec()).collect();
    let mut done = vec![NOTHING; usize::from(depth) + 1];
    let started = now_ns();
    for slot in 0..depth {
        queue.push(at(slot, WRITE, slot.into()));
    }
    queue.submit().unwrap();
    assert_eq!(queue.reap(&mut done, usize::MAX).unwrap(), usize::from(depth));
    let mut slots: Vec<u16> = done[..usize::from(depth)].iter().map(|end| end.slot).collect();
    slots.sort_unstable();
    assert_eq!(slots, (0..depth).collect::<Vec<_>>());
    for end in &done[..usize::from(depth)] {
        assert_eq!(end.result, Ok(PAGE));
        assert!(started <= end.submitted_ns && end.submitted_ns <= end.completed_ns);
        assert!(end.completed_ns <= now_ns());
    }
    for kind in [SyncKind::Data, SyncKind::All, SyncKind::Range] {
        queue.push(at(0, Action::Sync(kind), 0));
        queue.submit().unwrap();
        assert_eq!(queue.reap(&mut done, 1).unwrap(), 1);
        assert_eq!(done[0].result, Ok(0), "{kind:?}");
    }
    for slot in 0..depth {
        queue.push(at(slot, Action::Read, u64::from(depth - 1 - slot)));
    }
    queue.submit().unwrap();
    assert_eq!(queue.reap(&mut done, depth.into()).unwrap(), usize::from(depth));
    for slot in 0..depth {
        let (here, there) = (usize::from(slot), usize::from(depth - 1 - slot));
        assert_eq!(queue.buffer(slot), written[there], "slot {slot}");
        let mut page = vec![0; written[here].len()];
        seen.read_exact_at(&mut page, u64::from(slot) * u64::from(PAGE)).unwrap();
        assert_eq!(page, written[here]);
    }
    assert_eq!(queue.reap(&mut done, 1).unwrap(), 0, "nothing is in flight");
}

#[test]
fn what_a_slot_held_is_what_the_file_holds_by_system_calls() {
    let scratch = Scratch::new();
    let (files, seen) = file(&scratch);
    moves_bytes(&mut SyncQueue::new(files, buffers(8)).unwrap(), &seen);
}

#[test]
fn what_a_slot_held_is_what_the_file_holds_by_io_uring() {
    let scratch = Scratch::new();
    let (files, seen) = file(&scratch);
    let Some(mut queue) = uring(files, buffers(8)) else { return };
    moves_bytes(&mut queue, &seen);
}

/// Every durability is taken by a file that has it.
fn takes_every_durability(queue: &mut impl Queue) {
    let mut done = [NOTHING];
    for durability in [Durability::Cached, Durability::Data, Durability::All] {
        queue.push(at(0, Action::Write { durability, atomic: false }, 1));
        queue.submit().unwrap();
        assert_eq!(queue.reap(&mut done, 1).unwrap(), 1);
        assert_eq!(done[0].result, Ok(PAGE), "{durability:?}");
    }
    // Where no write is atomic it is refused, never done as any other (pwritev2(2)).
    queue.push(at(0, Action::Write { durability: Durability::Cached, atomic: true }, 1));
    queue.submit().unwrap();
    assert_eq!(queue.reap(&mut done, 1).unwrap(), 1);
    let refused = [rustix::io::Errno::OPNOTSUPP, rustix::io::Errno::INVAL];
    assert!(
        refused.iter().any(|errno| done[0].result == Err(errno.raw_os_error())),
        "a buffered write is not atomic: {:?}",
        done[0]
    );
}

#[test]
fn durable_writes_are_done_and_atomic_ones_are_refused_where_there_are_none() {
    let scratch = Scratch::new();
    let (files, _) = file(&scratch);
    takes_every_durability(&mut SyncQueue::new(files, buffers(1)).unwrap());
    let (files, _) = file(&scratch);
    let Some(mut queue) = uring(files, buffers(1)) else { return };
    takes_every_durability(&mut queue);
}

/// A read over the end of the file is short, one after it is 0, and a file that is not open for
/// writing refuses with its number.
fn tells_what_happened(queue: &mut impl Queue) {
    let mut done = [NOTHING];
    let mut one = |operation| {
        queue.push(operation);
        queue.submit().unwrap();
        assert_eq!(queue.reap(&mut done, 1).unwrap(), 1);
        done[0].result
    };
    assert_eq!(one(at(0, Action::Read, 0)), Ok(1000));
    assert_eq!(one(at(0, Action::Read, 1)), Ok(0));
    assert_eq!(one(at(0, WRITE, 0)), Err(rustix::io::Errno::BADF.raw_os_error()));
}

#[test]
fn a_short_read_and_an_error_are_told_as_they_are() {
    let scratch = Scratch::new();
    let path = scratch.file("short", &[1; 1000]);
    let open = || vec![open_measured(&path, Access::Read, false).unwrap()];
    tells_what_happened(&mut SyncQueue::new(open(), buffers(1)).unwrap());
    let Some(mut queue) = uring(open(), buffers(1)) else { return };
    tells_what_happened(&mut queue);
}

/// A full disk: the first write over the end fails, or is short, and none says it was whole.
fn tells_of_a_full_disk(queue: &mut impl Queue, pages: u64) {
    let mut done = [NOTHING];
    let mut all = 0;
    for page in 0..=pages {
        queue.push(at(0, WRITE, page));
        queue.submit().unwrap();
        assert_eq!(queue.reap(&mut done, 1).unwrap(), 1);
        all += u64::from(done[0].result.unwrap_or(0));
    }
    assert_eq!(all, pages * u64::from(PAGE), "what lies behind the device is not written");
    assert!(done[0].result != Ok(PAGE), "{done:?}");
}

#[test]
fn a_write_behind_the_end_of_a_device_is_an_error() {
    need_loops!();
    let scratch = Scratch::new();
    let device = Loop::attach(&scratch.image("disk", 16 * u64::from(PAGE)), 512);
    let claimed = || {
        let options = File::options().read(true).write(true).open(device.path()).unwrap();
        vec![OwnedFd::from(options)]
    };
    tells_of_a_full_disk(&mut SyncQueue::new(claimed(), buffers(1)).unwrap(), 16);
    let Some(mut queue) = uring(claimed(), buffers(1)) else { return };
    tells_of_a_full_disk(&mut queue, 16);
}

/// Turns every slot over a few times, as a measuring loop does.
fn turns(queue: &mut impl Queue, done: &mut [Completion]) -> u64 {
    let depth = queue.depth();
    let mut moved = 0;
    for slot in 0..depth {
        queue.push(at(slot, WRITE, slot.into()));
    }
    for round in 0..100_u64 {
        queue.submit().unwrap();
        let count = queue.reap(done, usize::from(depth).div_ceil(2)).unwrap();
        for end in &done[..count] {
            moved += u64::from(end.result.unwrap());
            let action = if round % 2 == 0 { Action::Read } else { WRITE };
            queue.push(at(end.slot, action, round % 16));
        }
    }
    queue.submit().unwrap();
    let mut left = usize::from(depth);
    while left > 0 {
        left -= queue.reap(done, 1).unwrap();
    }
    moved
}

#[test]
fn nothing_is_allocated_between_the_first_submit_and_the_last_reap() {
    let scratch = Scratch::new();
    // That the allocator counts at all.
    assert!(allocations_of(|| vec![0_u8; 100]).1 >= 1);
    let mut done = vec![NOTHING; 16];
    let check = |name: &str, (moved, allocations): (u64, u64)| {
        assert_eq!(allocations, 0, "{name} allocates");
        assert!(moved > 0, "{name} moved nothing");
    };
    let mut null = NullQueue::new(buffers(16)).unwrap();
    check("NullQueue", allocations_of(|| turns(&mut null, &mut done)));
    let (files, _) = file(&scratch);
    let mut sync = SyncQueue::new(files, buffers(16)).unwrap();
    check("SyncQueue", allocations_of(|| turns(&mut sync, &mut done)));
    let (files, _) = file(&scratch);
    let Some(mut ring) = uring(files, buffers(16)) else { return };
    check("UringQueue", allocations_of(|| turns(&mut ring, &mut done)));
}

#[test]
fn a_queue_made_by_one_thread_is_used_by_another() {
    let scratch = Scratch::new();
    let (files, seen) = file(&scratch);
    let Some(mut queue) = uring(files, buffers(4)) else { return };
    std::thread::spawn(move || moves_bytes(&mut queue, &seen)).join().unwrap();
}

#[test]
fn a_queue_that_is_dropped_with_operations_in_flight_waits_for_them() {
    let scratch = Scratch::new();
    let (files, seen) = file(&scratch);
    let Some(mut queue) = uring(files, buffers(8)) else { return };
    let written: Vec<Vec<u8>> = (0..8).map(|slot| queue.buffer(slot).to_vec()).collect();
    for slot in 0..8 {
        queue.push(at(slot, WRITE, slot.into()));
    }
    queue.submit().unwrap();
    drop(queue);
    let mut all = vec![0; 8 * 4096];
    seen.read_exact_at(&mut all, 0).unwrap();
    assert_eq!(all, written.concat());
}

#[test]
#[should_panic(expected = "slot 0 has an operation")]
fn a_slot_takes_one_operation_at_a_time() {
    let mut queue = NullQueue::new(buffers(1)).unwrap();
    queue.push(at(0, WRITE, 0));
    queue.push(at(0, WRITE, 0));
}

#[test]
#[should_panic(expected = "longer than the buffer")]
fn an_operation_longer_than_its_buffer_panics() {
    let mut queue = NullQueue::new(buffers(1)).unwrap();
    queue.push(Operation { length_bytes: PAGE + 1, ..at(0, WRITE, 0) });
}

#[test]
fn the_buffer_of_a_slot_in_flight_is_not_lent() {
    let scratch = Scratch::new();
    let (files, _) = file(&scratch);
    let Some(mut queue) = uring(files, buffers(2)) else { return };
    queue.push(at(0, Action::Read, 0));
    assert_eq!(queue.buffer(1).len(), 4096);
    let lent = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| queue.buffer(0).len()));
    assert!(lent.is_err());
}

#[test]
fn a_queue_over_no_file_is_refused() {
    let error = SyncQueue::new(Vec::new(), buffers(1)).unwrap_err();
    assert_eq!(error.to_string(), "cannot make a queue over 0 files: it takes 1 to 65535");
}

#[test]
fn direct_io_is_asked_for_in_the_open_and_never_waits_for_nothing() {
    let scratch = Scratch::new();
    let path = scratch.image("direct", 65536);
    let open = |direct| open_measured(&path, Access::Write, direct);
    let Ok(file) = open(true) else { return skip("no direct I/O below /tmp") };
    let flags = rustix::fs::fcntl_getfl(file.as_fd()).unwrap();
    assert!(flags.contains(rustix::fs::OFlags::DIRECT), "{flags:?}");
    assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK), "{flags:?}");
    let flags = rustix::fs::fcntl_getfl(open(false).unwrap().as_fd()).unwrap();
    assert!(!flags.contains(rustix::fs::OFlags::DIRECT), "{flags:?}");
}
