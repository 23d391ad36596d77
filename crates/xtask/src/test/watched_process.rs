//! A process whose output is read line by line, and which is killed where it hangs.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process_group};
use testkit::running_program::has_group_ended;

use super::hang_watch::HangWatch;

/// Pause between looks at a process that prints nothing.
const PAUSE: Duration = Duration::from_millis(100);
/// Longest wait for processes that end with the one that started them.
const FAREWELL: Duration = Duration::from_secs(10);

/// End of a process.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProcessEnd {
    pub(super) is_good: bool,
    /// Name of the test for which it was killed.
    pub(super) hung: Option<String>,
    /// True if it left others of its group running, which were killed.
    pub(super) is_leaving_others: bool,
}

/// Time since the start, given the beginning of a line that has not ended.
type Clock = Box<dyn Fn(&[u8]) -> Duration>;

/// A process and the output of it that was read.
pub(super) struct WatchedProcess {
    child: Child,
    chunks: Receiver<Vec<u8>>,
    watch: HangWatch,
    clock: Clock,
    /// Bytes of a line that has not ended.
    open: Vec<u8>,
}

impl WatchedProcess {
    /// Starts `command` as the leader of a group of its own.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(command: Command) -> anyhow::Result<WatchedProcess> {
        let begun = Instant::now();
        WatchedProcess::with_clock(command, Box::new(move |_| begun.elapsed()))
    }

    fn with_clock(mut command: Command, clock: Clock) -> anyhow::Result<WatchedProcess> {
        let program = command.get_program().display().to_string();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
        let mut output = child.stdout.take().context("the output is piped")?;
        let (sender, chunks) = mpsc::channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 1 << 16];
            while let Ok(length @ 1..) = output.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Ok(WatchedProcess { child, chunks, watch: HangWatch::default(), clock, open: Vec::new() })
    }

    /// Hands on each line until the process has ended, and everything of its group.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub(super) fn finish(mut self, line: &mut dyn FnMut(&str)) -> anyhow::Result<ProcessEnd> {
        let (status, hung) = self.ended(line)?;
        self.rest(line);
        let is_leaving_others = hung.is_none() && !self.is_group_gone();
        self.kill();
        Ok(ProcessEnd { is_good: hung.is_none() && status.success(), hung, is_leaving_others })
    }

    /// Waits for the process, and kills its group where it hangs.
    fn ended(
        &mut self,
        line: &mut dyn FnMut(&str),
    ) -> anyhow::Result<(ExitStatus, Option<String>)> {
        let mut hung = None;
        loop {
            match self.chunks.recv_timeout(PAUSE) {
                Ok(chunk) => self.take(&chunk, line),
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(PAUSE),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(status) = self.child.try_wait().context("cannot wait for a process")? {
                return Ok((status, hung));
            }
            if hung.is_none() {
                hung = self.watch.hung(self.now());
                if hung.is_some() {
                    self.kill();
                }
            }
        }
    }

    /// Reads what is left of the output, as long as others of the group may write it.
    fn rest(&mut self, line: &mut dyn FnMut(&str)) {
        let until = Instant::now() + FAREWELL;
        while Instant::now() < until {
            match self.chunks.recv_timeout(PAUSE) {
                Ok(chunk) => self.take(&chunk, line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if has_group_ended(self.child.id()) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        if !self.open.is_empty() {
            self.take(b"\n", line);
        }
    }

    /// Splits output into lines.
    fn take(&mut self, chunk: &[u8], line: &mut dyn FnMut(&str)) {
        let now = self.now();
        self.open.extend(chunk);
        while let Some(end) = self.open.iter().position(|byte| *byte == b'\n') {
            let rest = self.open.split_off(end + 1);
            let whole = std::mem::replace(&mut self.open, rest);
            let text = String::from_utf8_lossy(&whole[..end]).into_owned();
            self.watch.line(&text, now);
            line(&text);
        }
        self.watch.beginning(&String::from_utf8_lossy(&self.open), now);
    }

    fn now(&self) -> Duration {
        (self.clock)(&self.open)
    }

    /// Waits some seconds for everything of the group; true if it ended.
    fn is_group_gone(&self) -> bool {
        let until = Instant::now() + FAREWELL;
        while !has_group_ended(self.child.id()) {
            if Instant::now() > until {
                return false;
            }
            std::thread::sleep(PAUSE);
        }
        true
    }

    fn kill(&self) {
        let leader = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(leader) = leader {
            // Where nothing is left, there is nothing to kill.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a shell script; its clock shows an hour once it printed `late` and no end of line.
    fn finished(script: &str, late: &'static str) -> (ProcessEnd, Vec<String>, u32) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let clock = move |open: &[u8]| match open == late.as_bytes() && !late.is_empty() {
            true => Duration::from_secs(3600),
            false => Duration::ZERO,
        };
        let process = WatchedProcess::with_clock(command, Box::new(clock)).unwrap();
        let leader = process.child.id();
        let mut lines = Vec::new();
        let end = process.finish(&mut |line| lines.push(line.to_owned())).unwrap();
        (end, lines, leader)
    }

    #[test]
    fn lines_are_handed_on_until_the_end() {
        let (end, lines, _) = finished("echo a; printf 'b\\nc'", "");
        assert_eq!(lines, ["a", "b", "c"]);
        assert_eq!(end, ProcessEnd { is_good: true, hung: None, is_leaving_others: false });
        assert!(!finished("exit 1", "").0.is_good);
        assert!(!finished("kill -SEGV $$", "").0.is_good);
    }

    #[test]
    fn a_test_that_hangs_is_killed_with_its_children_and_named() {
        let script = "echo running 2 tests; echo 'test a ... ok'; printf 'test b::c ... '; \
                      sleep 1000 & sleep 1000; echo not reached";
        let (end, lines, leader) = finished(script, "test b::c ... ");
        assert_eq!(end.hung.as_deref(), Some("b::c"));
        assert!(!end.is_good && has_group_ended(leader));
        assert_eq!(lines, ["running 2 tests", "test a ... ok", "test b::c ... "]);
    }
}
