//! The seccomp filters of a running thread, which only a tracer gets.
//!
//! The thread is seized, interrupted, asked and let go, within a bounded time. A thread of our own
//! does that, since the kernel lets everything go that a tracer holds when the tracer's thread ends
//! (ptrace(2), "Attaching and detaching"): so nothing stays stopped, whatever fails here, and also
//! when this process is killed. A signal that arrives meanwhile is handed on.
//!
//! Source: ptrace(2) on `PTRACE_SEIZE`, `PTRACE_INTERRUPT` and `PTRACE_SECCOMP_GET_FILTER`, which
//! takes `CAP_SYS_ADMIN`, a kernel with `CONFIG_CHECKPOINT_RESTORE`, and a tracer without filters.

use std::ffi::{c_int, c_long};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;

use super::procfs::{read, tracer};
use super::rights;
use crate::engine::now_ns;

const PTRACE_DETACH: c_long = 17;
const PTRACE_SEIZE: c_long = 0x4206;
const PTRACE_INTERRUPT: c_long = 0x4207;
const PTRACE_SECCOMP_GET_FILTER: c_long = 0x420c;
const PTRACE_EVENT_STOP: c_int = 128;

/// Longest time in which a thread may stop, in nanoseconds; one that waits for a drive does not.
const STOP_NS: u64 = 500_000_000;
const LOOK: Duration = Duration::from_micros(200);
/// The most filters, and the most instructions of each, `BPF_MAXINSNS`.
const FILTERS_MAX: usize = 1024;
const INSTRUCTIONS_MAX: usize = 4096;
const INSTRUCTION_BYTES: usize = 8;

/// The filters of thread `number`, the oldest first.
///
/// # Errors
/// When it may not be traced, does not stop in time, or its filters are not given; the text says
/// why, and what to do.
pub(super) fn of(number: u32) -> Result<Vec<Vec<u8>>, String> {
    let tracer = thread::Builder::new().name("tracer".to_owned()).spawn(move || asked(number));
    let tracer = tracer.map_err(|error| format!("no thread to ask with: {error}"))?;
    tracer.join().unwrap_or_else(|_| Err("the thread that asked ended early".to_owned()))
}

fn asked(number: u32) -> Result<Vec<Vec<u8>>, String> {
    let number = c_long::from(number);
    trace(PTRACE_SEIZE, number, 0, 0).map_err(|error| match error {
        Errno::PERM | Errno::ACCESS => refused(number),
        error => format!("PTRACE_SEIZE failed: {error}"),
    })?;
    trace(PTRACE_INTERRUPT, number, 0, 0)
        .map_err(|error| format!("PTRACE_INTERRUPT failed: {error}"))?;
    let signal = stopped(number)?;
    let found = dumped(number);
    // Not to be let go now means that it is gone, or let go with this thread.
    let _ = trace(PTRACE_DETACH, number, 0, c_long::from(signal));
    found
}

/// Why it may not be traced.
fn refused(number: c_long) -> String {
    let status = read(&format!("/proc/{number}/status")).unwrap_or_default();
    match tracer(&status) {
        Some((tracer, name)) => {
            format!("process {tracer} ({name}) traces it already, and but one may: end that first")
        }
        None if number == c_long::from(std::process::id()) => {
            "no process may trace itself".to_owned()
        }
        None => format!("it may not be traced: {}", rights::advice()),
    }
}

/// Waits until the thread stands still; the signal that it is to get when it goes on, or 0.
fn stopped(number: c_long) -> Result<c_int, String> {
    let begun_ns = now_ns();
    while now_ns().saturating_sub(begun_ns) < STOP_NS {
        let Some(status) = waited(number)? else {
            thread::sleep(LOOK);
            continue;
        };
        if !libc::WIFSTOPPED(status) {
            return Err("it ended meanwhile".to_owned());
        }
        // A stop that was asked for says so in the upper half; any other is a signal's.
        let event = status >> 16;
        return Ok(if event == PTRACE_EVENT_STOP { 0 } else { libc::WSTOPSIG(status) });
    }
    Err("it does not stop in time, as while it waits for a drive: try again".to_owned())
}

