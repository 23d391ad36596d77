//! `/sys` and `/proc`, live or captured below a directory.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use device::{KernelTree, TreeError, answer};
use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use units::text::escape;

use crate::{device_mapper, drive_answer};

/// The largest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The most names that a directory may have.
const NAMES_MAX: usize = 1 << 16;
/// The most links on one way, as the kernel allows.
const LINKS_MAX: u32 = 40;

/// The kernel's files below a root directory: `/` for this machine, any other for a captured one.
/// Links are followed within the root; none leads out of it.
#[derive(Clone, Debug)]
pub struct LiveTree {
    root: PathBuf,
    /// The root of a captured tree, opened; `None` for the live one, or where that failed.
    opened: Option<Arc<OwnedFd>>,
}

impl LiveTree {
    /// The files below `root`.
    #[must_use]
    pub fn new(root: &Path) -> LiveTree {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = (root != Path::new("/"))
            .then(|| rustix::fs::open(root, flags, Mode::empty()).ok().map(Arc::new));
        LiveTree { root: root.to_owned(), opened: opened.flatten() }
    }

    /// Returns the path on this machine of `path` of the tree. The kernel itself follows the links
    /// of the live tree; those of a captured one are followed here, since an absolute one means its
    /// own root.
    fn place(&self, path: &str) -> Result<PathBuf, TreeError> {
        device::kernel_tree::check(path)?;
        if self.root == Path::new("/") {
            return Ok(PathBuf::from(path));
        }
        Ok(self.below(&self.resolve(path)?))
    }

    fn open(&self, path: &str, flags: OFlags) -> Result<OwnedFd, TreeError> {
        device::kernel_tree::check(path)?;
        let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC;
        if let Some(root) = &self.opened {
            // The kernel follows relative links within the root in one go. What it refuses, such as
            // an absolute link, is looked at part by part.
            let inner = path.trim_start_matches('/');
            let inner = if inner.is_empty() { "." } else { inner };
            let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            match rustix::fs::openat2(root, inner, flags, Mode::empty(), within) {
                Ok(file) => return Ok(file),
                Err(error @ (Errno::NOENT | Errno::NOTDIR | Errno::ACCESS)) => {
                    return Err(from_io(path, &error.into()));
                }
                Err(_) => {}
            }
        }
        let file = rustix::fs::open(self.place(path)?, flags, Mode::empty());
        file.map_err(|error| from_io(path, &error.into()))
    }

    /// `path` where it is one of an answer that the live kernel gives; a captured tree holds files
    /// there.
    fn asked<'a>(&self, path: &'a str) -> Option<&'a str> {
        let path = path.trim_end_matches('/');
        let rest = path.strip_prefix(answer::ROOT)?;
        (self.root == Path::new("/") && (rest.is_empty() || rest.starts_with('/'))).then_some(path)
    }

    fn below(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// `path` with every link followed, as far as the files exist.
    fn resolve(&self, path: &str) -> Result<String, TreeError> {
        let mut ahead: VecDeque<String> = parts(path).collect();
        let mut done: Vec<String> = Vec::new();
        let mut links = 0;
        while let Some(part) = ahead.pop_front() {
            if part == ".." {
                let left = done.pop();
                left.ok_or_else(|| unreadable(path, "it leads out of the tree"))?;
                continue;
            }
            done.push(part);
            let Ok(target) = std::fs::read_link(self.below(&done.join("/"))) else { continue };
            links += 1;
            if links > LINKS_MAX {
                return Err(unreadable(path, "too many links lead on from it"));
            }
            let target = text(&target, path)?;
            if target.starts_with('/') {
                done.clear();
            } else {
                done.pop();
            }
            for part in parts(&target).rev() {
                ahead.push_front(part);
            }
        }
        Ok(format!("/{}", done.join("/")))
    }
}

