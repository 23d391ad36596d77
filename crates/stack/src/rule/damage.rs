//! Faults in the bytes themselves: one finding for each kind of problem on a layer.

use std::collections::BTreeMap;

use format::ProblemKind;
use format::image::ImageKind;
use format::lost_table::has_lost_superblock;
use format::table::{Partition, Repair, resume_script};
use units::prefix::Exact;

use super::remedy::Command;
use super::{Finding, Remedy, RuleInput, Severity, finding, length, rarely_written, remedy};
use crate::external_parts;
use crate::id::LayerId;
use crate::layer::{Bare, Layer, LayerKind};
use crate::mapping::Mapping;

/// Advice where the fix itself depends on what is in force.
const AFTER_ST404: &str = "first do the fix of ST404, then run this check again";

/// Code of each kind of problem, and how much it matters.
const KINDS: [(ProblemKind, &str, Severity); 11] = [
    (ProblemKind::Checksum, "ST401", Severity::Warning),
    (ProblemKind::Field, "ST402", Severity::Warning),
    (ProblemKind::Outside, "ST403", Severity::Warning),
    (ProblemKind::Overlap, "ST404", Severity::Warning),
    (ProblemKind::Chain, "ST405", Severity::Warning),
    (ProblemKind::Copies, "ST406", Severity::Warning),
    (ProblemKind::Unreplayed, "ST406", Severity::Info),
    (ProblemKind::Unreadable, "ST407", Severity::Warning),
    (ProblemKind::Uncaptured, "ST407", Severity::Info),
    (ProblemKind::Unsupported, "ST408", Severity::Info),
    (ProblemKind::HalfMoved, "ST412", Severity::Error),
];

/// The most problems of one kind that are spelled out for one layer.
const SHOWN_MAX: usize = 8;

pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        let mut by_kind: BTreeMap<ProblemKind, Vec<String>> = BTreeMap::new();
        let problems = layer.problems.iter();
        for problem in problems.filter(|problem| !rarely_written::is_by_design(case, id, problem)) {
            let text = match problem.at_bytes {
                0 => problem.detail.clone(),
                at => match case.place(id, at).sector() {
                    // Some name their place themselves.
                    Some(sector) if problem.detail.contains(&format!("{sector} ")) => {
                        problem.detail.clone()
                    }
                    Some(sector) => {
                        format!("{}; found at {sector} of {}", problem.detail, layer.name)
                    }
                    None => format!("{}; found at byte {at} of {}", problem.detail, layer.name),
                },
            };
            by_kind.entry(problem.kind).or_default().push(text);
        }
        found.extend(by_kind.into_iter().map(|(kind, texts)| damage(case, id, kind, texts)));
        found.extend(signatures(case, id));
        found.extend(hybrid(case, id));
        found.extend(lost_table(case, id));
    }
    found.extend(external_parts::lacking(case.stack).into_iter().filter_map(elsewhere));
    found
}

/// Takes the remedies from what lies on a half moved disk, where each of them would lose data, and
/// from what lies on a disk of which nobody can tell what is in force.
pub(super) fn withhold(case: &RuleInput<'_>, found: &mut [Finding]) {
    for (disk, layer) in case.stack.iter() {
        let over = case.stack.over(disk);
        if layer.problems.iter().any(|problem| problem.kind == ProblemKind::HalfMoved) {
            let others = found.iter_mut().filter(|one| one.rule.code != "ST412");
            for one in others.filter(|one| one.layer == disk || over.contains(&one.layer)) {
                one.remedies = vec![Remedy::tell("finish the move first: ST412")];
            }
        }
        if layer.contest.is_some() {
            for one in found.iter_mut().filter(|one| over.contains(&one.layer)) {
                one.remedies = vec![Remedy::tell(AFTER_ST404)];
            }
        }
    }
}

