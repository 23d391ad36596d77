//! Files of a kernel tree: `/sys` and `/proc`, live or captured.

use thiserror::Error;
use units::text::escape;

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
        /// The kernel's error text.
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
    /// Same as [`KernelTree::read`].
    fn bytes(&self, path: &str) -> Result<Vec<u8>, TreeError> {
        self.read(path).map(String::into_bytes)
    }

    /// The names in a directory, sorted.
    ///
    /// # Errors
    /// When the directory is missing or cannot be read.
    fn list(&self, path: &str) -> Result<Vec<String>, TreeError>;

    /// Resolves a symbolic link to an absolute path within the tree.
    ///
    /// # Errors
    /// When it is missing, no link, or leads out of the tree.
    fn link(&self, path: &str) -> Result<String, TreeError>;
}

/// Rejects a path that is not absolute, or that holds `..` or NUL.
///
/// # Errors
/// [`TreeError::Unreadable`], which gives the reason.
pub fn check(path: &str) -> Result<(), TreeError> {
    let leads_up = path.contains("..") && path.split('/').any(|part| part == "..");
    if !path.starts_with('/') || path.contains('\0') || leads_up {
        let reason = "it is not an absolute path without '..'".to_owned();
        return Err(TreeError::Unreadable { path: escape(path.as_bytes()), reason });
    }
    Ok(())
}
