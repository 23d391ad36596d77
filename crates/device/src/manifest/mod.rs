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
//! | `m NAME: COUNT` | a file of the COUNT lines that follow, each after a `\|` |
//! | `l NAME -> TARGET` | a symbolic link |
//! | `x NAME: REASON` | something that could not be read, and why |
//!
//! In names, values and targets `\\`, `\n`, `\t` and `\xNN` stand for a backslash, a line's end, a
//! tab and the byte NN; what is written otherwise is UTF-8. A blank at the end of a line is written
//! `\x20`. Directories on the way to another need no line of their own. A name stands once in a
//! directory, and one line states a directory.

pub(crate) mod escape;
mod parse;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use parse::read as parse;
pub use parse::{FIRST_LINE, ManifestError, NODES_MAX, TEXT_BYTES_MAX, is_manifest};
pub use write::{Manifest, ManifestEntry, PathError};
