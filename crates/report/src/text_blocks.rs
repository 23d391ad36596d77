//! A text in blocks: it is not moved while it grows, and is given back block by block when it is
//! printed. A target of thousands of layers is megabytes of text.

use std::fmt;
use std::io;

/// The bytes of a full block.
const BLOCK_BYTES: usize = 64 << 10;
/// Room for the text of most targets, in bytes.
const FIRST_BYTES: usize = 8 << 10;

/// A text in blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    full: Vec<Vec<u8>>,
    last: Vec<u8>,
}

impl Blocks {
    /// Its length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.full.iter().map(Vec::len).sum::<usize>() + self.last.len()
    }

    /// True of a text without bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.full.is_empty() && self.last.is_empty()
    }

    /// Removes everything.
    pub(crate) fn clear(&mut self) {
        *self = Blocks::default();
    }

    /// Removes the first `bytes`, which are in its first block.
    pub(crate) fn cut(&mut self, bytes: usize) {
        let first = self.full.first_mut().unwrap_or(&mut self.last);
        first.drain(..bytes.min(first.len()));
    }

    /// The blocks in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.full.iter().chain([&self.last]).map(Vec::as_slice)
    }
}

impl IntoIterator for Blocks {
    type Item = Vec<u8>;
    type IntoIter = std::iter::Chain<std::vec::IntoIter<Vec<u8>>, std::array::IntoIter<Vec<u8>, 1>>;

    fn into_iter(self) -> Self::IntoIter {
        self.full.into_iter().chain([self.last])
    }
}

impl From<String> for Blocks {
    fn from(text: String) -> Blocks {
        Blocks { full: Vec::new(), last: text.into_bytes() }
    }
}

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: Vec<u8> = self.iter().flatten().copied().collect();
        f.write_str(&String::from_utf8_lossy(&bytes))
    }
}

impl Blocks {
    /// Writes what finds no room as it is.
    #[cold]
    fn write_with_room(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.last.len() >= BLOCK_BYTES {
                let full = std::mem::replace(&mut self.last, Vec::with_capacity(BLOCK_BYTES));
                self.full.push(full);
            }
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK_BYTES - self.last.len()));
            let wanted = (self.last.len() + now.len()).max(2 * self.last.capacity());
            let wanted = wanted.clamp(FIRST_BYTES, BLOCK_BYTES);
            self.last.reserve_exact(wanted - self.last.len());
            self.last.extend_from_slice(now);
            bytes = later;
        }
    }
}

impl io::Write for Blocks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    // Nearly all that is written is a few bytes, for which there is room. A block never has room
    // for more than its bytes.
    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match bytes.len() <= self.last.capacity() - self.last.len() {
            true => self.last.extend_from_slice(bytes),
            false => self.write_with_room(bytes),
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_is_written_in_any_pieces_is_there_in_order_and_no_block_is_larger_than_one() {
        let text: String = (0..40_000).map(|number| format!("{number} ")).collect();
        for piece in [1, 7, 1000, BLOCK_BYTES, text.len()] {
            let mut blocks = Blocks::default();
            assert!(blocks.is_empty());
            for part in text.as_bytes().chunks(piece) {
                blocks.write_all(part).expect("memory takes all");
            }
            assert_eq!((blocks.len(), blocks.to_string() == text), (text.len(), true), "{piece}");
            assert!(blocks.iter().all(|block| block.len() <= BLOCK_BYTES));
            assert_eq!(blocks.into_iter().flatten().collect::<Vec<u8>>(), text.as_bytes());
        }
    }
}
