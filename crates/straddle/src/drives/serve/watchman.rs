//! `drive guard`: the guard process itself. It takes nothing from the command line of users.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use format::table::{self, PartitionRole};
use host::{FileDisk, FuseControl, LoopDevice, LoopPlan};
use units::SectorSize;

use super::guard::{END, TICK_BYTES};
use super::record::unmounted;
use crate::arguments::DriveGuard;
use crate::exit::CommandOutcome;

/// Pause between looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Time without a word after which the last one counts no more.
const SILENT: Duration = Duration::from_secs(1);

/// Guards until the serving process is gone, asks for the end, or does not answer.
pub(super) fn run(asked: &DriveGuard) -> anyhow::Result<CommandOutcome> {
    // It must not wait for memory that the drive's clients hold.
    let _ = host::serve_under_memory_pressure();
    let server = std::os::unix::process::parent_id();
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    if socket.read_exact(&mut [0; TICK_BYTES]).is_err() {
        // It was killed while it mounted.
        Held::unseen(asked).pull();
        return Ok(CommandOutcome::Done);
    }
    let mut held = match Held::take(asked) {
        Ok((held, words)) => {
            socket.write_all(format!("ready {words}\n").as_bytes())?;
            held
        }
        Err(error) => {
            let line = format!("{error:#}").replace('\n', "; ");
            socket.write_all(format!("{line}\n").as_bytes())?;
            return Ok(CommandOutcome::Done);
        }
    };
    socket.set_read_timeout(Some(LOOK_EVERY))?;
    let patience = Duration::from_secs(asked.patience.into());
    let now = Instant::now();
    let mut watch = Watch { server, answers: 0, held: 0, heard: now, well: now };
    let is_friendly = loop {
        match watch.hears(&mut socket) {
            Heard::Word | Heard::Nothing => {}
            Heard::End => break true,
            Heard::Gone => break false,
        }
        if watch.is_hung(held.control.as_ref(), patience) {
            crate::shared::printer::note(
                "the drive does not answer its clients any more: it is pulled",
            );
            break false;
        }
    };
    if is_friendly {
        // Until nobody uses it, or the serving process is gone too.
        while !held.is_released(false) {
            if watch.hears(&mut socket) == Heard::Gone {
                break;
            }
        }
    }
    held.pull();
    Ok(CommandOutcome::Done)
}

/// The attachments that the guard takes away.
struct Held {
    control: Option<FuseControl>,
    device: Option<LoopDevice>,
    point: Option<(std::path::PathBuf, bool)>,
}

impl Held {
    /// Attachments that may be there.
    fn unseen(asked: &DriveGuard) -> Held {
        let point = asked.point.clone().map(|point| (point, asked.own));
        Held { control: None, device: None, point }
    }

    /// Takes over a mount, or attaches a loop device; also returns the answer to the serving
    /// process.
    fn take(asked: &DriveGuard) -> anyhow::Result<(Held, String)> {
        if let Some(point) = &asked.point {
            let directory = std::fs::File::open(point)?;
            let control = FuseControl::of(directory.as_fd()).ok();
            return Ok((Held { control, ..Held::unseen(asked) }, "-".to_owned()));
        }
        let disk: OwnedFd = std::io::stdout().as_fd().try_clone_to_owned()?;
        let control = FuseControl::of(disk.as_fd()).ok();
        let plan = LoopPlan {
            file: disk.as_fd(),
            offset_bytes: 0,
            length_bytes: 0,
            sector_bytes: asked.sector,
            direct: true,
            read_only: false,
            partitions: true,
        };
        let mut device = LoopDevice::attach(plan).map_err(|error| {
            let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            anyhow::anyhow!("{error}{hint}")
        })?;
        // Only the device holds it now: measurements refuse a device whose file others may write.
        drop(disk);
        host::release_output()?;
        device.hold_for_reading()?;
        partitioned(&device);
        let words = format!("{} {}", device.node().display(), device.sequence().unwrap_or("-"));
        Ok((Held { control, device: Some(device), point: None }, words))
    }

    /// Unmounts what is there, and lets the device go; whether all is gone. `at_once` does not wait
    /// for users of file systems.
    fn is_released(&mut self, at_once: bool) -> bool {
        if let Some((point, is_own)) = &self.point {
            if !unmounted(point, at_once) {
                return false;
            }
            if *is_own {
                // A directory that somebody fills stays.
                let _ = std::fs::remove_dir(point);
            }
            self.point = None;
        }
        let Some(device) = &self.device else { return true };
        let number = device.number();
        let name = format!("loop{number}");
        if !host::unmount_all_on(&name, at_once).is_empty() {
            return false;
        }
        device.forget_partitions();
        let sequence = device.sequence().map(str::to_owned);
        match self.device.take().map(LoopDevice::detach) {
            Some(Ok(())) | None => true,
            // Somebody has it open, who ends it by closing it.
            Some(Err(_)) if at_once => false,
            Some(Err(_)) => {
                self.device = LoopDevice::adopted(number, sequence.as_deref());
                self.device.is_none()
            }
        }
    }

