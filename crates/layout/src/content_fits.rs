//! A check that partitions still hold what they held when the table was planned, as far as their
//! lengths depend on it: a file system may have grown, another one may have been made.

use std::rc::Rc;

use device::{Disk, NoFiles, ReadError, Window};
use format::filesystem::{self, FileSystem};
use format::table::Partition;
use stack::assemble::{Start, StartKind, assemble};
use stack::{Condition, LayerId, LayerKind, Stack};
use units::prefix::in_one_unit;
use units::{ByteRange, SectorSize};

use crate::affected_ranges::{is_container, of_number, outside, table_sectors};
use crate::content_needs::ContentNeeds;
use crate::fat::RebuiltFat;
use crate::in_the_way::used_byte;
use crate::table_change::{Side, TableChange, TableWrite};
use crate::table_check::Case;

/// Checks that every partition of `disk` whose length `change` changes, carried out towards `to`,
/// has a content that allows that.
///
/// # Errors
/// The first reason not to write, to follow "cannot apply PLAN: ".
pub fn content_fits(change: &TableChange, disk: &Rc<dyn Disk>, to: Side) -> Result<(), String> {
    let from = match to {
        Side::New => Side::Old,
        Side::Old => Side::New,
    };
    let case = Case { change, disk: disk.as_ref() };
    rebuilt_from_the_disk(change, disk)?;
    let [old, new] = [from, to].map(|side| case.table(side));
    let (Some(old), Some(new)) = (old, new) else { return Ok(()) };
    let changed = |one: &&Partition| {
        let is_other = of_number(&new.partitions, one.number)
            .is_some_and(|next| next.range.length_bytes() != one.range.length_bytes());
        is_other && !is_container(one) && !change.rebuilt.contains(&one.number)
    };
    let changed: Vec<&Partition> = old.partitions.iter().filter(changed).collect();
    if changed.is_empty() {
        return Ok(());
    }
    let stack = stack_of(change, disk, from);
    for one in changed {
        let next = of_number(&new.partitions, one.number).map_or(one.range, |next| next.range);
        let tables = table_sectors(change, [&old.partitions, &new.partitions]);
        let fits = fits(&stack, one, next.length_bytes(), &tables, disk, to);
        fits.map_err(|reason| format!("partition {}: {reason}", one.number))?;
    }
    Ok(())
}

/// Rejects writes into a partition that are not those of the FAT that is rebuilt from what is on
/// the disk.
fn rebuilt_from_the_disk(change: &TableChange, disk: &Rc<dyn Disk>) -> Result<(), String> {
    let new = Case { change, disk: disk.as_ref() }.table(Side::New);
    let old: Rc<dyn Disk> =
        Rc::new(WithTable { disk: Rc::clone(disk), change: change.clone(), side: Side::Old });
    for &number in &change.rebuilt {
        let wrong = |why: &str| format!("its writes are not the FAT of partition {number}: {why}");
        let one = new.as_ref().and_then(|new| of_number(&new.partitions, number));
        let range = one.ok_or_else(|| wrong("the table does not list it"))?.range;
        let volume: Rc<dyn Disk> = Rc::new(Window::new(Rc::clone(&old), range));
        let fat = RebuiltFat::new(&volume, change.new_sector_bytes).map_err(|why| wrong(&why))?;
        let is_in = |write: &&TableWrite| write.range().is_some_and(|one| one.overlaps(range));
        let planned: Vec<&TableWrite> = change.writes.iter().filter(is_in).collect();
        let bytes = planned.iter().map(|write| device::disk::length_of(&write.new)).sum();
        let writes =
            fat.writes(&volume, range.start_bytes(), "", bytes).map_err(|why| wrong(&why))?;
        let places = |write: &TableWrite| (write.at_bytes, write.new.clone());
        if !writes.iter().map(places).eq(planned.into_iter().map(places)) {
            return Err(wrong("it would hold other files"));
        }
    }
    let kept = new.iter().flat_map(|new| &new.partitions);
    let kept = kept.filter(|one| !change.rebuilt.contains(&one.number));
    for one in kept.filter(|_| change.old_sector_bytes != change.new_sector_bytes) {
        let volume = Window::new(Rc::clone(&old), one.range);
        let is_other = |system: &FileSystem| {
            system.kind == "vfat"
                && system.sector_bytes.is_some_and(|bytes| bytes != change.new_sector_bytes)
        };
        if filesystem::read(&volume).iter().any(|found| is_other(&found.value)) {
            let (number, bytes) = (one.number, change.new_sector_bytes);
            return Err(format!("the FAT of partition {number} is not for {bytes}-byte sectors"));
        }
    }
    Ok(())
}