/// Replaces plans for what lies on a damaged table, which `straddle plan` refuses, and copies of
/// the image that holds such a table, which would keep the damage.
pub(super) fn unplanned(case: &RuleInput<'_>, found: &mut [Finding]) {
    for (disk, layer) in case.stack.iter() {
        let mut kinds = layer.problems.iter().map(|problem| problem.kind);
        let bad = kinds.find(|kind| kind.spoils_table());
        let code = KINDS.iter().find(|(kind, ..)| Some(*kind) == bad).map(|(_, code, _)| code);
        let Some(code) = code.filter(|_| !layer.tables.is_empty()) else { continue };
        let over = case.stack.over(disk);
        let planned = |one: &&mut Finding| one.remedies.iter().any(Remedy::is_plan);
        for one in found.iter_mut().filter(|one| over.contains(&one.layer)).filter(planned) {
            let first = format!("first do the fix of {code}, then run this check again");
            one.remedies = vec![Remedy::tell(first)];
        }
        // What repairs the table of a guest's disk ends in an image that is aligned, too.
        let of_format =
            |one: &&mut Finding| one.layer == disk && matches!(one.rule.code, "ST501" | "ST502");
        for one in found.iter_mut().filter(of_format) {
            let same = format!("the steps of {code} settle this too: they end in an aligned image");
            one.remedies = vec![Remedy::tell(same)];
        }
    }
}

/// A part of a file system that is on a device that was not given.
fn elsewhere(lack: external_parts::Lack) -> Option<Finding> {
    let finding = finding("ST411", Severity::Info, lack.layer).says(lack.text?);
    Some(finding.fixed_by([Remedy::tell("give all devices at once: straddle check DEVICE DEVICE")]))
}

/// Returns whether nothing of an array is missing but members that it has lost.
fn is_only_degraded(layer: &Layer) -> bool {
    use Mapping::{Mirrored, Parity, Striped};
    matches!(layer.kind, LayerKind::MdArray(_))
        && matches!(layer.mapping, Mirrored { .. } | Striped { .. } | Parity { .. })
        && layer.not_given() == 0
}

fn damage(case: &RuleInput<'_>, id: LayerId, kind: ProblemKind, mut texts: Vec<String>) -> Finding {
    // A group's text was read, so what is missing is other volumes.
    let array = match &case.stack.layer(id).kind {
        LayerKind::MdArray(_) => true,
        LayerKind::LvmPhysical(volume) => volume.group.is_some(),
        _ => false,
    };
    let closed = case.stack.bytes(id).is_none()
        && matches!(
            case.stack.layer(id).kind,
            LayerKind::Drive(_)
                | LayerKind::ImageFile
                | LayerKind::KernelPartition
                | LayerKind::Mapped(_)
        );
    let (code, severity) = match kind {
        // Not allowed to read is nobody's fault; the verdict says what stays unknown.
        ProblemKind::Unreadable if closed => ("ST407", Severity::Info),
        ProblemKind::Unreadable if array => ("ST411", Severity::Info),
        // Whichever it is, the verdict is the same.
        ProblemKind::Overlap if is_settled(case, id) => ("ST404", Severity::Info),
        _ => (KINDS.iter().find(|(row, ..)| *row == kind))
            .map_or(("ST408", Severity::Info), |(_, code, severity)| (*code, *severity)),
    };
    let mut finding = finding(code, severity, id);
    let more = texts.len().saturating_sub(SHOWN_MAX);
    texts.truncate(SHOWN_MAX);
    finding.evidence = texts;
    if more > 0 {
        finding.evidence.push(format!("and {more} more"));
    }
    finding.remedies = match kind {
        ProblemKind::Unreadable if array => incomplete(case, id),
        kind => repaired(case, id, kind, &finding.evidence),
    };
    finding
}

/// Returns whether two contents of a layer contradict each other, and lead to the same verdict.
fn is_settled(case: &RuleInput<'_>, id: LayerId) -> bool {
    let Some(contest) = &case.stack.layer(id).contest else { return false };
    let mut layers = std::iter::once(id).chain(case.stack.over(id));
    layers.all(|layer| case.judgment(layer).reason != contest.reason)
}

