//! Mounts that end with the test.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::scratch::text;
use crate::tool;

/// Longest wait until nobody looks through a mount any more: a run that measures on a busy machine
/// has its copies of all mounts for minutes.
const PATIENCE: Duration = Duration::from_secs(300);

/// A mount, undone when dropped.
pub struct Mount {
    point: PathBuf,
}

impl Mount {
    /// Mounts `what`, a file system of `kind`, on `point`, which is made; `options` may be empty.
    ///
    /// # Panics
    /// When mount(8) refuses.
    #[must_use]
    pub fn new(kind: &str, options: &str, what: &str, point: &Path) -> Mount {
        std::fs::create_dir_all(point).expect("a mount point can be made");
        let options = if options.is_empty() { "defaults" } else { options };
        tool::run("mount", &["-t", kind, "-o", options, what, text(point)]);
        Mount::taken(point)
    }

    /// Takes over what is mounted on `point` already, if anything is.
    #[must_use]
    pub fn taken(point: &Path) -> Mount {
        Mount { point: point.to_owned() }
    }

    /// Returns where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.point
    }

    fn is_there(&self) -> bool {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        mounts.contains(&format!(" {} ", text(&self.point)))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let unmount = || tool::output("umount", &[text(&self.point)]).status.success();
        let is_gone = || unmount() || !self.is_there();
        let begun = Instant::now();
        // A process of another test may look through it for a moment, or have mounts of its own
        // with a copy of one that lies above this.
        while !is_gone() {
            if begun.elapsed() > PATIENCE {
                assert!(std::thread::panicking(), "{} stays mounted", text(&self.point));
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
