//! The plan: what is on the disk, where it goes, and what no move mends.

use std::collections::BTreeMap;
use std::rc::Rc;

use device::Disk;
use format::table::{PartitionRole, TableKind};
use stack::judge::Judgment;
use stack::rule::RuleInput;
use stack::{LayerId, LayerKind, Stack, UnitKind};
use units::ByteRange;
use units::prefix::Exact;

use crate::best_places::{self, NewRange};
use crate::free_space::{self, FreeSpace};
use crate::immovable;
use crate::moves::{self, Move};
use crate::new_table_bytes::{self, Placed, Region, Sectors};
use crate::old_table_bytes::{RECORD_BYTES, TableBytes};
use crate::partition_needs::{PartitionNeeds, StartUnit};
use crate::refusal::{self, NoPlan};
use crate::start_fields;
use crate::surveyed_disk::SurveyedDisk;

/// Length of the head by which a partition in which nothing was recognized is known again, in
/// bytes: superblocks that a tool wrote there since are found in it.
const HEAD_BYTES: u64 = 128 << 10;

/// Space that GRUB's manual recommends before the first partition of an MBR, in bytes.
const GRUB_GAP: u64 = 1 << 20;

/// Begin of the sentence on partitions that move, and in which nothing was recognized. It is of no
/// use where they are known to be blank.
pub const UNKNOWN_CONTENT: &str = "straddle knows no content in";

/// A change of a whole disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskPlan {
    /// The layer that holds the table.
    pub disk: LayerId,
    /// The disk's length in bytes.
    pub disk_bytes: u64,
    /// The table's kind.
    pub table: TableKind,
    /// The sector in which the table counts now, in bytes.
    pub old_sector_bytes: u64,
    /// The sector in which it will count.
    pub sector_bytes: u64,
    /// Units that starts are aligned to: each one's purpose, length in bytes, and true if it is
    /// assumed.
    pub units: Vec<(UnitKind, u64, bool)>,
    /// Every partition, in order of number.
    pub rows: Vec<PlannedPartition>,
    /// Moves, in order.
    pub moves: Vec<Move>,
    /// Writes of the table, in order.
    pub regions: Vec<Region>,
    /// Runs of the disk that hold the table now, and stay until it is written.
    pub known_table: Vec<(u64, Vec<u8>)>,
    /// Other runs by which the disk is known again before anything is written.
    pub known_content: Vec<(u64, Vec<u8>)>,
    /// Free space that partitions take, which must still be blank then.
    pub blank_space: Vec<ByteRange>,
    /// Free space that is to be blanked, since superblocks that have moved would be found there.
    pub leftovers: Vec<ByteRange>,
    /// Misalignments that no move mends.
    pub unmended: Vec<Unmended>,
    /// Steps after the plan.
    pub afterwards: Vec<String>,
}

/// A partition before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedPartition {
    /// Its number.
    pub number: u32,
    /// Its layer.
    pub layer: LayerId,
    /// The type's name, or its code.
    pub kind: String,
    /// The name in the table; harmless to print.
    pub name: Option<String>,
    /// Its recognized content.
    pub content: Option<String>,
    /// Its range now.
    pub old: ByteRange,
    /// Its range afterwards.
    pub new: ByteRange,
    /// Why it is changed, or stays although it is misaligned.
    pub why: String,
}

/// Misalignment that no move mends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmended {
    /// The partition's number.
    pub number: u32,
    /// Misalignment and advice, in a sentence.
    pub what: String,
    /// True if the partition could be aligned if there were room.
    pub lacks_room: bool,
}

impl PlannedPartition {
    /// Returns whether its data moves.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.old.start_bytes() != self.new.start_bytes()
    }
}

impl DiskPlan {
    /// Returns whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty() && self.moves.is_empty()
    }

    /// The bytes that are copied.
    #[must_use]
    pub fn moved_bytes(&self) -> u64 {
        self.moves.iter().map(|one| one.length_bytes).sum()
    }

    /// Returns whether the table is written for sectors of another size.
    pub(crate) fn converts(&self) -> bool {
        self.old_sector_bytes != self.sector_bytes
    }
}

