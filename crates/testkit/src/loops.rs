//! Loop devices over scratch files, detached when dropped.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use crate::{running_program, scratch, tool};

/// Held while a device is attached, and alone while a number goes from one file to another, so that
/// no other test of the process is given that number in between.
static NUMBERS: RwLock<()> = RwLock::new(());
/// Number of times that losetup is asked for a free device, and the pause between.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(100);
/// Number of times that partitions are taken off a device.
const GONE_TRIES: u32 = 100;

/// Returns whether loop devices can be made here: root, losetup, and a control device.
#[must_use]
pub fn available() -> bool {
    let root = std::fs::metadata("/proc/self").is_ok_and(|data| {
        use std::os::unix::fs::MetadataExt as _;
        data.uid() == 0
    });
    root && Path::new("/dev/loop-control").exists() && tool::find("losetup").is_some()
}

/// One attachment of a loop device, which is not taken for a later one of the same number: another
/// test may be given that at any time.
#[derive(Debug)]
pub struct Attachment {
    /// Directory of the device in sysfs.
    directory: PathBuf,
    sequence: Option<String>,
}

impl Attachment {
    /// Returns the attachment that the device `node` has now; `None` where it has none.
    ///
    /// # Panics
    /// When `node` has no name.
    #[must_use]
    pub fn of(node: &Path) -> Option<Attachment> {
        let name = node.file_name().expect("a node has a name");
        let directory = Path::new("/sys/block").join(name);
        let attachment = Attachment { sequence: sequence(&directory), directory };
        attachment.is_there().then_some(attachment)
    }

    /// Returns whether it has not ended: the device shows a file, and has had no other since.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.directory.join("loop").exists() && self.sequence == sequence(&self.directory)
    }
}

/// Returns the number that each attachment has for itself (`diskseq`, since Linux 5.15).
fn sequence(directory: &Path) -> Option<String> {
    std::fs::read_to_string(directory.join("diskseq")).ok()
}

/// A loop device.
#[derive(Debug)]
pub struct Loop {
    path: PathBuf,
}

impl Loop {
    /// A loop device over `file` with logical sectors of `sector_bytes`.
    ///
    /// # Panics
    /// When losetup fails.
    #[must_use]
    pub fn attach(file: &Path, sector_bytes: u64) -> Loop {
        Loop::found(&["--sector-size", &sector_bytes.to_string(), scratch::text(file)])
    }

    /// Same as [`Loop::attach`], past the page cache of the file system that has `file`, where that
    /// allows it: what reaches the loop device reaches the drive.
    ///
    /// # Panics
    /// When losetup fails.
    #[must_use]
    pub fn attach_direct(file: &Path, sector_bytes: u64) -> Loop {
        let device = Loop::attach(file, sector_bytes);
        let _ = tool::output("losetup", &["--direct-io=on", scratch::text(&device.path)]);
        device
    }

    /// A loop device over `file` that cannot be written. (`blockdev --setro` would outlive the
    /// loop.)
    ///
    /// # Panics
    /// When losetup fails.
    #[must_use]
    pub fn attach_read_only(file: &Path) -> Loop {
        Loop::found(&["--read-only", scratch::text(file)])
    }

    /// A free loop device that losetup sets up with these words.
    fn found(words: &[&str]) -> Loop {
        let arguments = [&["--find", "--show"], words].concat();
        let _shared = NUMBERS.read().unwrap_or_else(PoisonError::into_inner);
        // Another process may take the free number first, or hold the device for a moment.
        let tries = (1..TRIES).map(|_| tool::output("losetup", &arguments));
        let mut good = tries.filter(|output| {
            let is_good = output.status.success();
            if !is_good {
                std::thread::sleep(PAUSE);
            }
            is_good
        });
        let path = good.next().map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let path = path.unwrap_or_else(|| tool::run("losetup", &arguments));
        Loop { path: PathBuf::from(path.trim()) }
    }

    /// Takes over the loop device with the node `path`, which somebody else attached.
    #[must_use]
    pub fn taken(path: &str) -> Loop {
        Loop { path: PathBuf::from(path) }
    }

    /// Gives the device's number to `file`.
    ///
    /// # Panics
    /// When losetup fails, or the number is not free within five minutes.
    pub fn give_to(&self, file: &Path) {
        let _alone = NUMBERS.write().unwrap_or_else(PoisonError::into_inner);
        tool::run("losetup", &["--detach", scratch::text(&self.path)]);
        // The kernel lets go of the old file when the last one closes the device, which a child of
        // another test may have open until it runs its own program.
        let words = [scratch::text(&self.path), scratch::text(file)];
        running_program::until("the device takes another file", || {
            tool::output("losetup", &words).status.success()
        });
    }

    /// Tells the kernel of partition `number`, which is gone again when the loop is dropped;
    /// returns its node.
    ///
    /// # Panics
    /// When partx fails.
    #[must_use]
    pub fn partition(&self, number: u32) -> PathBuf {
        let number = number.to_string();
        tool::run("partx", &["--add", "--nr", &number, scratch::text(&self.path)]);
        PathBuf::from(format!("{}p{number}", scratch::text(&self.path)))
    }

    /// Returns whether the kernel knows of partitions on it.
    fn has_partitions(&self) -> bool {
        let name = self.path.file_name().unwrap_or_default();
        let entries = std::fs::read_dir(Path::new("/sys/block").join(name));
        let mut names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.any(|entry| entry.as_bytes().starts_with(name.as_bytes()))
    }

    /// The device's node.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // Partitions that the kernel was told of outlive the file behind them, and whoever still
        // has one open keeps it: a loop device over it that goes with its last user.
        for _ in 0..GONE_TRIES {
            if !self.has_partitions() || tool::find("partx").is_none() {
                break;
            }
            if !tool::output("partx", &["--delete", scratch::text(&self.path)]).status.success() {
                std::thread::sleep(PAUSE);
            }
        }
        let _ = tool::output("losetup", &["--detach", scratch::text(&self.path)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scratch;

    #[test]
    fn an_attachment_has_ended_though_another_file_has_its_number() {
        crate::need_loops!();
        let scratch = Scratch::new();
        let [first, second] = ["first", "second"].map(|name| scratch.image(name, 1 << 20));
        let device = Loop::attach(&first, 512);
        let attachment = Attachment::of(device.path()).expect("it is attached");
        assert!(attachment.is_there());
        device.give_to(&second);
        assert!(!attachment.is_there());
        assert!(Attachment::of(device.path()).is_some_and(|later| later.is_there()));
    }

    #[test]
    fn what_is_no_attached_device_has_no_attachment() {
        assert!(Attachment::of(Path::new("/dev/null")).is_none());
    }
}
