//! Partitions as layers.

use std::rc::Rc;

use device::{Disk, Window};
use format::Problem;
use format::lost_table;
use format::probe::{self, Hint, ProbedContent, Reading};
use format::table::bsd::Counting;
use format::table::{Partition, PartitionRole, PartitionTable, TableKind};
use units::{ByteRange, Known, SectorSize, Source};

use super::{Assembler, LookedAt, TablesInForce, holds_data};
use crate::layer::{Layer, LayerKind, PartitionTableInfo};
use crate::mapping::{Below, Mapping};

/// Returns whether a table of `kind` may be in force in a place.
pub(super) fn allowed(tables: TablesInForce, kind: TableKind) -> bool {
    match tables {
        TablesInForce::Any => true,
        TablesInForce::Bsd => kind == TableKind::Bsd,
        TablesInForce::None => false,
    }
}

/// Number of partitions looked into to learn in which sectors a table counts.
const PARTITIONS_TRIED: usize = 16;

impl Assembler<'_> {
    /// A layer for each partition, and its bytes into the queue.
    pub(super) fn table(&mut self, job: &LookedAt, table: PartitionTable, problems: Vec<Problem>) {
        let Right { table, problems, mut looked } = at_the_right_sector(job, table, problems);
        let info = PartitionTableInfo { kind: table.kind, sector: table.sector };
        for partition in &table.partitions {
            // What was found with another sector in mind is not what would be found now.
            let looked = looked.take_if(|(range, _)| {
                *range == partition.range && table.sector == job.sector && job.start_bytes == 0
            });
            let found = looked.map(|(_, found)| found);
            self.partition(job, partition.clone(), info, found);
        }
        let layer = self.stack.layer_mut(job.id);
        layer.problems.extend(problems);
        layer.tables.push(table);
    }

    fn partition(
        &mut self,
        job: &LookedAt,
        partition: Partition,
        info: PartitionTableInfo,
        found: Option<Reading>,
    ) {
        let range = partition.range;
        let role = partition.role;
        let counting = Counting::of_slice(&partition.type_code);
        let disk = self.stack.layer(job.id);
        let device = matches!(disk.kind, LayerKind::Drive(_));
        let name = partition_name(&disk.name, device, info.kind, partition.number);
        let below = Below { layer: job.id, offset_bytes: range.start_bytes() };
        let length = Known::yes(range.length_bytes(), Source::OnDisk);
        let kind = LayerKind::Partition(Box::new(partition), info);
        let layer = Layer::new(kind, name, length, Mapping::Linear(below));
        let Some(id) = self.add(job.id, layer) else { return };
        if !holds_data(role) || range.length_bytes() == 0 {
            return;
        }
        // An image that ends early still shows the partitions that begin within it.
        if range.start_bytes() >= job.disk.length_bytes() {
            return;
        }
        let tables =
            if role == PartitionRole::BsdSlice { TablesInForce::Bsd } else { TablesInForce::None };
        self.jobs.push_back(LookedAt {
            id,
            disk: Rc::new(Window::new(Rc::clone(&job.disk), range)),
            sector: job.sector,
            start_bytes: job.start_bytes.saturating_add(range.start_bytes()),
            counting,
            tables,
            depth: job.depth + 1,
            found,
        });
    }
}

/// `sda1`, `nvme0n1p1` as the kernel does; for anything else than a device `name#1`; BSD partitions
/// by letter.
fn partition_name(disk: &str, device: bool, kind: TableKind, number: u32) -> String {
    if kind == TableKind::Bsd {
        let letter = number.checked_sub(1).and_then(|place| u8::try_from(place).ok());
        let letter = letter.and_then(|place| b'a'.checked_add(place)).unwrap_or(b'?');
        return format!("{disk}{}", char::from(letter));
    }
    if !device {
        return format!("{disk}#{number}");
    }
    let digit = disk.ends_with(|last: char| last.is_ascii_digit());
    format!("{disk}{}{number}", if digit { "p" } else { "" })
}

