//! Flags of an extent as FIEMAP reports them, with the words of `filefrag -v`.
//!
//! Source: `include/uapi/linux/fiemap.h` of Linux.

/// Facts that a file system reports of an extent: the bits of `fe_flags`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExtentFlags(pub u32);

/// A bit of `fe_flags`, and the word that `filefrag -v` prints for it.
const WORDS: [(ExtentFlags, &str); 11] = [
    (ExtentFlags::LAST, "last"),
    (ExtentFlags::UNKNOWN, "unknown_loc"),
    (ExtentFlags::DELAYED, "delalloc"),
    (ExtentFlags::ENCODED, "encoded"),
    (ExtentFlags::ENCRYPTED, "encrypted"),
    (ExtentFlags::NOT_ALIGNED, "not_aligned"),
    (ExtentFlags::INLINE, "inline"),
    (ExtentFlags::TAIL, "tail_packed"),
    (ExtentFlags::UNWRITTEN, "unwritten"),
    (ExtentFlags::MERGED, "merged"),
    (ExtentFlags::SHARED, "shared"),
];

impl ExtentFlags {
    /// The last extent of the file.
    pub const LAST: ExtentFlags = ExtentFlags(0x1);
    /// Its place is not known.
    pub const UNKNOWN: ExtentFlags = ExtentFlags(0x2);
    /// It waits in memory; no place was chosen yet.
    pub const DELAYED: ExtentFlags = ExtentFlags(0x4);
    /// The bytes there are not the file's: compressed, for example.
    pub const ENCODED: ExtentFlags = ExtentFlags(0x8);
    /// The bytes there are encrypted by the file system.
    pub const ENCRYPTED: ExtentFlags = ExtentFlags(0x80);
    /// Its bounds are not those of blocks.
    pub const NOT_ALIGNED: ExtentFlags = ExtentFlags(0x100);
    /// It lies within metadata.
    pub const INLINE: ExtentFlags = ExtentFlags(0x200);
    /// It shares a block with other files' tails.
    pub const TAIL: ExtentFlags = ExtentFlags(0x400);
    /// It has its place and reads as zeros until it is written.
    pub const UNWRITTEN: ExtentFlags = ExtentFlags(0x800);
    /// The file system has no extents, and joined blocks into this one.
    pub const MERGED: ExtentFlags = ExtentFlags(0x1000);
    /// Other files, or other parts of this one, use the same bytes.
    pub const SHARED: ExtentFlags = ExtentFlags(0x2000);

    /// Returns whether every bit of `other` is set.
    #[must_use]
    pub fn has(self, other: ExtentFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and those of `other`.
    #[must_use]
    pub fn and(self, other: ExtentFlags) -> ExtentFlags {
        ExtentFlags(self.0 | other.0)
    }

    /// The words that `filefrag -v` prints, in the order of the bits. Bits without a word are left
    /// out.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        WORDS.into_iter().filter(move |(flag, _)| self.has(*flag)).map(|(_, word)| word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_the_words_of_filefrag_in_order() {
        let flags = ExtentFlags::UNWRITTEN.and(ExtentFlags::LAST).and(ExtentFlags(1 << 31));
        assert_eq!(flags.words().collect::<Vec<_>>(), ["last", "unwritten"]);
    }
}