/// The layer of `stack` whose partition table is planned: the one that the kernel calls `device`,
/// or the lowest that has one.
#[must_use]
pub fn disk_of(stack: &Stack, device: Option<&str>) -> Option<LayerId> {
    let has_table = |id: &LayerId| {
        let tables = &stack.layer(*id).tables;
        tables.iter().any(|table| !table.partitions.is_empty())
    };
    if let Some(device) = device {
        let is_named = |id: LayerId| match &stack.layer(id).kind {
            LayerKind::Drive(drive) => drive.name == device,
            _ => stack.layer(id).device.as_deref() == Some(device),
        };
        let named = stack.iter().map(|(id, _)| id).find(|&id| is_named(id))?;
        return stack.under(named).into_iter().rev().find(has_table);
    }
    stack.iter().map(|(id, _)| id).find(has_table)
}

/// The cheapest sufficient change of the partitions on layer `disk` of the stack of `case`.
///
/// # Errors
/// Why there is none: no table that may be rewritten, or one that is damaged.
pub fn plan(case: &RuleInput<'_>, disk: LayerId) -> Result<DiskPlan, NoPlan> {
    plan_around(case, disk, &BTreeMap::new())
}

/// The same as [`plan`], with partitions that stay, each for a reason.
///
/// # Errors
/// When [`plan`] fails.
pub fn plan_around(
    case: &RuleInput<'_>,
    disk: LayerId,
    held: &BTreeMap<u32, String>,
) -> Result<DiskPlan, NoPlan> {
    let mut ground = SurveyedDisk::survey(case, disk, None)?;
    for piece in &mut ground.pieces {
        if let Some(reason) = held.get(&piece.number) {
            piece.fixed.get_or_insert_with(|| reason.clone());
        }
    }
    let mut plan = ground.plan(case.judgments)?;
    let stays = |row: &PlannedPartition| {
        let (number, reason) = (row.number, held.get(&row.number)?);
        let what = format!("partition {number} stays where it is: {reason}");
        Some(Unmended { number, what, lacks_room: false })
    };
    let stay: Vec<Unmended> = plan.rows.iter().filter_map(stays).collect();
    plan.unmended.extend(stay);
    Ok(plan)
}

