//! Partition tables: MBR with its chains, GPT with its copies, labels of BSD, SGI and Sun; and
//! sfdisk's script, which says one in text.

use device::Disk;
use serde::Serialize;
use units::{ByteRange, DiskText, SectorSize};

use crate::Parsed;

pub mod bsd;
pub mod gpt;
pub mod mbr;
pub mod sfdisk_script;
pub mod sgi_sun;

mod boot;
pub(crate) mod choice;
mod extended;
mod half_moved;
mod overlap;
mod types;

pub use half_moved::{MARK, resume_script};

/// Returns the GUIDs of GPT types and the codes of MBR types that have a name or a role here.
#[doc(hidden)]
#[must_use]
pub fn known_types() -> (Vec<&'static str>, Vec<u8>) {
    types::known()
}

/// The partition table in use on `disk`, which starts at `start_bytes` of the whole disk (0 for a
/// whole disk): the one that Linux would use where there are several, else the one that can be
/// found. Tables that it passes over are among the problems. `None` when there is none.
pub fn read(
    disk: &dyn Disk,
    sector: SectorSize,
    start_bytes: u64,
) -> Option<Parsed<PartitionTable>> {
    let slice = (start_bytes, bsd::Counting::Unknown);
    choice::choose(disk, sector, slice).map(|choice| choice.table)
}

/// The kind of a partition table; its word is that of `blkid` and `sfdisk`, where they have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableKind {
    /// Master boot record, with logical partitions if there is an extended one.
    #[serde(rename = "dos")]
    Mbr,
    /// GUID partition table (UEFI specification, chapter 5).
    Gpt,
    /// BSD disklabel, on a disk or within an MBR slice.
    Bsd,
    /// SGI's volume header (IRIX).
    Sgi,
    /// Sun's label (Solaris on SPARC).
    Sun,
}

units::words!(TableKind);

/// Purpose of a partition, as far as the rules need to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartitionRole {
    /// Data of any kind.
    Ordinary,
    /// An MBR extended partition: a container of logical ones.
    Extended,
    /// A BIOS boot partition: raw boot-loader code, read once.
    BiosBoot,
    /// An EFI system partition.
    EfiSystem,
    /// The 0xEE entry that protects a GPT.
    Protective,
    /// Space that nothing reads by file system: reserved (Microsoft), PReP boot and the like.
    Reserved,
    /// A container of a BSD disklabel (FreeBSD, NetBSD, OpenBSD slice).
    BsdSlice,
    /// An entry for the whole disk or slice: `c` of a BSD label (on some systems `d`), `backup` of
    /// Sun's, `volume` of SGI's.
    Whole,
}

/// One partition, in bytes from the start of the disk that holds the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The number that Linux gives it: MBR 1 to 4 and 5 on for logical ones, GPT slot plus 1, BSD
    /// letter's place plus 1.
    pub number: u32,
    /// The bytes; they may end past the disk, which is then among the problems.
    pub range: ByteRange,
    /// The type as stored: `0x83`, a GUID in lower case, a BSD type number.
    pub type_code: String,
    /// The type's usual name, or `None` when the table of names has none.
    pub type_name: Option<&'static str>,
    /// Its purpose.
    pub role: PartitionRole,
    /// The name in the table (GPT only).
    pub name: Option<DiskText>,
    /// The unique id in lower case (GPT only).
    pub id: Option<String>,
    /// True if it is marked bootable: MBR 0x80, GPT attribute bit 2 (legacy BIOS bootable).
    pub bootable: bool,
    /// The byte address of its entry, from the start of the disk.
    pub entry_at_bytes: u64,
}

/// A partition table and what it lists. Empty entries are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionTable {
    /// Its kind.
    pub kind: TableKind,
    /// The sector size in which its addresses count. An MBR does not say; it is then the size given
    /// to the parser.
    pub sector: SectorSize,
    /// MBR signature as 8 hexadecimal digits with `0x`, or GPT disk GUID in lower case.
    pub id: Option<String>,
    /// The partitions in order of number; containers included, logical ones behind.
    pub partitions: Vec<Partition>,
    /// First to last usable byte, as a GPT says.
    pub usable: Option<ByteRange>,
    /// True if the first sector holds boot code: any byte but 0 in the first 440 of an MBR.
    pub boot_code: bool,
    /// The MBR partitions beside the protective one: a hybrid MBR, when not empty (GPT only).
    pub hybrid: Vec<Partition>,
    /// The repair of a GPT's copies; of use only where problems say that they are not.
    pub repair: Option<Repair>,
}

impl PartitionTable {
    /// A table of `partitions` with nothing that only some tables have.
    fn new(kind: TableKind, sector: SectorSize, partitions: Vec<Partition>) -> PartitionTable {
        PartitionTable {
            kind,
            sector,
            id: None,
            partitions,
            usable: None,
            boot_code: false,
            hybrid: Vec::new(),
            repair: None,
        }
    }

    /// Returns whether a GPT that lists something was read from its backup, whose entries follow
    /// the partitions.
    #[must_use]
    pub fn is_backup(&self) -> bool {
        let end = self.usable.filter(|_| self.kind == TableKind::Gpt).map(ByteRange::end_bytes);
        let first = self.partitions.first().zip(end);
        first.is_some_and(|(first, end)| first.entry_at_bytes >= end)
    }
}

/// Conditions under which tools find the sound copy. Without the primary one they look for the
/// backup in the last sector, and where none is there they take the disk for a blank one.
///
/// Source: gptfdisk, `GPTData::LoadPartitions` and `UseWhichPartitions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GptRewrite {
    /// The byte of the disk at which the backup ends, where it is the only sound copy.
    pub backup_end_bytes: Option<u64>,
    /// True if neither the primary copy nor any MBR says that there is a GPT.
    pub lacks_mbr: bool,
    /// True if the first entry of the protective MBR is marked active (0x80), as some BIOSes need
    /// it: partitioners write that MBR again without the mark.
    pub is_active: bool,
}

/// Repair of a GPT's copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Writing both from the sound one.
    Rewrite(GptRewrite),
    /// Writing both with only so many entries, since something else begins after these.
    FewerEntries(u32),
    /// First a disk as long as the table says, in bytes: this one ends before.
    Extend(u64),
    /// A person's choice: both are sound and say different things, or neither is sound.
    Choose,
    /// None by a command, for this reason, which is the end of a sentence.
    Unsafe(&'static str),
}
