//! A kernel tree in memory.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::captured_tree::TextTree;
use crate::kernel_tree::{KernelTree, TreeError};
use crate::manifest::{Manifest, ManifestEntry};

/// A tree in memory, made path by path: for tests and models. It is a [`Manifest`], which is read
/// when the first question is asked.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    entries: BTreeMap<String, ManifestEntry>,
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
        self.with(path, ManifestEntry::File(content.to_owned()))
    }

    /// The tree with a link more, from `path` to the absolute path `target`.
    #[must_use]
    pub fn with_link(self, path: &str, target: &str) -> MemoryTree {
        self.with(path, ManifestEntry::Link(target.to_owned()))
    }

    /// The tree with something more that cannot be read.
    #[must_use]
    pub fn with_unreadable(self, path: &str, reason: &str) -> MemoryTree {
        self.with(path, ManifestEntry::Unreadable(reason.to_owned()))
    }

    fn with(mut self, path: &str, entry: ManifestEntry) -> MemoryTree {
        self.entries.insert(path.to_owned(), entry);
        self.read = OnceLock::new();
        self
    }

    /// Returns the manifest of all entries, without those below a file or a link: nothing leads
    /// there.
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
