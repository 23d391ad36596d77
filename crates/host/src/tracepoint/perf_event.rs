//! The system call and the ioctls of perf events.
//!
//! Source: perf_event_open(2), Linux `include/uapi/linux/perf_event.h`.

use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use rustix::io::Errno;

const PERF_TYPE_TRACEPOINT: u32 = 2;
/// `PERF_ATTR_SIZE_VER5`: every kernel since 4.1 knows as much.
const ATTRIBUTE_BYTES: u32 = 112;
const PERF_SAMPLE_TIME: u64 = 1 << 2;
const PERF_SAMPLE_RAW: u64 = 1 << 10;
const PERF_FLAG_PID_CGROUP: libc::c_ulong = 1 << 2;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;
/// A read tells, beside the count, how many found no room; since Linux 6.0.
const PERF_FORMAT_LOST: u64 = 1 << 4;
/// Bits of `perf_event_attr`'s flags: disabled, inherit, watermark, use_clockid.
const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const WATERMARK: u64 = 1 << 14;
const USE_CLOCKID: u64 = 1 << 25;
const CLOCK_MONOTONIC: i32 = 1;

/// `_IO('$', 0)`, `_IO('$', 1)`, `_IOW('$', 6, char *)`.
const PERF_EVENT_IOC_ENABLE: u16 = 0x2400;
const PERF_EVENT_IOC_DISABLE: u16 = 0x2401;
const PERF_EVENT_IOC_SET_FILTER: libc::Ioctl = 0x4008_2406;

/// Those whose events are counted.
#[derive(Clone, Copy, Debug)]
pub enum CountedScope<'a> {
    /// Everything on this machine.
    Machine,
    /// Work of threads of the control group (cgroup v2) with this directory.
    Group(BorrowedFd<'a>),
    /// Work of one thread, and of those that it starts later.
    Thread(u32),
}

/// `struct perf_event_attr`, as far as [`ATTRIBUTE_BYTES`].
#[repr(C)]
#[derive(Default)]
struct PerfEventAttributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint_kind: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    user_registers: u64,
    user_stack_bytes: u32,
    clock: i32,
    interrupt_registers: u64,
    aux_watermark: u32,
    stack_depth: u16,
    reserved: u16,
}

const _: () = assert!(
    size_of::<PerfEventAttributes>() == ATTRIBUTE_BYTES as usize,
    "the layout of perf_event.h"
);

/// Purpose of an event's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It counts; threads that are started later count too where it is of a thread.
    Count,
    /// It copies each record into a ring, with the time by the monotonic clock, and wakes whoever
    /// waits when this many bytes are there.
    Copy {
        /// Bytes of records at which a reader is woken.
        wake_bytes: u32,
        /// True if a read is to tell how many found no room; such a kernel is 6.0 or newer.
        tells_lost: bool,
    },
}

/// Opens the event with number `id` in `scope` on `processor`; `None` for any processor. It does
/// not count yet.
#[expect(unsafe_code, reason = "no library has this system call")]
pub(super) fn open(
    id: u64,
    scope: &CountedScope<'_>,
    processor: Option<u32>,
    purpose: Purpose,
) -> Result<OwnedFd, Errno> {
    let mut attributes = PerfEventAttributes {
        kind: PERF_TYPE_TRACEPOINT,
        size: ATTRIBUTE_BYTES,
        config: id,
        flags: DISABLED,
        ..PerfEventAttributes::default()
    };
    match purpose {
        Purpose::Count if matches!(scope, CountedScope::Thread(_)) => attributes.flags |= INHERIT,
        Purpose::Count => {}
        Purpose::Copy { wake_bytes, tells_lost } => {
            attributes.sample_period = 1;
            attributes.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
            attributes.read_format = if tells_lost { PERF_FORMAT_LOST } else { 0 };
            attributes.flags |= WATERMARK | USE_CLOCKID;
            attributes.wakeup = wake_bytes;
            attributes.clock = CLOCK_MONOTONIC;
        }
    }
    let (process, group) = match scope {
        CountedScope::Machine => (-1, 0),
        CountedScope::Group(directory) => (directory.as_raw_fd(), PERF_FLAG_PID_CGROUP),
        CountedScope::Thread(thread) => (i32::try_from(*thread).map_err(|_| Errno::SRCH)?, 0),
    };
    let processor = processor.map_or(-1, |number| i32::try_from(number).unwrap_or(i32::MAX));
    // SAFETY: the attributes are a live struct of the size that they name, and all pointers in
    // them are zero.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            process,
            processor,
            -1_i32,
            group | PERF_FLAG_FD_CLOEXEC,
        )
    };
    match i32::try_from(answer) {
        // SAFETY: the kernel made this descriptor just now, for this process alone.
        Ok(number) if number >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(number) }),
        _ => Err(last_error()),
    }
}

/// Starts or stops an event; a stopped one costs nothing.
#[expect(unsafe_code, reason = "an ioctl's number decides what the kernel reads")]
pub(super) fn switch(event: BorrowedFd<'_>, is_on: bool) -> Result<(), Errno> {
    let request = if is_on { PERF_EVENT_IOC_ENABLE } else { PERF_EVENT_IOC_DISABLE };
    // SAFETY: neither request takes a pointer.
    done(unsafe { libc::ioctl(event.as_raw_fd(), libc::Ioctl::from(request), 0) })
}

/// Sets the filter: only what `filter` says passes, in the words of
/// `Documentation/trace/events.rst`.
#[expect(unsafe_code, reason = "an ioctl's number decides what the kernel reads")]
pub(super) fn set_filter(event: BorrowedFd<'_>, filter: &std::ffi::CStr) -> Result<(), Errno> {
    // SAFETY: the pointer is to a string that ends with NUL and outlives the call.
    done(unsafe { libc::ioctl(event.as_raw_fd(), PERF_EVENT_IOC_SET_FILTER, filter.as_ptr()) })
}

fn done(answer: libc::c_int) -> Result<(), Errno> {
    if answer < 0 { Err(last_error()) } else { Ok(()) }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}