#[expect(unsafe_code, reason = "rustix waits for no thread that is not a child")]
fn waited(number: c_long) -> Result<Option<c_int>, String> {
    let number = libc::pid_t::try_from(number).map_err(|error| error.to_string())?;
    let mut status = 0;
    // SAFETY: the kernel writes one int, which `status` is.
    match unsafe { libc::waitpid(number, &raw mut status, libc::__WALL | libc::WNOHANG) } {
        0 => Ok(None),
        -1 => Err(format!("waitpid failed: {}", std::io::Error::last_os_error())),
        _ => Ok(Some(status)),
    }
}

fn dumped(number: c_long) -> Result<Vec<Vec<u8>>, String> {
    let mut filters = Vec::new();
    for index in 0..FILTERS_MAX {
        match filter(number, index) {
            Ok(filter) => filters.push(filter),
            Err(Errno::NOENT) => return Ok(filters),
            Err(Errno::ACCESS | Errno::PERM) => {
                return Err(format!("they are not given: {}", rights::advice_on_filters()));
            }
            Err(Errno::MEDIUMTYPE) => return Err("the kernel keeps no such filter".to_owned()),
            Err(Errno::IO | Errno::INVAL) => {
                return Err("this kernel gives no filters (CONFIG_CHECKPOINT_RESTORE)".to_owned());
            }
            Err(error) => return Err(format!("PTRACE_SECCOMP_GET_FILTER failed: {error}")),
        }
    }
    Err(format!("it has more than {FILTERS_MAX} filters"))
}

/// The filter at `index`, where 0 is the oldest.
fn filter(number: c_long, index: usize) -> Result<Vec<u8>, Errno> {
    let index = c_long::try_from(index).map_err(|_| Errno::NOENT)?;
    let count = trace(PTRACE_SECCOMP_GET_FILTER, number, index, 0)?;
    let count = usize::try_from(count).map_err(|_| Errno::IO)?;
    if count > INSTRUCTIONS_MAX {
        return Err(Errno::FBIG);
    }
    let mut bytes = vec![0_u8; INSTRUCTIONS_MAX * INSTRUCTION_BYTES];
    let again = fetched(number, index, &mut bytes)?;
    if usize::try_from(again) != Ok(count) {
        return Err(Errno::AGAIN);
    }
    bytes.truncate(count * INSTRUCTION_BYTES);
    Ok(bytes)
}

/// Copies a filter into `bytes`, which have room for the longest; the number of its instructions.
#[expect(unsafe_code, reason = "a request decides what the kernel writes")]
fn fetched(number: c_long, index: c_long, bytes: &mut [u8]) -> Result<c_long, Errno> {
    assert!(bytes.len() >= INSTRUCTIONS_MAX * INSTRUCTION_BYTES, "room for the longest filter");
    let place = bytes.as_mut_ptr();
    // SAFETY: the kernel writes a whole filter at `place`; BPF_MAXINSNS bounds its length, and
    // `bytes` is as long as that.
    let result =
        unsafe { libc::syscall(libc::SYS_ptrace, PTRACE_SECCOMP_GET_FILTER, number, index, place) };
    told(result)
}

/// A request that takes numbers alone.
#[expect(unsafe_code, reason = "a request decides what the kernel does")]
fn trace(request: c_long, number: c_long, address: c_long, data: c_long) -> Result<c_long, Errno> {
    debug_assert!(
        request != PTRACE_SECCOMP_GET_FILTER || data == 0,
        "without a place nothing is written"
    );
    // SAFETY: these requests take numbers; PTRACE_SECCOMP_GET_FILTER without a place writes
    // nothing.
    told(unsafe { libc::syscall(libc::SYS_ptrace, request, number, address, data) })
}

fn told(result: c_long) -> Result<c_long, Errno> {
    if result >= 0 {
        return Ok(result);
    }
    let error = std::io::Error::last_os_error();
    Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
}
