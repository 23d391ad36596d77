//! Places of a qcow2 image's tables, and the images that are not written.

use device::{Disk, ReadError, disk};
use format::Parsed;
use format::image::qcow2::Compression;
use format::image::{self, Image, ImageKind, ImageLayout};
use units::ByteRange;

use crate::refusal::NoPlan;

/// Repair that QEMU does; the caller knows the image's name.
const REPAIR: &str = "qemu-img check -r all TARGET";
/// Advice where no repair helps.
const COPY: &str = "make a raw copy, and plan that: test ! -e new.raw && \
                    qemu-img convert -O raw TARGET new.raw";
/// The largest L1 table and the largest refcount table that QEMU writes, in bytes.
pub(super) const TABLE_BYTES_MAX: u64 = 32 << 20;

/// The most snapshots that QEMU takes.
const SNAPSHOTS_MAX: u32 = 65_536;

/// Tables of an image, in bytes of its file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) version: u32,
    pub(super) cluster_bits: u32,
    /// The active L1 table.
    pub(super) directory: ByteRange,
    /// The table that names the refcount blocks.
    pub(super) counts: ByteRange,
    /// Length of a refcount: 1, 2, 4 or 8.
    pub(super) count_bytes: u64,
    /// The table of snapshots, and how many it has.
    pub(super) snapshots: (u64, u32),
}

/// A refusal of an image that `qemu-img check` repairs.
pub(super) fn damaged(reason: impl Into<String>) -> NoPlan {
    NoPlan { is_damage: true, ..NoPlan::new(reason, Some(REPAIR.to_owned())) }
}

/// A refusal of an image that stays as it is.
pub(super) fn unwritten(reason: impl Into<String>) -> NoPlan {
    NoPlan::new(reason, Some(COPY.to_owned()))
}

/// Bytes of a file, which may end within its last cluster: zeros follow.
pub(super) fn padded(file: &dyn Disk, at: u64, length: u64) -> Result<Vec<u8>, ReadError> {
    let there = length.min(file.length_bytes().saturating_sub(at));
    let mut bytes = if there > 0 { disk::read_vec(file, at, there)? } else { Vec::new() };
    bytes.resize(usize::try_from(length).unwrap_or(usize::MAX), 0);
    Ok(bytes)
}

/// A number that is big-endian, as all of this format are.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

impl Header {
    /// The header of an image that may be written.
    ///
    /// # Errors
    /// The feature or the damage for which it is not.
    pub(super) fn read(file: &dyn Disk) -> Result<(Header, Image), NoPlan> {
        let not_one = || unwritten("not a qcow2 image");
        let Parsed { value: image, problems } = image::read(file).ok_or_else(not_one)?;
        if image.kind != ImageKind::Qcow2 {
            return Err(not_one());
        }
        if image.encrypted {
            let hint = "to see how to copy it, decrypted: straddle check TARGET".to_owned();
            return Err(NoPlan::new("the image is encrypted", Some(hint)));
        }
        let tables = match &image.layout {
            ImageLayout::Qcow2(tables) => tables,
            ImageLayout::Unknown(reason) => return Err(unwritten(reason.clone())),
            _ => return Err(not_one()),
        };
        let reasons = [
            (tables.data.is_some(), "its data is in another file"),
            (tables.extended, "its clusters have subclusters (extended L2)"),
            (tables.compression == Compression::Zstd, "its compression is zstd"),
        ];
        if let Some((_, reason)) = reasons.iter().find(|(is_so, _)| *is_so) {
            return Err(unwritten(*reason));
        }
        if let Some(problem) = problems.first() {
            return Err(damaged(problem.detail.clone()));
        }
        let (version, cluster_bits) = (tables.version, tables.cluster_bits);
        let directory = tables.directory;
        let mut head = padded(file, 0, 104).map_err(|error| damaged(error.to_string()))?;
        if version == 2 {
            head[72..].fill(0);
        }
        let be64 = |at: usize| number(&head[at..at + 8]);
        let be32 = |at: usize| u32::try_from(number(&head[at..at + 4])).unwrap_or(u32::MAX);
        match be64(88) {
            0 => {}
            1 => return Err(unwritten("it has bitmaps, which a write would make stale")),
            bits => return Err(unwritten(format!("it uses unknown features (bits {bits:#x})"))),
        }
        let order = if version == 2 { 4 } else { be32(96) };
        if !(3..=6).contains(&order) {
            return Err(unwritten("its refcounts have less than 8 bits"));
        }
        let cluster_bytes = 1_u64 << cluster_bits;
        let length = u64::from(be32(56)) << cluster_bits;
        let counts = ByteRange::new(be64(48), length).filter(|range| {
            range.start_bytes().is_multiple_of(cluster_bytes) && length <= TABLE_BYTES_MAX
        });
        let counts = counts.ok_or_else(|| damaged("its refcount table is damaged"))?;
        if directory.length_bytes() > TABLE_BYTES_MAX {
            return Err(damaged("its L1 table is longer than 32 MiB"));
        }
        let count_bytes = 1 << (order - 3);
        let snapshots = (be64(64), be32(60));
        if snapshots.1 > SNAPSHOTS_MAX {
            return Err(damaged("it has more than 65536 snapshots"));
        }
        let header = Header { version, cluster_bits, directory, counts, count_bytes, snapshots };
        Ok((header, image))
    }

    pub(super) fn cluster_bytes(&self) -> u64 {
        1 << self.cluster_bits
    }

    /// Clusters that one refcount block counts.
    pub(super) fn per_block(&self) -> u64 {
        self.cluster_bytes().div_euclid(self.count_bytes)
    }

    /// Guest bytes of one L2 table.
    pub(super) fn span_bytes(&self) -> u64 {
        self.cluster_bytes() * self.cluster_bytes().div_euclid(8)
    }
}
