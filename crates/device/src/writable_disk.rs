//! A disk whose bytes can be written, for the few that may.

use crate::disk::Disk;

/// A disk that can be written. What was written is safe from a power cut after the next
/// [`WritableDisk::flush`], and not before.
pub trait WritableDisk: Disk {
    /// Puts `bytes` at `offset_bytes`, both whole multiples of 512 bytes. What is read afterwards
    /// is this.
    ///
    /// # Errors
    /// The reason, when the bytes end past the disk, or the layer below says no. Any of the sectors
    /// may then be changed.
    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), String>;

    /// Waits until all that was written is on the medium.
    ///
    /// # Errors
    /// The reason, when the layer below says no. Nothing is then known of what was written since
    /// the last flush.
    fn flush(&mut self) -> Result<(), String>;

    /// Makes the disk `length_bytes` long, at least as long as it was; what is new reads as zeros.
    ///
    /// # Errors
    /// The reason: most disks have a length that does not change.
    fn extend(&mut self, length_bytes: u64) -> Result<(), String> {
        let _ = length_bytes;
        Err("its length is fixed".to_owned())
    }
}
