//! Stripe units that Linux takes for an XFS that was made with another.

/// Fields by which Linux takes another stripe unit for an XFS or not, in bytes. Source: Linux
/// `fs/xfs/xfs_mount.c`, `xfs_check_new_dalign` and `xfs_validate_new_dalign`;
/// `fs/xfs/libxfs/xfs_ialloc.c`, `xfs_ialloc_calc_rootino`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XfsPlaces {
    /// The block.
    pub block_bytes: u64,
    /// Place where the block of the root inode starts.
    pub root_at_bytes: u64,
    /// An allocation group.
    pub group_bytes: u64,
    /// True if the superblock can hold a stripe at all.
    pub has_stripe: bool,
}

impl XfsPlaces {
    /// Fewest blocks before the first that mkfs could have given to the root inode: headers, three
    /// roots and the free list.
    const BEFORE_ROOT_BLOCKS: u64 = 8;

    /// Returns whether Linux surely keeps a stripe unit of `unit_bytes` that a mount gives: whole
    /// blocks that divide the allocation group, with the root inode where mkfs would have put it.
    #[must_use]
    pub fn takes_unit(&self, unit_bytes: u64) -> bool {
        let divides = |bytes: u64| bytes.checked_rem(unit_bytes) == Some(0);
        let before = self.root_at_bytes.checked_sub(unit_bytes);
        self.has_stripe
            && unit_bytes.checked_rem(self.block_bytes) == Some(0)
            && divides(self.group_bytes)
            && divides(self.root_at_bytes)
            && before.is_some_and(|before| {
                before < self.block_bytes.saturating_mul(Self::BEFORE_ROOT_BLOCKS)
            })
    }
}
