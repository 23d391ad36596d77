//! A drive that loses power: which contents it may have afterwards, all of them.

use std::collections::{BTreeMap, BTreeSet};

use device::{Disk, MemoryDisk, ReadError, WritableDisk, disk};

/// A request to a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Write(u64, Vec<u8>),
    Flush,
}

/// Sizes of a drive, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) logical: u64,
    pub(crate) physical: u64,
}

/// A drive's content; reads of some physical sectors may fail.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) bytes: MemoryDisk,
    pub(crate) unreadable: BTreeSet<u64>,
    pub(crate) physical: u64,
}

/// Damage of a cut beyond sectors that are old or new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tear {
    /// Each logical sector is old or new.
    Whole,
    /// One logical sector holds the begin of the one and the end of the other.
    Bytes(u64),
    /// A physical sector holds nothing that was ever written.
    Garbage(u64),
    /// A physical sector cannot be read.
    Unreadable(u64),
}

impl Held {
    pub(crate) fn new(bytes: MemoryDisk, physical: u64) -> Held {
        Held { bytes, unreadable: BTreeSet::new(), physical }
    }

    pub(crate) fn blocks(&self, at: u64, length: u64) -> std::ops::RangeInclusive<u64> {
        at / self.physical..=(at + length.max(1) - 1) / self.physical
    }
}

impl Disk for Held {
    fn length_bytes(&self) -> u64 {
        self.bytes.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let length_bytes = disk::length_of(buffer);
        if self.blocks(offset_bytes, length_bytes).any(|block| self.unreadable.contains(&block)) {
            let reason = "torn".to_owned();
            return Err(ReadError::Failed { offset_bytes, length_bytes, reason });
        }
        self.bytes.read_at(offset_bytes, buffer)
    }
}

impl Held {
    /// A write makes whole logical sectors readable again; the rest of a lost one is gone.
    pub(crate) fn put(&mut self, at: u64, bytes: &[u8]) {
        for block in self.blocks(at, disk::length_of(bytes)) {
            if self.unreadable.remove(&block) {
                let lost = vec![0xa5; usize::try_from(self.physical).expect("short")];
                self.bytes.put(block * self.physical, &lost);
            }
        }
        self.bytes.put(at, bytes);
    }
}

/// A disk that keeps a log of what is asked of it.
pub(crate) struct Recorder {
    pub(crate) held: Held,
    pub(crate) log: Vec<Asked>,
}

impl Disk for Recorder {
    fn length_bytes(&self) -> u64 {
        self.held.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.held.read_at(offset_bytes, buffer)
    }
}

impl WritableDisk for Recorder {
    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), String> {
        self.held.put(offset_bytes, bytes);
        self.log.push(Asked::Write(offset_bytes, bytes.to_vec()));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), String> {
        self.log.push(Asked::Flush);
        Ok(())
    }
}

/// Places within a logical sector at which one is torn: in and between the fields of headers,
/// entries and records.
const CUTS: [usize; 10] = [1, 16, 20, 40, 92, 129, 446, 455, 463, 510];
/// The most sectors of which every subset is tried.
const SECTORS_MAX: usize = 16;

/// Calls `look` with every content that a drive which held `before` may have after a power cut
/// during `log`: cut before and after each write and each flush; every subset of the sectors that
/// no flush covers; and one more sector torn in every way, beside every class of subsets.
pub(crate) fn every_outcome(
    before: &Held,
    log: &[Asked],
    sizes: Sizes,
    look: &mut dyn FnMut(&Held, Tear),
) {
    let mut durable = before.clone();
    let mut pending: Vec<(u64, Vec<u8>)> = Vec::new();
    look(&durable, Tear::Whole);
    for asked in log {
        match asked {
            Asked::Write(at, bytes) => {
                pending.push((*at, bytes.clone()));
                outcomes(&durable, &pending, sizes, look);
            }
            Asked::Flush => {
                for (at, bytes) in pending.drain(..) {
                    durable.put(at, &bytes);
                }
                look(&durable, Tear::Whole);
            }
        }
    }
}

fn outcomes(
    durable: &Held,
    pending: &[(u64, Vec<u8>)],
    sizes: Sizes,
    look: &mut dyn FnMut(&Held, Tear),
) {
    let size = usize::try_from(sizes.logical).expect("short");
    // What is read, modified and written is as good as a write of the whole logical sector.
    let mut sectors: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut touched = BTreeSet::new();
    for (at, bytes) in pending {
        for block in durable.blocks(*at, disk::length_of(bytes)) {
            touched.insert(block);
        }
        let (mut at, mut rest) = (*at, &bytes[..]);
        while !rest.is_empty() {
            let lba = at / sizes.logical;
            let within = usize::try_from(at % sizes.logical).expect("short");
            let take = rest.len().min(size - within);
            let sector = sectors.entry(lba).or_insert_with(|| read(durable, lba, sizes.logical));
            sector[within..within + take].copy_from_slice(&rest[..take]);
            (at, rest) = (at + u64::try_from(take).expect("short"), &rest[take..]);
        }
    }
    let is_lost = |lba: u64| durable.unreadable.contains(&(lba * sizes.logical / sizes.physical));
    let changed: Vec<(u64, Vec<u8>)> = (sectors.into_iter())
        .filter(|(lba, new)| is_lost(*lba) || &read(durable, *lba, sizes.logical) != new)
        .collect();
    assert!(changed.len() <= SECTORS_MAX, "{} sectors are too many", changed.len());
    for subset in 0..1_u32 << changed.len() {
        let mut some = durable.clone();
        for (index, (lba, new)) in changed.iter().enumerate() {
            if subset >> index & 1 == 1 {
                some.put(lba * sizes.logical, new);
            }
        }
        look(&some, Tear::Whole);
        // Beside the torn sector: none of the others, one, all but one, all.
        let (count, all) = (subset.count_ones(), u32::try_from(changed.len()).expect("few"));
        if count > 1 && count + 1 < all {
            continue;
        }
        for &block in &touched {
            let mut torn = some.clone();
            torn.unreadable.insert(block);
            look(&torn, Tear::Unreadable(block));
            torn.put(block * sizes.physical, &[0xa5; 512]);
            look(&torn, Tear::Garbage(block));
        }
        for (lba, new) in &changed {
            let old = read(durable, *lba, sizes.logical);
            for cut in CUTS {
                for (begin, end) in [(&old, new), (new, &old)] {
                    let mut torn = some.clone();
                    let mixed = [&begin[..cut], &end[cut..]].concat();
                    torn.put(lba * sizes.logical, &mixed);
                    look(&torn, Tear::Bytes(*lba));
                }
            }
        }
    }
}

/// A logical sector; of one that cannot be read, anything.
fn read(held: &Held, lba: u64, logical: u64) -> Vec<u8> {
    disk::read_vec(&held.bytes, lba * logical, logical).expect("it is on the disk")
}
