//! The places of a FAT's parts: read from a boot sector, or chosen for a new one.

use device::{Disk, disk};

use crate::old_table_bytes::number;

/// Bytes of a directory entry.
pub(super) const ENTRY_BYTES: u64 = 32;
/// The longest cluster that every reader takes, in bytes.
const CLUSTER_BYTES_MAX: u64 = 32 << 10;
/// The longest table of clusters that is read, in bytes.
const TABLE_BYTES_MAX: u64 = 64 << 20;
/// Unit on which data starts: a page, which is a sector of any disk.
const DATA_UNIT: u64 = 4096;
/// Entries of a root directory that has a fixed place, where none had one before.
const ROOT_ENTRIES: u64 = 512;

/// The width of a table's entries, which the number of clusters decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FatKind {
    Fat12,
    Fat16,
    Fat32,
}

impl FatKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            FatKind::Fat12 => "FAT12",
            FatKind::Fat16 => "FAT16",
            FatKind::Fat32 => "FAT32",
        }
    }

    fn bits(self) -> u64 {
        match self {
            FatKind::Fat12 => 12,
            FatKind::Fat16 => 16,
            FatKind::Fat32 => 32,
        }
    }

    /// The least and the most clusters.
    fn clusters(self) -> std::ops::RangeInclusive<u64> {
        match self {
            FatKind::Fat12 => 1..=4084,
            FatKind::Fat16 => 4085..=65_524,
            FatKind::Fat32 => 65_525..=0x0fff_fff4,
        }
    }

    /// Marks from this value on end a chain.
    pub(super) fn end(self) -> u32 {
        match self {
            FatKind::Fat12 => 0xff8,
            FatKind::Fat16 => 0xfff8,
            FatKind::Fat32 => 0x0fff_fff8,
        }
    }
}

/// The parts of a volume, in sectors of `sector` bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) kind: FatKind,
    pub(super) sector: u64,
    pub(super) per_cluster: u64,
    pub(super) reserved: u64,
    pub(super) tables: u64,
    pub(super) table_sectors: u64,
    pub(super) root_entries: u64,
    pub(super) sectors: u64,
    pub(super) clusters: u64,
}

impl Shape {
    /// The shape that the boot sector of `volume` gives.
    ///
    /// # Errors
    /// When its numbers do not agree with each other or with the volume.
    pub(super) fn read(volume: &dyn Disk, boot: &[u8]) -> Result<Shape, String> {
        let either = |short: u64, long: u64| if short == 0 { long } else { short };
        let (sector, per_cluster) = (number(boot, 11, 2), number(boot, 13, 1));
        let (reserved, tables) = (number(boot, 14, 2), number(boot, 16, 1));
        let is_wide = number(boot, 22, 2) == 0;
        let table_sectors = either(number(boot, 22, 2), number(boot, 36, 4));
        let sectors = either(number(boot, 19, 2), number(boot, 32, 4));
        let odd = || "the numbers of its boot sector do not agree".to_owned();
        let sound = sector.is_power_of_two() && (512..=4096).contains(&sector);
        if !sound || !per_cluster.is_power_of_two() || reserved == 0 || tables == 0 {
            return Err(odd());
        }
        let mut shape = Shape {
            kind: FatKind::Fat32,
            sector,
            per_cluster,
            reserved,
            tables,
            table_sectors,
            root_entries: number(boot, 17, 2),
            sectors,
            clusters: 0,
        };
        let data = sectors.checked_sub(shape.data_sector()).ok_or_else(odd)?;
        shape.clusters = data.div_euclid(per_cluster);
        shape.kind = match shape.clusters {
            _ if is_wide => FatKind::Fat32,
            count if FatKind::Fat12.clusters().contains(&count) => FatKind::Fat12,
            _ => FatKind::Fat16,
        };
        let holds = shape.table_bytes() >= shape.entries_bytes();
        let fits = (1..=*shape.kind.clusters().end()).contains(&shape.clusters);
        let has_root = is_wide == (shape.root_entries == 0);
        if !holds || !fits || !has_root || sectors * sector > volume.length_bytes() {
            return Err(odd());
        }
        if shape.table_bytes() > TABLE_BYTES_MAX {
            return Err("its table of clusters is longer than 64 MiB".to_owned());
        }
        Ok(shape)
    }

    /// The shape for sectors of `sector` bytes in the space of `self` up to byte `end`, with
    /// clusters as near to those of `self` as possible, in which `need` (clusters, for their length
    /// in bytes) fits.
    ///
    /// # Errors
    /// When it fits in none.
    pub(super) fn rescaled(
        &self,
        sector: u64,
        end: u64,
        need: impl Fn(u64) -> u64,
    ) -> Result<Shape, String> {
        let end = end.min(self.sectors * self.sector);
        let least = self.cluster_bytes().clamp(sector, CLUSTER_BYTES_MAX.max(sector));
        let halves = std::iter::successors(Some(least), |&bytes| {
            Some(bytes / 2).filter(|&half| half >= sector)
        });
        let doubles = std::iter::successors(Some(least * 2), |&bytes| Some(bytes * 2))
            .take_while(|&bytes| bytes <= CLUSTER_BYTES_MAX);
        for cluster in halves.chain(doubles) {
            for kind in [FatKind::Fat32, FatKind::Fat16, FatKind::Fat12] {
                let found = self.of_kind(kind, sector, cluster, end);
                if let Some(found) = found.filter(|found| need(cluster) <= found.clusters) {
                    return Ok(found);
                }
            }
        }
        Err(format!("its files do not fit in a FAT of {sector}-byte sectors"))
    }

