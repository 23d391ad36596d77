//! Files of a kernel tree: `/sys` and `/proc`, live or captured.

use std::collections::BTreeMap;

use thiserror::Error;

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

    /// The names in a directory, sorted.
    ///
    /// # Errors
    /// When the directory is missing or cannot be read.
    fn list(&self, path: &str) -> Result<Vec<String>, TreeError>;

    /// Where a symbolic link leads, resolved to an absolute path within the tree.
    ///
    /// # Errors
    /// When it is missing, no link, or leads out of the tree.
    fn link(&self, path: &str) -> Result<String, TreeError>;
}

/// A tree in memory: paths to contents, and links to absolute paths.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    files: BTreeMap<String, String>,
    links: BTreeMap<String, String>,
}

impl MemoryTree {
    /// An empty tree.
    #[must_use]
    pub fn new() -> MemoryTree {
        MemoryTree::default()
    }

    /// The tree with a file more.
    #[must_use]
    pub fn with_file(mut self, path: &str, content: &str) -> MemoryTree {
        self.files.insert(path.to_owned(), content.to_owned());
        self
    }

    /// The tree with a link more, from `path` to the absolute path `target`.
    #[must_use]
    pub fn with_link(mut self, path: &str, target: &str) -> MemoryTree {
        self.links.insert(path.to_owned(), target.to_owned());
        self
    }

    /// `path` with links in its directories followed, at most 40 as the kernel does.
    fn resolve(&self, path: &str) -> String {
        let mut path = path.to_owned();
        for _ in 0..40 {
            let hit = self.links.iter().find_map(|(link, target)| {
                let rest = path.strip_prefix(link.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(|| format!("{target}{rest}"))
            });
            match hit {
                Some(next) => path = next,
                None => break,
            }
        }
        path
    }
}

impl KernelTree for MemoryTree {
    fn read(&self, path: &str) -> Result<String, TreeError> {
        let content = self.files.get(&self.resolve(path));
        content
            .map(|content| content.trim_end().to_owned())
            .ok_or_else(|| TreeError::Missing { path: path.to_owned() })
    }

    fn list(&self, path: &str) -> Result<Vec<String>, TreeError> {
        let prefix = format!("{}/", self.resolve(path).trim_end_matches('/'));
        let mut names: Vec<String> = (self.files.keys().chain(self.links.keys()))
            .filter_map(|file| file.strip_prefix(&prefix))
            .filter_map(|rest| rest.split('/').next())
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        if names.is_empty() { Err(TreeError::Missing { path: path.to_owned() }) } else { Ok(names) }
    }

    fn link(&self, path: &str) -> Result<String, TreeError> {
        let target = self.links.get(path).cloned();
        target.ok_or_else(|| TreeError::Missing { path: path.to_owned() })
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