impl KernelTree for LiveTree {
    fn read(&self, path: &str) -> Result<String, TreeError> {
        let content = self.bytes(path)?;
        Ok(String::from_utf8_lossy(&content).trim_end().to_owned())
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, TreeError> {
        if let Some(path) = self.asked(path) {
            return answered(self, path);
        }
        let failed = |error| from_io(path, &error);
        let file = File::from(self.open(path, OFlags::NONBLOCK | OFlags::NOCTTY)?);
        let stat = rustix::fs::fstat(&file).map_err(|error| failed(error.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(unreadable(path, "it is not a regular file"));
        }
        let mut content = Vec::new();
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut content).map_err(failed)?;
        if device::disk::length_of(&content) > FILE_BYTES_MAX {
            return Err(unreadable(path, "it is larger than 1 MiB"));
        }
        Ok(content)
    }

    fn list(&self, path: &str) -> Result<Vec<String>, TreeError> {
        if let Some(path) = self.asked(path) {
            return answers(self, path);
        }
        let failed = |error: Errno| from_io(path, &error.into());
        let directory = self.open(path, OFlags::DIRECTORY)?;
        let mut names = Vec::new();
        for entry in Dir::new(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            names.push(String::from_utf8_lossy(name).into_owned());
            if names.len() > NAMES_MAX {
                return Err(unreadable(path, "it has more than 65536 names"));
            }
        }
        names.sort();
        Ok(names)
    }

    fn link(&self, path: &str) -> Result<String, TreeError> {
        device::kernel_tree::check(path)?;
        let (directory, name) = path.rsplit_once('/').unwrap_or_default();
        let directory = if directory.is_empty() { "/" } else { directory };
        let missing = |error| match error {
            TreeError::Missing { .. } => TreeError::Missing { path: escape(path.as_bytes()) },
            other => other,
        };
        let directory = self.open(directory, OFlags::PATH | OFlags::DIRECTORY).map_err(missing)?;
        rustix::fs::readlinkat(directory, name, Vec::new()).map_err(|error| match error {
            Errno::INVAL => unreadable(path, "it is not a link"),
            error => from_io(path, &error.into()),
        })?;
        self.resolve(path)
    }
}

/// The answer at `path`, as a file would hold it.
fn answered(tree: &LiveTree, path: &str) -> Result<Vec<u8>, TreeError> {
    match path {
        answer::DM_TABLES => return device_mapper::tables().map(String::into_bytes),
        answer::DM_STATUS => return device_mapper::states().map(String::into_bytes),
        _ => {}
    }
    let missing = || TreeError::Missing { path: escape(path.as_bytes()) };
    let (disk, question) = answer::asked(path).ok_or_else(missing)?;
    let bytes = drive_answer::ask(tree, disk, question)?;
    Ok(answer::to_text(&bytes).into_bytes())
}

/// Returns the names of answers below `path`, as a directory would list them.
fn answers(tree: &LiveTree, path: &str) -> Result<Vec<String>, TreeError> {
    let missing = || TreeError::Missing { path: escape(path.as_bytes()) };
    let root = |path: &str| path.strip_prefix(answer::ROOT).map(str::to_owned);
    match root(path).as_deref() {
        Some("") => Ok(["dm-status", "dm-tables", "drive"].map(str::to_owned).to_vec()),
        Some("/drive") => {
            let mut disks = tree.list("/sys/block")?;
            disks.retain(|disk| !drive_answer::questions(tree, disk).is_empty());
            Ok(disks)
        }
        Some(rest) => {
            let disk = rest.strip_prefix("/drive/").ok_or_else(missing)?;
            let questions = drive_answer::questions(tree, disk);
            let mut words: Vec<String> =
                questions.into_iter().map(|question| question.word().to_owned()).collect();
            words.sort();
            if words.is_empty() { Err(missing()) } else { Ok(words) }
        }
        None => Err(missing()),
    }
}

/// The parts of a path; a `.` is none.
fn parts(path: &str) -> impl DoubleEndedIterator<Item = String> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned)
}

fn text(target: &Path, path: &str) -> Result<String, TreeError> {
    let text = target.to_str().map(str::to_owned);
    text.ok_or_else(|| unreadable(path, "a link on the way is not UTF-8"))
}

fn from_io(path: &str, error: &io::Error) -> TreeError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            TreeError::Missing { path: escape(path.as_bytes()) }
        }
        _ => unreadable(path, &error.to_string()),
    }
}