/// Returns what puts damage right, where one tool does it without a choice.
fn repaired(case: &RuleInput<'_>, id: LayerId, kind: ProblemKind, texts: &[String]) -> Vec<Remedy> {
    let layer = case.stack.layer(id);
    if kind == ProblemKind::HalfMoved {
        let script = case.stack.bytes(id).map(|disk| resume_script(disk.as_ref()));
        return vec![Remedy::tell(format!(
            "change nothing else; finish the move: sh {} {}",
            script.unwrap_or_else(|| "DIR/resume.sh".to_owned()),
            remedy::typed(layer)
        ))];
    }
    if layer.contest.is_some() {
        // What repairs the table writes over the member.
        return vec![Remedy::tell(match kind {
            ProblemKind::Overlap => {
                "find out which of the two holds the data in use, before any tool writes; then, \
                 with a backup, remove only the signature of the other"
            }
            _ => AFTER_ST404,
        })];
    }
    let is_image = matches!(layer.kind, LayerKind::ImageFormat(_)) && layer.tables.is_empty();
    if kind == ProblemKind::Outside && is_image {
        return vec![whole_file()];
    }
    if let LayerKind::ImageFormat(image) = &layer.kind
        && image.kind == ImageKind::VhdFixed
        && let Some(field) = layer.problems.iter().find(|one| one.kind == kind)
        && field.at_bytes >= image.virtual_bytes
    {
        return vec![remedy::without_footer(case, id, field.at_bytes.div_euclid(512) * 512)];
    }
    if let Some(image) = remedy::image_file(case, id) {
        // What is wrong is the table of the guest's disk, which no tool mends in its image.
        if kind.spoils_table() && !layer.tables.is_empty() {
            return vec![remedy::as_raw(case, id)];
        }
        if kind == ProblemKind::Chain {
            // What opens the chain never ends where it is a circle.
            let rebase = "then give a copy its true backing file, or none with -b '': qemu-img \
                          rebase -u -b BASE -F FORMAT COPY";
            let look = Remedy::when("look at its header alone", Command::ShowImage(image));
            return vec![look.then(Remedy::tell(rebase))];
        }
        if kind == ProblemKind::Unreplayed {
            let text = "Hyper-V and QEMU replay the log when they open the image for writing:";
            return vec![Remedy::tell(format!("{text} {}", remedy::replay_command(&image)))];
        }
        return vec![Remedy::when("look first", Command::CheckImage(image))];
    }
    let repair = layer.tables.iter().find_map(|table| table.repair);
    match (kind, repair) {
        (ProblemKind::Copies | ProblemKind::Checksum, Some(Repair::Rewrite(_))) => {
            remedy::rewrite_gpt(
                case,
                id,
                layer.length(),
                "write both copies again, and put the backup at the end",
            )
            .into_iter()
            .collect()
        }
        (ProblemKind::Field, Some(Repair::Rewrite(how))) if how.lacks_mbr => {
            remedy::protective_mbr(layer).into_iter().collect()
        }
        (ProblemKind::Copies | ProblemKind::Checksum, Some(Repair::FewerEntries(count))) => {
            let when = "something else, perhaps a boot loader, follows the used entries; end the \
                        table before it";
            let shorter = |disk| Remedy::when(when, Command::FewerEntries { disk, count });
            remedy::node(layer).map(shorter).into_iter().collect()
        }
        (ProblemKind::Copies | ProblemKind::Checksum, Some(Repair::Choose)) => {
            vec![Remedy::tell(
                "find out which copy is right before any tool writes: gdisk's recovery menu shows \
                 both (r, then b or c, then p; q leaves without writing)",
            )]
        }
        (ProblemKind::Copies | ProblemKind::Checksum, Some(Repair::Unsafe(why))) => {
            vec![Remedy::tell(format!("no command: {why}"))]
        }
        (ProblemKind::Copies | ProblemKind::Outside, Some(Repair::Extend(bytes))) => {
            let made =
                format!("the table was made for a disk of {bytes} bytes: use one of that size");
            vec![length::grown(case, id, bytes).unwrap_or_else(|| Remedy::tell(made))]
        }
        (ProblemKind::Outside, _) => outside(case, id),
        (ProblemKind::Overlap, _) if !layer.tables.is_empty() => {
            vec![Remedy::tell(
                "find out which of the two holds data in use, back that up, then delete the entry \
                 of the other",
            )]
        }
        (ProblemKind::Uncaptured, _) => {
            vec![Remedy::tell("run straddle check on that machine, as root")]
        }
        (ProblemKind::Unreadable, _) => {
            let says = |word: &str| texts.iter().any(|text| text.contains(word));
            vec![Remedy::tell(match () {
                () if says("even root") => "run straddle check on the host",
                () if says("Permission denied") => "read it as root",
                () => "look for the reason in the kernel's log: dmesg",
            })]
        }
        _ => Vec::new(),
    }
}

/// Returns what helps where a file ends before what is in it.
pub(super) fn whole_file() -> Remedy {
    Remedy::tell("get the whole file again")
}

