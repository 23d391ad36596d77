//! References to each cluster of an image, counted over all its tables.
//!
//! Nothing that an image says of itself is believed: a cluster is written only if nothing else in
//! the image is there. Source: QEMU `docs/interop/qcow2.txt`, "Host cluster management" and
//! "Snapshots".

use device::{Disk, disk};
use units::ByteRange;

use super::entry::Entry;
use super::header::{Header, TABLE_BYTES_MAX, damaged, number, padded, unwritten};
use crate::refusal::NoPlan;

/// The most clusters of an image file.
const CLUSTERS_MAX: u64 = 1 << 28;
/// The most entries of L2 tables that are read.
const ENTRIES_MAX: u64 = 1 << 30;
/// Bytes of a snapshot's fixed fields.
const SNAPSHOT_BYTES: u64 = 40;

/// References to each cluster of a file; 255 stands for that and more.
pub(super) struct Usage<'a> {
    file: &'a dyn Disk,
    header: &'a Header,
    used: Vec<u8>,
    entries: u64,
}

/// Number of references to each cluster of `file`.
///
/// # Errors
/// When a table is damaged, two of them overlap, or a cluster is referred to more often than its
/// refcount says.
pub(super) fn counted(file: &dyn Disk, header: &Header) -> Result<Vec<u8>, NoPlan> {
    let clusters = file.length_bytes().div_ceil(header.cluster_bytes());
    if clusters > CLUSTERS_MAX {
        return Err(unwritten(format!("{clusters} clusters are too many to check")));
    }
    let used = vec![0; usize::try_from(clusters).unwrap_or(0)];
    let mut usage = Usage { file, header, used, entries: 0 };
    let mut alone = vec![(0, header.cluster_bytes())];
    alone.push((header.counts.start_bytes(), header.counts.length_bytes()));
    alone.push((header.directory.start_bytes(), header.directory.length_bytes()));
    let blocks = entries(file, header.counts)?;
    for block in blocks.iter().filter(|block| block.0 != 0) {
        if !block.0.is_multiple_of(header.cluster_bytes()) {
            let reason = format!("the refcount block at {} does not start a cluster", block.0);
            return Err(damaged(reason));
        }
        alone.push((block.0, header.cluster_bytes()));
    }
    alone.iter().try_for_each(|&(at, length)| usage.add(at, length))?;
    usage.directory(header.directory)?;
    usage.snapshots()?;
    for (at, length) in alone {
        if usage.clusters(at, length)?.any(|cluster| usage.used[cluster] != 1) {
            return Err(damaged(format!("something else uses the table at byte {at}")));
        }
    }
    usage.fits(&blocks)?;
    Ok(usage.used)
}

/// Entries of a table.
fn entries(file: &dyn Disk, table: ByteRange) -> Result<Vec<Entry>, NoPlan> {
    let bytes = padded(file, table.start_bytes(), table.length_bytes());
    let bytes = bytes.map_err(|error| damaged(error.to_string()))?;
    let (words, _) = bytes.as_chunks::<8>();
    Ok(words.iter().map(|word| Entry(u64::from_be_bytes(*word))).collect())
}

impl Usage<'_> {
    /// Numbers of the clusters that a range touches.
    fn clusters(&self, at: u64, length: u64) -> Result<std::ops::Range<usize>, NoPlan> {
        let bits = self.header.cluster_bits;
        let end = at.checked_add(length).map(|end| end.div_ceil(self.header.cluster_bytes()));
        let end = end.and_then(|end| usize::try_from(end).ok());
        match (usize::try_from(at >> bits), end.filter(|&end| end <= self.used.len())) {
            (Ok(start), Some(end)) => Ok(start..end),
            _ => {
                Err(damaged(format!("a table or a cluster at {at} ends past the end of the file")))
            }
        }
    }

    fn add(&mut self, at: u64, length: u64) -> Result<(), NoPlan> {
        for cluster in self.clusters(at, length)? {
            self.used[cluster] = self.used[cluster].saturating_add(1);
        }
        Ok(())
    }

    /// Adds all that an L1 table leads to.
    fn directory(&mut self, directory: ByteRange) -> Result<(), NoPlan> {
        self.entries += directory.length_bytes().div_euclid(8);
        for (index, entry) in entries(self.file, directory)?.into_iter().enumerate() {
            let odd = |()| damaged(format!("entry {index} of an L1 table is damaged"));
            let Some((at, length)) = entry.place(self.header, true).map_err(odd)? else { continue };
            self.add(at, length)?;
            self.entries += length.div_euclid(8);
            if self.entries > ENTRIES_MAX {
                return Err(unwritten("its L2 tables are too many to check"));
            }
            let table = ByteRange::new(at, length).ok_or_else(|| odd(()))?;
            for entry in entries(self.file, table)? {
                let odd = |()| damaged(format!("an entry of the L2 table at {at} is damaged"));
                if let Some((at, length)) = entry.place(self.header, false).map_err(odd)? {
                    self.add(at, length)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the table of snapshots, and all that they lead to.
    fn snapshots(&mut self) -> Result<(), NoPlan> {
        let (start, count) = self.header.snapshots;
        let mut at = start;
        for snapshot in 0..count {
            let odd = || damaged(format!("entry {snapshot} of the table of snapshots is damaged"));
            let head: [u8; 40] = disk::read_array(self.file, at).map_err(|_| odd())?;
            let field = |from: usize, to: usize| number(&head[from..to]);
            let length = SNAPSHOT_BYTES + field(36, 40) + field(12, 14) + field(14, 16);
            at = at.checked_add(length.next_multiple_of(8)).ok_or_else(odd)?;
            let directory = ByteRange::new(field(0, 8), field(8, 12) * 8);
            let directory = directory.filter(|range| {
                range.start_bytes().is_multiple_of(self.header.cluster_bytes())
                    && range.end_bytes() <= self.file.length_bytes()
                    && range.length_bytes() <= TABLE_BYTES_MAX
            });
            let directory = directory.ok_or_else(odd)?;
            self.add(directory.start_bytes(), directory.length_bytes())?;
            self.directory(directory)?;
        }
        if count > 0 { self.add(start, at - start) } else { Ok(()) }
    }

    /// Rejects refcounts that are lower than the references.
    fn fits(&self, blocks: &[Entry]) -> Result<(), NoPlan> {
        let per_block = usize::try_from(self.header.per_block()).unwrap_or(usize::MAX);
        let width = usize::try_from(self.header.count_bytes).unwrap_or(usize::MAX);
        for (index, used) in self.used.chunks(per_block).enumerate() {
            let block = blocks.get(index).map_or(0, |block| block.0);
            let bytes = match block {
                0 => vec![0; used.len() * width],
                at => padded(self.file, at, self.header.cluster_bytes())
                    .map_err(|error| damaged(error.to_string()))?,
            };
            let mut counts = used.iter().zip(bytes.chunks(width));
            if counts.any(|(&used, count)| number(count) < u64::from(used)) {
                return Err(damaged("refcounts are lower than the references"));
            }
        }
        Ok(())
    }
}
