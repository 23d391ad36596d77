//! Decides which of several things on the same bytes is in force.
//!
//! Sector 0 and primary copies come before backups and secondary headers. The rows of the table:
//!
//! | member | beside a table that Linux uses | beside a file system |
//! |---|---|---|
//! | md 0.90 and 1.0, firmware RAID | member: the table is the array's | member |
//! | the same, where the table ends after the superblock | undecided | member |
//! | md 1.1 and 1.2, dm-integrity, sound LUKS | undecided: its own tool opens it | member |
//! | LVM | table: LVM refuses the disk, libblkid reports the table | member |
//! | bcache | table: libblkid reports the table | undecided: libblkid refuses both |
//! | bad checksum, damaged or secondary LUKS2 header | table | file system |
//!
//! A protected GPT that Linux does not use (its primary copy is damaged) decides nothing: then the
//! disk is undecided. A GPT that no MBR protects, and an MBR that lists nothing, yield to a file
//! system and to a sound member, and are undecided against a damaged member.
//!
//! Two file systems are undecided, too, where neither is on a partition: each of them can be
//! mounted by its name, and libblkid refuses both. So are a file system and a table that Linux does
//! not use: a protected GPT without its primary copy, a BSD label of a whole disk. An ISO shares
//! its bytes with another format of discs by intent. A bcache beside a sound LUKS header or an LVM
//! label is undecided alike.
//!
//! Source: cryptsetup `lib/luks2/luks2_disk_metadata.c` (a secondary header is used only where
//! libblkid finds nothing else); lvm2 `lib/device/dev-type.c` (`dev_is_partitioned`); util-linux
//! `libblkid/src/superblocks/superblocks.c` (`superblocks_safeprobe`) and `src/probe.c`
//! (`blkid_probe_use_wiper`); Linux `block/partitions/{efi,msdos}.c`; mdadm `Create.c` (an old
//! table stays in sector 0 of a new 1.2 member).

use crate::member::md::{MdMember, MdVersion};
use crate::reading::{ProbedContent, Reading};
use crate::table::choice::{Choice, TableWeight};
use crate::table::{PartitionRole, PartitionTable, TableKind};
use crate::{Parsed, Problem, ProblemKind};

type Find = Parsed<ProbedContent>;

/// Finds on the same bytes.
pub(crate) struct Finds {
    /// Members and containers, the outer one first.
    pub(crate) members: Vec<Find>,
    /// The partition table.
    pub(crate) table: Option<Choice>,
    /// File systems, the likeliest first.
    pub(crate) systems: Vec<Find>,
    /// Length of the bytes.
    pub(crate) disk_bytes: u64,
    /// True of a whole disk, where Linux uses no BSD label; false in a partition.
    pub(crate) is_whole: bool,
}

/// A member's claim on bytes that a table or a file system claims too, the strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// Its superblock is at the end, so a table at the start is its array's.
    Outer,
    /// Its own tool opens it, whatever sector 0 holds.
    Firm,
    /// Its own tool refuses a disk with partitions.
    Unpartitioned,
    /// It is as likely as a file system.
    Equal,
    /// Its own tool opens it only where nothing else is recognized.
    Last,
}