impl SurveyedDisk<'_> {
    pub(crate) fn plan(&mut self, judgments: &[Judgment]) -> Result<DiskPlan, NoPlan> {
        let old = |piece: &PartitionNeeds| NewRange {
            start: piece.range.start_bytes(),
            length: piece.range.length_bytes(),
        };
        let bytes = Rc::clone(&self.bytes);
        let mut free = FreeSpace::new(bytes.as_ref(), Some(&self.raw), &self.pieces);
        let found = free_space::settled(&mut free, &mut self.pieces, self.room);
        let found = found.ok_or_else(|| refusal::unfit(&self.pieces, self.table, self.room))?;
        let mut placed = Vec::new();
        let mut rows = Vec::new();
        let mut unmended = Vec::new();
        let mut obstacles = Vec::new();
        for (piece, &new) in self.pieces.iter().zip(&found) {
            let odd = [new.start, new.start + new.length]
                .iter()
                .any(|at| !at.is_multiple_of(self.room.sector));
            if odd {
                obstacles.push(refusal::inexpressible(piece, self.room.sector));
                continue;
            }
            let record_at =
                piece.record_at.map(|_| best_places::gap_start(piece, new.start, self.room));
            placed.push(Placed { number: piece.number, old: old(piece), new, record_at });
            let row = self.row(piece, new, judgments);
            unmended.extend(self.unmended(piece, &row));
            rows.push(row);
        }
        if let Some(obstacle) = refusal::together(obstacles) {
            return Err(obstacle);
        }
        let moves = self
            .pieces
            .iter()
            .zip(&found)
            .filter(|(piece, new)| piece.range.start_bytes() != new.start);
        let moves = moves::ordered(moves.map(|(piece, &new)| self.moved(piece, new)).collect());
        self.contain(&mut placed);
        placed.sort_by_key(|one| one.number);
        rows.sort_by_key(|row| row.number);
        let sectors = Sectors { old: self.table.sector.bytes(), new: self.room.sector };
        let regions = new_table_bytes::regions(self.bytes.as_ref(), &self.raw, &placed, sectors)
            .map_err(|reason| NoPlan::new(reason, None))?;
        if let Some(at) = free.unknown_bytes(&regions) {
            return Err(refusal::unknown(at));
        }
        let mut afterwards = self.afterwards(&moves);
        let numbers: Vec<u32> = rows.iter().map(|row| row.number).collect();
        let containers = placed.iter().filter(|one| !numbers.contains(&one.number));
        afterwards.extend(containers.filter(|one| one.old != one.new).map(|one| {
            let count = |bytes: u64, sector: u64| bytes.div_euclid(sector);
            format!(
                "the extended partition {} follows what is in it: start {} -> {}, sectors {} -> {}",
                one.number,
                count(one.old.start, sectors.old),
                count(one.new.start, sectors.new),
                count(one.old.length, sectors.old),
                count(one.new.length, sectors.new)
            )
        }));
        let (known_table, known_content) = self.witnesses(&moves, &rows);
        let records = placed.iter().filter_map(|one| ByteRange::new(one.record_at?, RECORD_BYTES));
        let blank_space = free.blank_in(rows.iter().map(|row| row.new).chain(records));
        let written =
            |region: &Region| ByteRange::new(region.at_bytes, device::disk::length_of(&region.new));
        let taken = rows.iter().map(|row| row.new).chain(regions.iter().filter_map(written));
        let leftovers = moves::leftovers(&moves, taken);
        let unit = |mark: &StartUnit| (mark.kind, mark.unit, mark.assumed);
        let units = self.marks.iter().skip(1).map(unit).collect();
        Ok(DiskPlan {
            disk: self.disk,
            disk_bytes: self.bytes.length_bytes(),
            table: self.table.kind,
            old_sector_bytes: sectors.old,
            sector_bytes: sectors.new,
            units,
            rows,
            moves,
            regions,
            known_table,
            known_content,
            blank_space,
            leftovers,
            unmended,
            afterwards,
        })
    }

    /// Gives each extended partition what its logical ones need.
    fn contain(&self, placed: &mut Vec<Placed>) {
        let logical: Vec<&Placed> = placed.iter().filter(|one| one.record_at.is_some()).collect();
        let first = logical.iter().filter_map(|one| one.record_at).min();
        let last = logical.iter().map(|one| one.new.start + one.new.length).max();
        let containers = self.table.partitions.iter().filter(|one| is_extended(one.role));
        let found: Vec<Placed> = containers
            .map(|container| {
                let range = container.range;
                let old = NewRange { start: range.start_bytes(), length: range.length_bytes() };
                let new = match (first, last) {
                    (Some(first), Some(last)) => {
                        let after = placed.iter().filter(|one| one.record_at.is_none());
                        let next = after.map(|one| one.new.start).filter(|&at| at >= last).min();
                        let limit = next.unwrap_or(self.room.end);
                        let end = range.end_bytes().clamp(last, limit.max(last));
                        let end = end.div_euclid(self.room.sector) * self.room.sector;
                        NewRange { start: first, length: end - first }
                    }
                    _ => old,
                };
                Placed { number: container.number, old, new, record_at: None }
            })
            .collect();
        placed.extend(found);
    }

    fn moved(&self, piece: &PartitionNeeds, new: NewRange) -> Move {
        let range = piece.range;
        let old = NewRange { start: range.start_bytes(), length: range.length_bytes() };
        let volume = device::Window::new(Rc::clone(&self.bytes), range);
        let kind = piece.content.as_deref().unwrap_or_default();
        let fixes = start_fields::fix_ups(&volume, kind, old.start, new.start);
        Move::new(piece.number, old, new, piece.exact.is_some(), fixes)
    }

    fn row(
        &self,
        piece: &PartitionNeeds,
        new: NewRange,
        judgments: &[Judgment],
    ) -> PlannedPartition {
        let partition = self.table.partitions.iter().find(|one| one.number == piece.number);
        let kind = partition.map(|one| match one.type_name {
            Some(name) => name.to_owned(),
            None => one.type_code.clone(),
        });
        let name = partition.and_then(|one| one.name.as_ref()).map(ToString::to_string);
        let new = ByteRange::new(new.start, new.length).unwrap_or(piece.range);
        let moved = new.start_bytes() != piece.range.start_bytes();
        let stays_off = !piece.wants && !piece.is_good();
        let why = if moved && !piece.is_good() {
            self.miss(piece, judgments)
        } else if moved {
            "makes room for its neighbor".to_owned()
        } else if new != piece.range {
            let stays = "; its start stays: rarely written (ST104)";
            let stays = if stays_off { stays } else { "" };
            format!("its end moves to a {} boundary{stays}", Exact(self.room.ends.unit))
        } else if stays_off {
            "its start stays: rarely written, so it costs nothing (ST104)".to_owned()
        } else {
            String::new()
        };
        PlannedPartition {
            number: piece.number,
            layer: piece.layer,
            kind: kind.unwrap_or_default(),
            name: name.filter(|name| !name.is_empty()),
            content: piece.content.clone(),
            old: piece.range,
            new,
            why,
        }
    }

    /// By how much a partition's data misses which unit.
    fn miss(&self, piece: &PartitionNeeds, judgments: &[Judgment]) -> String {
        let over = self.case.stack.over(piece.layer);
        let miss = over.iter().rev().chain([&piece.layer]).find_map(|id| judgments[id.0].miss());
        match miss.and_then(|miss| Some((miss.offset_bytes?, miss))) {
            Some((bytes, miss)) => format!(
                "its data starts {} after a {} {} boundary",
                Exact(bytes),
                Exact(miss.unit.length_bytes()),
                miss.kind.words()
            ),
            None => "its data is not on the units below".to_owned(),
        }
    }

    /// Returns the misalignments that this partition keeps, and what would help.
    fn unmended(&self, piece: &PartitionNeeds, row: &PlannedPartition) -> Vec<Unmended> {
        let number = piece.number;
        let mut found = Vec::new();
        let mut put = |what, lacks_room| found.push(Unmended { number, what, lacks_room });
        let sector = self.room.sector;
        let missed = piece.missed(row.new.start_bytes()).filter(|_| piece.wants);
        if let Some(missed) = missed {
            let stays = match missed {
                UnitKind::Granule => "stays misaligned".to_owned(),
                unit => format!("stays off the {}", unit.words()),
            };
            let start = piece.grid().after(row.new.start_bytes());
            let end = self.room.ends.before(row.new.end_bytes());
            let fixed = piece.fixed.as_deref();
            let advice = fixed.and_then(|why| Some((why, immovable::advice(why)?)));
            let what = match start.zip(end).filter(|(start, end)| end > start) {
                _ if let Some((why, advice)) = advice => {
                    format!("partition {number} {stays}: {why}. {advice}")
                }
                Some((start, end)) => {
                    let length = end - start;
                    let cut = row.new.length_bytes().saturating_sub(length).div_euclid(sector);
                    let noun = if cut == 1 { "sector" } else { "sectors" };
                    let (why, smaller) = match (&piece.fixed, cut) {
                        (Some(reason), _) => (reason.clone(), ""),
                        (None, 0) => (piece.lack(), ""),
                        (None, _) if !piece.in_the_way.is_empty() => (piece.lack(), " smaller,"),
                        (None, _) => (
                            format!("it cannot be aligned without making it {cut} {noun} smaller"),
                            " smaller,",
                        ),
                    };
                    format!(
                        "partition {number} {stays}: {why}. Back it up, recreate it{smaller} at \
                         sector {} ({}) with {} sectors, restore",
                        start.div_euclid(sector),
                        Exact(start),
                        length.div_euclid(sector)
                    )
                }
                None => {
                    let why = piece.fixed.clone().unwrap_or_else(|| piece.lack());
                    format!(
                        "partition {number} {stays}: {why}. Back it up, delete it, restore \
                         elsewhere"
                    )
                }
            };
            put(what, piece.fixed.is_none());
        } else if piece.wants
            && self.room.ends.holds(row.new.start_bytes())
            && !self.room.ends.holds(row.new.end_bytes())
        {
            let stays = piece.exact.map(|why| format!("{why}, so its length is kept"));
            let taken = if piece.fixed.is_some() {
                "it must stay as it is"
            } else if !piece.in_the_way.is_empty() {
                &piece.lack()
            } else if piece.content.is_none() {
                "nothing is recognized in it, so it is not cut, and the space after it is taken"
            } else {
                "a shorter one would cut its content, and the space after it is taken"
            };
            let why = stays.unwrap_or_else(|| taken.to_owned());
            put(format!("the end of partition {number} stays off the granule: {why}"), false);
        }
        if piece.wants && !piece.unmet.is_empty() {
            let units: Vec<&str> = piece.unmet.iter().map(|unit| unit.words()).collect();
            let what = format!(
                "the data of partition {number} is off the {} by differing amounts, so no start \
                 aligns all of it",
                units.join(" and the ")
            );
            put(what, false);
        }
        found
    }

    fn afterwards(&self, moves: &[Move]) -> Vec<String> {
        let mut found = Vec::new();
        if moves.is_empty() {
            return found;
        }
        let kind = |number: u32| {
            let piece = self.pieces.iter().find(|piece| piece.number == number);
            piece.and_then(|piece| piece.content.as_deref()).unwrap_or_default()
        };
        if self.table.boot_code {
            found.push(
                "boots by BIOS: if the boot loader keeps sector numbers (GRUB in a partition, \
                 LILO, SYSLINUX), install it again: grub-install DISK"
                    .to_owned(),
            );
            // GRUB's manual, "BIOS installation": the space before the first partition.
            if self.table.kind == TableKind::Mbr && moves.iter().any(|one| one.to_bytes < GRUB_GAP)
            {
                found.push(
                    "the space before the first partition stays below 1 MiB, too little for GRUB \
                     to read LVM, RAID or btrfs: to start it at 1 MiB, plan with --on granule=1M"
                        .to_owned(),
                );
            }
        }
        if self.table.kind == TableKind::Mbr && moves.iter().any(|one| kind(one.number) == "ntfs") {
            found.push(
                "Windows on an MBR disk keeps byte addresses of partitions: if Windows boots from \
                 here, run bcdboot from its recovery console; drive letters may change"
                    .to_owned(),
            );
        }
        let is_esp = |number: u32| {
            let role = self.table.partitions.iter().find(|one| one.number == number);
            role.is_some_and(|one| one.role == PartitionRole::EfiSystem)
        };
        if moves.iter().any(|one| is_esp(one.number)) {
            found.push(
                "the EFI system partition moved: if the firmware does not find it, make its entry \
                 again: efibootmgr -c, or grub-install"
                    .to_owned(),
            );
        }
        let mut blank: Vec<u32> =
            moves.iter().map(|one| one.number).filter(|&number| kind(number).is_empty()).collect();
        blank.sort_unstable();
        let blank: Vec<String> = blank.iter().map(ToString::to_string).collect();
        if !blank.is_empty() {
            let numbers = blank.join(", ");
            let noun = if blank.len() == 1 { "partition" } else { "partitions" };
            found.push(format!(
                "{UNKNOWN_CONTENT} {noun} {numbers}; after the script, make sure that \
                 what you keep there still works"
            ));
        }
        found.push(
            "if a script, virtual machine or loop device has a partition's old offset, change it"
                .to_owned(),
        );
        found
    }

    /// The table, and something of the content of every partition that changes: what it is known
    /// by, and what is cut of it.
    fn witnesses(&self, moves: &[Move], rows: &[PlannedPartition]) -> (Vec<Known>, Vec<Known>) {
        let mut table: Vec<Known> = Vec::new();
        let mut content = Vec::new();
        match &self.raw {
            TableBytes::Mbr(mbr) => {
                table.push((0, mbr.mbr.clone()));
                content.extend(mbr.records.iter().map(|one| (one.at_bytes, one.bytes.clone())));
            }
            TableBytes::Gpt(gpt) => {
                table.push((0, gpt.mbr.clone()));
                for copy in [&gpt.primary, &gpt.backup] {
                    table.push((copy.at_bytes, copy.header.clone()));
                    table.push((copy.entries_at_bytes, gpt.entries.clone()));
                }
            }
        }
        for row in rows.iter().filter(|row| row.old != row.new) {
            let head = [(0, HEAD_BYTES.min(row.old.length_bytes()))];
            let runs = match &row.content {
                Some(kind) => start_fields::witnesses(kind),
                None => &head,
            };
            for &(at, length) in runs {
                let at = row.old.start_bytes() + at;
                let bytes = device::disk::read_vec(self.bytes.as_ref(), at, length);
                content.extend(bytes.ok().map(|bytes| (at, bytes)));
            }
            // Zeros that are cut must still be zeros.
            let end = row.old.start_bytes() + row.new.length_bytes();
            if let Some(cut) = row.old.end_bytes().checked_sub(end).filter(|&cut| cut > 0) {
                let bytes = device::disk::read_vec(self.bytes.as_ref(), end, cut);
                content.extend(bytes.ok().map(|bytes| (end, bytes)));
            }
        }
        for one in moves {
            for fix in &one.fix_ups {
                content.push((one.from_bytes + fix.at_bytes, fix.old.clone()));
            }
        }
        (table, content)
    }
}

/// A run of the disk and what it holds.
type Known = (u64, Vec<u8>);

fn is_extended(role: PartitionRole) -> bool {
    matches!(role, PartitionRole::Extended)
}
