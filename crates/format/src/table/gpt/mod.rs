//! GUID partition tables: both copies, at any sector size.
//!
//! A header says nothing of the sector size but through where it lies: in the second sector, with a
//! copy in the last. So all sizes are tried, the expected one first, and a copy whose checksums
//! hold outweighs one whose do not, at whatever size. A table for another size than the expected
//! one is no problem of the table; its `sector` says it.
//!
//! Source: UEFI specification 2.10, chapter 5; Linux `block/partitions/efi.c`; util-linux
//! `libblkid/src/partitions/gpt.c`.

use device::Disk;
use units::{ByteRange, Lba, SectorSize};

use self::copy::{Copy, GptCopyPlace};
use self::listing::PartitionListing;
use self::protective::Protective;
use self::rewrite::RewriteObstacle;
use super::{GptRewrite, PartitionTable, Repair, TableKind};
use crate::{Parsed, Problem, ProblemKind};

mod compare;
mod copy;
mod header;
mod listing;
mod protective;
mod rewrite;

/// Reads the GPT, looking for its header at sector sizes 512, 1024, 2048 and 4096, `expected`
/// first;
/// `None` when neither copy is found at any. Both copies are compared; the primary is preferred
/// when its checksums hold, else the backup, else whichever can be described.
///
/// The backup is looked for in the last sector and, where that has none, where the primary says it
/// is. A table is found even where no protective MBR vouches for it, which is then among the
/// problems; [`super::read`] decides whether it counts.
pub fn read(disk: &dyn Disk, expected: SectorSize) -> Option<Parsed<PartitionTable>> {
    find(disk, expected).map(|found| found.table)
}

/// A GPT, and what speaks for it.
pub(super) struct WeighedGpt {
    /// The table.
    pub(super) table: Parsed<PartitionTable>,
    /// True if an MBR entry of type 0xEE protects it: what the kernel and libblkid insist on.
    pub(super) is_protected: bool,
    /// True if it was read from the primary copy, whose checksums hold.
    pub(super) is_primary_sound: bool,
    /// Place where the header lies that the table was read from.
    pub(super) at_bytes: u64,
}

/// The GPT of `disk`, as [`read`].
pub(super) fn find(disk: &dyn Disk, expected: SectorSize) -> Option<WeighedGpt> {
    let pairs: Vec<GptCopies> =
        sizes(expected).into_iter().filter_map(|sector| GptCopies::read(disk, sector)).collect();
    // The first of the best: sizes are in order of preference.
    let best = pairs.iter().min_by_key(|pair| pair.chosen().doubt())?;
    let others = pairs.iter().filter(|pair| pair.sector != best.sector && pair.is_sound());
    let others = others.map(|pair| second_table(pair, best.sector)).collect();
    Some(best.describe(disk, others))
}

/// The sector sizes to try, each once, `expected` first.
fn sizes(expected: SectorSize) -> Vec<SectorSize> {
    let others = [512, 1024, 2048, 4096].into_iter().filter_map(SectorSize::new);
    std::iter::once(expected).chain(others.filter(|&sector| sector != expected)).collect()
}

fn second_table(pair: &GptCopies, sector: SectorSize) -> Problem {
    let detail = format!(
        "a second GPT, for sectors of {} bytes, beside the one for {}",
        pair.sector.bytes(),
        sector.bytes()
    );
    Problem::new(ProblemKind::Overlap, pair.chosen().at_bytes, detail)
}

/// The copies of one table at one sector size: at least one of them.
struct GptCopies {
    sector: SectorSize,
    last: Lba,
    primary: Option<Copy>,
    backup: Option<Copy>,
    problems: Vec<Problem>,
}

impl GptCopies {
    fn read(disk: &dyn Disk, sector: SectorSize) -> Option<GptCopies> {
        let last = Lba(disk.length_bytes().div_euclid(sector.bytes()).checked_sub(1)?);
        let mut problems = Vec::new();
        let mut copy = |lba, place| match Copy::read(disk, lba, sector, place) {
            Ok(copy) => copy,
            Err(problem) => {
                problems.push(problem);
                None
            }
        };
        let primary = copy(Lba(1), GptCopyPlace::Primary);
        let mut backup = (last > Lba(1)).then(|| copy(last, GptCopyPlace::Backup)).flatten();
        let named = primary.as_ref().map(|primary| primary.header.alternate_lba);
        if let Some(named) = named
            && (Lba(2)..last).contains(&named)
            && !backup.as_ref().is_some_and(Copy::is_sound)
        {
            let elsewhere = copy(named, GptCopyPlace::Backup);
            let is_better = elsewhere.as_ref().is_some_and(Copy::is_sound) || backup.is_none();
            backup = if is_better { elsewhere } else { backup };
        }
        let is_found = primary.is_some() || backup.is_some();
        is_found.then_some(GptCopies { sector, last, primary, backup, problems })
    }

