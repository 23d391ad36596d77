//! Scratch images: sparse files in a directory that goes away with the test, failed or not.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use device::{Disk, ReadError, disk};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// Unit in which zeros become holes.
const BLOCK_BYTES: usize = 64 << 10;

/// A directory that is removed when this is dropped, also on a failing test.
#[derive(Debug)]
pub struct Scratch {
    directory: tempfile::TempDir,
}

impl Scratch {
    /// A new, empty directory.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it makes a directory")]
    pub fn new() -> Scratch {
        let directory = tempfile::Builder::new().prefix("straddle-test-").tempdir();
        Scratch { directory: directory.expect("a scratch directory can be made") }
    }

    /// A new, empty directory in `directory`.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn within(directory: &Path) -> Scratch {
        let made = tempfile::Builder::new().prefix("straddle-test-").tempdir_in(directory);
        Scratch { directory: made.expect("a scratch directory can be made") }
    }

    /// A new, empty directory in memory; `None` where there is no such place.
    #[must_use]
    pub fn in_memory() -> Option<Scratch> {
        let memory = Path::new("/dev/shm");
        let made = tempfile::Builder::new().prefix("straddle-test-").tempdir_in(memory);
        Some(Scratch { directory: made.ok()? })
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A sparse file of `length_bytes` zeros called `name`.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn image(&self, name: &str, length_bytes: u64) -> PathBuf {
        let path = self.directory.path().join(name);
        let file = File::create(&path).expect("a scratch file can be made");
        file.set_len(length_bytes).expect("a scratch file can be given a length");
        path
    }

    /// A file called `name` that holds `bytes`.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, bytes).expect("a scratch file can be written");
        path
    }

    /// Same as [`Scratch::file`], with holes where there are only zeros.
    ///
    /// # Panics
    /// Same as [`Scratch::file`].
    #[must_use]
    pub fn sparse_file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.image(name, disk::length_of(bytes));
        let file = File::options().write(true).open(&path).expect("a scratch file can be opened");
        for (block, at) in bytes.chunks(BLOCK_BYTES).zip((0..).step_by(BLOCK_BYTES)) {
            if !disk::is_filled_with(block, 0) {
                file.write_all_at(block, at).expect("a scratch file can be written");
            }
        }
        path
    }
}

/// The bytes of the file at `path`; its holes are neither read nor given memory.
///
/// # Panics
/// When it cannot be read.
#[must_use]
pub fn sparse_bytes(path: &Path) -> Vec<u8> {
    sparse_range(path, 0..FileDisk::open(path).length_bytes)
}

/// The bytes of `range` of the file at `path`, as [`sparse_bytes`] reads them.
///
/// # Panics
/// When they cannot be read.
#[must_use]
pub fn sparse_range(path: &Path, range: Range<u64>) -> Vec<u8> {
    let place = |at: u64| usize::try_from(at - range.start).expect("it fits into memory");
    let mut bytes = vec![0; place(range.end)];
    each_block(path, range.clone(), &mut |at, block| {
        bytes[place(at)..][..block.len()].copy_from_slice(block);
    });
    bytes
}

/// Hands on each block of `range` of a file that is not all zeros, with its offset; reads no hole.
fn each_block(path: &Path, range: Range<u64>, take: &mut dyn FnMut(u64, &[u8])) {
    let FileDisk { file, length_bytes } = FileDisk::open(path);
    assert!(range.end <= length_bytes, "{range:?} of {length_bytes} bytes");
    let (unit, mut buffer, mut at) = (BLOCK_BYTES as u64, vec![0; BLOCK_BYTES], range.start);
    while at < range.end {
        let data = match seek(&file, SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(Errno::NXIO) => break,
            // Only files know their holes.
            Err(_) => at,
        };
        let start = data - (data - range.start) % unit;
        if start >= range.end {
            break;
        }
        let end = range.end.min(start + unit);
        let block = &mut buffer[..usize::try_from(end - start).expect("a block is short")];
        file.read_exact_at(block, start).expect("a scratch file can be read");
        if !disk::is_filled_with(block, 0) {
            take(start, block);
        }
        at = end;
    }
}

/// Copies the file `from` to the new file `to`, with its holes.
///
/// # Panics
/// When it cannot be copied.
pub fn copy(from: &Path, to: &Path) {
    copy_range(from, 0..FileDisk::open(from).length_bytes, to);
}

/// Copies `range` of the file `from` to the new file `to`, where zeros become a hole.
///
/// # Panics
/// When it cannot be copied.
pub fn copy_range(from: &Path, range: Range<u64>, to: &Path) {
    let copy = File::create(to).expect("it can be made");
    copy.set_len(range.end - range.start).expect("it can be given a length");
    let start = range.start;
    each_block(from, range, &mut |at, block| {
        copy.write_all_at(block, at - start).expect("it can be written");
    });
}

/// Writes the file `from` into the file `to`, from `at_bytes` on, without its zeros.
///
/// # Panics
/// When it cannot be written.
pub fn place(from: &Path, to: &Path, at_bytes: u64) {
    let target = File::options().write(true).open(to).expect("it can be opened");
    each_block(from, 0..FileDisk::open(from).length_bytes, &mut |at, block| {
        target.write_all_at(block, at_bytes + at).expect("it can be written");
    });
}

/// A path as text, for tools' arguments.
///
/// # Panics
/// When it is no UTF-8, which scratch paths are.
#[must_use]
pub fn text(path: &Path) -> &str {
    path.to_str().expect("scratch paths are UTF-8")
}

/// A file's bytes as a disk.
#[derive(Debug)]
pub struct FileDisk {
    file: File,
    length_bytes: u64,
}

impl FileDisk {
    /// The file at `path`.
    ///
    /// # Panics
    /// When it cannot be opened.
    #[must_use]
    pub fn open(path: &Path) -> FileDisk {
        let file = File::open(path).expect("the file can be opened");
        let length_bytes = file.metadata().expect("the file has metadata").len();
        FileDisk { file, length_bytes }
    }
}

impl Disk for FileDisk {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let length_bytes = disk::length_of(buffer);
        disk::check_bounds(self.length_bytes, offset_bytes, length_bytes)?;
        self.file.read_exact_at(buffer, offset_bytes).map_err(|error| ReadError::Failed {
            offset_bytes,
            length_bytes,
            reason: error.to_string(),
        })
    }
}
