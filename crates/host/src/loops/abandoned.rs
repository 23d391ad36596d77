//! A loop device that its owner left behind.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::mount::{UnmountFlags, unmount};

use super::attach::LoopDevice;
use crate::fuse::unescaped;

/// Pause between looks.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Mount points of file systems on block device `name` of sysfs, or on a partition of it, in this
/// mount namespace; the innermost first.
#[must_use]
pub fn mounts_on(name: &str) -> Vec<PathBuf> {
    let block = Path::new("/sys/block").join(name);
    let number = |path: &Path| std::fs::read_to_string(path.join("dev")).ok();
    let parts = std::fs::read_dir(&block).into_iter().flatten().flatten();
    let paths = parts.map(|entry| entry.path()).filter(|path| path.join("partition").exists());
    let numbers: Vec<String> =
        paths.chain([block.clone()]).filter_map(|path| number(&path)).collect();
    let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut points: Vec<PathBuf> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ').skip(2);
            let (number, point) = (words.next()?, words.nth(1)?);
            numbers.iter().any(|one| one.trim() == number).then(|| unescaped(point))
        })
        .collect();
    points.reverse();
    points
}

/// Unmounts every file system on block device `name`; `at_once` takes those that are in use out of
/// sight. Returns the mount points that stay.
#[must_use]
pub fn unmount_all_on(name: &str, at_once: bool) -> Vec<PathBuf> {
    let flags = if at_once { UnmountFlags::DETACH } else { UnmountFlags::empty() };
    for point in mounts_on(name) {
        // What stays is seen below.
        let _ = unmount(&point, flags);
    }
    mounts_on(name)
}

/// Detaches loop device `number`, if it still is the one with this `sequence` of `diskseq`. Returns
/// whether it is gone within `limit`.
#[must_use]
pub fn detach_abandoned(number: u32, sequence: Option<&str>, limit: Duration) -> bool {
    let begun = Instant::now();
    while LoopDevice::is_there(number, sequence) && begun.elapsed() < limit {
        if let Some(device) = LoopDevice::adopted(number, sequence) {
            device.forget_partitions();
            // Dropped, it is detached.
        }
        std::thread::sleep(LOOK_EVERY);
    }
    !LoopDevice::is_there(number, sequence)
}