/// A file that ends before its partitions do, made as long as they need.
fn outside(case: &RuleInput<'_>, id: LayerId) -> Vec<Remedy> {
    let tables = case.stack.layer(id).tables.iter();
    let ends = tables.flat_map(|table| &table.partitions).map(|part| part.range.end_bytes());
    ends.max().and_then(|end| length::grown(case, id, end)).into_iter().collect()
}

/// Members that were not given, or are gone for good.
fn incomplete(case: &RuleInput<'_>, id: LayerId) -> Vec<Remedy> {
    let text = match case.stack.layer(id).device {
        _ if is_only_degraded(case.stack.layer(id)) => return Vec::new(),
        Some(_) => "nothing more can be read while the array runs without that member",
        None => "give all members at once: straddle check MEMBER MEMBER",
    };
    vec![Remedy::tell(text)]
}

fn signatures(case: &RuleInput<'_>, id: LayerId) -> Option<Finding> {
    let layer = case.stack.layer(id);
    if layer.also.is_empty() {
        return None;
    }
    let mut finding = finding("ST410", Severity::Info, id);
    finding.evidence.extend(layer.also.iter().take(SHOWN_MAX).cloned());
    if let Some(device) = remedy::node(layer) {
        finding.remedies.push(Remedy::when("list them all", Command::Signatures(device)));
    }
    Some(finding)
}

/// A disk whose volumes no partition table lists, or whose file system lost its first superblock.
fn lost_table(case: &RuleInput<'_>, id: LayerId) -> Option<Finding> {
    let Some(Bare::Lost(volumes)) = &case.stack.layer(id).bare else { return None };
    let whole = volumes.first().filter(|_| has_lost_superblock(volumes));
    let code = if whole.is_some() { "ST414" } else { "ST413" };
    let mut finding = finding(code, Severity::Warning, id);
    finding.evidence.extend(volumes.iter().take(SHOWN_MAX).map(|one| {
        let start = case.place(id, one.start_bytes);
        let length = match one.length_bytes {
            Some(bytes) => format!(", {} long", Exact(bytes)),
            None => ", of unknown length".to_owned(),
        };
        let Some(copy) = one.copy else {
            return format!("{} starts at {start}{length}", one.what);
        };
        let at = case.place(id, copy.at_bytes);
        let volume = match whole {
            Some(_) => "the file system takes the whole disk".to_owned(),
            None => format!("the volume started at {start}{length}"),
        };
        format!("a copy of the superblock of {} is at {at}: {volume}", one.what)
    }));
    let copy = match whole {
        Some(volume) => remedy::superblock_restored(case, id, volume),
        None => remedy::volumes_listed(case, id, volumes),
    };
    Some(finding.fixed_by([copy.unwrap_or_else(|| {
        Remedy::tell(match whole {
            Some(_) => {
                "write nothing to it: copy it, and restore the superblock in the copy; straddle \
                 explain ST414 names tools"
            }
            None => {
                "write nothing to it: restore the table from a backup (sfdisk DISK < DUMP), or \
                 search a copy of the disk (testdisk COPY)"
            }
        })
    })]))
}

fn hybrid(case: &RuleInput<'_>, id: LayerId) -> Option<Finding> {
    let layer = case.stack.layer(id);
    let table = layer.tables.iter().find(|table| !table.hybrid.is_empty())?;
    let mut finding = finding("ST409", Severity::Info, id);
    for partition in table.hybrid.iter().take(SHOWN_MAX) {
        finding.evidence.push(format!(
            "MBR entry {} (type {}) starts at {} and is {} long; Linux uses the GPT",
            partition.number,
            partition.type_code,
            case.place(id, partition.range.start_bytes()),
            Exact(partition.range.length_bytes())
        ));
    }
    let is_in_gpt =
        |hybrid: &Partition| table.partitions.iter().any(|own| own.range == hybrid.range);
    if layer.problems.iter().any(|problem| problem.kind.spoils_table()) {
        return Some(finding.fixed_by([Remedy::tell("repair the GPT first")]));
    }
    Some(finding.fixed_by(match (remedy::node(layer), table.hybrid.iter().all(is_in_gpt)) {
        (Some(disk), true) => Some(Remedy::when(
            "if nothing boots from it (no BIOS system, no Raspberry Pi)",
            Command::PlainMbr(disk),
        )),
        (_, false) => Some(Remedy::tell("keep it: the MBR has partitions that the GPT lacks")),
        (None, true) => None,
    }))
}
