//! Files of a kernel tree: `/sys` and `/proc`, live or captured.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use thiserror::Error;
use units::text::escape;

use crate::manifest::{Entry, Manifest};
use crate::text_tree::TextTree;

/// Why a file of the tree could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TreeError {
    /// There is no such file.
    #[error("{path} does not exist")]
    Missing {
        /// The path within the tree.
        path: String,
    },
    /// It exists but cannot be read.
    #[error("{path} cannot be read: {reason}")]
    Unreadable {
        /// The path within the tree.
        path: String,
        /// What the kernel said.
        reason: String,
    },
}

/// Small text files, directories and links below a root. Paths are absolute within the tree and
/// have no `..`.
pub trait KernelTree {
    /// The file's content without trailing white space; bytes that are no UTF-8 are replaced.
    ///
    /// # Errors
    /// When the file is missing or cannot be read, or is larger than 1 MiB.
    fn read(&self, path: &str) -> Result<String, TreeError>;

    /// The file's content, byte for byte.
    ///
    /// # Errors
    /// As [`KernelTree::read`].
    fn bytes(&self, path: &str) -> Result<Vec<u8>, TreeError> {
        self.read(path).map(String::into_bytes)
    }

    /// The names in a directory, sorted.
    ///
    /// # Errors
    /// When the directory is missing or cannot be read.
    fn list(&self, path: &str) -> Result<Vec<String>, TreeError>;

    /// Returns where a symbolic link leads, resolved to an absolute path within the tree.
    ///
    /// # Errors
    /// When it is missing, no link, or leads out of the tree.
    fn link(&self, path: &str) -> Result<String, TreeError>;
}

/// That `path` is one that a tree may be asked for: absolute, without `..` and without NUL.
///
/// # Errors
/// When it is none; the reason says so.
pub fn check(path: &str) -> Result<(), TreeError> {
    let leads_up = path.contains("..") && path.split('/').any(|part| part == "..");
    if !path.starts_with('/') || path.contains('\0') || leads_up {
        let reason = "it is not an absolute path without '..'".to_owned();
        return Err(TreeError::Unreadable { path: escape(path.as_bytes()), reason });
    }
    Ok(())
}

/// A tree in memory, made path by path: for tests and models. It is a [`Manifest`], which is read
/// when the first question is asked.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    entries: BTreeMap<String, Entry>,
    read: OnceLock<TextTree>,
}

impl MemoryTree {
    /// An empty tree.
    #[must_use]
    pub fn new() -> MemoryTree {
        MemoryTree::default()
    }

    /// The tree with a file more.
    #[must_use]
    pub fn with_file(self, path: &str, content: &str) -> MemoryTree {
        self.with_bytes(path, content.as_bytes())
    }

    /// The tree with a file more, of any bytes.
    #[must_use]
    pub fn with_bytes(self, path: &str, content: &[u8]) -> MemoryTree {
        self.with(path, Entry::File(content.to_owned()))
    }

    /// The tree with a link more, from `path` to the absolute path `target`.
    #[must_use]
    pub fn with_link(self, path: &str, target: &str) -> MemoryTree {
        self.with(path, Entry::Link(target.to_owned()))
    }

    /// The tree with something more that cannot be read.
    #[must_use]
    pub fn with_unreadable(self, path: &str, reason: &str) -> MemoryTree {
        self.with(path, Entry::Unreadable(reason.to_owned()))
    }

    fn with(mut self, path: &str, entry: Entry) -> MemoryTree {
        self.entries.insert(path.to_owned(), entry);
        self.read = OnceLock::new();
        self
    }

    /// Returns what stands below a file or a link is out of reach, and left out.
    fn manifest(&self) -> Manifest {
        let mut manifest = Manifest::new();
        let parents = |path: &str| -> bool {
            let ends = path.match_indices('/').map(|(end, _)| end).skip(1);
            ends.into_iter().any(|end| self.entries.contains_key(&path[..end]))
        };
        for (path, entry) in self.entries.iter().filter(|(path, _)| !parents(path)) {
            // A path that no tree can hold is not found later.
            let _ = manifest.put(path, entry.clone());
        }
        manifest
    }

    fn tree(&self) -> &TextTree {
        self.read.get_or_init(|| {
            let text = self.manifest().to_text();
            TextTree::parse(text).expect("what a manifest's writer writes can be read")
        })
    }
}

impl KernelTree for MemoryTree {
    fn read(&self, path: &str) -> Result<String, TreeError> {
        self.tree().read(path)
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, TreeError> {
        self.tree().bytes(path)
    }

    fn list(&self, path: &str) -> Result<Vec<String>, TreeError> {
        self.tree().list(path)
    }

    fn link(&self, path: &str) -> Result<String, TreeError> {
        self.tree().link(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_behind_linked_directories_are_found() {
        let tree = MemoryTree::new()
            .with_file("/sys/devices/a/sda/size", "8\n")
            .with_link("/sys/block/sda", "/sys/devices/a/sda");
        assert_eq!(tree.read("/sys/block/sda/size").unwrap(), "8");
        assert_eq!(tree.list("/sys/block").unwrap(), ["sda"]);
        assert_eq!(tree.list("/sys/block/sda").unwrap(), ["size"]);
        assert!(matches!(tree.read("/sys/nope"), Err(TreeError::Missing { .. })));
    }
}
