//! What is wrong with the bytes themselves: one finding for each kind of problem on a layer.

use std::collections::BTreeMap;

use format::ProblemKind;

use super::{Case, Finding, Severity, finding, remedy};
use crate::id::LayerId;
use crate::layer::{Layer, LayerKind};
use crate::mapping::Mapping;

/// What each kind of problem is called and how much it matters.
const KINDS: [(ProblemKind, &str, Severity); 8] = [
    (ProblemKind::Checksum, "ST401", Severity::Warning),
    (ProblemKind::Field, "ST402", Severity::Warning),
    (ProblemKind::Outside, "ST403", Severity::Warning),
    (ProblemKind::Overlap, "ST404", Severity::Warning),
    (ProblemKind::Chain, "ST405", Severity::Warning),
    (ProblemKind::Copies, "ST406", Severity::Warning),
    (ProblemKind::Unreadable, "ST407", Severity::Warning),
    (ProblemKind::Unsupported, "ST408", Severity::Info),
];

/// The most problems of one kind that are spelled out for one layer.
const SHOWN_MAX: usize = 8;

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        let mut by_kind: BTreeMap<ProblemKind, Vec<String>> = BTreeMap::new();
        for problem in &layer.problems {
            let text = match problem.at_bytes {
                0 => problem.detail.clone(),
                at => format!("{} (at byte {at})", problem.detail),
            };
            by_kind.entry(problem.kind).or_default().push(text);
        }
        found.extend(by_kind.into_iter().map(|(kind, texts)| damage(case, id, kind, texts)));
        found.extend(signatures(case, id));
        found.extend(hybrid(case, id));
    }
    found
}

/// Whether nothing of an array is missing but members that it has lost.
fn is_only_degraded(layer: &Layer) -> bool {
    let LayerKind::MdArray(array) = &layer.kind else { return false };
    let (Mapping::Mirrored { members }
    | Mapping::Striped { members, .. }
    | Mapping::Parity { members, .. }) = &layer.mapping
    else {
        return false;
    };
    let missing = members.iter().filter(|member| member.is_none()).count();
    usize::try_from(array.gone).is_ok_and(|gone| missing <= gone)
}

fn damage(case: &Case<'_>, id: LayerId, kind: ProblemKind, mut texts: Vec<String>) -> Finding {
    // A group's text was read, so what is missing is other volumes.
    let array = match &case.stack.layer(id).kind {
        LayerKind::MdArray(_) => true,
        LayerKind::LvmPhysical(volume) => volume.group.is_some(),
        _ => false,
    };
    let closed = case.stack.bytes(id).is_none()
        && matches!(case.stack.layer(id).kind, LayerKind::Drive(_) | LayerKind::ImageFile);
    let (code, severity) = match kind {
        // Not allowed to read is nobody's fault; the verdict says what stays unknown.
        ProblemKind::Unreadable if closed => ("ST407", Severity::Info),
        ProblemKind::Unreadable if array => ("ST411", Severity::Info),
        _ => (KINDS.iter().find(|(row, ..)| *row == kind))
            .map_or(("ST408", Severity::Info), |(_, code, severity)| (*code, *severity)),
    };
    let mut finding = finding(code, severity, id);
    let more = texts.len().saturating_sub(SHOWN_MAX);
    texts.truncate(SHOWN_MAX);
    finding.evidence = texts;
    if more > 0 {
        finding.evidence.push(format!("and {more} more of the kind"));
    }
    let name = remedy::typed(case.stack.layer(id));
    finding.remedies = match kind {
        ProblemKind::Copies | ProblemKind::Checksum if !case.stack.layer(id).tables.is_empty() => {
            vec![
                format!("look first: sgdisk -v {name}"),
                format!("backup at the end after growing: sgdisk -e {name}"),
                format!("one copy damaged: gdisk {name}, then r, then b or c, then v, then w"),
            ]
        }
        ProblemKind::Unreadable if array && !is_only_degraded(case.stack.layer(id)) => {
            vec!["give all members at once".to_owned()]
        }
        _ => Vec::new(),
    };
    finding
}

fn signatures(case: &Case<'_>, id: LayerId) -> Option<Finding> {
    let layer = case.stack.layer(id);
    if layer.also.is_empty() {
        return None;
    }
    let mut finding = finding("ST410", Severity::Info, id);
    finding.evidence.extend(layer.also.iter().take(SHOWN_MAX).cloned());
    finding.remedies.push(format!(
        "see them all: wipefs {} (lists, and wipes only with -o or -a)",
        remedy::typed(layer)
    ));
    Some(finding)
}

fn hybrid(case: &Case<'_>, id: LayerId) -> Option<Finding> {
    let layer = case.stack.layer(id);
    let table = layer.tables.iter().find(|table| !table.hybrid.is_empty())?;
    let mut finding = finding("ST409", Severity::Info, id);
    for partition in table.hybrid.iter().take(SHOWN_MAX) {
        finding.evidence.push(format!(
            "MBR entry {} (type {}) is at byte {}, {} bytes long; Linux uses the GPT",
            partition.number,
            partition.type_code,
            partition.range.start_bytes(),
            partition.range.length_bytes()
        ));
    }
    finding.remedies.push(format!(
        "where no BIOS system needs it: gdisk {name}, then x, n, w writes a plain protective MBR",
        name = remedy::typed(layer)
    ));
    Some(finding)
}
