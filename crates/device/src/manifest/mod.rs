//! A captured tree as one text that people can read, compare and mail: a *manifest*.
//!
//! ```text
//! straddle.sysroot/1
//! # a line that starts so says something to people only
//! n 8
//! d /sys/block
//! l sda -> ../devices/pci0000:00/block/sda
//! d /sys/devices/pci0000:00/block/sda
//! f size: 2048
//! b serial: no line end
//! x wwid: Permission denied (os error 13)
//! m mdstat: 2
//! | Personalities : [raid5]
//! | unused devices: <none>
//! ```
//!
//! | line | means |
//! |---|---|
//! | `n COUNT` | how many lines follow it: a text that was cut is refused |
//! | `d PATH` | a directory; what follows lies in it, up to the next `d` |
//! | `f NAME: VALUE` | a file of one line, which ends |
//! | `b NAME: VALUE` | a file whose last line does not end, so also an empty or a binary one |
//! | `m NAME: COUNT` | a file of the COUNT lines that follow, each behind a `\|` |
//! | `l NAME -> TARGET` | a symbolic link |
//! | `x NAME: REASON` | something that could not be read, and why |
//!
//! In names, values and targets `\\`, `\n`, `\t` and `\xNN` stand for a backslash, a line's end, a
//! tab and the byte NN; what is written otherwise is UTF-8. A blank at the end of a line is written
//! `\x20`. Directories on the way to another need no line of their own. A name stands once in a
//! directory, and one line states a directory.

pub(crate) mod escape;
mod parse;
mod write;

use thiserror::Error;

pub(crate) use parse::read as parse;
pub use parse::{NODES_MAX, PATH_PARTS_MAX, TEXT_BYTES_MAX};
pub use write::{Entry, Manifest, PathError};

/// The first line of every manifest of this version.
pub const FIRST_LINE: &str = "straddle.sysroot/1";

/// What all versions of the first line start with.
const FAMILY: &str = "straddle.sysroot/";

/// Why a text is no manifest.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct ManifestError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it, in lower case and without a full stop.
    pub reason: String,
}

/// Returns whether `bytes` start as a manifest does, of whichever version.
#[must_use]
pub fn is_manifest(bytes: &[u8]) -> bool {
    bytes.starts_with(FAMILY.as_bytes())
}

/// Reads a manifest from any bytes and asks everything of the tree that it makes: what fuzzers run.
/// Each answer may be an error; none may be a panic, a hang or large.
///
/// # Panics
/// When a name that a directory lists is not found in it.
pub fn hostile(bytes: &[u8]) {
    use crate::{KernelTree as _, TreeError};
    use std::hint::black_box;

    let Ok(tree) = crate::TextTree::from_bytes(bytes.to_owned()) else { return };
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
