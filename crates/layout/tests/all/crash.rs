//! The order of the writes is proved by cutting the power everywhere.

use std::collections::BTreeSet;

use device::{Disk, MemoryDisk, disk};
use layout::{Side, Standing, TableChange, write_table};
use testkit::{Scratch, need_tools, scratch};
use units::SectorSize;

use crate::crash_model::{Asked, Held, Recorder, Sizes, Tear, every_outcome};
use crate::tables::{self, Case};

/// The places of all partitions, by number.
type Places = Vec<(u32, u64, u64)>;

fn places(disk: &dyn Disk, sector: u64) -> Places {
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
    old: Places,
    new: Places,
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
    fn holds(&self, found: &Places) -> bool {
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
fn log_of(change: &TableChange, held: &Held, side: Side) -> (Vec<Asked>, Held) {
    let mut recorder = Recorder { held: held.clone(), log: Vec::new() };
    write_table(change, &mut recorder, side).expect("a drive that takes every write");
    assert_eq!(recorder.log.first(), Some(&Asked::Flush), "what is left out may be in a cache");
    (recorder.log, recorder.held)
}

/// Calls `look` with each content that a power cut may leave, each content once: while a table is
/// written, while it is undone, and while either is done again after each such cut. Returns how many
/// cuts there were, and how many contents.
fn every_state(case: &Case, sizes: Sizes, look: &mut dyn FnMut(&Held, Tear)) -> (usize, usize) {
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
        starts = next;
    }
    (cuts, seen.len())
}

/// Tells contents apart.
fn digest(change: &TableChange, held: &Held) -> u64 {
    let words =
        |bytes: Vec<u8>| bytes.as_chunks().0.iter().copied().map(u64::from_le_bytes).collect();
    let written = tables::bytes_of(&held.bytes, change).into_iter().flat_map::<Vec<u64>, _>(words);
    // A hash that withstands an adversary would take most of the test's time.
    let mix =
        |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    written.chain(held.unreadable.iter().copied()).fold(0, mix)
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

#[test]
fn at_every_instant_the_old_or_the_new_table_is_read_and_every_cut_is_mended_and_undone() {
    for case in tables::cases() {
        let known = Known::of(&case);
        let hash_before = case.change.hash(&case.disk).expect("it is read");
        layout::check(&case.change, &case.disk, Side::New, &|_| Ok(true)).expect(case.name);
        for &sizes in case.drives {
            let (mut lost, mut torn) = (Vec::new(), 0);
            let (cuts, states) = every_state(&case, sizes, &mut |held, tear| {
                // A single copy that holds neither is not told from what somebody else wrote.
                if !case.is_mbr || !matches!(tear, Tear::Garbage(_)) {
                    let standing = case.change.standing(held);
                    let is_foreign = matches!(standing, Standing::Foreign(_));
                    assert!(!is_foreign, "{} {tear:?}", case.name);
                }
                // Who goes on, or undoes, finds the old table in what is left and in the record.
                if matches!(tear, Tear::Unreadable(_)) {
                    let hash = case.change.old_hash(held);
                    assert_eq!(hash.ok(), Some(hash_before.clone()), "{} {tear:?}", case.name);
                    for side in [Side::New, Side::Old] {
                        let checked = layout::check(&case.change, held, side, &|_| Ok(true));
                        assert_eq!(checked, Ok(()), "{} {tear:?} {side:?}", case.name);
                    }
                }
                let single = single(&case, held);
                if single == Single::Mixed || (case.is_mbr && single == Single::Lost) {
                    torn += 1;
                } else if !known.is_read(held) {
                    lost.push(tear);
                }
            });
            println!("{} {sizes:?}: {cuts} cuts, {states} contents, {torn} torn", case.name);
            assert_eq!(lost, [], "{} {sizes:?}", case.name);
            assert!(states > 5, "{} {sizes:?}: {states}", case.name);
        }
    }
}

#[test]
fn the_orders_of_parted_and_sgdisk_lose_both_copies() {
    let cases = tables::cases();
    let case = cases.iter().find(|case| case.name.contains("are empty")).expect("the case");
    let known = Known::of(case);
    for (tool, writes) in tables::other_orders(&case.change) {
        let mut log: Vec<Asked> =
            writes.iter().map(|one| Asked::Write(one.at_bytes, one.new.clone())).collect();
        assert_eq!(log.len(), 5, "{tool}");
        log.push(Asked::Flush);
        let before = Held::new(case.disk.clone(), 512);
        let (mut cuts, mut lost) = (0, 0);
        let sizes = Sizes { logical: 512, physical: 512 };
        every_outcome(&before, &log, sizes, &mut |held, tear| {
            cuts += u32::from(tear == Tear::Whole);
            lost += u32::from(tear == Tear::Whole && !known.is_read(held));
        });
        println!("{tool}: {lost} of {cuts} lose");
        assert!(lost > 0, "{tool}: {cuts}");
    }
}

#[test]
fn a_table_that_somebody_else_wrote_is_foreign() {
    for case in tables::cases() {
        let mut disk = case.disk.clone();
        assert_eq!(case.change.standing(&disk), Standing::Whole(Side::Old));
        let first = case.change.writes.iter().map(|one| one.at_bytes).min().expect("a write");
        let last = case.change.writes.iter().map(|one| one.at_bytes).max().expect("a write");
        disk.put(first + 9, b"else");
        disk.put(last + 9, b"else");
        let standing = case.change.standing(&disk);
        assert!(matches!(standing, Standing::Foreign(_)), "{}", case.name);
    }
}

/// The places that `sfdisk` reads; nothing where it reads no table.
fn sfdisk(image: &std::path::Path) -> Places {
    let ran = testkit::tool::output("sfdisk", &["--dump", scratch::text(image)]);
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let field = |line: &str, name: &str| -> u64 {
        let rest = line.split(name).nth(1).unwrap_or_default();
        let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    };
    let row = |line: &str| {
        let (name, _) = line.split_once(" :")?;
        let digits = name.rsplit(|letter: char| !letter.is_ascii_digit()).next()?;
        let number = digits.parse().ok()?;
        Some((number, field(line, "start=") * 512, field(line, "size=") * 512))
    };
    text.lines().filter(|line| line.contains("start=")).filter_map(row).collect()
}

#[test]
fn at_every_instant_sfdisk_reads_the_old_or_the_new_table() {
    need_tools!("sfdisk");
    let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
    for case in tables::cases().iter().filter(|case| case.change.new_sector_bytes == 512) {
        let image = scratch.image("disk.raw", tables::DISK_BYTES);
        let write = |held: &MemoryDisk| {
            let bytes = disk::read_vec(held, 0, tables::DISK_BYTES).expect("it is read");
            std::fs::write(&image, bytes).expect("it is written");
            sfdisk(&image)
        };
        let mut known = Known::of(case);
        let mut after = case.disk.clone();
        case.change.writes.iter().for_each(|one| after.put(one.at_bytes, &one.new));
        (known.old, known.new) = (write(&case.disk), write(&after));
        assert!(!known.new.is_empty() && known.new != known.old, "{}", case.name);
        let sizes = Sizes { logical: 512, physical: 512 };
        let (mut states, mut lost) = (0, Vec::new());
        every_state(case, sizes, &mut |held, tear| {
            // Nobody reads a table by a first sector that the drive itself lost.
            if single(case, held) != Single::Whole || !held.unreadable.is_empty() {
                return;
            }
            states += 1;
            if !known.holds(&write(&held.bytes)) {
                lost.push(tear);
            }
        });
        println!("{}: {states} contents", case.name);
        assert_eq!(lost, [], "{}", case.name);
    }
}
