//! Things that a run of the tests must not leave behind: files, loop devices, mounts.
//!
//! The run gets a temporary directory of its own, so whatever is still there afterwards is its
//! doing, also when other programs use the same machine.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tempfile::TempDir;

/// Longest wait for what is on its way, and the pause between looks.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(100);

/// The temporary directory of one run.
pub(crate) struct RunDirectory {
    directory: TempDir,
}

impl RunDirectory {
    pub(crate) fn new() -> anyhow::Result<RunDirectory> {
        let directory = tempfile::Builder::new().prefix("straddle-run-").tempdir();
        Ok(RunDirectory { directory: directory.context("cannot make a directory for the run")? })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Returns what the run left behind, each as a line. What is on its way, such as a device that
    /// goes with the last who has it open, has some seconds for it.
    pub(crate) fn leftovers(&self) -> anyhow::Result<Vec<String>> {
        let begun = Instant::now();
        loop {
            let left = self.left()?;
            if left.is_empty() || begun.elapsed() > PATIENCE {
                return Ok(left);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Returns what is there at this moment.
    fn left(&self) -> anyhow::Result<Vec<String>> {
        let path = self.path().to_str().context("temporary paths are UTF-8")?;
        let mut left = Vec::new();
        let mut devices = Vec::new();
        for entry in std::fs::read_dir("/sys/block").into_iter().flatten().flatten() {
            let backing = std::fs::read_to_string(entry.path().join("loop/backing_file"));
            let Ok(backing) = backing else { continue };
            if backing.starts_with(path) {
                let name = entry.file_name().to_string_lossy().into_owned();
                left.push(format!("loop device {name} on {}", backing.trim_end()));
                devices.push(format!("/dev/{name}"));
            }
        }
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        for line in mounts.lines() {
            let mut words = line.split(' ');
            let (source, place) =
                (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let of = |device: &String| {
                // The device itself or a partition of it, not another one with a longer number.
                let behind = source.strip_prefix(device.as_str());
                behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('p'))
            };
            if devices.iter().any(of) || source.starts_with(path) || place.starts_with(path) {
                left.push(format!("mount of {source} at {place}"));
            }
        }
        for entry in std::fs::read_dir(self.path()).context("the run's directory is gone")? {
            left.push(format!("file or directory {}", entry?.path().display()));
        }
        Ok(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_stays_is_found() {
        let room = RunDirectory::new().unwrap();
        assert!(room.leftovers().unwrap().is_empty());
        std::fs::write(room.path().join("straddle-test-x"), "").unwrap();
        assert_eq!(room.left().unwrap().len(), 1);
    }

    #[test]
    fn a_loop_device_that_stays_is_found() {
        testkit::need_loops!();
        let room = RunDirectory::new().unwrap();
        let file = room.path().join("disk");
        std::fs::File::create(&file).unwrap().set_len(1 << 20).unwrap();
        let device = testkit::Loop::attach(&file, 512);
        let left = room.left().unwrap();
        assert!(left.iter().any(|line| line.starts_with("loop device")), "{left:?}");
        drop(device);
    }
}
