//! The directories and files of a FAT, with where each content lies.

use device::Disk;
use units::ByteRange;

use super::shape::{ENTRY_BYTES, FatKind, Shape, read};
use super::unused_bytes::reject_reserved;
use crate::old_table_bytes::number;

/// The longest directory, in bytes: 65536 entries.
const DIRECTORY_BYTES_MAX: u64 = 2 << 20;
/// The most files and directories, and the deepest directory.
const NODES_MAX: usize = 1 << 17;
const DEPTH_MAX: usize = 64;
/// The most bytes of all entries together, long names and labels included.
const ENTRIES_BYTES_MAX: u64 = 64 << 20;
/// Advice for a volume that is not sound.
const REPAIR: &str = "run fsck.fat -a on the partition first";
/// A chain may end past its file by less than this, in bytes.
const CLUSTER_SLACK: u64 = 1 << 20;

/// A directory: its entries as they stand, without deleted ones, and what they lead to.
#[derive(Debug, Default)]
pub(super) struct Directory {
    /// Whole entries of 32 bytes.
    pub(super) entries: Vec<u8>,
    /// The first byte of an entry in `entries`, and its content.
    pub(super) nodes: Vec<(usize, Node)>,
}

/// Content of an entry.
#[derive(Debug)]
pub(super) enum Node {
    Directory(Directory),
    /// Runs of the old volume, together as long as the file.
    File(Vec<ByteRange>),
}

/// Returns whether an entry is that of the directory itself, or of the one above it.
pub(super) fn is_dots(entry: &[u8]) -> bool {
    [&b".          "[..], b"..         "].contains(&&entry[..11])
}

/// A volume that is read once.
pub(super) struct OldVolume<'a> {
    volume: &'a dyn Disk,
    pub(super) shape: Shape,
    pub(super) boot: Vec<u8>,
    table: Vec<u8>,
    /// Clusters that a chain had already: none has two.
    seen: Vec<bool>,
    nodes: usize,
    /// Bytes of all entries that are kept.
    entries_bytes: u64,
    /// Runs that were read: the boot sector, the tables and the directories.
    pub(super) sources: Vec<ByteRange>,
}

