//! Captured trees: a directory, a manifest, or a manifest that gzip made smaller.

use std::io;
use std::path::{Path, PathBuf};

use device::manifest::{self, ManifestError, TEXT_BYTES_MAX};
use device::{KernelTree, TextTree, TreeError, answer};
use flate2::read::MultiGzDecoder;
use rustix::fs::FileType;
use thiserror::Error;
use units::DiskText;

use crate::input_file::{InputError, bounded, read_input};
use crate::live_tree::LiveTree;

/// Start of gzip's files (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Why there is no captured tree at a path.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SysrootError {
    /// The kernel would not let it be read, or gzip's checks failed.
    #[error("cannot read the captured tree {path}: {reason}")]
    Unreadable {
        /// The path as it was given.
        path: DiskText,
        /// The error's text.
        reason: String,
    },
    /// It is something else.
    #[error("{path} is not a captured tree: {found}")]
    NotATree {
        /// The path as it was given.
        path: DiskText,
        /// The kind of file that it is instead.
        found: &'static str,
    },
    /// The manifest has a fault.
    #[error("cannot read the captured tree {path}: {error}")]
    Manifest {
        /// The path as it was given.
        path: DiskText,
        /// The first fault.
        error: ManifestError,
    },
}

/// A tree that any thread may ask.
pub type Tree = Box<dyn KernelTree + Send + Sync>;

/// The tree at `path`: a directory that holds `sys` (and `proc`), a manifest as `straddle generate
/// sysroot` writes it, or one that gzip made smaller. Text is read up to 64 MiB.
///
/// # Errors
/// When nothing can be read there, or it is none of these.
pub fn open(path: &Path) -> Result<Tree, SysrootError> {
    let shown = || DiskText::from_bytes(path.as_os_str().as_encoded_bytes());
    let unreadable =
        |error: io::Error| SysrootError::Unreadable { path: shown(), reason: error.to_string() };
    let not = |found| SysrootError::NotATree { path: shown(), found };
    let stat = rustix::fs::stat(path).map_err(|error| unreadable(error.into()))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory if path.join("sys").is_dir() => Ok(Box::new(Directory::new(path))),
        FileType::Directory => Err(not("no sys/ inside")),
        FileType::RegularFile => {
            let bytes = content(path).map_err(unreadable)?;
            if !manifest::is_manifest(&bytes) {
                return Err(not("it does not start with the line `straddle.sysroot/1`"));
            }
            let tree = TextTree::from_bytes(bytes);
            let tree = tree.map_err(|error| SysrootError::Manifest { path: shown(), error })?;
            Ok(Box::new(tree))
        }
        _ => Err(not("it is neither a directory nor a regular file")),
    }
}

/// Returns the content of a file, unpacked where gzip was used.
fn content(path: &Path) -> io::Result<Vec<u8>> {
    let bytes_max = u64::try_from(TEXT_BYTES_MAX).unwrap_or(u64::MAX);
    let read = read_input(path, bytes_max).and_then(|bytes| match bytes.starts_with(&GZIP) {
        true => bounded(MultiGzDecoder::new(bytes.as_slice()), bytes_max),
        false => Ok(bytes),
    });
    read.map_err(|error| match error {
        InputError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    })
}

/// Paths in which other captures keep files that have a path of their own here.
const ELSEWHERE: [(&str, &str); 3] = [
    (answer::DM_TABLES, "/dmsetup-table.txt"),
    ("/proc/self/mountinfo", "/proc/mountinfo"),
    ("/proc/sys/kernel/osrelease", "/kernel-release"),
];

/// A captured directory. Some things are looked for in a second place, since a copy of `/proc`
/// cannot hold all that the kernel shows there.
#[derive(Clone, Debug)]
struct Directory {
    root: PathBuf,
    tree: LiveTree,
}

impl Directory {
    fn new(root: &Path) -> Directory {
        Directory { root: root.to_owned(), tree: LiveTree::new(root) }
    }

