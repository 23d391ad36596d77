//! Fields at fixed places of a block of bytes, checked when the program is compiled.

/// A block of `N` bytes as it stood on a disk. Its fields are read by offset; an offset that does
/// not fit does not compile. Reserved bytes stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block<const N: usize>(pub [u8; N]);

impl<const N: usize> Block<N> {
    /// The `M` bytes from `AT` on.
    #[must_use]
    pub fn array<const AT: usize, const M: usize>(&self) -> [u8; M] {
        const { assert!(AT + M <= N, "the field lies within the block") };
        let mut field = [0; M];
        field.copy_from_slice(&self.0[AT..AT + M]);
        field
    }

    /// The byte at `AT`.
    #[must_use]
    pub fn byte<const AT: usize>(&self) -> u8 {
        self.array::<AT, 1>()[0]
    }

    /// The little-endian 16-bit number at `AT`.
    #[must_use]
    pub fn le16<const AT: usize>(&self) -> u16 {
        u16::from_le_bytes(self.array::<AT, 2>())
    }

    /// The little-endian 32-bit number at `AT`.
    #[must_use]
    pub fn le32<const AT: usize>(&self) -> u32 {
        u32::from_le_bytes(self.array::<AT, 4>())
    }

    /// The little-endian 64-bit number at `AT`.
    #[must_use]
    pub fn le64<const AT: usize>(&self) -> u64 {
        u64::from_le_bytes(self.array::<AT, 8>())
    }

    /// The big-endian 16-bit number at `AT`.
    #[must_use]
    pub fn be16<const AT: usize>(&self) -> u16 {
        u16::from_be_bytes(self.array::<AT, 2>())
    }

    /// The big-endian 32-bit number at `AT`.
    #[must_use]
    pub fn be32<const AT: usize>(&self) -> u32 {
        u32::from_be_bytes(self.array::<AT, 4>())
    }

    /// The big-endian 64-bit number at `AT`.
    #[must_use]
    pub fn be64<const AT: usize>(&self) -> u64 {
        u64::from_be_bytes(self.array::<AT, 8>())
    }
}

/// The first `N` bytes of `bytes` as a block; `None` when there are fewer.
#[must_use]
pub fn block<const N: usize>(bytes: &[u8]) -> Option<Block<N>> {
    bytes.first_chunk::<N>().copied().map(Block)
}

/// The `N` bytes of `bytes` from `at` on as a block; `None` when there are fewer.
#[must_use]
pub fn block_at<const N: usize>(bytes: &[u8], at: usize) -> Option<Block<N>> {
    block(bytes.get(at..)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_both_orders() {
        let block = Block([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(block.le16::<0>(), 0x0201);
        assert_eq!(block.be32::<4>(), 0x0506_0708);
        assert_eq!(block.le64::<0>(), 0x0807_0605_0403_0201);
        assert!(super::block::<9>(&block.0).is_none());
    }
}