impl<'a> OldVolume<'a> {
    pub(super) fn open(volume: &'a dyn Disk) -> Result<OldVolume<'a>, String> {
        let boot = read(volume, 0, 512)?;
        let shape = Shape::read(volume, &boot)?;
        reject_reserved(volume, &boot, &shape)?;
        let flags = number(&boot, 40, 2);
        if shape.kind == FatKind::Fat32 && flags & 0x80 != 0 {
            return Err("its tables of clusters are not mirrored".to_owned());
        }
        let state = if shape.kind == FatKind::Fat32 { boot[65] } else { boot[37] };
        let table = read(volume, shape.table_at(0), shape.table_bytes())?;
        // Linux `fs/fat/inode.c`, `fat_set_state`, and fatgen103: the bits are set while all is
        // well. FAT12 has none.
        let well = match shape.kind {
            FatKind::Fat12 => 0,
            FatKind::Fat16 => 0xc000,
            FatKind::Fat32 => 0x0c00_0000,
        };
        if state & 1 != 0 || shape.entry(&table, 1) & well != well {
            return Err(format!("it was not unmounted, or has errors; {REPAIR}"));
        }
        let used = shape.entries_bytes();
        let mut sources: Vec<ByteRange> = ByteRange::new(0, 512).into_iter().collect();
        for index in 0..shape.tables {
            let at = shape.table_at(index);
            sources.extend(ByteRange::new(at, used));
            if index > 0 && !table.starts_with(&read(volume, at, used)?) {
                return Err(format!("its tables of clusters differ from each other; {REPAIR}"));
            }
        }
        let last = u32::try_from(shape.clusters + 2).map_err(|error| error.to_string())?;
        if (2..last).any(|cluster| shape.entry(&table, cluster) == shape.kind.end() - 1) {
            return Err("it has clusters that are marked as bad".to_owned());
        }
        let seen = vec![false; usize::try_from(shape.clusters + 2).unwrap_or(0)];
        Ok(OldVolume { volume, shape, boot, table, seen, nodes: 0, entries_bytes: 0, sources })
    }

    /// The root directory with all that is in it.
    ///
    /// # Errors
    /// When a chain is broken, shared or endless, or a directory is.
    pub(super) fn root(&mut self) -> Result<Directory, String> {
        let bytes = if self.shape.kind == FatKind::Fat32 {
            let first = u32::try_from(number(&self.boot, 44, 4)).unwrap_or(0);
            self.directory_bytes(first)?
        } else {
            let (at, length) = self.shape.root();
            self.sources.extend(ByteRange::new(at, length));
            read(self.volume, at, length)?
        };
        self.directory(&bytes, 0)
    }

    fn directory(&mut self, bytes: &[u8], depth: usize) -> Result<Directory, String> {
        if depth > DEPTH_MAX {
            return Err("its directories are too deep".to_owned());
        }
        let mut found = Directory::default();
        let length = usize::try_from(ENTRY_BYTES).unwrap_or(32);
        for entry in bytes.chunks_exact(length).take_while(|entry| entry[0] != 0) {
            let attributes = entry[11];
            if entry[0] == 0xe5 {
                continue;
            }
            self.entries_bytes += ENTRY_BYTES;
            if self.entries_bytes > ENTRIES_BYTES_MAX {
                return Err("its directories are longer than 64 MiB".to_owned());
            }
            let at = found.entries.len();
            found.entries.extend_from_slice(entry);
            let high = if self.shape.kind == FatKind::Fat32 { number(entry, 20, 2) } else { 0 };
            let first = u32::try_from(high << 16 | number(entry, 26, 2)).unwrap_or(0);
            let is_long_name = attributes & 0x3f == 0x0f;
            let is_label = !is_long_name && attributes & 0x08 != 0;
            if is_label && first != 0 {
                return Err(format!("its label has clusters as a file has; {REPAIR}"));
            }
            if is_long_name || is_label || is_dots(entry) {
                continue;
            }
            self.nodes += 1;
            if self.nodes > NODES_MAX {
                return Err("it has more than 131072 files".to_owned());
            }
            let node = if attributes & 0x10 == 0 {
                Node::File(self.content(first, number(entry, 28, 4))?)
            } else {
                let bytes = self.directory_bytes(first)?;
                Node::Directory(self.directory(&bytes, depth + 1)?)
            };
            found.nodes.push((at, node));
        }
        Ok(found)
    }

    fn directory_bytes(&mut self, first: u32) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        for cluster in self.chain(first, DIRECTORY_BYTES_MAX)? {
            let at = self.shape.cluster_at(cluster);
            self.sources.extend(ByteRange::new(at, self.shape.cluster_bytes()));
            bytes.extend(read(self.volume, at, self.shape.cluster_bytes())?);
        }
        Ok(bytes)
    }

    /// The runs of a file of `length` bytes.
    fn content(&mut self, first: u32, length: u64) -> Result<Vec<ByteRange>, String> {
        if length == 0 && first == 0 {
            return Ok(Vec::new());
        }
        let (mut runs, mut rest): (Vec<(u64, u64)>, u64) = (Vec::new(), length);
        for cluster in self.chain(first, u64::from(u32::MAX) + CLUSTER_SLACK)? {
            let (at, taken) =
                (self.shape.cluster_at(cluster), rest.min(self.shape.cluster_bytes()));
            match runs.last_mut() {
                Some((start, length)) if *start + *length == at => *length += taken,
                _ if taken > 0 => runs.push((at, taken)),
                _ => {}
            }
            rest -= taken;
        }
        if rest > 0 {
            return Err("a file is longer than its chain of clusters".to_owned());
        }
        Ok(runs.into_iter().filter_map(|(at, length)| ByteRange::new(at, length)).collect())
    }

    /// The clusters of a chain, together at most `most` bytes.
    fn chain(&mut self, first: u32, most: u64) -> Result<Vec<u32>, String> {
        let (mut found, mut next) = (Vec::new(), first);
        while next < self.shape.kind.end() {
            let index = usize::try_from(next).unwrap_or(usize::MAX);
            let is_new = next >= 2 && self.seen.get(index) == Some(&false);
            let length = (found.len() as u64 + 1) * self.shape.cluster_bytes();
            if !is_new || length > most {
                return Err("a chain of clusters is damaged".to_owned());
            }
            self.seen[index] = true;
            found.push(next);
            next = self.shape.entry(&self.table, next);
        }
        if found.is_empty() { Err("a chain of clusters is empty".to_owned()) } else { Ok(found) }
    }
}
