//! Following a running command: what it prints, and when it ends.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::CommandPlan;

/// Number of bytes kept of each stream.
const KEPT_BYTES: usize = 64 << 10;
/// Longest time that a signal may go unseen that came just before waiting. The command's end is
/// seen at once.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The last of what a command printed: at most 64 KiB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// The last bytes.
    pub bytes: VecDeque<u8>,
    /// Number of bytes before them.
    pub dropped_bytes: u64,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let over = self.bytes.len().saturating_sub(KEPT_BYTES);
        self.bytes.drain(..over);
        self.dropped_bytes = self.dropped_bytes.saturating_add(over.try_into().unwrap_or(u64::MAX));
    }

    /// The last `count` lines that are not empty, escaped.
    pub(super) fn last_lines(&self, count: usize) -> Vec<String> {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let lines = bytes.split(|&byte| byte == b'\n' || byte == b'\r');
        let lines = lines.filter(|line| !line.trim_ascii().is_empty());
        let mut last: Vec<String> = lines.rev().take(count).map(units::text::escape).collect();
        last.reverse();
        last
    }
}

/// Why following ended.
pub(super) enum End {
    /// The command ended, so long after it began.
    Itself(Duration),
    /// Its budget is used up.
    Budget,
    /// This process got this signal.
    Interrupted(i32),
}

pub(super) struct Followed {
    pub(super) end: End,
    pub(super) output: Tail,
    pub(super) errors: Tail,
}

/// Follows the process until it ends, its budget is used up, or an interrupt comes. It is not
/// reaped.
///
/// # Errors
/// The call that failed, and the kernel's error.
pub(super) fn follow(
    process: Pid,
    (output, errors): (Option<OwnedFd>, Option<OwnedFd>),
    begun: Instant,
    CommandPlan { budget, interrupt, .. }: CommandPlan<'_>,
) -> Result<Followed, (&'static str, Errno)> {
    let process =
        pidfd_open(process, PidfdFlags::empty()).map_err(|error| ("pidfd_open", error))?;
    let mut output = CommandStream::new(output).map_err(|error| ("fcntl", error))?;
    let mut errors = CommandStream::new(errors).map_err(|error| ("fcntl", error))?;
    let end = loop {
        if interrupt.is_raised() {
            break End::Interrupted(interrupt.signal().unwrap_or(0));
        }
        let left = budget.saturating_sub(begun.elapsed());
        if left.is_zero() {
            break End::Budget;
        }
        let ended = wait(&process, &output, &errors, left.min(LOOK_EVERY));
        let now = begun.elapsed();
        output.drain();
        errors.drain();
        if ended.map_err(|error| ("poll", error))? {
            break End::Itself(now);
        }
    };
    Ok(Followed { end, output: output.tail, errors: errors.tail })
}

/// Waits until something happens, at most for `timeout`; whether the process has ended.
fn wait(
    process: &OwnedFd,
    output: &CommandStream,
    errors: &CommandStream,
    timeout: Duration,
) -> Result<bool, Errno> {
    let mut waited = vec![PollFd::new(process, PollFlags::IN)];
    let open = [output, errors].into_iter().filter_map(|stream| stream.pipe.as_ref());
    waited.extend(open.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    let timeout = Timespec::try_from(timeout).map_err(|_| Errno::INVAL)?;
    match poll(&mut waited, Some(&timeout)) {
        Ok(_) => Ok(!waited[0].revents().is_empty()),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error),
    }
}

/// One of the command's streams.
struct CommandStream {
    /// `None` where it is not ours, or was closed at the other end.
    pipe: Option<OwnedFd>,
    tail: Tail,
}

impl CommandStream {
    fn new(pipe: Option<OwnedFd>) -> Result<CommandStream, Errno> {
        if let Some(pipe) = &pipe {
            let flags = rustix::fs::fcntl_getfl(pipe.as_fd())?;
            rustix::fs::fcntl_setfl(pipe.as_fd(), flags | OFlags::NONBLOCK)?;
        }
        Ok(CommandStream { pipe, tail: Tail::default() })
    }

    /// Takes what is there, and no more than a pipe holds, so that one who writes for ever does not
    /// keep this from looking at the clock.
    fn drain(&mut self) {
        let mut bytes = [0; 16 << 10];
        for _ in 0..64 {
            let Some(pipe) = &self.pipe else { return };
            match rustix::io::read(pipe, &mut bytes) {
                Ok(0) => self.pipe = None,
                Ok(count) => self.tail.push(&bytes[..count]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.pipe = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_keeps_the_last_64_kib_and_counts_the_rest() {
        let mut tail = Tail::default();
        tail.push(&[b'a'; 40_000]);
        tail.push(&[b'b'; 40_000]);
        assert_eq!((tail.bytes.len(), tail.dropped_bytes), (65_536, 80_000 - 65_536));
        assert_eq!(tail.bytes.iter().filter(|&&byte| byte == b'b').count(), 40_000);
    }

    #[test]
    fn the_last_lines_are_escaped_and_none_is_empty() {
        let mut tail = Tail::default();
        tail.push(b"one\n\ntwo\n\x1b[31mthree\r\n");
        assert_eq!(tail.last_lines(2), ["two", "\\u{1b}[31mthree"]);
    }
}