    fn of_kind(&self, kind: FatKind, sector: u64, cluster: u64, end: u64) -> Option<Shape> {
        let per_cluster = cluster.div_euclid(sector);
        let per_root = sector.div_euclid(ENTRY_BYTES);
        let root_entries = match (kind, self.root_entries) {
            (FatKind::Fat32, _) => 0,
            (_, 0) => ROOT_ENTRIES,
            (_, old) => old.next_multiple_of(per_root),
        };
        let reserved = if kind == FatKind::Fat32 { 32 } else { 1 };
        let sectors = end.div_euclid(sector);
        let most = sectors.checked_sub(reserved)?.div_euclid(per_cluster) + 2;
        let table_sectors = (most * kind.bits()).div_ceil(8).div_ceil(sector);
        let mut found = Shape {
            kind,
            sector,
            per_cluster,
            reserved,
            tables: 2,
            table_sectors,
            root_entries,
            sectors,
            clusters: 0,
        };
        let over = found.data_sector() * sector % DATA_UNIT;
        found.reserved += ((DATA_UNIT - over) % DATA_UNIT).div_euclid(sector);
        found.clusters = sectors.checked_sub(found.data_sector())?.div_euclid(per_cluster);
        let fits = kind.clusters().contains(&found.clusters)
            && (kind == FatKind::Fat32 || table_sectors <= u64::from(u16::MAX))
            && u32::try_from(sectors).is_ok();
        fits.then_some(found)
    }

    pub(super) fn cluster_bytes(&self) -> u64 {
        self.per_cluster * self.sector
    }

    pub(super) fn table_bytes(&self) -> u64 {
        self.table_sectors * self.sector
    }

    /// The bytes of a table that hold its entries.
    pub(super) fn entries_bytes(&self) -> u64 {
        ((self.clusters + 2) * self.kind.bits()).div_ceil(8)
    }

    /// The first byte of table number `index`.
    pub(super) fn table_at(&self, index: u64) -> u64 {
        (self.reserved + index * self.table_sectors) * self.sector
    }

    /// The first byte of a root directory that has a fixed place, and its length.
    pub(super) fn root(&self) -> (u64, u64) {
        (self.table_at(self.tables), self.root_entries * ENTRY_BYTES)
    }

    fn data_sector(&self) -> u64 {
        let root = (self.root_entries * ENTRY_BYTES).div_ceil(self.sector);
        self.reserved + self.tables * self.table_sectors + root
    }

    /// The first byte of a cluster, which is at least 2.
    pub(super) fn cluster_at(&self, cluster: u32) -> u64 {
        self.data_sector() * self.sector + (u64::from(cluster) - 2) * self.cluster_bytes()
    }

    /// The byte after the last cluster.
    pub(super) fn clusters_end(&self) -> u64 {
        self.data_sector() * self.sector + self.clusters * self.cluster_bytes()
    }

    /// Entry number `cluster` of `table`.
    pub(super) fn entry(&self, table: &[u8], cluster: u32) -> u32 {
        let index = usize::try_from(cluster).unwrap_or(usize::MAX);
        let value = match self.kind {
            FatKind::Fat12 => {
                let pair = number(table, index + index / 2, 2);
                if index.is_multiple_of(2) { pair & 0xfff } else { pair >> 4 }
            }
            FatKind::Fat16 => number(table, index * 2, 2),
            FatKind::Fat32 => number(table, index * 4, 4) & 0x0fff_ffff,
        };
        u32::try_from(value).unwrap_or(u32::MAX)
    }

    /// Puts `value` into entry number `cluster` of `table`, which is 0 until then.
    pub(super) fn put_entry(&self, table: &mut [u8], cluster: u32, value: u32) {
        let index = usize::try_from(cluster).unwrap_or(usize::MAX);
        let (at, bytes) = match self.kind {
            FatKind::Fat12 if index.is_multiple_of(2) => (index + index / 2, value & 0xfff),
            FatKind::Fat12 => (index + index / 2, (value & 0xfff) << 4),
            FatKind::Fat16 => (index * 2, value & 0xffff),
            FatKind::Fat32 => (index * 4, value),
        };
        for (place, byte) in table[at..].iter_mut().zip(bytes.to_le_bytes()) {
            *place |= byte;
        }
    }
}

/// Reads `length` bytes of a volume.
pub(super) fn read(volume: &dyn Disk, at: u64, length: u64) -> Result<Vec<u8>, String> {
    disk::read_vec(volume, at, length).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::old_table_bytes::put;

    /// The kind of a volume with so many clusters of a sector each, as its boot sector says.
    fn kind(clusters: u64) -> Option<FatKind> {
        let (tables, table, root) = (2, 256, 1);
        let sectors = 1 + tables * table + root + clusters;
        let mut boot = vec![0; 512];
        let fields = [(11, 2, 512), (13, 1, 1), (14, 2, 1), (16, 1, tables), (17, 2, 16)];
        let lengths = [(22, 2, table), (32, 4, sectors)];
        for (at, length, value) in fields.into_iter().chain(lengths) {
            put(&mut boot, at, length, value);
        }
        let shape = Shape::read(&MemoryDisk::new(sectors * 512), &boot).ok()?;
        assert_eq!(shape.clusters, clusters);
        Some(shape.kind)
    }

    #[test]
    fn the_number_of_clusters_decides_between_12_and_16_bits() {
        // Microsoft, fatgen103: below 4085 clusters it is FAT12, below 65525 FAT16.
        assert_eq!([1, 4084].map(kind), [Some(FatKind::Fat12); 2]);
        assert_eq!([4085, 65_524].map(kind), [Some(FatKind::Fat16); 2]);
        assert_eq!(kind(65_525), None);
    }
}
