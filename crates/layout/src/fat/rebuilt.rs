//! The new volume: its parts in memory, contents read from the old one.

use std::rc::Rc;

use device::{Disk, ReadError, disk};
use units::ByteRange;

use super::old_volume::{Directory, Node, OldVolume, is_dots};
use super::shape::{ENTRY_BYTES, FatKind, Shape};
use super::unused_bytes::after_clusters;
use crate::old_table_bytes::{number, put};

/// A FAT with sectors of another size, as a disk as long as the partition, with what is after the
/// old one in its place. All that is in none of its parts reads as zeros.
pub struct RebuiltFat {
    old: Rc<dyn Disk>,
    /// In the order of the volume; none covers another.
    parts: Vec<(ByteRange, Part)>,
    /// Runs of the old volume that this depends on.
    pub(super) sources: Vec<ByteRange>,
    pub(super) sector_bytes: u64,
    /// Old and new kind and cluster size, in words.
    pub summary: String,
    /// Number of files.
    pub files: u64,
    /// Their length together, in bytes.
    pub content_bytes: u64,
}

enum Part {
    Bytes(Vec<u8>),
    /// From this byte of the old volume on.
    Old(u64),
}

impl RebuiltFat {
    /// The FAT on `volume` with sectors of `sector_bytes`, 512 to 4096.
    ///
    /// # Errors
    /// When the old one is damaged, or its files do not fit.
    pub fn new(volume: &Rc<dyn Disk>, sector_bytes: u64) -> Result<RebuiltFat, String> {
        let mut old = OldVolume::open(volume.as_ref())?;
        let root = old.root()?;
        let is_wide = old.shape.kind == FatKind::Fat32;
        let room = |shape: &Shape| disk::length_of(&root.entries) <= shape.root().1;
        let need = |cluster: u64| clusters_of(&root, cluster);
        let kept = after_clusters(volume.as_ref(), &old.shape)?;
        // What is kept must not be in a cluster, which the next file would take.
        let end = kept.map_or(u64::MAX, |kept| kept.start_bytes());
        let shape = old.shape.rescaled(sector_bytes, end, need)?;
        if shape.kind != FatKind::Fat32 && is_wide && !room(&shape) {
            return Err("its root directory holds too many files".to_owned());
        }
        let summary = [&old.shape, &shape]
            .map(|shape| format!("{} of {}-byte sectors", shape.kind.word(), shape.sector));
        let table = vec![0; usize::try_from(shape.table_bytes()).map_err(|e| e.to_string())?];
        let mut writer = Writer { shape, table, next: 2, parts: Vec::new(), files: 0, bytes: 0 };
        let first = writer.root(root);
        writer.finish(&old.boot, first);
        let Writer { mut parts, files, bytes, .. } = writer;
        parts.extend(kept.map(|kept| (kept, Part::Old(kept.start_bytes()))));
        parts.sort_by_key(|(range, _)| range.start_bytes());
        let mut sources = old.sources;
        sources.extend(parts.iter().filter_map(|(range, part)| match part {
            Part::Old(from) if *from != range.start_bytes() => {
                ByteRange::new(*from, range.length_bytes())
            }
            _ => None,
        }));
        Ok(RebuiltFat {
            old: Rc::clone(volume),
            parts,
            sources,
            sector_bytes,
            summary: summary.join(" -> "),
            files,
            content_bytes: bytes,
        })
    }

    /// The ranges that hold anything, in order.
    pub fn ranges(&self) -> impl Iterator<Item = ByteRange> + '_ {
        self.parts.iter().map(|(range, _)| *range)
    }
}

impl Disk for RebuiltFat {
    fn length_bytes(&self) -> u64 {
        self.old.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let length = disk::length_of(buffer);
        disk::check_bounds(self.length_bytes(), offset_bytes, length)?;
        buffer.fill(0);
        let Some(wanted) = ByteRange::new(offset_bytes, length) else { return Ok(()) };
        let first = self.parts.partition_point(|(range, _)| range.end_bytes() <= offset_bytes);
        for (range, part) in &self.parts[first..] {
            if range.start_bytes() >= wanted.end_bytes() {
                break;
            }
            let Some(shared) = range.intersection(wanted) else { continue };
            let index = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
            let at = index(shared.start_bytes() - offset_bytes);
            let to = &mut buffer[at..at + index(shared.length_bytes())];
            let within = shared.start_bytes() - range.start_bytes();
            match part {
                Part::Old(from) => self.old.read_at(from + within, to)?,
                Part::Bytes(bytes) => {
                    to.copy_from_slice(&bytes[index(within)..index(within) + to.len()]);
                }
            }
        }
        Ok(())
    }
}

