//! Programs that may write to an image, or to a device, while it is read.

use std::path::{Path, PathBuf};

use crate::claim::{self, ClaimRefusal};
use crate::{PathIdentity, identity, loop_file, read_lease};

/// Why an image, or a device, is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRefusal {
    /// A sentence without a full stop that begins with its name; harmless to print.
    pub reason: String,
    /// Advice, in lower case and without a full stop; `None` where there is none.
    pub hint: Option<String>,
}

impl ImageRefusal {
    pub(crate) fn in_use(name: &str, how: &str, hint: impl Into<String>) -> ImageRefusal {
        let reason = format!("{name} is in use: {how}");
        ImageRefusal { reason, hint: Some(hint.into()) }
    }

    /// The refusal of an image that the loop device `node` shows.
    pub(crate) fn shown_by(name: &str, node: &str) -> ImageRefusal {
        let how = format!("the loop device {node} shows it");
        ImageRefusal::in_use(name, &how, format!("if it is not needed: losetup --detach {node}"))
    }
}

impl From<ClaimRefusal> for ImageRefusal {
    fn from(refusal: ClaimRefusal) -> ImageRefusal {
        ImageRefusal { reason: refusal.to_string(), hint: refusal.hint() }
    }
}

/// Returns how the block device `node` is in use by whoever may write to it: it, a partition of it
/// or its disk is mounted, swapped to, built on, held or open for writing, or that cannot be told.
/// `None` where nobody is seen.
#[must_use]
pub fn device_writer(node: &Path) -> Option<ImageRefusal> {
    let PathIdentity::Block { major, minor } = identity(node).ok()? else { return None };
    claim::unwritten((major, minor), node).err().map(ImageRefusal::from)
}

/// Returns how `file`, to which `path` leads and which is called `name`, is in use by whoever may
/// write to it. `None` where the kernel says that nobody has it open for writing; where it does not
/// say that, also where none is seen: no writable loop device shows the file, and no program that
/// this user may look at has it open for writing, mapped or locked.
#[must_use]
pub fn file_writer(file: PathIdentity, path: &Path, name: &str) -> Option<ImageRefusal> {
    let is_written = read_lease::is_open_for_writing(file, path);
    if is_written == Some(false) {
        return None;
    }
    if let Some(device) = loops_over(file).find(|device| is_writable(device)) {
        return Some(ImageRefusal::shown_by(name, &device));
    }
    if let Some(user) = claim::file_user(file, name) {
        return Some(user.into());
    }
    let (how, hint) = match (claim::is_written(file), is_written) {
        (true, _) => (LOCKED, claim::LOCKS_HINT),
        (false, Some(true)) => (UNSEEN, UNSEEN_HINT),
        (false, _) => return None,
    };
    Some(ImageRefusal::in_use(name, how, hint))
}

const LOCKED: &str =
    "another program, such as a running virtual machine, has it locked for writing";
const UNSEEN: &str = "somebody has it open for writing";
const UNSEEN_HINT: &str = "/proc does not show who has it open: try as root, or look for programs \
     in other containers and at swapon --show";

fn is_writable(device: &str) -> bool {
    let name = device.trim_start_matches("/dev/");
    std::fs::read_to_string(format!("/sys/block/{name}/ro")).is_ok_and(|text| text.trim() == "0")
}

/// The loop devices that show a file.
pub(crate) fn loops_over(of: PathIdentity) -> impl Iterator<Item = String> {
    let names = std::fs::read_dir("/sys/block").into_iter().flatten();
    names.flatten().filter_map(move |entry| {
        let PathIdentity::File { device, inode } = of else { return None };
        let name = entry.file_name().into_string().ok()?;
        let is_loop = name.starts_with("loop");
        let path = std::fs::read_to_string(entry.path().join("loop/backing_file"));
        let path = path.ok().filter(|_| is_loop)?;
        let node = PathBuf::from(format!("/dev/{name}"));
        let is_behind = match loop_file(&node) {
            Ok(behind) => {
                let device = (rustix::fs::major(device), rustix::fs::minor(device));
                behind.device == device && behind.inode == inode
            }
            // Only root opens the device; everybody may read the path.
            Err(_) => {
                let path = Path::new(path.trim_end_matches('\n'));
                identity(path).is_ok_and(|file| file == of)
            }
        };
        is_behind.then(|| node.display().to_string())
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn a_writer_that_proc_does_not_show_is_told_where_the_kernel_gives_leases() {
        let scratch = testkit::Scratch::new();
        let path = scratch.file("disk.raw", b"bytes");
        let file = identity(&path).unwrap();
        let writer = || file_writer(file, &path, "disk.raw");
        assert_eq!(writer(), None);
        // The looks at processes leave this one out.
        let open = File::options().write(true).open(&path).unwrap();
        if read_lease::is_open_for_writing(file, &path).is_none() {
            return testkit::skip("this file system gives no leases");
        }
        let refusal = writer().unwrap();
        assert_eq!(refusal.reason, "disk.raw is in use: somebody has it open for writing");
        assert!(refusal.hint.is_some_and(|hint| hint.contains("/proc does not show who")));
        drop(open);
        assert_eq!(writer(), None);
    }
}
