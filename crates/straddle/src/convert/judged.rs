//! The verdict on all that will be on the new sectors: usable, or not and why.

use format::table::PartitionRole;
use layout::DiskPlan;
use report::conversion::ConversionLimit;
use stack::judge::{self, Verdict};
use stack::rule::{self, Finding, RuleInput};
use stack::{Condition, LayerId, LayerKind, Stack};

use crate::shared::title::title;

/// Findings that mean that something cannot be used at all.
const FATAL: [&str; 3] = ["ST301", "ST302", "ST305"];
/// Findings that a user should know before.
const NOTED: [&str; 2] = ["ST307", "ST308"];

/// Verdict on a disk that may be written.
pub(super) struct Judged {
    /// A line for each partition: its number, and its content.
    pub(super) rows: Vec<(u32, String)>,
    /// Limits of the new disk.
    pub(super) limits: Vec<ConversionLimit>,
}

/// Judges `stack`, the disk as it will be after `plan`, on the disk `on`.
///
/// # Errors
/// The reasons why it cannot be used there.
pub(super) fn judged(stack: &Stack, plan: &DiskPlan, on: &Condition) -> Result<Judged, String> {
    let disk = layout::disk_of(stack, None).filter(|&disk| holds_rows(stack, disk, plan));
    let disk = disk.ok_or("the new table is not read as it was meant; please report this")?;
    let judgments = judge::judge_all(stack);
    let case = RuleInput { stack, judgments: &judgments, told: Some(on) };
    let findings = rule::findings(&case);
    let about = |codes: &'static [&str]| {
        let of = findings.iter().filter(|one| codes.contains(&one.rule.code));
        of.map(|one| (one.rule.code, words(stack, one)))
    };
    let mut reasons: Vec<String> = about(&FATAL).map(|(_, words)| words).collect();
    // On 4Kn, the granule is the sector: what is off it cannot be read or written.
    if on.granule.is_some() {
        let off = |id: &LayerId| judgments[id.0].verdict == Verdict::Misaligned;
        let over = stack.over(disk);
        reasons.extend(over.iter().filter(|id| off(id)).map(|id| {
            format!(
                "{} is not on 4096-byte sectors: {}",
                stack.layer(*id).name,
                judgments[id.0].reason
            )
        }));
    }
    if !reasons.is_empty() {
        return Err(reasons.join("; "));
    }
    let mut limits: Vec<ConversionLimit> = about(&NOTED)
        .map(|(code, text)| ConversionLimit { code: Some(code.into()), text })
        .collect();
    let uncoded = |text: String| ConversionLimit { code: None, text };
    let mut rows = Vec::new();
    for row in &plan.rows {
        let layer = partition(stack, disk, row.number);
        let over = layer.map(|layer| stack.over(layer)).unwrap_or_default();
        let titles: Vec<String> = over.iter().map(|id| title(stack.layer(*id))).collect();
        let content = if titles.is_empty() {
            "nothing recognized, kept as it is".to_owned()
        } else {
            titles.join(", ")
        };
        rows.push((row.number, content));
        for id in over {
            let limit = limit(stack, id, on);
            let limit = limit.map(|limit| format!("partition {}: {limit}", row.number));
            limits.extend(limit.map(uncoded));
        }
        let by_bios = layer.filter(|_| on.granule.is_some());
        limits.extend(by_bios.and_then(|layer| role_limit(stack, layer, row.number)).map(uncoded));
    }
    Ok(Judged { rows, limits })
}

/// Returns whether the table on `disk` lists the partitions of `plan`.
fn holds_rows(stack: &Stack, disk: LayerId, plan: &DiskPlan) -> bool {
    let tables = &stack.layer(disk).tables;
    let [table] = &tables[..] else { return false };
    let is_there = |row: &layout::PlannedPartition| {
        table.partitions.iter().any(|one| one.number == row.number && one.range == row.new)
    };
    table.sector.bytes() == plan.sector_bytes && plan.rows.iter().all(is_there)
}

fn partition(stack: &Stack, disk: LayerId, number: u32) -> Option<LayerId> {
    stack.above(disk).iter().copied().find(|&id| match &stack.layer(id).kind {
        LayerKind::Partition(partition, _) => partition.number == number,
        _ => false,
    })
}

fn words(stack: &Stack, finding: &Finding) -> String {
    let said = format!("{} ({})", finding.evidence.join(", "), finding.rule.code);
    let below = [finding.layer].into_iter().chain(stack.under(finding.layer));
    let number = below.into_iter().find_map(|id| match &stack.layer(id).kind {
        LayerKind::Partition(partition, _) => Some(partition.number),
        _ => None,
    });
    number.map_or_else(|| said.clone(), |number| format!("partition {number}: {said}"))
}

/// Returns what to know of a layer that no look at its bytes decides.
fn limit(stack: &Stack, id: LayerId, on: &Condition) -> Option<String> {
    let layer = stack.layer(id);
    match &layer.kind {
        LayerKind::Luks(luks) => {
            let sector = luks.segments.first().map_or(512, |segment| segment.sector_bytes);
            // Linux `drivers/md/dm-crypt.c`, `crypt_io_hints`: the larger one counts.
            let seen = on.sector.map_or(sector, |disk| disk.bytes().max(sector));
            Some(format!(
                "LUKS can be opened; what is in it then sees {seen}-byte sectors and is not judged \
                 while it is closed. Open it on the old disk, then: straddle check \
                 /dev/mapper/NAME --on {}",
                if seen > 512 { "4Kn" } else { "512n" }
            ))
        }
        LayerKind::FileSystem(system) if system.kind == "ntfs" => {
            Some("NTFS keeps its sector size: Linux mounts it; do not rely on Windows".to_owned())
        }
        _ if layer.not_given() > 0 => Some(format!(
            "{}: {} of its members were not given; name all of them to straddle check --on 4Kn",
            layer.name,
            layer.not_given()
        )),
        _ => None,
    }
}

/// Returns what to know of a partition for its role alone.
fn role_limit(stack: &Stack, id: LayerId, number: u32) -> Option<String> {
    let LayerKind::Partition(partition, _) = &stack.layer(id).kind else { return None };
    match partition.role {
        PartitionRole::BiosBoot => Some(format!(
            "partition {number}: holds a BIOS boot loader, which reads 512-byte sectors; boot by \
             UEFI on a 4Kn disk"
        )),
        _ => None,
    }
}
