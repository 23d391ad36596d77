//! Both copies side by side, field by field.

use std::fmt::Display;

use super::copy::{Copy, GptCopyPlace};
use super::{GptCopies, header};
use crate::{Problem, ProblemKind};

/// The most slots that are named when the entries differ.
const SLOTS_NAMED_MAX: usize = 8;

/// Returns what the copies disagree about, which of them is missing, and whether the backup is
/// where it should be.
pub(super) fn compare(pair: &GptCopies) -> Vec<Problem> {
    match (&pair.primary, &pair.backup) {
        (Some(primary), Some(backup)) => {
            let mut problems = place(pair, primary, backup);
            problems.extend(fields(primary, backup));
            problems.extend(entries(primary, backup));
            problems
        }
        (Some(primary), None) => vec![missing_backup(pair, primary)],
        (None, _) => {
            let at = pair.sector.bytes();
            let detail = format!(
                "no primary GPT header at sector 1 (byte {at}); the backup at the end of the disk \
                 is read instead"
            );
            vec![Problem::new(ProblemKind::Copies, at, detail)]
        }
    }
}

fn missing_backup(pair: &GptCopies, primary: &Copy) -> Problem {
    let (named, last) = (primary.header.alternate_lba.0, pair.last.0);
    let detail = if named > last {
        format!(
            "the backup GPT header should be at LBA {named}, but the disk ends with LBA {last}: it \
             is cut short, or was copied to a smaller one"
        )
    } else if named == last {
        format!("no backup GPT header at LBA {last}, the disk's last")
    } else {
        format!("no backup GPT header at LBA {named}, nor at the disk's last, {last}")
    };
    Problem::new(ProblemKind::Copies, primary.at_bytes, detail)
}

/// Problems of the places that the copies have and name.
fn place(pair: &GptCopies, primary: &Copy, backup: &Copy) -> Vec<Problem> {
    let mut details = Vec::new();
    if backup.lba != pair.last {
        details.push(format!(
            "the backup GPT header is at LBA {}, not in the disk's last sector, LBA {}: the disk \
             has grown, or was copied or converted to a larger size (a VHD's size is \
             rounded up to whole cylinders)",
            backup.lba.0, pair.last.0
        ));
    }
    for (copy, other) in [(primary, backup), (backup, primary)] {
        if copy.header.alternate_lba != other.lba {
            details.push(format!(
                "the {} GPT header says that the other copy is at LBA {}, but it is at {}",
                copy.place.word(),
                copy.header.alternate_lba.0,
                other.lba.0
            ));
        }
    }
    let problem = |detail| Problem::new(ProblemKind::Copies, backup.at_bytes, detail);
    details.into_iter().map(problem).collect()
}

/// Returns whether both copies say the same of the disk.
pub(super) fn are_same(primary: &Copy, backup: &Copy) -> bool {
    fields(primary, backup).is_empty() && entries(primary, backup).is_none()
}

/// Problems of the fields that must be the same in both headers.
fn fields(primary: &Copy, backup: &Copy) -> Vec<Problem> {
    let (one, two) = (&primary.header, &backup.header);
    let (guid_one, guid_two) = (header::guid(&one.disk_guid), header::guid(&two.disk_guid));
    [
        differing("revisions", &one.revision, &two.revision),
        differing("header lengths", &one.header_bytes, &two.header_bytes),
        differing("first usable LBAs", &one.first_usable_lba.0, &two.first_usable_lba.0),
        differing("last usable LBAs", &one.last_usable_lba.0, &two.last_usable_lba.0),
        differing("disk GUIDs", &guid_one, &guid_two),
        differing("numbers of entries", &one.entry_count, &two.entry_count),
        differing("lengths of entries", &one.entry_bytes, &two.entry_bytes),
    ]
    .into_iter()
    .flatten()
    .map(|detail| Problem::new(ProblemKind::Copies, backup.at_bytes, detail))
    .collect()
}

fn differing<T: PartialEq + Display>(what: &str, primary: &T, backup: &T) -> Option<String> {
    let [one, two] = [GptCopyPlace::Primary, GptCopyPlace::Backup].map(GptCopyPlace::word);
    (primary != backup).then(|| format!("the {what} differ: {one} {primary}, {two} {backup}"))
}

/// The problem of entries that differ, where both arrays could be read and have the same shape.
fn entries(primary: &Copy, backup: &Copy) -> Option<Problem> {
    let size = usize::try_from(primary.header.entry_bytes).ok()?;
    if primary.entries == backup.entries || primary.entries.len() != backup.entries.len() {
        return None;
    }
    if size == 0 || primary.header.entry_bytes != backup.header.entry_bytes {
        return None;
    }
    let pairs = primary.entries.chunks(size).zip(backup.entries.chunks(size));
    let slots: Vec<usize> =
        (1..).zip(pairs).filter(|(_, (one, two))| one != two).map(|(slot, _)| slot).collect();
    let named: Vec<String> =
        slots.iter().take(SLOTS_NAMED_MAX).map(|slot| slot.to_string()).collect();
    let more = if slots.len() > named.len() { " and more" } else { "" };
    let detail = format!("the copies' entries differ: {}{more}", named.join(", "));
    Some(Problem::new(ProblemKind::Copies, backup.entries_at_bytes, detail))
}
