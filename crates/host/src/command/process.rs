//! A process that is a child, and its group.

use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use crate::process::procfs::Stat;

/// Longest time in which a killed group may vanish.
const GONE_WITHIN: Duration = Duration::from_secs(2);
/// Unit of the blocks that getrusage(2) counts, in bytes.
const BLOCK_BYTES: u64 = 512;

/// Resources that a process used, with those of the ones that it waited for.
pub(super) struct Usage {
    pub(super) user: Duration,
    pub(super) system: Duration,
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
}

/// Makes `command` die when the thread that starts it does.
#[expect(unsafe_code, reason = "what runs between fork and exec is restricted")]
pub(super) fn die_with_parent(command: &mut Command) {
    let parent = getpid();
    let arrange = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before that.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from(Errno::SRCH)) }
    };
    // SAFETY: after fork(2) of a process with threads only async-signal-safe functions may be
    // called (signal-safety(7)). The closure makes the system calls prctl and getppid, through
    // rustix's own, which touch no memory of the process; an error is made of a number, without
    // allocating.
    unsafe { command.pre_exec(arrange) };
}

/// Reaps a child that has ended or is about to: how it ended, and what it used.
#[expect(unsafe_code, reason = "only wait4 tells what one child used, and no wrapper has it")]
pub(super) fn reap(process: Pid) -> Result<(ExitStatus, Usage), Errno> {
    let mut status = 0;
    // SAFETY: all fields of struct rusage are numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live values of the types that wait4(2) names.
        let reaped = unsafe {
            libc::wait4(process.as_raw_nonzero().get(), &raw mut status, 0, &raw mut usage)
        };
        if reaped >= 0 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(Errno::from_io_error(&error).unwrap_or(Errno::CHILD));
        }
    }
    let bytes =
        |blocks: libc::c_long| u64::try_from(blocks).unwrap_or(0).saturating_mul(BLOCK_BYTES);
    let usage = Usage {
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        read_bytes: bytes(usage.ru_inblock),
        written_bytes: bytes(usage.ru_oublock),
    };
    Ok((ExitStatus::from_raw(status), usage))
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}

/// True if another process runs in the group of `leader`.
fn has_others(leader: Pid) -> bool {
    let leader = leader.as_raw_nonzero().get().unsigned_abs();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let stat = |number: u32| Stat::parse(&std::fs::read(format!("/proc/{number}/stat")).ok()?);
    let mut others = numbers.filter(|&number| number != leader).filter_map(stat);
    others.any(|stat| !stat.has_ended && stat.group == leader)
}

/// Waits until no process of a killed group runs, so that what they held is free.
pub(super) fn wait_for_others(leader: Pid) {
    let begun = Instant::now();
    // Zombies that nobody reaps are members, but hold nothing.
    while rustix::process::test_kill_process_group(leader).is_ok()
        && has_others(leader)
        && begun.elapsed() < GONE_WITHIN
    {
        std::thread::sleep(Duration::from_millis(1));
    }
}