/// An MBR does not say in which sectors it counts: a disk behind a bridge may have been written in
/// others. Where nothing is found at the starts that the expected sector gives, and something is at
/// those that the other one gives, the other one is right; so it is where only the other one's
/// partitions fit the disk. Partitions that are eight times too large for a 4 KiB sector, as one in
/// an image made for 512 is, would otherwise be judged where nobody put them.
fn at_the_right_sector(job: &LookedAt, table: PartitionTable, problems: Vec<Problem>) -> Right {
    if table.kind != TableKind::Mbr {
        return Right { table, problems, looked: None };
    }
    let looked = something(job, &table);
    if looked.is_some() {
        return Right { table, problems, looked };
    }
    let other = if table.sector == SectorSize::B512 { SectorSize::B4096 } else { SectorSize::B512 };
    let Some(mut found) = format::table::mbr::read(job.disk.as_ref(), other) else {
        return Right { table, problems, looked };
    };
    // What protects a GPT that is lost starts at sector 1, whatever its length.
    found.value.partitions.retain(|partition| partition.role != PartitionRole::Protective);
    let looked = something(job, &found.value).filter(|looked| is_evidence(job, looked));
    if looked.is_some() || !fits(job, &table) && fits(job, &found.value) {
        return Right { table: found.value, problems: found.problems, looked };
    }
    Right { table, problems, looked }
}

/// Returns whether what is recognized at the start of a partition began there: no copy of a
/// superblock, and no backup of a GPT, as older contents of a disk leave anywhere.
fn is_evidence(job: &LookedAt, (range, found): &Looked) -> bool {
    let kind = |content: &ProbedContent| match content {
        ProbedContent::Table(table) => Some(table.kind),
        _ => None,
    };
    let is_gpt = found.contents().all(|content| kind(content) == Some(TableKind::Gpt));
    !is_gpt && !lost_table::is_copy_at(job.disk.as_ref(), range.start_bytes())
}

/// A table read in the sector in which it counts.
struct Right {
    table: PartitionTable,
    problems: Vec<Problem>,
    looked: Option<Looked>,
}

/// Finds on one partition.
type Looked = (ByteRange, Reading);

/// Returns whether there are partitions, and all end within the disk.
fn fits(job: &LookedAt, table: &PartitionTable) -> bool {
    let length = job.disk.length_bytes();
    let within = |partition: &Partition| partition.range.end_bytes() <= length;
    !table.partitions.is_empty() && table.partitions.iter().all(within)
}

/// Returns what is recognized on the first of a table's first partitions that holds anything.
fn something(job: &LookedAt, table: &PartitionTable) -> Option<Looked> {
    let length = job.disk.length_bytes();
    let within = |partition: &&Partition| {
        holds_data(partition.role) && partition.range.start_bytes() < length
    };
    table.partitions.iter().filter(within).take(PARTITIONS_TRIED).find_map(|partition| {
        let window = Window::new(Rc::clone(&job.disk), partition.range);
        let start_bytes = partition.range.start_bytes();
        let counting = Counting::of_slice(&partition.type_code);
        let hint = Hint { sector: table.sector, start_bytes, counting, tables: true };
        let found = probe::read(&window, hint);
        (!found.is_empty()).then_some((partition.range, found))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_named_as_the_kernel_names_them() {
        for (disk, device, number, name) in [
            ("sda", true, 1, "sda1"),
            ("nvme0n1", true, 2, "nvme0n1p2"),
            ("disk.raw", false, 1, "disk.raw#1"),
            ("loop0", true, 3, "loop0p3"),
        ] {
            assert_eq!(partition_name(disk, device, TableKind::Gpt, number), name);
        }
        assert_eq!(partition_name("ada0s1", false, TableKind::Bsd, 1), "ada0s1a");
    }
}
