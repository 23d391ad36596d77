//! Everything that was found on the same bytes, and which of it is in force.

use units::prefix::Exact;

use crate::filesystem::FileSystem;
use crate::member::bcache::{Bcache, BcacheRole};
use crate::member::luks::Luks;
use crate::member::{integrity, lvm, md};
use crate::named::Named;
use crate::table::PartitionTable;
use crate::{Parsed, Problem};

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
    Luks(Luks),
    /// A bcache device.
    Bcache(Bcache),
    /// A dm-integrity device.
    Integrity(integrity::Integrity),
    /// A file system or swap.
    FileSystem(FileSystem),
    /// A member of an array, or a partition table, that is named and not read.
    Named(&'static Named),
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
    /// The reason why nobody can tell what is in force: `found` then holds the table or a file
    /// system, and `left_over` begins with the member or the other file system.
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
    /// Place where the data of a member, a container or a file system starts, where all of it has
    /// one place.
    #[must_use]
    pub fn data_at_bytes(&self) -> Option<u64> {
        match self {
            ProbedContent::Md(member) => Some(member.data_offset_bytes),
            ProbedContent::Luks(luks) if !luks.detached && !luks.reencrypting => {
                Some(luks.segments.first()?.offset_bytes)
            }
            ProbedContent::Bcache(Bcache {
                role: BcacheRole::Backing { data_offset_bytes },
                ..
            }) => Some(*data_offset_bytes),
            ProbedContent::FileSystem(system) => Some(system.data_offset_bytes),
            _ => None,
        }
    }

    /// Returns what it is, in a few words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            ProbedContent::Table(table) if table.is_backup() => "backup GPT at the end".to_owned(),
            ProbedContent::Table(table) => format!("{} partition table", table.kind.word()),
            ProbedContent::Md(member) => format!("{} RAID member", member.version.words()),
            ProbedContent::Lvm(_) => "LVM physical volume".to_owned(),
            ProbedContent::Luks(luks) => luks_words(luks),
            ProbedContent::Bcache(_) => "bcache".to_owned(),
            ProbedContent::Integrity(_) => "dm-integrity".to_owned(),
            ProbedContent::FileSystem(system) => system.kind.to_owned(),
            ProbedContent::Named(entry) => entry.what.to_owned(),
        }
    }
}

/// Returns the words for a LUKS header.
fn luks_words(luks: &Luks) -> String {
    match luks.header_at_bytes {
        0 => format!("LUKS{}", luks.version),
        at => format!("secondary LUKS{} header at {}", luks.version, Exact(at)),
    }
}