    fn or_elsewhere<T>(
        &self,
        path: &str,
        ask: impl Fn(&str) -> Result<T, TreeError>,
    ) -> Result<T, TreeError> {
        let live = self.root == Path::new("/");
        let elsewhere = ELSEWHERE.iter().find(|(here, _)| *here == path && !live);
        match (ask(path), elsewhere) {
            (Err(error @ TreeError::Missing { .. }), Some((_, elsewhere))) => {
                ask(elsewhere).map_err(|_| error)
            }
            (answer, _) => answer,
        }
    }
}

impl KernelTree for Directory {
    fn read(&self, path: &str) -> Result<String, TreeError> {
        self.or_elsewhere(path, |path| self.tree.read(path))
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, TreeError> {
        self.or_elsewhere(path, |path| self.tree.bytes(path))
    }

    fn list(&self, path: &str) -> Result<Vec<String>, TreeError> {
        self.tree.list(path)
    }

    fn link(&self, path: &str) -> Result<String, TreeError> {
        self.tree.link(path)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use testkit::Scratch;

    use super::*;

    const TEXT: &[u8] = b"straddle.sysroot/1\nd /sys/block/sda\nf size: 8\n";

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_directory_a_manifest_and_a_packed_manifest_answer_alike() {
        let scratch = Scratch::new();
        let directory = scratch.path().join("captured");
        std::fs::create_dir_all(directory.join("sys/block/sda")).unwrap();
        std::fs::write(directory.join("sys/block/sda/size"), "8\n").unwrap();
        let whole = scratch.file("whole.sysroot", TEXT);
        let small = scratch.file("small", &packed(TEXT));
        for path in [directory, whole, small] {
            let tree = open(&path).unwrap();
            assert_eq!(tree.read("/sys/block/sda/size").unwrap(), "8", "{path:?}");
            assert_eq!(tree.list("/sys/block").unwrap(), ["sda"]);
        }
    }

    #[test]
    fn what_others_keep_elsewhere_is_found_in_a_captured_directory() {
        let scratch = Scratch::new();
        std::fs::create_dir_all(scratch.path().join("sys")).unwrap();
        std::fs::create_dir_all(scratch.path().join("proc")).unwrap();
        for (name, content) in [
            ("dmsetup-table.txt", "a: 0 8\n"),
            ("kernel-release", "6.1\n"),
            ("proc/mountinfo", "1"),
        ] {
            std::fs::write(scratch.path().join(name), content).unwrap();
        }
        let tree = open(scratch.path()).unwrap();
        assert_eq!(tree.bytes(answer::DM_TABLES).unwrap(), b"a: 0 8\n");
        assert_eq!(tree.read("/proc/sys/kernel/osrelease").unwrap(), "6.1");
        assert_eq!(tree.read("/proc/self/mountinfo").unwrap(), "1");
        let error = tree.read("/proc/self/mounts").unwrap_err();
        assert_eq!(error, TreeError::Missing { path: "/proc/self/mounts".to_owned() });
    }

    #[test]
    fn whatever_is_no_captured_tree_is_refused_with_the_reason() {
        let scratch = Scratch::new();
        let said = |path: &Path| open(path).err().map(|error| error.to_string()).unwrap();
        assert!(said(scratch.path()).ends_with("no sys/ inside"));
        let other = scratch.file("other", b"text");
        assert!(said(&other).contains("does not start with the line"));
        let cut = scratch.file("cut.gz", &packed(TEXT)[..20]);
        assert!(said(&cut).starts_with("cannot read the captured tree"));
        let wrong = scratch.file("wrong", b"straddle.sysroot/1\nd x\n");
        assert!(said(&wrong).contains("line 2: "), "{}", said(&wrong));
        assert!(said(Path::new("/dev/null")).contains("neither a directory nor a regular file"));
        assert!(said(Path::new("/nonexistent")).contains("No such file"));
    }

    #[test]
    fn a_small_file_that_unpacks_to_more_than_64_mebibytes_is_refused() {
        let scratch = Scratch::new();
        let mut text = TEXT.to_vec();
        text.resize(TEXT_BYTES_MAX + 1, b'\n');
        let bomb = scratch.file("bomb.gz", &packed(&text));
        let error = open(&bomb).err().map(|error| error.to_string()).unwrap();
        assert!(error.ends_with("longer than 64 MiB"), "{error}");
    }
}