/// Returns what is in force among `finds`, with what is left over.
pub(crate) fn decide(finds: Finds) -> Reading {
    let Finds { members, mut table, systems, disk_bytes, is_whole } = finds;
    if let Some(label) = table.as_mut().filter(|table| is_whole && is_bsd(table)) {
        label.weight = TableWeight::Doubtful;
    }
    let mut reading = Reading::default();
    let mut claimed: Vec<(Claim, Find)> = Vec::new();
    for found in members {
        match owner(&found.value, table.as_ref(), disk_bytes) {
            Some(owner) => reading.leave([found], &owner),
            None => claimed.push((claim(&found, table.as_ref(), disk_bytes), found)),
        }
    }
    claimed.sort_by_key(|(claim, _)| *claim);
    let strongest = claimed.first().map(|(claim, _)| *claim);
    let outcome = outcome(strongest, table.as_ref(), !systems.is_empty());
    let is_equal = strongest == Some(Claim::Equal);
    let is_stale = outcome.is_table_stale(table.as_ref(), is_equal);
    let is_used = table.as_ref().is_some_and(|table| table.weight == TableWeight::Strong);
    let table = table.map(|choice| choice.table.map(ProbedContent::Table));
    let (table, stale) = if is_stale { (None, table) } else { (table, None) };
    // An MBR that lists nothing is the boot sector of what is in force, most often.
    let stale = stale.filter(|table| !lists_nothing(&table.value));
    let equal = claimed.iter().skip(1).find(|(claim, _)| *claim == Claim::Equal);
    if let (Some((_, found)), Some((_, equal)), Outcome::Member) = (claimed.first(), equal, outcome)
        && matches!(found.value, ProbedContent::Luks(_) | ProbedContent::Lvm(_))
    {
        reading.contest = Some(contest(&found.value, &equal.value));
    }
    let mut members = claimed.into_iter().map(|(_, found)| found);
    reading.container = if outcome == Outcome::Member { members.next() } else { None };
    let others: Vec<Find> = members.collect();
    let rest: Vec<Find> = table.into_iter().chain(systems).collect();
    if outcome == Outcome::Undecided
        && let (Some(member), Some(table)) = (others.first(), rest.first())
    {
        reading.contest = Some(contest(&member.value, &table.value));
        let why = format!("{} is here too", table.value.words());
        reading.leave(others, &why);
        reading.found = rest;
        return reading;
    }
    let winner = reading.container.iter().chain(&rest).next();
    let why = winner.map(|winner| format!("{} is in force", winner.value.words()));
    let why = why.unwrap_or_default();
    let is_seen_through = matches!(reading.container.as_ref().map(|found| &found.value),
        Some(ProbedContent::Md(member)) if is_at_end(member));
    reading.leave(others, &why);
    if reading.container.is_some() && !is_seen_through {
        reading.leave(rest, &why);
    } else {
        let (found, rivals) = without_rivals(rest, is_used);
        if let (Some(first), Some(rival)) = (found.first(), rivals.first()) {
            reading.contest = Some(contest(&rival.value, &first.value));
        }
        let why = found.first().map(|first| format!("{} is here too", first.value.words()));
        reading.leave(rivals, &why.unwrap_or_default());
        reading.found = found;
    }
    reading.leave(stale.filter(|_| !is_seen_through), &why);
    reading
}

/// Returns whether a table is an MBR without entries.
fn lists_nothing(content: &ProbedContent) -> bool {
    matches!(content, ProbedContent::Table(table)
        if table.kind == TableKind::Mbr && table.partitions.is_empty())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The member.
    Member,
    /// The table, or the file systems, or both.
    Rest,
    /// The file systems, and not a weak table.
    FileSystem,
    /// Both the member and the table, or the file system: tools disagree.
    Undecided,
}

impl Outcome {
    /// Returns whether a table is left over: too little speaks for it beside what is in force, or
    /// beside a member and a file system that `is_equal`.
    fn is_table_stale(self, table: Option<&Choice>, is_equal: bool) -> bool {
        let is_weak = table.is_some_and(|choice| choice.weight == TableWeight::Weak);
        let is_other = match self {
            Outcome::Member | Outcome::FileSystem => true,
            Outcome::Undecided => is_equal,
            Outcome::Rest => false,
        };
        is_weak && is_other
    }
}

/// The table of this module's head: `claim` is the strongest claim of a member.
fn outcome(claim: Option<Claim>, table: Option<&Choice>, is_system: bool) -> Outcome {
    use TableWeight::{Doubtful, Strong, Weak};
    let is_weak = table.is_none_or(|choice| choice.weight == Weak);
    let rest = if is_weak && is_system { Outcome::FileSystem } else { Outcome::Rest };
    let Some(claim) = claim else { return rest };
    match (claim, table.map(|choice| choice.weight)) {
        (Claim::Unpartitioned | Claim::Equal | Claim::Last, Some(Strong)) => rest,
        (Claim::Last, _) if is_system => rest,
        (Claim::Equal, None | Some(Weak)) if is_system => Outcome::Undecided,
        (Claim::Outer, _) | (_, None) => Outcome::Member,
        (Claim::Firm, Some(Strong)) | (_, Some(Doubtful)) | (Claim::Last, Some(Weak)) => {
            Outcome::Undecided
        }
        (Claim::Firm | Claim::Unpartitioned | Claim::Equal, Some(Weak)) => Outcome::Member,
    }
}

fn claim(found: &Find, table: Option<&Choice>, disk_bytes: u64) -> Claim {
    let has = |kind| found.problems.iter().any(|problem| problem.kind == kind);
    match &found.value {
        ProbedContent::Md(member) if is_at_end(member) => {
            match table.is_some_and(|table| reaches_past(table, member, disk_bytes)) {
                true => Claim::Firm,
                false => Claim::Outer,
            }
        }
        ProbedContent::Md(_) | ProbedContent::Lvm(_) | ProbedContent::Bcache(_)
            if has(ProblemKind::Checksum) =>
        {
            Claim::Last
        }
        ProbedContent::Lvm(_) => Claim::Unpartitioned,
        ProbedContent::Bcache(_) => Claim::Equal,
        ProbedContent::Luks(_) if !is_primary_sound(found) => Claim::Last,
        ProbedContent::Named(_) => Claim::Outer,
        ProbedContent::Md(_)
        | ProbedContent::Luks(_)
        | ProbedContent::Integrity(_)
        | ProbedContent::Table(_)
        | ProbedContent::FileSystem(_) => Claim::Firm,
    }
}