/// The clusters of `cluster` bytes that all in `directory` takes, its own included.
fn clusters_of(directory: &Directory, cluster: u64) -> u64 {
    let own = disk::length_of(&directory.entries).div_ceil(cluster).max(1);
    let each = directory.nodes.iter().map(|(_, node)| match node {
        Node::Directory(below) => clusters_of(below, cluster),
        Node::File(runs) => length(runs).div_ceil(cluster),
    });
    own + each.sum::<u64>()
}

fn length(runs: &[ByteRange]) -> u64 {
    runs.iter().map(|run| run.length_bytes()).sum()
}

struct Writer {
    shape: Shape,
    table: Vec<u8>,
    /// The first free cluster.
    next: u32,
    parts: Vec<(ByteRange, Part)>,
    files: u64,
    bytes: u64,
}

impl Writer {
    /// Takes clusters for `length` bytes, one after the other; returns the first.
    fn take(&mut self, length: u64) -> u32 {
        let count = length.div_ceil(self.shape.cluster_bytes()).max(1);
        let first = self.next;
        self.next = first.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        for cluster in first..self.next {
            let is_last = cluster + 1 == self.next;
            let value = if is_last { self.shape.kind.end() | 7 } else { cluster + 1 };
            self.shape.put_entry(&mut self.table, cluster, value);
        }
        first
    }

    fn put(&mut self, at: u64, length: u64, part: Part) {
        let range = ByteRange::new(at, length).filter(|_| length > 0);
        self.parts.extend(range.map(|range| (range, part)));
    }

    /// Puts `bytes`, with zeros up to a multiple of `unit`: what was there before must not be seen.
    fn put_bytes(&mut self, at: u64, mut bytes: Vec<u8>, unit: u64) {
        let length = disk::length_of(&bytes).next_multiple_of(unit.max(1)).max(unit);
        bytes.resize(usize::try_from(length).unwrap_or(usize::MAX), 0);
        self.put(at, disk::length_of(&bytes), Part::Bytes(bytes));
    }

    /// Writes the root directory; returns its first cluster, or 0 where it has a fixed place.
    fn root(&mut self, root: Directory) -> u32 {
        if self.shape.kind != FatKind::Fat32 {
            let bytes = self.filled(root, 0, 0);
            let (at, length) = self.shape.root();
            self.put_bytes(at, bytes, length.next_multiple_of(self.shape.sector));
            return 0;
        }
        let first = self.take(disk::length_of(&root.entries));
        // A root directory is known as 0 by those in it.
        let bytes = self.filled(root, 0, 0);
        self.put_bytes(self.shape.cluster_at(first), bytes, self.shape.cluster_bytes());
        first
    }

    /// The entries of a directory with the first clusters of all in it, which is written.
    fn filled(&mut self, directory: Directory, own: u32, above: u32) -> Vec<u8> {
        let mut entries = directory.entries;
        for entry in entries.chunks_mut(usize::try_from(ENTRY_BYTES).unwrap_or(32)) {
            if is_dots(entry) {
                set_first(entry, if entry[1] == b'.' { above } else { own });
            }
        }
        for (at, node) in directory.nodes {
            let first = match node {
                Node::File(runs) => self.file(&runs),
                Node::Directory(below) => {
                    let first = self.take(disk::length_of(&below.entries));
                    let bytes = self.filled(below, first, own);
                    let at = self.shape.cluster_at(first);
                    self.put_bytes(at, bytes, self.shape.cluster_bytes());
                    first
                }
            };
            set_first(&mut entries[at..], first);
        }
        entries
    }

    fn file(&mut self, runs: &[ByteRange]) -> u32 {
        self.files += 1;
        self.bytes += length(runs);
        if runs.is_empty() {
            return 0;
        }
        let first = self.take(length(runs));
        let mut at = self.shape.cluster_at(first);
        for run in runs {
            self.put(at, run.length_bytes(), Part::Old(run.start_bytes()));
            at += run.length_bytes();
        }
        first
    }

