//! The record of a served drive: enough for another process to take away what it left on the
//! machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{anyhow, bail};

use super::attached::Attached;
use super::runtime_directory;
use crate::arguments::Detach;
use crate::exit::CommandOutcome;
use crate::shared::atomic_file::AtomicFile;
use crate::shared::printer::{self, shown};

/// Longest wait for a device to go.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// A drive that is served, in lines of a name and a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// The process that serves, and when it was started.
    server: Option<(u32, u64)>,
    /// The same of its guard.
    guard: Option<(u32, u64)>,
    point: Option<PathBuf>,
    is_own: bool,
    /// Number and sequence of the loop device.
    device: Option<(u32, String)>,
}

impl Record {
    /// The record of a drive of this process, whose guard is process `guard`.
    pub(super) fn of(attached: &Attached, guard: u32) -> Record {
        let process = |pid: u32| Some((pid, host::process::start_tick(pid)?));
        let record = Record {
            server: process(std::process::id()),
            guard: process(guard),
            ..Record::default()
        };
        match attached {
            Attached::Point { point, is_own } => {
                Record { point: Some(point.clone()), is_own: *is_own, ..record }
            }
            Attached::Loop => record,
        }
    }

    /// Adds the loop device `node`; whether it is one.
    pub(super) fn takes_device(&mut self, node: &str, sequence: &str) -> bool {
        let number = node.strip_prefix("/dev/loop").and_then(|text| text.parse().ok());
        self.device = number.map(|number| (number, sequence.to_owned()));
        self.device.is_some()
    }

    fn path(&self) -> anyhow::Result<PathBuf> {
        let (pid, _) = self.server.ok_or_else(|| anyhow!("this process has no start time"))?;
        Ok(runtime_directory::made()?.join(format!("{pid}.drive")))
    }

    /// Writes it down.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn keep(&self) -> anyhow::Result<()> {
        use std::fmt::Write as _;
        use std::io::Write as _;
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            let _infallible = writeln!(text, "{name} {value}");
        };
        for (name, process) in [("server", self.server), ("guard", self.guard)] {
            if let Some((pid, started)) = process {
                line(name, format!("{pid} {started}"));
            }
        }
        if let Some(point) = self.point.as_ref().and_then(|point| point.to_str()) {
            line(if self.is_own { "own-point" } else { "point" }, point.to_owned());
        }
        if let Some((number, sequence)) = &self.device {
            line("loop", format!("{number} {sequence}"));
        }
        // Whole, since `drive detach` may read it at any time.
        let mut file = AtomicFile::create(&self.path()?, 0o600)?;
        file.write_all(text.as_bytes())?;
        Ok(file.finish()?)
    }

    fn read(text: &str) -> Record {
        let mut record = Record::default();
        for (name, value) in text.lines().filter_map(|line| line.split_once(' ')) {
            let pair = || value.split_once(' ');
            let process = || {
                let (pid, started) = pair()?;
                Some((pid.parse().ok()?, started.parse().ok()?))
            };
            match name {
                "server" => record.server = process(),
                "guard" => record.guard = process(),
                "point" | "own-point" => {
                    (record.point, record.is_own) = (Some(value.into()), name == "own-point");
                }
                "loop" => {
                    let device = pair().and_then(|(number, sequence)| {
                        Some((number.parse().ok()?, sequence.to_owned()))
                    });
                    record.device = device;
                }
                _ => {}
            }
        }
        record
    }

    /// Removes it.
    pub(super) fn forget(&self) {
        if let Ok(path) = self.path() {
            // Another process may have taken the drive away meanwhile.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Takes away what is left; whether nothing is left then.
    pub(super) fn pull(&self) -> bool {
        let mut is_gone = true;
        if let Some(point) = &self.point {
            is_gone &= unmounted(point, true);
            if self.is_own {
                // It may be gone.
                let _ = std::fs::remove_dir(point);
            }
        }
        if let Some((number, sequence)) = &self.device {
            let sequence = Some(sequence.as_str()).filter(|sequence| *sequence != "-");
            if host::LoopDevice::is_there(*number, sequence) {
                let _ = host::unmount_all_on(&format!("loop{number}"), true);
                is_gone &= host::detach_abandoned(*number, sequence, GONE_WITHIN);
            }
        }
        is_gone
    }

    /// Returns whether the process that serves is there.
    fn is_served(&self) -> bool {
        let is_there = |(pid, started): (u32, u64)| host::process::start_tick(pid) == Some(started);
        self.server.is_some_and(is_there) || self.guard.is_some_and(is_there)
    }
}

/// Unmounts the FUSE file system at `point`; whether none is there then. `at_once` takes one that
/// is in use out of sight.
pub(super) fn unmounted(point: &Path, at_once: bool) -> bool {
    if !host::is_fuse_mounted(point) {
        return true;
    }
    if !host::unmount(point, at_once) {
        // Only the setuid helper may.
        let mut helper = Command::new("fusermount3");
        helper.arg("-u").args(at_once.then_some("-z")).arg(point);
        helper.stdin(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let _ = helper.status();
    }
    !host::is_fuse_mounted(point)
}

/// `drive detach --stale`: takes away what killed processes left.
pub(super) fn detach(_: &Detach) -> anyhow::Result<CommandOutcome> {
    let directory = runtime_directory::path();
    let entries = match std::fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            printer::print("nothing to detach\n")?;
            return Ok(CommandOutcome::Done);
        }
        Err(error) => bail!("cannot read {}: {error}\nhint: try sudo", shown(&directory)),
    };
    let (mut detached, mut served, mut left) = (0, 0, 0);
    for path in entries.flatten().map(|entry| entry.path()) {
        if is_abandoned_point(&path) {
            // One that is in use stays.
            let _ = std::fs::remove_dir(&path);
        }
        if path.extension().is_none_or(|extension| extension != "drive") {
            continue;
        }
        let record = Record::read(&std::fs::read_to_string(&path).unwrap_or_default());
        if record.is_served() {
            served += 1;
        } else if record.pull() {
            detached += 1;
            let _ = std::fs::remove_file(&path);
        } else {
            left += 1;
        }
    }
    printer::print(&format!("{detached} detached, {served} still served, {left} in use\n"))?;
    if left > 0 {
        bail!(
            "cannot detach every drive: a device is in use\nhint: close it, and try again; who has \
             it open: fuser -v /dev/loop*"
        );
    }
    Ok(CommandOutcome::Done)
}

/// Returns whether `path` is the mount point of a `drive reproduce` that is gone.
fn is_abandoned_point(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let process = name.strip_suffix("-point").and_then(|number| number.parse().ok());
    process.is_some_and(|process| host::process::started_ns(process).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back_as_it_was_kept_and_damaged_lines_are_nothing() {
        let text = "server 7 99\nguard 8 100\nown-point /run/a b\nloop 3 41\n";
        let record = Record::read(text);
        assert_eq!((record.server, record.guard), (Some((7, 99)), Some((8, 100))));
        assert_eq!(record.point.as_deref(), Some(Path::new("/run/a b")));
        assert_eq!((record.is_own, record.device), (true, Some((3, "41".to_owned()))));
        assert_eq!(Record::read("server x\nloop 9\nother 1 2\n\n"), Record::default());
    }
}