fn unreadable(path: &str, reason: &str) -> TreeError {
    TreeError::Unreadable { path: escape(path.as_bytes()), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use testkit::Scratch;

    use super::*;

    /// A captured machine with one disk, reached through links as in a real `/sys`.
    fn captured() -> (Scratch, LiveTree) {
        let scratch = Scratch::new();
        let disk = scratch.path().join("sys/devices/pci0/block/sda");
        std::fs::create_dir_all(disk.join("queue")).unwrap();
        std::fs::create_dir_all(scratch.path().join("sys/class/block")).unwrap();
        std::fs::create_dir_all(scratch.path().join("sys/block")).unwrap();
        std::fs::write(disk.join("queue/logical_block_size"), "512\n").unwrap();
        let at = |path: &str| scratch.path().join(path);
        symlink("../../devices/pci0/block/sda", at("sys/class/block/sda")).unwrap();
        symlink("/sys/class/block/sda", at("sys/block/sda")).unwrap();
        symlink("../../../..", disk.join("subsystem")).unwrap();
        symlink("../../../../../..", disk.join("out")).unwrap();
        symlink("turn", at("sys/turn")).unwrap();
        symlink("../../drivers/gone", at("sys/devices/pci0/driver")).unwrap();
        let tree = LiveTree::new(scratch.path());
        (scratch, tree)
    }

    #[test]
    fn links_of_a_captured_tree_are_followed_within_it() {
        let (_scratch, tree) = captured();
        for way in ["/sys/block/sda", "/sys/class/block/sda", "/sys/devices/pci0/block/sda"] {
            let file = format!("{way}/queue/logical_block_size");
            assert_eq!(tree.read(&file).unwrap(), "512", "{way}");
        }
        assert_eq!(tree.link("/sys/block/sda").unwrap(), "/sys/devices/pci0/block/sda");
        assert_eq!(tree.link("/sys/block/sda/subsystem").unwrap(), "/sys");
        assert_eq!(tree.list("/sys/block/sda").unwrap(), ["out", "queue", "subsystem"]);
        assert_eq!(tree.link("/sys/devices/pci0/driver").unwrap(), "/sys/drivers/gone");
    }

    #[test]
    fn what_leads_out_turns_in_circles_or_is_missing_is_an_error() {
        let (_scratch, tree) = captured();
        let unreadable = |result: Result<String, TreeError>| {
            assert!(matches!(result, Err(TreeError::Unreadable { .. })), "{result:?}");
        };
        unreadable(tree.link("/sys/block/sda/out"));
        unreadable(tree.read("/sys/turn"));
        unreadable(tree.link("/sys/devices/pci0"));
        unreadable(tree.read("/sys/../etc/passwd"));
        unreadable(tree.read("sys"));
        unreadable(tree.read("/sys/devices"));
        assert!(matches!(tree.read("/sys/nothing"), Err(TreeError::Missing { .. })));
        assert!(matches!(tree.list("/sys/nothing"), Err(TreeError::Missing { .. })));
        assert!(matches!(tree.link("/sys/nothing"), Err(TreeError::Missing { .. })));
    }

    #[test]
    fn a_file_over_one_mebibyte_is_refused() {
        let scratch = Scratch::new();
        let _ = scratch.image("large", (1 << 20) + 1);
        let _ = scratch.file("whole", &[b'x'; 1 << 20]);
        let tree = LiveTree::new(scratch.path());
        assert_eq!(
            tree.read("/large").unwrap_err().to_string(),
            "/large cannot be read: it is larger than 1 MiB"
        );
        assert_eq!(tree.read("/whole").unwrap().len(), 1 << 20);
    }

    #[test]
    fn a_captured_tree_holds_answers_as_files_and_asks_nobody() {
        let scratch = Scratch::new();
        std::fs::create_dir_all(scratch.path().join("straddle/drive/sda")).unwrap();
        let at = scratch.path().join("straddle/drive/sda/ata-identify");
        std::fs::write(at, "00ff\n").unwrap();
        let tree = LiveTree::new(scratch.path());
        let path = answer::of_drive("sda", answer::Question::AtaIdentify);
        assert_eq!(tree.read(&path).unwrap(), "00ff");
        assert_eq!(tree.list("/straddle/drive").unwrap(), ["sda"]);
        assert!(matches!(tree.read(answer::DM_TABLES), Err(TreeError::Missing { .. })));
    }

    #[test]
    fn the_live_tree_lists_what_can_be_asked() {
        let tree = LiveTree::new(Path::new("/"));
        assert_eq!(tree.list(answer::ROOT).unwrap(), ["dm-status", "dm-tables", "drive"]);
        for disk in tree.list("/straddle/drive").unwrap() {
            assert!(!tree.list(&format!("/straddle/drive/{disk}")).unwrap().is_empty());
        }
        let path = answer::of_drive("no-such-disk", answer::Question::AtaIdentify);
        assert!(matches!(tree.read(&path), Err(TreeError::Missing { .. })));
        assert!(matches!(tree.read("/straddle/other"), Err(TreeError::Missing { .. })));
    }

    #[test]
    fn this_machine_answers_too() {
        let tree = LiveTree::new(Path::new("/"));
        assert!(tree.read("/proc/version").unwrap().starts_with("Linux version"));
        let myself = std::process::id();
        assert_eq!(tree.link("/proc/self").unwrap(), format!("/proc/{myself}"));
        assert!(tree.list("/sys").unwrap().contains(&"block".to_owned()));
    }
}
