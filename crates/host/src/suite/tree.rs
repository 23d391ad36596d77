//! A tree of files in memory to unpack, made from a seed or taken from a directory.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use units::random::Random;

/// The most bytes of a tree, which is held in memory.
const BYTES_MAX: u64 = 256 << 20;
/// The most files and directories of a tree.
const ENTRIES_MAX: usize = 100_000;
/// Files of a made tree in one directory.
const FILES_A_DIRECTORY: u64 = 25;

/// A file to be unpacked: where, and which bytes of the tree's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PackedFile {
    path: PathBuf,
    start: usize,
    end: usize,
}

/// A tree of files in memory.
#[derive(Clone, Debug, Default)]
pub struct SeededTree {
    /// Directories, outer ones first.
    directories: Vec<PathBuf>,
    files: Vec<PackedFile>,
    contents: Vec<u8>,
}

impl SeededTree {
    /// A tree as a seed gives it: so many files of 200 bytes to 100 KiB, most of them small, 16 KiB
    /// on average, as in a source tree.
    ///
    /// # Panics
    /// When memory runs out.
    #[must_use]
    pub fn made(files: u64, random: &mut Random) -> SeededTree {
        let mut tree = SeededTree::default();
        for number in 0..files {
            let directory = PathBuf::from(format!("d{}", number.div_euclid(FILES_A_DIRECTORY)));
            if number % FILES_A_DIRECTORY == 0 {
                tree.directories.push(directory.clone());
            }
            // Doubling from 200 bytes on, so that each size class has as many files.
            let class = 200_u64 << random.below(9);
            let length = class + random.below(class);
            let start = tree.contents.len();
            let end = start + usize::try_from(length).expect("below 100 KiB");
            while tree.contents.len() < end {
                tree.contents.extend(random.next_u64().to_le_bytes());
            }
            tree.contents.truncate(end);
            tree.files.push(PackedFile { path: directory.join(format!("f{number}")), start, end });
        }
        tree
    }

    /// The directories and regular files below `root`; links and special files are left out.
    ///
    /// # Errors
    /// When something cannot be read, or is more than is held in memory.
    pub fn of(root: &Path) -> io::Result<SeededTree> {
        let mut tree = SeededTree::default();
        let mut ahead = vec![PathBuf::new()];
        while let Some(directory) = ahead.pop() {
            let mut names: Vec<(OsString, fs::FileType)> = Vec::new();
            for entry in fs::read_dir(root.join(&directory))? {
                let entry = entry?;
                names.push((entry.file_name(), entry.file_type()?));
            }
            names.sort_by(|one, other| one.0.cmp(&other.0));
            for (name, kind) in names {
                let path = directory.join(name);
                if kind.is_dir() {
                    tree.directories.push(path.clone());
                    ahead.push(path);
                } else if kind.is_file() {
                    tree.take(root, path)?;
                }
                if tree.files.len() + tree.directories.len() > ENTRIES_MAX {
                    return Err(io::Error::other(format!("it has more than {ENTRIES_MAX} names")));
                }
            }
        }
        Ok(tree)
    }

    fn take(&mut self, root: &Path, path: PathBuf) -> io::Result<()> {
        let start = self.contents.len();
        let left = BYTES_MAX.saturating_sub(u64::try_from(start).unwrap_or(u64::MAX));
        let mut limited = File::open(root.join(&path))?.take(left + 1);
        let read = limited.read_to_end(&mut self.contents)?;
        if u64::try_from(read).unwrap_or(u64::MAX) > left {
            return Err(io::Error::other(format!("it holds more than {} MiB", BYTES_MAX >> 20)));
        }
        self.files.push(PackedFile { path, start, end: self.contents.len() });
        Ok(())
    }

    /// Returns how many files it has, and how many bytes they hold.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        (self.files.len(), self.contents.len())
    }

    /// Writes all of it below `root`, as unpacking an archive does.
    ///
    /// # Errors
    /// When something is there already, or cannot be made or written.
    pub fn unpack(&self, root: &Path) -> io::Result<()> {
        for directory in &self.directories {
            fs::create_dir(root.join(directory))?;
        }
        for entry in &self.files {
            let mut file = File::create_new(root.join(&entry.path))?;
            file.write_all(&self.contents[entry.start..entry.end])?;
        }
        Ok(())
    }

    /// Reads all of it below `root` and says whether it is what was unpacked. `buffer` is used for
    /// one file after the other.
    ///
    /// # Errors
    /// When a file is not there, or cannot be read.
    pub fn is_read_back(&self, root: &Path, buffer: &mut Vec<u8>) -> io::Result<bool> {
        for entry in &self.files {
            buffer.clear();
            File::open(root.join(&entry.path))?.read_to_end(buffer)?;
            if buffer != &self.contents[entry.start..entry.end] {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_tree_is_the_same_for_the_same_seed_and_comes_back_from_a_directory() {
        let scratch = testkit::Scratch::new();
        let room = scratch.image("unused", 1).parent().unwrap().join("tree");
        fs::create_dir(&room).unwrap();
        let made = SeededTree::made(2_000, &mut Random::new(7));
        let again = SeededTree::made(2_000, &mut Random::new(7));
        assert!(made.contents == again.contents && made.files == again.files);
        assert_eq!(made.size().0, 2_000);
        made.unpack(&room).unwrap();
        let mut buffer = Vec::new();
        assert!(made.is_read_back(&room, &mut buffer).unwrap());
        let found = SeededTree::of(&room).unwrap();
        assert_eq!(found.size(), made.size());
        assert_eq!(found.directories.len(), made.directories.len());
        fs::write(room.join("d0/f0"), b"other").unwrap();
        assert!(!made.is_read_back(&room, &mut buffer).unwrap());
    }
}
