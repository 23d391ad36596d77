//! An entry of a qcow2 table: 8 bytes, big-endian.
//!
//! Source: QEMU `docs/interop/qcow2.txt`, "Cluster mapping".

use super::header::Header;

pub(super) const COPIED: u64 = 1 << 63;
const COMPRESSED: u64 = 1 << 62;
const ZERO: u64 = 1;
const OFFSET: u64 = 0x00ff_ffff_ffff_fe00;

/// An entry of an L1 or an L2 table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry(pub(super) u64);

impl Entry {
    /// The cluster that it names alone, uncompressed and not read as zeros; `None` for all others.
    pub(super) fn own(self) -> Option<u64> {
        let is_plain = self.0 & COMPRESSED == 0 && self.0 & ZERO == 0 && self.0 & COPIED != 0;
        Some(self.0 & OFFSET).filter(|&offset| is_plain && offset != 0)
    }

    /// Bytes of the file that it refers to: where they start, and how many; `None` where there are
    /// none.
    ///
    /// # Errors
    /// When a bit is set that the format reserves, or a cluster is named off the clusters.
    pub(super) fn place(self, header: &Header, is_table: bool) -> Result<Option<(u64, u64)>, ()> {
        if self.0 & COMPRESSED != 0 && !is_table {
            let bits = 62 - (header.cluster_bits - 8);
            let offset = self.0 & ((1 << bits) - 1);
            let sectors = ((self.0 & !(COPIED | COMPRESSED)) >> bits) + 1;
            return Ok(Some((offset, sectors * 512 - offset % 512)));
        }
        let is_zero = ZERO * u64::from(!is_table && header.version > 2);
        let offset = self.0 & OFFSET;
        let is_odd = self.0 & !(OFFSET | COPIED | is_zero) != 0;
        if is_odd || !offset.is_multiple_of(header.cluster_bytes()) {
            return Err(());
        }
        Ok((offset != 0).then_some((offset, header.cluster_bytes())))
    }
}
