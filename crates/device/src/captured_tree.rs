//! A captured tree that answers from the one text that it came in.

use std::hint::black_box;

use units::text::escape;

use crate::kernel_tree::{self, KernelTree, TreeError};
use crate::manifest::{self, ManifestError};
use crate::tree_nodes::{NodeKind, Nodes, PathEnd, TreeNode, WalkStop};

/// The largest file that is read, in bytes.
const FILE_BYTES_MAX: usize = 1 << 20;
/// The most names that a directory may have.
const NAMES_MAX: usize = 1 << 16;

/// A tree from the text of a [`manifest`].
///
/// Links are followed within the tree as the kernel follows them, at most 40 on one way. A read
/// allocates nothing but its answer.
#[derive(Clone, Debug)]
pub struct TextTree {
    nodes: Nodes,
}

impl TextTree {
    /// The tree that `text` describes.
    ///
    /// # Errors
    /// At the first line that means nothing or states a name again, and when the text is longer
    /// than [`manifest::TEXT_BYTES_MAX`] or names more than [`manifest::NODES_MAX`] things.
    pub fn parse(text: String) -> Result<TextTree, ManifestError> {
        Ok(TextTree { nodes: manifest::parse(text)? })
    }

    /// Same as [`TextTree::parse`] for bytes that may be no text.
    ///
    /// # Errors
    /// Same as [`TextTree::parse`], and where the bytes are no UTF-8.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<TextTree, ManifestError> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let ends = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n');
            let reason = "it is no UTF-8; such bytes are written \\xNN".to_owned();
            ManifestError { line: ends.count() + 1, reason }
        })?;
        TextTree::parse(text)
    }

    fn failed(&self, path: &str, stop: WalkStop<'_>) -> TreeError {
        match stop {
            WalkStop::NoDirectory(node, _) if node.kind == NodeKind::Unreadable => {
                unreadable(path, &self.reason(node))
            }
            WalkStop::Missing(..) | WalkStop::NoDirectory(..) => missing(path),
            WalkStop::Out => unreadable(path, "it leads out of the tree"),
            WalkStop::Turns => unreadable(path, "too many links lead on from it"),
            WalkStop::NotText => unreadable(path, "a link on the way is not UTF-8"),
        }
    }

    /// Why something could not be read.
    fn reason(&self, node: &TreeNode) -> String {
        String::from_utf8_lossy(&self.nodes.value(node)).into_owned()
    }

    fn walk<'a>(&'a self, path: &'a str) -> Result<PathEnd<'a>, TreeError> {
        kernel_tree::check(path)?;
        self.nodes.walk(path).map_err(|stop| self.failed(path, stop))
    }
}

impl KernelTree for TextTree {
    fn read(&self, path: &str) -> Result<String, TreeError> {
        let content = self.bytes(path)?;
        let content = String::from_utf8(content)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(trimmed(content))
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, TreeError> {
        let PathEnd::Node(node) = self.walk(path)? else {
            return Err(unreadable(path, "it is not a regular file"));
        };
        if node.kind == NodeKind::Unreadable {
            return Err(unreadable(path, &self.reason(node)));
        }
        let content = self.nodes.value(node);
        if content.len() > FILE_BYTES_MAX {
            return Err(unreadable(path, "it is larger than 1 MiB"));
        }
        Ok(content.into_owned())
    }

    fn list(&self, path: &str) -> Result<Vec<String>, TreeError> {
        let directory = match self.walk(path)? {
            PathEnd::Directory(directory) => directory,
            PathEnd::Node(node) if node.kind == NodeKind::Unreadable => {
                return Err(unreadable(path, &self.reason(node)));
            }
            PathEnd::Node(_) => return Err(missing(path)),
        };
        let children = self.nodes.children(directory);
        if children.len() > NAMES_MAX {
            return Err(unreadable(path, "it has more than 65536 names"));
        }
        let name = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Ok(children.iter().map(|node| name(self.nodes.bytes(node.name))).collect())
    }

    fn link(&self, path: &str) -> Result<String, TreeError> {
        kernel_tree::check(path)?;
        let (directory, name) = path.trim_end_matches('/').rsplit_once('/').unwrap_or_default();
        let directory = match self.walk(if directory.is_empty() { "/" } else { directory })? {
            PathEnd::Directory(directory) => directory,
            PathEnd::Node(_) => return Err(missing(path)),
        };
        let node = self.nodes.find(directory, name.as_bytes()).ok_or_else(|| missing(path))?;
        if !matches!(node.kind, NodeKind::Link(_)) {
            return Err(unreadable(path, "it is not a link"));
        }
        self.nodes.resolve(path).map_err(|stop| self.failed(path, stop))
    }
}

/// `content` without the white space at its end.
fn trimmed(mut content: String) -> String {
    content.truncate(content.trim_end().len());
    content
}

fn missing(path: &str) -> TreeError {
    TreeError::Missing { path: escape(path.as_bytes()) }
}

fn unreadable(path: &str, reason: &str) -> TreeError {
    TreeError::Unreadable { path: escape(path.as_bytes()), reason: reason.to_owned() }
}

/// Reads a manifest from any bytes and asks everything of the tree that it makes: what fuzzers run.
/// Each answer may be an error; none may be a panic, a hang or large.
///
/// # Panics
/// When a name that a directory lists is not found in it.
pub fn hostile(bytes: &[u8]) {
    let Ok(tree) = TextTree::from_bytes(bytes.to_owned()) else { return };
    let mut ahead = vec![String::new()];
    for _ in 0..1000 {
        let Some(path) = ahead.pop() else { break };
        let here = if path.is_empty() { "/" } else { &path };
        for name in tree.list(here).unwrap_or_default() {
            // Bytes that are no text are replaced in a list, and then lead nowhere.
            let odd = name.contains(char::REPLACEMENT_CHARACTER);
            let inner = format!("{path}/{name}");
            drop(black_box(tree.read(&inner)));
            let link = tree.link(&inner);
            let listed = odd || !matches!(link, Err(TreeError::Missing { .. }));
            assert!(listed, "{inner} is listed and missing");
            if ahead.len() < 1000 && link.is_err() && tree.list(&inner).is_ok() {
                ahead.push(inner);
            }
        }
    }
}
