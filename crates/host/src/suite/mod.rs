//! Steps on a file system that show the cost of its place on a drive: unpack a tree, copy a large
//! file, read both, delete. Each step is for a file system that was just mounted, and the caller
//! unmounts it afterwards, so that nothing of it stays in a cache uncounted.

mod tree;

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use units::random::Random;

pub use self::tree::SeededTree;

/// Length of each write of the large file, in bytes.
const CHUNK_BYTES: usize = 1 << 20;
/// The name of the large file.
const LARGE: &str = "large";
/// The directory that the tree is unpacked into.
const TREE: &str = "tree";

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileStep {
    /// The tree is unpacked.
    Unpack,
    /// The large file is written.
    Copy,
    /// Both are read.
    Read,
    /// Both are deleted.
    Delete,
    /// The tree alone is deleted.
    DeleteTree,
}

/// Files that the steps move.
#[derive(Clone, Debug)]
pub struct FileLoad {
    /// The tree that is unpacked.
    pub tree: SeededTree,
    /// The bytes of the large file.
    pub large: Vec<u8>,
}

/// `bytes` bytes, rounded up to a multiple of 8, as `random` gives them.
#[must_use]
pub fn seeded_bytes(bytes: usize, random: &mut Random) -> Vec<u8> {
    let mut large = Vec::with_capacity(bytes.next_multiple_of(8));
    while large.len() < bytes {
        large.extend(random.next_u64().to_le_bytes());
    }
    large
}

impl FileLoad {
    /// Does `step` on the file system that is mounted at `root`. `buffer` holds what is read.
    ///
    /// # Errors
    /// When the file system does not want to, or what is read is not what was written.
    pub fn act(&self, step: FileStep, root: &Path, buffer: &mut Vec<u8>) -> io::Result<()> {
        let (tree, large) = (root.join(TREE), root.join(LARGE));
        match step {
            FileStep::Unpack => {
                fs::create_dir(&tree)?;
                self.tree.unpack(&tree)
            }
            FileStep::Copy => {
                let mut file = File::create_new(large)?;
                self.large.chunks(CHUNK_BYTES).try_for_each(|chunk| file.write_all(chunk))
            }
            FileStep::Read => {
                let same = self.tree.is_read_back(&tree, buffer)?;
                buffer.clear();
                File::open(large)?.read_to_end(buffer)?;
                if same && *buffer == self.large {
                    return Ok(());
                }
                Err(io::Error::other("what was read is not what was written"))
            }
            FileStep::Delete => {
                fs::remove_dir_all(tree)?;
                fs::remove_file(large)
            }
            FileStep::DeleteTree => fs::remove_dir_all(tree),
        }
    }
}
