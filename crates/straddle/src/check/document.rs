//! From a judged stack to the document that is printed.

use std::collections::BTreeSet;

use device::KernelTree;
use format::filesystem::Beside;
use report::{Fact, Finding};
use stack::assemble::Assembled;
use stack::discard_path::{self, DiscardArrival};
use stack::drive::wear::WearReading;
use stack::judge::{self, Judgment, Miss};
use stack::rule::{self, RuleInput};
use stack::{Condition, LayerId, LayerKind, Mapping, Stack, Verdict};
use units::Source;
use units::prefix::Exact;

use crate::arguments::RuleChange;
use crate::shared::drive_facts;
use crate::shared::plan_offer;
use crate::shared::title;

/// Settings that decide how a stack is reported.
pub(crate) struct ReportSettings<'a> {
    /// The disk that the user tells.
    pub(crate) told: Option<&'a Condition>,
    /// Rules with another severity, or off.
    pub(crate) rules: &'a [RuleChange],
    /// Only what is on and under the devices that the kernel calls so; all where there are none.
    pub(crate) meant: &'a [String],
    /// The kernel's files where drives are asked for their wear; `None` where nobody shows it.
    pub(crate) wear: Option<&'a dyn KernelTree>,
}

/// The stack as a target of the document.
pub(crate) fn target(
    name: String,
    assembled: &Assembled,
    view: &ReportSettings<'_>,
) -> report::Target {
    let stack = &assembled.stack;
    let judgments = judge::judge_all(stack);
    let case = RuleInput { stack, judgments: &judgments, told: view.told };
    let bad = rule::first_bad(&case);
    let kept = kept(assembled, view.meant);
    let numbers = Numbers::of(stack, &kept);
    let hosts = hosts(assembled, &kept);
    let mut layers: Vec<report::LayerReport> = (kept.iter())
        .map(|&id| {
            let mut layer = layer(stack, id, &judgments[id.0], &bad, &judgments, &numbers);
            layer.facts.extend(wear(view, stack.layer(id)));
            if hosts.contains(&id) { unasked(layer) } else { layer }
        })
        .collect();
    let mut findings = rule::findings(&case);
    // What was not asked about lacks nothing.
    findings.retain(|found| found.rule.code != UNREAD || !hosts.contains(&found.layer));
    plan_offer::settle(&case, &mut findings);
    let mut findings = findings
        .into_iter()
        .filter_map(|found| finding(&found, &numbers, view.rules))
        .collect::<Vec<Finding>>();
    // What nothing is allocated of yet is unknown; what makes it bad already is not.
    let verdict = if kept.iter().any(|id| bad.contains(id)) {
        Verdict::Misaligned
    } else {
        worst(&case, &kept, &assembled.roots)
    };
    // What is off by itself inherits not only that.
    for own in findings.iter().filter(|it| matches!(it.code.as_ref(), "ST101" | "ST102")) {
        let by_itself = layers.iter_mut().filter(|layer| layer.id == own.layer);
        by_itself.for_each(|layer| layer.inherited = false);
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    report::Target { target: name, joined: Vec::new(), refusal: None, verdict, layers, findings }
}

/// The code of bytes that were needed and could not be read.
pub(super) const UNREAD: &str = "ST407";

/// The layers beneath the files of loop devices, about which nobody asked.
fn hosts(assembled: &Assembled, kept: &[LayerId]) -> BTreeSet<LayerId> {
    let stack = &assembled.stack;
    let files = kept.iter().filter(|&&id| matches!(stack.layer(id).kind, LayerKind::File));
    let beneath =
        files.flat_map(|&file| stack.under(file).into_iter().filter(move |&id| id != file));
    beneath.filter(|id| !assembled.roots.contains(id)).collect()
}

/// A layer about which nobody asked: that it could not be read is no gap in the answer.
fn unasked(layer: report::LayerReport) -> report::LayerReport {
    if layer.verdict != Verdict::Unknown {
        return layer;
    }
    let reason = "shown because the file of a loop device is on it; not read itself".to_owned();
    report::LayerReport { reason, not_judged: true, ..layer }
}

/// The numbers under which the document has the layers that it shows.
struct Numbers(Vec<Option<u32>>);

impl Numbers {
    fn of(stack: &Stack, kept: &[LayerId]) -> Numbers {
        let mut numbers = vec![None; stack.iter().count()];
        for (&id, number) in kept.iter().zip(0..) {
            numbers[id.0] = Some(number);
        }
        Numbers(numbers)
    }

    fn get(&self, id: LayerId) -> Option<u32> {
        self.0.get(id.0).copied().flatten()
    }
}

/// The layers to show: all, or those on and under some devices.
fn kept(assembled: &Assembled, meant: &[String]) -> Vec<LayerId> {
    let stack = &assembled.stack;
    let is_meant =
        |layer: &stack::Layer| layer.device.as_ref().is_some_and(|it| meant.contains(it));
    let mut kept: BTreeSet<LayerId> = BTreeSet::new();
    for (id, _) in stack.iter().filter(|(_, layer)| is_meant(layer)) {
        // What lies over it may lie on more than it.
        for over in stack.over(id).into_iter().chain([id]) {
            kept.extend(stack.under(over));
        }
    }
    match kept.is_empty() {
        true => stack.iter().map(|(id, _)| id).collect(),
        false => kept.into_iter().collect(),
    }
}

/// The worst verdict of the layers on which nothing lies: what is put right further up is right.
/// A disk whose bytes were not read is never aligned, whatever the kernel says of its partitions:
/// what lies in them was not seen.
fn worst(case: &RuleInput<'_>, kept: &[LayerId], roots: &[LayerId]) -> Verdict {
    let tops = kept.iter().filter(|&&id| case.stack.above(id).is_empty());
    let is_contested = |id: LayerId| {
        case.stack.under(id).into_iter().any(|below| case.stack.layer(below).contest.is_some())
    };
    // Containers and helpers have no verdict that anyone should act on, unless something else may
    // be in their place.
    let judged = tops.filter(|&&id| is_contested(id) || !rule::is_rarely_written(case, id));
    let verdicts = judged.map(|id| case.judgments[id.0].verdict);
    // What lies beneath the file of a loop device was not asked about.
    let unread = (kept.iter().filter(|id| roots.contains(id)))
        .map(|id| case.judgments[id.0].verdict)
        .filter(|&verdict| verdict == Verdict::Unknown);
    // Where there are helpers alone, nothing is wrong.
    verdicts.chain(unread).max().unwrap_or(Verdict::Aligned)
}

fn layer(
    stack: &Stack,
    id: LayerId,
    judgment: &Judgment,
    bad: &[LayerId],
    judgments: &[Judgment],
    numbers: &Numbers,
) -> report::LayerReport {
    let layer = stack.layer(id);
    let below = layer.mapping.below();
    let off = |id: LayerId| judgments[id.0].verdict == Verdict::Misaligned;
    report::LayerReport {
        id: numbers.get(id).unwrap_or(0),
        below: below.iter().filter_map(|&id| numbers.get(id)).collect(),
        kind: layer.kind.kind(),
        name: layer.name.clone(),
        device: layer.device.clone(),
        mount_points: layer.mount_points.clone(),
        title: title::title(layer),
        start_bytes: match &layer.mapping {
            Mapping::Linear(below) => Some(below.offset_bytes),
            _ => None,
        },
        length_bytes: title::length(layer),
        verdict: judgment.verdict,
        reason: judgment.reason.clone(),
        not_judged: false,
        assumed: judgment.assumed,
        first_bad: bad.contains(&id),
        inherited: off(id) && below.iter().any(|&below| off(below)),
        misalignment: judgment.miss().map(Miss::misalignment),
        units: layer.units.facts().to_vec(),
        facts: facts(layer)
            .into_iter()
            .chain(layer.host.as_ref().map(host))
            .chain(log(stack, id))
            .chain(trim(stack, id))
            .collect(),
        problems: layer.problems.clone(),
    }
}

/// Returns what a drive says of its wear, where that is shown.
fn wear(view: &ReportSettings<'_>, layer: &stack::Layer) -> Vec<Fact> {
    let (Some(tree), LayerKind::Drive(drive)) = (view.wear, &layer.kind) else {
        return Vec::new();
    };
    let reading = WearReading::read(tree, &drive.name, &drive.said);
    reading.map_or_else(Vec::new, |reading| drive_facts::wear_facts(&reading))
}

fn facts(layer: &stack::Layer) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut text = |key: &'static str, value: String, source: Source| {
        facts.push(Fact {
            key: key.into(),
            value: Some(value),
            source: Some(source),
            reason: None,
        });
    };
    match &layer.kind {
        LayerKind::Drive(drive) => return drive_facts::facts(drive),
        LayerKind::Partition(partition, info) => {
            text("type", partition.type_code.clone(), Source::OnDisk);
            text("table-sector-bytes", info.sector.bytes().to_string(), Source::OnDisk);
            if let Some(id) = &partition.id {
                text("id", id.clone(), Source::OnDisk);
            }
        }
        LayerKind::FileSystem(system) | LayerKind::Swap(system) => {
            let numbers = [
                ("block-size-bytes", system.block_bytes),
                ("cluster-size-bytes", system.cluster_bytes),
                ("sector-size-bytes", system.sector_bytes),
                ("size-bytes", system.size_bytes),
                ("data-offset-bytes", Some(system.data_offset_bytes)),
                ("partition-offset-bytes", system.partition_offset_bytes),
                ("stripe-unit-bytes", system.stripe.map(|stripe| stripe.unit_bytes)),
                ("stripe-width-bytes", system.stripe.map(|stripe| stripe.width_bytes)),
            ];
            for (key, value) in numbers {
                if let Some(value) = value {
                    text(key, value.to_string(), Source::OnDisk);
                }
            }
            if let Some(id) = &system.id {
                text("id", id.clone(), Source::OnDisk);
            }
            for (key, value) in &system.details {
                text(key, value.clone(), Source::OnDisk);
            }
        }
        LayerKind::MdMember(member) | LayerKind::MdArray(member) => {
            text("array-id", member.array_id.clone(), layer.source);
            text("level", member.level.to_string(), layer.source);
            text("layout", member.layout.to_string(), layer.source);
            text("chunk-bytes", member.chunk_bytes.to_string(), layer.source);
            text("members", member.raid_disks.to_string(), layer.source);
            text("data-offset-bytes", member.data_offset_bytes.to_string(), layer.source);
        }
        LayerKind::LvmPhysical(volume) => {
            text("id", volume.id.clone(), Source::OnDisk);
            if let Some(offset) = volume.data_offset_bytes {
                text("data-offset-bytes", offset.to_string(), Source::OnDisk);
            }
            if let Some(group) = &volume.group {
                text("extent-bytes", group.extent_bytes.to_string(), Source::OnDisk);
                text("sequence", group.sequence.to_string(), Source::OnDisk);
            }
        }
        LayerKind::Luks(luks) => {
            text("id", luks.id.to_string(), Source::OnDisk);
            if let Some(cipher) = &luks.cipher {
                text("cipher", cipher.to_string(), Source::OnDisk);
            }
            for segment in &luks.segments {
                text("data-offset-bytes", segment.offset_bytes.to_string(), Source::OnDisk);
                text("sector-size-bytes", segment.sector_bytes.to_string(), Source::OnDisk);
            }
        }
        LayerKind::ImageFormat(image) => {
            text("format-version", image.version.clone(), Source::OnDisk);
            for (key, value) in &image.details {
                text(key, value.clone(), Source::OnDisk);
            }
        }
        _ => {}
    }
    facts
}