    /// Takes everything away at once: requests fail, whoever waits for them.
    fn pull(&mut self) {
        if self.point.is_none() && self.device.is_none() {
            return;
        }
        if let Some(control) = &self.control {
            control.abort();
        }
        self.is_released(true);
    }
}

/// Tells the kernel of the partitions that are on the device already.
fn partitioned(device: &LoopDevice) {
    let Ok(disk) = FileDisk::open(device.node()) else { return };
    let Some(read) = table::read(&disk, SectorSize::B512, 0) else { return };
    for partition in &read.value.partitions {
        let is_whole = matches!(partition.role, PartitionRole::Whole | PartitionRole::Protective);
        if !is_whole {
            // A kernel that reads tables by itself was quicker.
            let _ = device.add_partition(partition.number, partition.range);
        }
    }
}

/// Words of the serving process.
#[derive(PartialEq, Eq)]
enum Heard {
    Word,
    Nothing,
    End,
    Gone,
}

/// Returns whether process `number` is killed but not yet gone: one of its threads waits for the
/// drive that its others do not serve any more, and so keeps the socket open.
fn is_dying(number: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    let status = std::fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
    is_exiting(&stat) || is_killed(&status)
}

/// Returns whether a thread with this line of `stat` has begun to exit, or has ended.
/// Source: `proc_pid_stat(5)`, field 9; `PF_EXITING` of `include/linux/sched.h`.
fn is_exiting(stat: &str) -> bool {
    // Fields are counted after the name, which may hold anything.
    let flags = stat.rsplit_once(") ").and_then(|(_, fields)| fields.split(' ').nth(6));
    flags.and_then(|flags| flags.parse().ok()).is_some_and(|flags: u64| flags & 4 != 0)
}

/// Returns whether SIGKILL (9, so bit 8) waits for a thread with these lines of `status`.
/// Source: `proc_pid_status(5)`, signal(7).
fn is_killed(status: &str) -> bool {
    let signals = status.lines().find_map(|line| line.strip_prefix("SigPnd:"));
    let signals = signals.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    signals.is_some_and(|signals| signals & 1 << 8 != 0)
}

/// The progress of the serving process.
struct Watch {
    /// Its number.
    server: u32,
    answers: u64,
    /// Requests that wait because the drive is so slow.
    held: u64,
    /// When it said something the last time.
    heard: Instant,
    /// When all was well the last time.
    well: Instant,
}

impl Watch {
    /// Returns whether requests wait for longer than `patience` without an answer that should have
    /// come. Without control files it is not known whether any waits: then silence counts.
    fn is_hung(&mut self, control: Option<&FuseControl>, patience: Duration) -> bool {
        let is_silent = self.heard.elapsed() > SILENT;
        let waiting = control.map_or(u64::from(is_silent), FuseControl::waiting);
        if waiting == 0 || (waiting <= self.held && !is_silent) {
            self.well = Instant::now();
        }
        self.well.elapsed() > patience
    }

    fn hears(&mut self, socket: &mut UnixStream) -> Heard {
        let mut message = [0; TICK_BYTES];
        match socket.read(&mut message) {
            Ok(TICK_BYTES) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) =>
            {
                return if is_dying(self.server) { Heard::Gone } else { Heard::Nothing };
            }
            _ => return Heard::Gone,
        }
        let (answers, held) = message.split_at(TICK_BYTES / 2);
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_be_bytes);
        let (answers, held) = (number(answers), number(held));
        if answers == END {
            return Heard::End;
        }
        self.heard = Instant::now();
        if answers != self.answers {
            self.well = self.heard;
        }
        (self.answers, self.held) = (answers, held);
        Heard::Word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_exits_in_uninterruptible_sleep_is_dying_and_one_that_waits_is_not() {
        // PF_EXITING is set, and no signal waits any more.
        assert!(is_exiting("26002 (a ) b) D 25978 25976 24513 0 -1 4228364 13520 1134"));
        assert!(is_exiting("25979 (straddle) Z 25978 25976 24513 0 -1 4228364 17652 1229"));
        assert!(!is_exiting("25979 (straddle) D 25978 25976 24513 0 -1 4194304 17652 1229"));
        assert!(is_killed("State:\tD (disk sleep)\nSigPnd:\t0000000000000100\n"));
        assert!(!is_killed("State:\tD (disk sleep)\nSigPnd:\t0000000000004002\n"));
        // What cannot be read says nothing.
        assert!(!is_exiting("") && !is_killed(""));
    }
}