/// Rejects a new length, in bytes, that the content of a partition does not allow.
fn fits(
    stack: &Stack,
    partition: &Partition,
    length: u64,
    tables: &[ByteRange],
    disk: &Rc<dyn Disk>,
    to: Side,
) -> Result<(), String> {
    let volume = Window::new(Rc::clone(disk), partition.range);
    let now = partition.range.length_bytes();
    let id = layer_of(stack, partition).ok_or("it is not found again")?;
    let recognized = ContentNeeds::new(stack, id, now, None, 1);
    let stays = |why: &str| Err(format!("its length would change, and {why}"));
    if let Some(why) = recognized.exact {
        return stays(why);
    }
    let Some(content) = recognized.content else {
        let kept = ByteRange::new(partition.range.start_bytes(), now.min(length));
        // Records of the two tables may be in a blank partition.
        let parts = outside(kept.ok_or("it is too long")?, tables.iter().copied());
        let used = parts.into_iter().find_map(|part| used_byte(disk.as_ref(), part, false));
        return match used {
            None => Ok(()),
            Some(found) if found.is_read => stays("its content is not recognized"),
            Some(found) => stays(&found.words()),
        };
    };
    if recognized.least <= length || now <= length {
        return Ok(());
    }
    // A plan cuts zeros of what may need all. Undone, they may be in use and not yet written.
    let (least, exact) = match to {
        Side::New => {
            let needs = ContentNeeds::new(stack, id, now, Some(&volume), 1);
            (needs.least, needs.exact)
        }
        Side::Old => (recognized.least, None),
    };
    if let Some(why) = exact {
        return stays(why);
    }
    if least <= length {
        return Ok(());
    }
    let verb = if least < now { "needs" } else { "may need all of its" };
    let [least, length] = in_one_unit([least, length]);
    Err(format!("{content} {verb} {least}, and would have {length}"))
}

fn layer_of(stack: &Stack, partition: &Partition) -> Option<LayerId> {
    let is_it = |id: &LayerId| {
        matches!(&stack.layer(*id).kind, LayerKind::Partition(one, _)
            if one.number == partition.number && one.range == partition.range)
    };
    stack.above(crate::disk_of(stack, None)?).iter().copied().find(is_it)
}

/// The stack of `disk` with table `side` of `change`.
fn stack_of(change: &TableChange, disk: &Rc<dyn Disk>, side: Side) -> Stack {
    let identity = device::FileIdentity { device: 0, inode: 0 };
    let kind = StartKind::File { path: Vec::new(), identity };
    let disk = WithTable { disk: Rc::clone(disk), change: change.clone(), side };
    let bytes: Rc<dyn Disk> = Rc::new(disk);
    let start = Start { kind, name: "disk".to_owned(), bytes: Some(Ok(bytes)) };
    let sector = SectorSize::new(change.sector_bytes(side));
    let told = Condition { sector, ..Condition::default() };
    assemble(vec![start], &NoFiles, Some(&told)).stack
}

/// A disk with one of the two tables, whatever was written of the other.
struct WithTable {
    disk: Rc<dyn Disk>,
    change: TableChange,
    side: Side,
}

impl Disk for WithTable {
    fn length_bytes(&self) -> u64 {
        self.disk.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.change.whole(self.disk.as_ref(), self.side).read_at(offset_bytes, buffer)
    }
}