fn is_at_end(member: &MdMember) -> bool {
    !matches!(member.version, MdVersion::V11 | MdVersion::V12)
}

/// Length of a LUKS2 header without its JSON, which a LUKS1 header is shorter than, in bytes.
const LUKS_HEADER_BYTES: u64 = 4096;

/// Returns whether nothing is wrong with the header at byte 0.
fn is_primary_sound(found: &Find) -> bool {
    use ProblemKind::{Checksum, Copies, Field};
    found.problems.iter().all(|problem| {
        problem.at_bytes >= LUKS_HEADER_BYTES || !matches!(problem.kind, Checksum | Copies | Field)
    })
}

/// The owner of an md superblock that belongs to something smaller than the disk, as a reason;
/// `None` where it is the disk's own.
fn owner(content: &ProbedContent, table: Option<&Choice>, disk_bytes: u64) -> Option<String> {
    let ProbedContent::Md(member) = content else { return None };
    if member.belongs_here() == Some(false) {
        return Some("it belongs to a device that ends here but starts elsewhere".to_owned());
    }
    // Only 0.90 does not say where it is: libblkid has it that a partition over it is the member.
    let table = &table.filter(|_| member.version == MdVersion::V090)?.table.value;
    let at = member.superblock_at_bytes;
    let over = fitting(table, disk_bytes)?.partitions.iter().find(|partition| {
        partition.role != PartitionRole::Extended
            && partition.range.start_bytes() <= at
            && at < partition.range.end_bytes()
    })?;
    Some(format!("it belongs to partition {}, which covers it", over.number))
}

/// Returns whether a table of this disk, and not of an array on it, ends after a superblock that is
/// at the end.
fn reaches_past(choice: &Choice, member: &MdMember, disk_bytes: u64) -> bool {
    let is_used = choice.weight == TableWeight::Strong;
    let Some(table) = Some(&choice.table.value).filter(|_| is_used) else { return false };
    fitting(table, disk_bytes).is_some_and(|table| {
        let ends = table.partitions.iter().map(|partition| partition.range).chain(table.usable);
        ends.max_by_key(|range| range.end_bytes())
            .is_some_and(|range| range.end_bytes() > member.superblock_at_bytes)
    })
}

/// The table, where all of it is within the disk. That of an array of several disks is not.
fn fitting(table: &PartitionTable, disk_bytes: u64) -> Option<&PartitionTable> {
    let mut ranges = table.partitions.iter().map(|partition| partition.range).chain(table.usable);
    ranges.all(|range| range.end_bytes() <= disk_bytes).then_some(table)
}

/// The formats of discs that are made to share bytes with an ISO, and with each other there.
const DISC_FORMATS: [&str; 4] = ["iso9660", "udf", "hfs", "hfsplus"];

fn is_bsd(choice: &Choice) -> bool {
    choice.table.value.kind == TableKind::Bsd
}

/// Returns `rest` without the file systems that contradict its first content, and those. Beside
/// partitions that Linux uses nothing does: they decide.
fn without_rivals(rest: Vec<Find>, is_used: bool) -> (Vec<Find>, Vec<Find>) {
    let kind = |found: &Find| match &found.value {
        ProbedContent::FileSystem(system) => Some(system.kind),
        _ => None,
    };
    let table = rest.first().filter(|first| kind(first).is_none() && !lists_nothing(&first.value));
    let first = rest.iter().find_map(kind);
    let (Some(first), false) = (first, is_used && table.is_some()) else {
        return (rest, Vec::new());
    };
    // The first partition of a BSD label may begin with the disk, and its content with it.
    let is_partitioned = table.is_some();
    let is_iso = rest.iter().any(|found| kind(found) == Some("iso9660"));
    let is_disc = |kind: &str| is_iso && DISC_FORMATS.contains(&kind);
    // DRBD keeps its metadata at the end of the device that holds its file system.
    let is_beside = |kind: &str| match is_partitioned {
        _ if kind == "drbd" => true,
        true => matches!(kind, "ufs" | "zfs_member" | "iso9660" | "udf"),
        false => kind == first || is_disc(kind) && is_disc(first),
    };
    rest.into_iter().partition(|found| kind(found).is_none_or(is_beside))
}

fn contest(member: &ProbedContent, table: &ProbedContent) -> Problem {
    let (member_words, table) = (member.words(), table.words());
    let detail = format!(
        "{member_words} and {table} are both on it, and tools disagree on which one is in force"
    );
    let at_bytes = match member {
        ProbedContent::Md(member) => member.superblock_at_bytes,
        ProbedContent::Luks(luks) => luks.header_at_bytes,
        _ => 0,
    };
    Problem::new(ProblemKind::Overlap, at_bytes, detail)
}
