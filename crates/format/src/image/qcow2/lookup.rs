//! From a guest byte to its cluster: an L1 entry names an L2 table, whose entry names the cluster.

use device::{Disk, ReadError};
use units::ByteRange;

use super::{Qcow2Tables, SUBCLUSTERS};
use crate::bytes::Block;
use crate::image::GuestPlace;
use crate::image::run::{GuestRun, Looked, starts_within};
use crate::image::table_windows::{Level, Windows};

/// Entries of a table: bits 9 to 55 are an offset.
const OFFSET_MASK: u64 = 0x00ff_ffff_ffff_fe00;
const COPIED: u64 = 1 << 63;
const COMPRESSED: u64 = 1 << 62;
const ZERO: u64 = 1;

impl Qcow2Tables {
    /// The run from `guest_bytes` on.
    pub(in crate::image) fn run(
        &self,
        file: &dyn Disk,
        windows: &mut Windows,
        guest_bytes: u64,
    ) -> Looked {
        let entry_bytes = if self.extended { 16 } else { 8 };
        let cluster_bytes = 1_u64 << self.cluster_bits;
        let span = cluster_bytes * cluster_bytes.div_euclid(entry_bytes);
        let (index, within) = (guest_bytes.div_euclid(span), guest_bytes % span);
        let rest = span - within;
        let entry = windows
            .entry(file, Level::Directory, self.directory, index)
            .map_err(|error| GuestRun::unread(file, self.directory, (index, 8), rest, error))?;
        let table = u64::from_be_bytes(entry) & OFFSET_MASK;
        if table == 0 {
            let more = windows.repeats::<8>(Level::Directory, self.directory, index);
            return Ok(GuestRun::new(
                rest.saturating_add(more.saturating_mul(span)),
                GuestPlace::Backing,
            ));
        }
        if !table.is_multiple_of(cluster_bytes) {
            let reason = format!("the L2 table at {table} is not on a cluster");
            return Err(GuestRun::failed(rest, guest_bytes, reason));
        }
        starts_within(file.length_bytes(), table, cluster_bytes)
            .map_err(|error| GuestRun::broken(rest, error))?;
        // Masked to 56 bits, so a cluster behind it does not overflow.
        let table = ByteRange::new(table, cluster_bytes).ok_or_else(|| {
            GuestRun::failed(rest, guest_bytes, "the L2 table ends beyond 64 bits")
        })?;
        if self.extended {
            self.extended_run(file, windows, table, guest_bytes)
        } else {
            self.cluster_run(file, windows, table, guest_bytes)
        }
    }

    /// The run from `guest_bytes` on by an entry of 8 bytes.
    fn cluster_run(
        &self,
        file: &dyn Disk,
        windows: &mut Windows,
        table: ByteRange,
        guest_bytes: u64,
    ) -> Looked {
        let cluster_bytes = 1_u64 << self.cluster_bits;
        let within = guest_bytes % cluster_bytes;
        let rest = cluster_bytes - within;
        let broken = |error| GuestRun::broken(rest, error);
        let index = (guest_bytes >> self.cluster_bits) % (cluster_bytes / 8);
        let entry = windows.entry(file, Level::Table, table, index).map_err(broken)?;
        let entry = u64::from_be_bytes(entry);
        if entry & COMPRESSED != 0 {
            return self.compressed(file, entry, guest_bytes, rest);
        }
        if entry & ZERO != 0 {
            if self.version < 3 {
                let reason = "a zero cluster in an image of version 2";
                return Err(GuestRun::failed(rest, guest_bytes, reason));
            }
            return Ok(GuestRun::new(rest, GuestPlace::Zero));
        }
        if let Some(offset) = self.host(file, entry).map_err(broken)? {
            return Ok(GuestRun::new(rest, self.place(offset + within)));
        }
        let more = windows.repeats::<8>(Level::Table, table, index);
        Ok(GuestRun::new(rest + more * cluster_bytes, GuestPlace::Backing))
    }