/// Returns where an image's file lies on its host.
fn host(host: &stack::layer::HostPlace) -> Fact {
    Fact {
        key: "file is stored on".into(),
        value: host.on.clone().ok(),
        source: host.on.is_ok().then_some(Source::Derived),
        reason: host.on.clone().err(),
    }
}

/// The device that holds a file system's log.
fn log(stack: &Stack, id: LayerId) -> Option<Fact> {
    let LayerKind::FileSystem(system) = &stack.layer(id).kind else { return None };
    let Some(Beside::LogOn(uuid)) = &system.beside else { return None };
    let holder = stack::external_parts::partners(stack, id).first().copied();
    let below = holder.and_then(|log| stack.layer(log).mapping.below().first().copied());
    Some(Fact {
        key: "log-on".into(),
        value: below.map(|below| stack.layer(below).name.clone()),
        source: below.is_some().then_some(Source::OnDisk),
        reason: below.is_none().then(|| format!("the device of the log was not given: {uuid}")),
    })
}

/// Returns where a discard of a file system ends, and in which pieces.
fn trim(stack: &Stack, id: LayerId) -> Vec<Fact> {
    let Some(path) = discard_path::of(stack, id) else { return Vec::new() };
    let name = |id: LayerId| stack.layer(id).name.clone();
    let pieces = path
        .grain
        .map_or_else(String::new, |grain| format!(", in pieces of {}", Exact(grain.bytes)));
    let (value, reason) = match path.arrival {
        DiscardArrival::Arrives(ends) => {
            let names: Vec<String> = ends.into_iter().map(name).collect();
            (Some(format!("reaches {}: yes{pieces}", names.join(", "))), None)
        }
        DiscardArrival::Stopped { by, why, .. } => {
            let drive = matches!(stack.layer(by).kind, LayerKind::Drive(_));
            let verb = if drive { "not taken by" } else { "stopped by" };
            (Some(format!("no: {verb} {}", name(by))), Some(why))
        }
        DiscardArrival::Unknown { why } => (None, Some(why)),
    };
    let source = value.is_some().then_some(Source::Derived);
    let mut facts = vec![Fact { key: "trim".into(), value, source, reason }];
    if let Some(grain) = path.grain {
        let fact = |key: &'static str, value: String, reason: Option<String>| Fact {
            key: key.into(),
            value: Some(value),
            source: Some(Source::Derived),
            reason,
        };
        let of = Some(format!("unit of {}", name(grain.layer)));
        facts.push(fact("trim-piece-bytes", grain.bytes.to_string(), of));
        let start = grain.offset_bytes.map(|bytes| bytes.to_string());
        facts.extend(start.map(|start| fact("trim-offset-bytes", start, None)));
    }
    facts
}

/// A finding as the user wants it; `None` when its rule is off, or its layer is not shown.
fn finding(found: &rule::Finding, numbers: &Numbers, changes: &[RuleChange]) -> Option<Finding> {
    let layer = numbers.get(found.layer)?;
    let change = changes.iter().rfind(|change| change.code == found.rule.code);
    let severity = match change {
        Some(change) => change.severity?,
        None => found.severity,
    };
    Some(Finding {
        code: found.rule.code.into(),
        severity,
        title: found.rule.title.into(),
        layer,
        evidence: found.evidence.clone(),
        cost: found.cost.clone(),
        remedies: found.fixes(),
    })
}