    /// The copy that the table is read from.
    fn chosen(&self) -> &Copy {
        let copies = [&self.primary, &self.backup].into_iter().flatten();
        // The primary where both are equally good.
        copies.min_by_key(|copy| copy.doubt()).expect("a pair has at least one copy")
    }

    fn is_sound(&self) -> bool {
        self.chosen().is_sound()
    }

    fn repair(&self, disk: &dyn Disk, protective: &Protective) -> Option<Repair> {
        if let Some(why) = self.unwritable() {
            return Some(Repair::Unsafe(why));
        }
        let copies = [&self.primary, &self.backup].map(|copy| copy.as_ref());
        let sound = copies.into_iter().flatten().filter(|copy| copy.is_sound()).count();
        let ends = self.primary.as_ref().filter(|primary| primary.is_sound());
        if let Some(end) = ends.map(|primary| primary.header.alternate_lba)
            && end > self.last
        {
            let bytes = Lba(end.0.checked_add(1)?).to_bytes(self.sector)?;
            let is_free = self.is_free_before_the_end(disk, end);
            return Some(if is_free {
                Repair::Extend(bytes)
            } else {
                Repair::Unsafe(rewrite::LAST)
            });
        }
        let is_same = match copies {
            [Some(primary), Some(backup)] => compare::are_same(primary, backup),
            _ => true,
        };
        let is_clear = sound == 1 || (sound == 2 && is_same);
        let lacks_mbr = !protective.is_present;
        // What an MBR with other partitions is for, nobody here can tell.
        if !is_clear || (lacks_mbr && !protective.is_blank) {
            return Some(Repair::Choose);
        }
        if let Some(obstacle) = self.obstacle(disk) {
            // sgdisk forgets the mark of the protective MBR, too.
            let is_plain = !protective.is_active && protective.hybrid.is_empty();
            return Some(match obstacle {
                RewriteObstacle::AfterEntries(count) if is_plain => Repair::FewerEntries(count),
                other => Repair::Unsafe(other.reason()),
            });
        }
        let backup = self.backup.as_ref().filter(|_| ends.is_none());
        let backup_end_bytes =
            backup.and_then(|backup| Lba(backup.lba.0.checked_add(1)?).to_bytes(self.sector));
        let is_active = protective.is_active;
        Some(Repair::Rewrite(GptRewrite { backup_end_bytes, lacks_mbr, is_active }))
    }

    fn describe(&self, disk: &dyn Disk, mut others: Vec<Problem>) -> WeighedGpt {
        let chosen = self.chosen();
        let PartitionListing { partitions, problems: listed } =
            listing::list(chosen, self.sector, disk.length_bytes());
        let protective = protective::read(disk, self.sector, self.last, &partitions);
        let mut problems = self.problems.clone();
        for copy in [&self.primary, &self.backup].into_iter().flatten() {
            problems.extend(copy.problems.iter().cloned());
        }
        problems.extend(compare::compare(self));
        problems.extend(listed);
        problems.extend(protective.problems.iter().cloned());
        problems.append(&mut others);
        let value = PartitionTable {
            kind: TableKind::Gpt,
            sector: self.sector,
            id: Some(header::guid(&chosen.header.disk_guid)),
            partitions,
            usable: usable(chosen, self.sector),
            boot_code: protective.has_code,
            repair: self.repair(disk, &protective),
            hybrid: protective.hybrid,
        };
        let table = Parsed { value, problems };
        WeighedGpt {
            table,
            is_protected: protective.is_present,
            is_primary_sound: self.primary.as_ref().is_some_and(Copy::is_sound),
            at_bytes: chosen.at_bytes,
        }
    }
}

/// The bytes of the usable range; `None` when its end is before its start or beyond 64 bits.
fn usable(copy: &Copy, sector: SectorSize) -> Option<ByteRange> {
    let start = copy.header.first_usable_lba.to_bytes(sector)?;
    let end = Lba(copy.header.last_usable_lba.0.checked_add(1)?).to_bytes(sector)?;
    ByteRange::new(start, end.checked_sub(start).filter(|&length| length > 0)?)
}