    /// The run from `guest_bytes` on by an entry of 16 bytes: an offset, 32 bits of subclusters
    /// that are allocated, and 32 of those that read as zeros.
    fn extended_run(
        &self,
        file: &dyn Disk,
        windows: &mut Windows,
        table: ByteRange,
        guest_bytes: u64,
    ) -> Looked {
        let cluster_bytes = 1_u64 << self.cluster_bits;
        let within = guest_bytes % cluster_bytes;
        let rest = cluster_bytes - within;
        let broken = |error| GuestRun::broken(rest, error);
        let index = (guest_bytes >> self.cluster_bits) % (cluster_bytes / 16);
        let pair = Block::<16>(windows.entry(file, Level::Table, table, index).map_err(broken)?);
        let (entry, bitmap) = (pair.be64::<0>(), pair.be64::<8>());
        if entry & COMPRESSED != 0 {
            return self.compressed(file, entry, guest_bytes, rest);
        }
        let host = self.host(file, entry).map_err(broken)?;
        if host.is_none() && bitmap == 0 {
            let more = windows.repeats::<16>(Level::Table, table, index);
            return Ok(GuestRun::new(rest + more * cluster_bytes, GuestPlace::Backing));
        }
        let part_bytes = cluster_bytes.div_euclid(SUBCLUSTERS);
        let part = within.div_euclid(part_bytes);
        let state = |part: u64| (bitmap >> part & 1 == 1, bitmap >> (part + SUBCLUSTERS) & 1 == 1);
        let same = (part..SUBCLUSTERS).take_while(|&other| state(other) == state(part)).count();
        let end = (part + u64::try_from(same).unwrap_or(1)) * part_bytes;
        let length = end - within;
        let place = match (state(part), host) {
            ((false, false), _) => Ok(GuestPlace::Backing),
            ((false, true), _) => Ok(GuestPlace::Zero),
            ((true, false), Some(offset)) => Ok(self.place(offset + within)),
            ((true, false), None) => Err("a subcluster is allocated, but its cluster is not"),
            ((true, true), _) => Err("a subcluster is both allocated and zero"),
        };
        place
            .map(|place| GuestRun::new(length, place))
            .map_err(|reason| GuestRun::failed(length, guest_bytes, reason))
    }

    /// Returns where the cluster of an uncompressed `entry` starts; `None` when it is not
    /// allocated.
    fn host(&self, file: &dyn Disk, entry: u64) -> Result<Option<u64>, ReadError> {
        let (offset, cluster_bytes) = (entry & OFFSET_MASK, 1_u64 << self.cluster_bits);
        // In a data file offset 0 is a cluster like any other; the entry says so in another bit.
        if offset == 0 && (self.data.is_none() || entry & COPIED == 0) {
            return Ok(None);
        }
        if !offset.is_multiple_of(cluster_bytes) {
            return Err(ReadError::Failed {
                offset_bytes: offset,
                length_bytes: cluster_bytes,
                reason: "the host offset is not on a cluster".to_owned(),
            });
        }
        if self.data.is_none() {
            starts_within(file.length_bytes(), offset, cluster_bytes)?;
        }
        Ok(Some(offset))
    }

    fn place(&self, offset: u64) -> GuestPlace {
        self.data.map_or(GuestPlace::Here(offset), |reference| GuestPlace::In(reference, offset))
    }

    /// A compressed cluster: where it starts, and how many sectors it touches beyond the first.
    fn compressed(&self, file: &dyn Disk, entry: u64, guest_bytes: u64, rest: u64) -> Looked {
        if self.data.is_some() {
            let reason = "a compressed cluster in an image with an external data file";
            return Err(GuestRun::failed(rest, guest_bytes, reason));
        }
        let offset_bits = 62 - (self.cluster_bits - 8);
        let offset = entry & ((1 << offset_bits) - 1);
        let sectors = ((entry & !(COPIED | COMPRESSED)) >> offset_bits) + 1;
        let length = sectors * 512 - offset % 512;
        starts_within(file.length_bytes(), offset, length)
            .map_err(|error| GuestRun::broken(rest, error))?;
        let compressed_bytes = length.min(file.length_bytes() - offset);
        Ok(GuestRun { compressed_bytes, ..GuestRun::new(rest, GuestPlace::Compressed(offset)) })
    }
}
