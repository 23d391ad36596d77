//! States that a power cut may leave while a table is written, and the tables to read then.

use crate::made::crash_model::{Asked, Held, Recorder, Sizes, Tear, every_outcome};
use crate::made::tables::{self, Case};
use device::{Disk, disk};
use layout::{Side, Standing, TableChange, write_table};
use std::collections::BTreeSet;
use units::SectorSize;

/// The places of all partitions, by number.
pub(crate) type Places = Vec<(u32, u64, u64)>;

pub(crate) fn places(disk: &dyn Disk, sector: u64) -> Places {
    let size = SectorSize::new(sector).expect("a size");
    let Some(table) = format::table::read(disk, size, 0) else { return Vec::new() };
    if table.value.sector.bytes() != sector {
        return Vec::new();
    }
    let place = |one: &format::table::Partition| {
        (one.number, one.range.start_bytes(), one.range.length_bytes())
    };
    table.value.partitions.iter().map(place).collect()
}

/// The two tables of a change, as they are read.
pub(crate) struct Known {
    pub(crate) old: Places,
    pub(crate) new: Places,
    sectors: [u64; 2],
    is_mbr: bool,
}

impl Known {
    pub(crate) fn of(case: &Case) -> Known {
        let change = &case.change;
        let sectors = [change.old_sector_bytes, change.new_sector_bytes];
        let old = places(&case.disk, sectors[0]);
        let mut after = case.disk.clone();
        change.writes.iter().for_each(|write| after.put(write.at_bytes, &write.new));
        let new = places(&after, sectors[1]);
        assert!(!new.is_empty(), "{}", case.name);
        assert!(new != old || sectors[0] != sectors[1], "{}: {new:?}", case.name);
        Known { old, new, sectors, is_mbr: case.is_mbr }
    }

    /// True if every partition is found in its old or its new place. Of a GPT, all in the same.
    pub(crate) fn holds(&self, found: &Places) -> bool {
        found == &self.old
            || found == &self.new
            || (self.is_mbr
                && found.len() == self.old.len()
                && (found.iter().zip(self.old.iter().zip(&self.new)))
                    .all(|(one, (old, new))| one == old || one == new))
    }

    pub(crate) fn is_read(&self, disk: &dyn Disk) -> bool {
        self.sectors.iter().any(|&sector| {
            let found = places(disk, sector);
            // On a disk that was blank no table is the old table.
            let is_sound = self.is_mbr || tables::has_sound_copy(disk, sector);
            self.holds(&found) && if found.is_empty() { self.old.is_empty() } else { is_sound }
        })
    }
}

/// Requests of straddle to a drive that holds `held`, towards table `side`.
pub(crate) fn log_of(change: &TableChange, held: &Held, side: Side) -> (Vec<Asked>, Held) {
    let mut recorder = Recorder { held: held.clone(), log: Vec::new() };
    write_table(change, &mut recorder, side).expect("a drive that takes every write");
    assert_eq!(recorder.log.first(), Some(&Asked::Flush), "what is left out may be in a cache");
    (recorder.log, recorder.held)
}

/// Calls `look` with each content that a power cut may leave, each content once: while a table is
/// written, while it is undone, and while either is done again after each such cut. Returns how many
/// cuts there were, and how many contents.
pub(crate) fn every_state(
    case: &Case,
    sizes: Sizes,
    look: &mut dyn FnMut(&Held, Tear),
) -> (usize, usize) {
    let change = &case.change;
    let before = Held::new(case.disk.clone(), sizes.physical);
    let (_, after) = log_of(change, &before, Side::New);
    let mut seen = BTreeSet::new();
    let (mut cuts, mut starts) = (0, vec![before, after]);
    for is_first in [true, false] {
        let mut next = Vec::new();
        for start in &starts {
            for side in [Side::New, Side::Old] {
                let (log, end) = log_of(change, start, side);
                assert_eq!(change.standing(&end), Standing::Whole(side), "{}", case.name);
                every_outcome(start, &log, sizes, &mut |held, tear| {
                    // Who goes on finds a sector torn within by its checksum, as any other.
                    if !is_first && matches!(tear, Tear::Bytes(_)) {
                        return;
                    }
                    cuts += 1;
                    if seen.insert(digest(change, held)) {
                        look(held, tear);
                        next.push(held.clone());
                    }
                });
            }
        }
        // Everyday runs cut a seeded third of what follows a cut.
        if std::env::var_os("STRADDLE_SOAK").is_none() {
            let mut random = testkit::random(22);
            next.retain(|_| random.below(3) == 0);
        }
        starts = next;
    }
    (cuts, seen.len())
}

/// Tells contents apart.
pub(crate) fn digest(change: &TableChange, held: &Held) -> u64 {
    // A hash that withstands an adversary would take most of the test's time.
    let mix =
        |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    // Four sums at once, since each waits for its last product.
    let mut sums = [1, 2, 3, 4];
    for bytes in tables::bytes_of(&held.bytes, change) {
        for words in bytes.as_chunks::<8>().0.chunks(sums.len()) {
            for (sum, word) in sums.iter_mut().zip(words) {
                *sum = mix(*sum, u64::from_le_bytes(*word));
            }
        }
    }
    sums.into_iter().chain(held.unreadable.iter().copied()).fold(0, mix)
}

/// State of the sectors of which there is no second copy: an MBR, its records, the first sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Single {
    /// Each is old or new.
    Whole,
    /// One begins as the one and ends as the other.
    Mixed,
    /// One holds neither, or cannot be read.
    Lost,
}

pub(crate) fn single(case: &Case, held: &dyn Disk) -> Single {
    let alone = case.change.writes.iter().filter(|write| case.is_mbr || write.at_bytes == 0);
    let state = |write: &layout::TableWrite| {
        let now = disk::read_vec(held, write.at_bytes, disk::length_of(&write.new));
        let mut bytes = write.old.iter().zip(&write.new);
        match now {
            Ok(now) if now == write.old || now == write.new => Single::Whole,
            Ok(now)
                if now
                    .iter()
                    .all(|now| bytes.next().is_some_and(|(a, b)| now == a || now == b)) =>
            {
                Single::Mixed
            }
            _ => Single::Lost,
        }
    };
    alone.map(state).max().unwrap_or(Single::Whole)
}
