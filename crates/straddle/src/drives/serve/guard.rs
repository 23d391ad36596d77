//! The process that takes a drive away from its users when the process that serves it cannot: it is
//! stopped, killed, or waits for memory that only its own clients can free.
//!
//! The guard holds the loop device, and the file that ends the FUSE connection, which it opens
//! before anybody can hang on the drive. Both processes talk over a socket, whose end is a signal
//! too: when either is gone, the other pulls the drive.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use serve::ServedDrive;

use super::attached::Attached;
use super::record::Record;
use crate::shared::printer;

/// Length of a message to the guard: answers so far, and requests that wait as they should.
pub(super) const TICK_BYTES: usize = 16;
/// Answers in a message that asks the guard to end.
pub(super) const END: u64 = u64::MAX;
/// Longest wait for the guard's first word.
const START: Duration = Duration::from_secs(30);

/// The guard of a drive, as the serving process sees it.
pub(super) struct Guard {
    child: Child,
    socket: UnixStream,
    drive: Arc<ServedDrive>,
    node: String,
    record: Record,
    is_gone: bool,
}

impl Guard {
    /// Starts a guard of `attached`, which need not be there yet. It pulls the drive when requests
    /// wait for `patience` seconds without an answer that should come; `disk` is the file for a
    /// loop device.
    ///
    /// # Errors
    /// When it cannot be started, or nothing can be written down about it.
    pub(super) fn start(
        attached: &Attached,
        drive: &Arc<ServedDrive>,
        patience: u32,
        disk: Option<File>,
    ) -> anyhow::Result<Guard> {
        let failed = |error: std::io::Error| anyhow!("cannot start the guard process: {error}");
        let (own, other) = UnixStream::pair().map_err(failed)?;
        let mut command = Command::new("/proc/self/exe");
        command.args(["drive", "guard", "--patience", &patience.to_string()]);
        command.args(["--sector", &drive.logical_bytes().to_string()]);
        if let Attached::Point { point, is_own } = attached {
            command.arg("--point").arg(point);
            if *is_own {
                command.arg("--own");
            }
        }
        command.stdin(OwnedFd::from(other));
        command.stdout(disk.map_or_else(Stdio::null, Stdio::from));
        // Ctrl-C is for the process that serves.
        let child = command.process_group(0).spawn().map_err(failed)?;
        let guard = Guard {
            record: Record::of(attached, child.id()),
            child,
            socket: own,
            drive: Arc::clone(drive),
            node: String::new(),
            is_gone: false,
        };
        guard.record.keep()?;
        Ok(guard)
    }

    /// Tells the guard that what it guards is there: from now on it looks whether requests hang. It
    /// attaches a loop device only now.
    ///
    /// # Errors
    /// When it cannot attach the device, or ends.
    pub(super) fn begin(&mut self) -> anyhow::Result<()> {
        self.tick();
        let words = self.first_word()?;
        let (node, sequence) = words.split_once(' ').unwrap_or((&words, "-"));
        if self.record.takes_device(node, sequence) {
            self.record.keep()?;
        }
        node.clone_into(&mut self.node);
        self.socket.set_nonblocking(true)?;
        Ok(())
    }

    /// Returns what the guard says when it is ready: for a loop device its node and sequence, and
    /// the device number of the connection.
    fn first_word(&mut self) -> anyhow::Result<String> {
        self.socket.set_read_timeout(Some(START))?;
        let mut line = Vec::new();
        let mut byte = [0];
        loop {
            match self.socket.read(&mut byte) {
                Ok(1) if byte != *b"\n" => line.push(byte[0]),
                Ok(1) => break,
                // A signal is looked at when the drive is there, and then takes it away in order.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(_) => bail!(
                    "cannot attach the drive: its guard process ended: {}",
                    self.child.wait()?
                ),
                Err(error) => {
                    let _ = self.child.kill();
                    let why = match error.kind() {
                        ErrorKind::WouldBlock => format!("no word within {} s", START.as_secs()),
                        _ => error.to_string(),
                    };
                    bail!(
                        "cannot attach the drive: its guard process does not answer: {why}\nhint: \
                         try again when the machine is less busy"
                    );
                }
            }
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        match line.strip_prefix("ready ") {
            Some(rest) => Ok(rest.to_owned()),
            None => {
                let _ = self.child.wait();
                bail!("{}", line.replace("; ", "\n"))
            }
        }
    }

    /// Ends the guard of what could not be attached, and waits until it is gone.
    pub(super) fn dismiss(&mut self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let _ = self.child.wait();
        self.record.forget();
        self.is_gone = true;
    }

    /// The node of the loop device; empty for a mount.
    pub(super) fn node(&self) -> &str {
        &self.node
    }

    /// Returns whether the guard has ended, and with it the attachment.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Tells the guard that all is well.
    pub(super) fn tick(&mut self) {
        let counts = self.drive.counts();
        let answers = counts.reads + counts.writes + counts.flushes + counts.discards;
        let held = self.drive.waiting() as u64;
        self.send(answers.saturating_sub(held), held);
    }

    fn send(&mut self, answers: u64, held: u64) {
        let message = [answers.to_be_bytes(), held.to_be_bytes()].concat();
        match (&self.socket).write(&message) {
            // The guard reads every message at once; where it is stopped, it misses some.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Ok(TICK_BYTES) => {}
            _ => self.is_gone = true,
        }
    }

    /// Asks the guard to take the drive away, and waits until it is gone. A second signal ends this
    /// process, upon which the guard waits for nobody any more.
    ///
    /// # Errors
    /// When the guard failed, or was killed.
    pub(super) fn end(&mut self) -> anyhow::Result<()> {
        self.send(END, 0);
        let asked = Instant::now();
        let mut is_told = false;
        loop {
            if let Some(status) = self.child.try_wait()? {
                self.is_gone = true;
                if !status.success() {
                    self.record.pull();
                }
                self.record.forget();
                return Ok(());
            }
            if !is_told && asked.elapsed() > Duration::from_secs(2) {
                is_told = true;
                printer::note(
                    "the drive is still in use: close or unmount it; Ctrl-C again pulls it out",
                );
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.is_gone {
            // Its end tells the guard, which waits for nobody then.
            self.dismiss();
        }
    }
}
