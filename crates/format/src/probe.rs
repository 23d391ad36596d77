//! Identifies a run of bytes: asks every parser, in one place.

use device::Disk;
use units::SectorSize;

use crate::filesystem::{self, FileSystem};
use crate::heads::Heads;
use crate::member::{bcache, integrity, luks, lvm, md};
use crate::named::{self, Class, Named};
use crate::precedence::{self, Finds};
use crate::table::choice::{self, TableWeight};
use crate::table::{PartitionTable, TableKind};
use crate::{Parsed, Problem};

/// The type of an MBR's entries on a dynamic disk.
const LDM: &str = "0x42";

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbedContent {
    /// A partition table.
    Table(PartitionTable),
    /// A member of an md array.
    Md(md::MdMember),
    /// An LVM2 physical volume.
    Lvm(lvm::PhysicalVolume),
    /// A LUKS container.
    Luks(luks::Luks),
    /// A bcache device.
    Bcache(bcache::Bcache),
    /// A dm-integrity device.
    Integrity(integrity::Integrity),
    /// A file system or swap.
    FileSystem(FileSystem),
    /// A member of an array, or a partition table, that is named and not read.
    Named(&'static Named),
}

/// Place where the bytes are that are probed.
#[derive(Clone, Copy, Debug)]
pub struct Hint {
    /// The logical sector in which tables are expected to count.
    pub sector: SectorSize,
    /// Place where the bytes start on the whole disk: BSD labels may count from there.
    pub start_bytes: u64,
    /// True if a partition table may be there; false in an ordinary partition, where one is not
    /// looked for.
    pub tables: bool,
}

/// Everything that was found, and which of it is in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The member or container in force.
    pub container: Option<Parsed<ProbedContent>>,
    /// The partition table, then the file systems. Where there is a container, they are its
    /// array's, and are to be read there.
    pub found: Vec<Parsed<ProbedContent>>,
    /// All that is not in force.
    pub left_over: Vec<LeftOver>,
    /// The reason why nobody can tell what is in force: `found` then holds the table, and
    /// `left_over` the member.
    pub contest: Option<Problem>,
}

impl Reading {
    /// Returns whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.contents().next().is_none()
    }

    /// All that was found, in force or not.
    pub fn contents(&self) -> impl Iterator<Item = &ProbedContent> {
        let in_force = self.container.iter().chain(&self.found).map(|found| &found.value);
        in_force.chain(self.left_over.iter().map(|left| &left.content))
    }

    /// Adds finds that are not in force for the reason `why`.
    pub(crate) fn leave(
        &mut self,
        finds: impl IntoIterator<Item = Parsed<ProbedContent>>,
        why: &str,
    ) {
        let left = finds.into_iter().map(|found| LeftOver::new(&found.value, why));
        self.left_over.extend(left);
    }
}

/// One thing that was found and is not in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOver {
    /// The thing.
    pub content: ProbedContent,
    /// The reason.
    pub why: String,
}

impl LeftOver {
    pub(crate) fn new(content: &ProbedContent, why: &str) -> LeftOver {
        LeftOver { content: content.clone(), why: why.to_owned() }
    }
}

impl ProbedContent {
    /// Returns what it is, in a few words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            ProbedContent::Table(table) if table.is_backup() => "backup GPT at the end".to_owned(),
            ProbedContent::Table(table) => format!("{} partition table", table.kind.word()),
            ProbedContent::Md(member) => format!("{} RAID member", member.version.words()),
            ProbedContent::Lvm(_) => "LVM physical volume".to_owned(),
            ProbedContent::Luks(luks) => precedence::luks_words(luks),
            ProbedContent::Bcache(_) => "bcache".to_owned(),
            ProbedContent::Integrity(_) => "dm-integrity".to_owned(),
            ProbedContent::FileSystem(system) => system.kind.to_owned(),
            ProbedContent::Named(entry) => entry.what.to_owned(),
        }
    }
}

/// Everything that is on `disk`, and what of it is in force: members and containers (the outer one
/// first), the partition table in use unless `hint` rules one out, file systems.
pub fn read(disk: &dyn Disk, hint: Hint) -> Reading {
    let heads = Heads::new(disk);
    let is_whole = hint.tables && hint.start_bytes == 0;
    let by_name = |wanted: Class| {
        let found = is_whole.then(|| named::find(&heads, |class| class == wanted)).flatten();
        found.map(|(entry, _)| Parsed::sound(ProbedContent::Named(entry)))
    };
    let members = [
        by_name(Class::Raid),
        md::read(disk).map(|found| found.map(ProbedContent::Md)),
        luks::read(disk).map(|found| found.map(ProbedContent::Luks)),
        lvm::read(disk).map(|found| found.map(ProbedContent::Lvm)),
        bcache::read(disk).map(|found| found.map(ProbedContent::Bcache)),
        integrity::read(disk).map(|found| found.map(ProbedContent::Integrity)),
    ];
    let members: Vec<_> = members.into_iter().flatten().collect();
    let systems =
        filesystem::read(disk).into_iter().map(|found| found.map(ProbedContent::FileSystem));
    let systems: Vec<_> = systems.collect();
    let is_empty = members.is_empty() && systems.is_empty();
    let table = hint.tables.then(|| choice::choose(disk, hint.sector, hint.start_bytes)).flatten();
    // In a slice nothing but a BSD label outranks anything.
    let table = table.filter(|choice| {
        is_empty || hint.start_bytes == 0 || choice.table.value.kind == TableKind::Bsd
    });
    let is_weak = table.as_ref().is_none_or(|choice| choice.weight == TableWeight::Weak);
    let is_dynamic = table.as_ref().is_some_and(|choice| is_all_dynamic(&choice.table.value));
    let named = if is_empty && is_weak || is_dynamic { by_name(Class::Table) } else { None };
    let table = table.filter(|_| named.is_none());
    let disk_bytes = disk.length_bytes();
    let mut reading = precedence::decide(Finds { members, table, systems, disk_bytes });
    reading.found.splice(0..0, named);
    reading
}

/// Returns whether an MBR leaves the whole disk to Windows' own manager of volumes.
fn is_all_dynamic(table: &PartitionTable) -> bool {
    let mut partitions = table.partitions.iter();
    table.kind == TableKind::Mbr
        && !table.partitions.is_empty()
        && partitions.all(|partition| partition.type_code == LDM)
}