    /// Writes the boot sector and the tables of clusters.
    fn finish(&mut self, old: &[u8], root: u32) {
        let shape = self.shape;
        let media = u32::from(old[21]);
        let ones = shape.kind.end() | 7;
        shape.put_entry(&mut self.table, 0, ones & !0xff | media);
        shape.put_entry(&mut self.table, 1, ones);
        for index in 0..shape.tables {
            self.put_bytes(shape.table_at(index), self.table.clone(), shape.sector);
        }
        let boot = boot_sector(&shape, old, root);
        if shape.kind == FatKind::Fat32 {
            let mut count = vec![0; 512];
            put(&mut count, 0, 4, 0x4161_5252);
            put(&mut count, 484, 4, 0x6141_7272);
            put(&mut count, 488, 4, (shape.clusters + 2).saturating_sub(self.next.into()));
            put(&mut count, 492, 4, self.next.saturating_sub(1).into());
            put(&mut count, 508, 4, 0xaa55_0000);
            for (sector, bytes) in [(1, &count), (6, &boot), (7, &count)] {
                self.put_bytes(sector * shape.sector, bytes.clone(), shape.sector);
            }
        }
        self.put_bytes(0, boot, shape.sector);
    }
}

/// Writes the first cluster of a directory entry.
fn set_first(entry: &mut [u8], first: u32) {
    put(entry, 20, 2, u64::from(first >> 16));
    put(entry, 26, 2, u64::from(first & 0xffff));
}

/// The boot sector of `shape`, with the id, the label and, of the same kind, the code of the old
/// one.
fn boot_sector(shape: &Shape, old: &[u8], root: u32) -> Vec<u8> {
    let is_wide = shape.kind == FatKind::Fat32;
    let was_wide = number(old, 22, 2) == 0;
    let mut boot = vec![0; 512];
    boot[3..11].copy_from_slice(&old[3..11]);
    let hidden = number(old, 28, 4) * number(old, 11, 2);
    let short = Some(shape.sectors).filter(|&count| !is_wide && count <= 0xffff).unwrap_or(0);
    let fields = [
        (11, 2, shape.sector),
        (13, 1, shape.per_cluster),
        (14, 2, shape.reserved),
        (16, 1, shape.tables),
        (17, 2, shape.root_entries),
        (19, 2, short),
        (21, 1, old[21].into()),
        (22, 2, if is_wide { 0 } else { shape.table_sectors }),
        (24, 2, number(old, 24, 2)),
        (26, 2, number(old, 26, 2)),
        (28, 4, hidden.div_euclid(shape.sector)),
        (32, 4, if short == 0 { shape.sectors } else { 0 }),
    ];
    for (at, length, value) in fields {
        put(&mut boot, at, length, value);
    }
    if is_wide {
        let fields = [(36, 4, shape.table_sectors), (44, 4, root.into()), (48, 2, 1), (50, 2, 6)];
        for (at, length, value) in fields {
            put(&mut boot, at, length, value);
        }
    }
    // Drive, flags, mark, id and label; the kind's name comes after them.
    let (from, to) = (if was_wide { 64 } else { 36 }, if is_wide { 64 } else { 36 });
    if matches!(old[from + 2], 0x28 | 0x29) {
        boot[to..to + 18].copy_from_slice(&old[from..from + 18]);
        boot[to + 18..to + 26].copy_from_slice(format!("{:<8}", shape.kind.word()).as_bytes());
    }
    let code = if is_wide { 90 } else { 62 };
    let jump = [0xeb, u8::try_from(code - 2).unwrap_or(0), 0x90];
    boot[..3].copy_from_slice(&jump);
    if is_wide == was_wide {
        boot[code..510].copy_from_slice(&old[code..510]);
    } else {
        // A loop: it is not started. What the other kind's code leaves room for stays.
        boot[code..code + 2].copy_from_slice(&[0xeb, 0xfe]);
        boot[92..510].copy_from_slice(&old[92..510]);
    }
    boot[510..].copy_from_slice(&[0x55, 0xaa]);
    boot
}
