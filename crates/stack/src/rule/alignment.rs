//! Starts off the granule: who is to blame, what it costs, and what is put right further up.

use std::collections::{BTreeMap, BTreeSet};

use format::filesystem::Beside;
use format::table::{PartitionRole, TableKind};
use units::prefix::{Exact, Size};
use units::{ByteRange, Source, Unit};

use super::cost::{Costed, Costs};
use super::top_layers::{is_container, tops};
use super::{Finding, RuleInput, Severity, finding, rarely_written, remedy, severity};
use crate::external_parts;
use crate::history;
use crate::id::LayerId;
use crate::judge::{Miss, Verdict};
use crate::layer::{Layer, LayerKind, PartitionTableInfo};
use crate::mapping::Mapping;
use crate::placement;
use crate::unit::UnitKind;

/// The most layers that one sentence names.
const NAMES_MAX: usize = 8;

/// The lowest layers of their paths that make things bad: misaligned, and not corrected by a layer
/// above.
pub(super) fn culprits(case: &RuleInput<'_>) -> Vec<LayerId> {
    let bad: BTreeSet<LayerId> = candidates(case)
        .filter(|&id| !compensated(case, id) && rarely_written::why(case, id).is_none())
        .collect();
    let is_on_another = |&id: &LayerId| {
        bad.len() > 1
            && case.stack.under(id).iter().any(|below| *below != id && bad.contains(below))
    };
    bad.iter().copied().filter(|id| !is_on_another(id)).collect()
}

/// Misaligned layers on layers that are not.
fn candidates<'a>(case: &'a RuleInput<'_>) -> impl Iterator<Item = LayerId> + 'a {
    case.stack.iter().map(|(id, _)| id).filter(|&id| {
        let below = case.stack.layer(id).mapping.below();
        case.misaligned(id) && !below.iter().any(|&below| case.misaligned(below))
    })
}

/// Returns whether something lies on the layer, and all that is on top of it is aligned.
fn compensated(case: &RuleInput<'_>, id: LayerId) -> bool {
    let tops = tops(case, id);
    let good = |&top: &LayerId| {
        matches!(case.judgment(top).verdict, Verdict::Aligned | Verdict::ChunkOnly)
    };
    !case.stack.above(id).is_empty() && !tops.is_empty() && tops.iter().all(good)
}

pub(super) fn check(case: &RuleInput<'_>, costs: &Costs<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut makers = Makers::new();
    for id in candidates(case) {
        let judgment = case.judgment(id);
        let Some(miss) = &judgment.granule else { continue };
        if is_container(case, id) {
            continue;
        }
        if compensated(case, id) {
            found.push(put_right(case, id, miss));
        } else if let Some(why) = rarely_written::why(case, id) {
            let evidence = format!("{}; {why}", evidence(case, id, miss));
            found.push(finding("ST104", Severity::Info, id).says(evidence));
        } else {
            let mut finding = off(case, id, miss, costs);
            finding.evidence.extend(made_by(case, id, &mut makers));
            let guests = guests_off(case, id, miss.unit, assumed(case, miss));
            if let Some(first) = guests.first() {
                // One copy mends both.
                finding.remedies.clone_from(&first.remedies);
            }
            found.push(finding);
            found.extend(guests);
        }
    }
    // Where the format gives no offsets, only the guest's own are left to judge.
    for (id, _) in case.stack.iter().filter(|&(id, _)| is_not_expressible(case, id)) {
        let granule =
            case.stack.leaves(id).find_map(|(_, leaf)| leaf.units.used(UnitKind::Granule));
        let Some((unit, source)) = granule else { continue };
        let guests = guests_off(case, id, unit, source == Source::Assumed);
        found.extend(guests.into_iter().filter(|guest| !case.misaligned(guest.layer)));
    }
    found
}

fn is_not_expressible(case: &RuleInput<'_>, id: LayerId) -> bool {
    matches!(case.stack.layer(id).kind, LayerKind::ImageFormat(_))
        && case.judgment(id).verdict == Verdict::NotExpressible
}

fn off(case: &RuleInput<'_>, id: LayerId, miss: &Miss, costs: &Costs<'_>) -> Finding {
    let tops = tops(case, id);
    let bad: Vec<LayerId> = tops.into_iter().filter(|&top| case.misaligned(top)).collect();
    let bad = if bad.is_empty() { vec![id] } else { bad };
    let worst = (bad.iter().filter_map(|&top| costs.of_layer(top))).max_by_key(Costed::excess_rmws);
    let assumed = assumed(case, miss);
    let code = match (&case.stack.layer(id).kind, assumed) {
        (LayerKind::ImageFormat(_), _) => "ST501",
        (LayerKind::FileSystem(_) | LayerKind::Swap(_), _) => "ST105",
        (_, true) => "ST102",
        (_, false) => "ST101",
    };
    let mut finding = finding(code, severity::of_cost(worst.as_ref(), assumed), id)
        .says(evidence(case, id, miss) + &predicted(case, id));
    finding.evidence.extend(log(case, id));
    if assumed {
        let owner = case.stack.layer(miss.owner);
        finding.evidence.push(match &owner.kind {
            LayerKind::Drive(drive) => {
                let physical = match drive.physical_bytes.value() {
                    Some(bytes) => {
                        format!(
                            "{} reports a physical sector of {bytes} bytes, unconfirmed",
                            owner.name
                        )
                    }
                    None => format!("the physical sector of {} is unknown", owner.name),
                };
                physical + ", so 4 KiB is assumed"
            }
            _ => "an image does not say what disk it is for, so 4 KiB is assumed: specify it with \
                  --on"
                .to_owned(),
        });
    }
    finding.cost = worst.as_ref().map(Costed::told);
    finding.remedies = remedy::moved(case, id, miss);
    finding
}

/// Partitions of the guest's disk in image format `id` that are off on that disk, too: what is seen
/// once the format puts nothing off.
fn guests_off(case: &RuleInput<'_>, id: LayerId, unit: Unit, assumed: bool) -> Vec<Finding> {
    if !matches!(case.stack.layer(id).kind, LayerKind::ImageFormat(_)) {
        return Vec::new();
    }
    let granule = unit.length_bytes();
    let off = |&part: &LayerId| {
        let layer = case.stack.layer(part);
        let Mapping::Linear(below) = &layer.mapping else { return None };
        let start = below.offset_bytes;
        let is_off = matches!(layer.kind, LayerKind::Partition(..))
            && tops(case, part).into_iter().any(|top| {
                let length = case.stack.layer(top).length().unwrap_or(1).max(1);
                let all = ByteRange::new(0, length).expect("a range from 0 always exists");
                let shifts = placement::shifts(case.stack, top, all, id, granule);
                shifts.bytes.keys().any(|&shift| !unit.aligns(shift))
            });
        if !is_off || is_container(case, part) || rarely_written::why(case, part).is_some() {
            return None;
        }
        let code = if assumed { "ST102" } else { "ST101" };
        let mut finding = finding(code, severity::of_cost(None, assumed), part).says(format!(
            "{} starts at {}, {} after a {} boundary of the guest's disk; converting the image \
             does not change this",
            layer.name,
            case.place(part, start),
            Exact(unit.misalignment(start)),
            Exact(granule)
        ));
        finding.remedies.extend(remedy::planned_as_raw(case, part));
        Some(finding)
    };
    case.stack.above(id).iter().filter_map(off).collect()
}

/// Returns how much of an image is judged by where its format will put it.
fn predicted(case: &RuleInput<'_>, id: LayerId) -> String {
    let bytes = case.judgment(id).predicted_bytes;
    match &case.stack.layer(id).kind {
        LayerKind::ImageFormat(_) if bytes > 0 => {
            format!(
                "; the {} not allocated yet is judged by where its blocks would be appended",
                Size(bytes)
            )
        }
        _ => String::new(),
    }
}

/// Whose log is on a layer: no part of a disk is written more often.
fn log(case: &RuleInput<'_>, id: LayerId) -> Option<String> {
    let is_log = |&top: &LayerId| {
        matches!(&case.stack.layer(top).kind, LayerKind::FileSystem(system)
            if matches!(system.beside, Some(Beside::LogOf(_))))
    };
    let log = tops(case, id).into_iter().find(is_log)?;
    let owners: Vec<String> = external_parts::partners(case.stack, log)
        .into_iter()
        .take(NAMES_MAX)
        .map(|owner| whose(case, owner))
        .collect();
    let owner = match owners.is_empty() {
        true => "a file system on another device".to_owned(),
        false => owners.join(", "),
    };
    let name = &case.stack.layer(id).name;
    Some(format!("{name} holds the log of {owner}: every commit writes it"))
}

/// A file system, with what it is on.
fn whose(case: &RuleInput<'_>, id: LayerId) -> String {
    let layer = case.stack.layer(id);
    match layer.mapping.below().first() {
        Some(&below) => format!("{} on {}", layer.name, case.stack.layer(below).name),
        None => layer.name.clone(),
    }
}

/// The sentence about each table that was looked at: by the layer that holds it and its kind.
type Makers = BTreeMap<(LayerId, TableKind), Option<String>>;

/// Returns a sentence on which partitioner's default put a partition where it is.
fn made_by(case: &RuleInput<'_>, id: LayerId, makers: &mut Makers) -> Option<String> {
    let layer = case.stack.layer(id);
    let LayerKind::Partition(_, info) = &layer.kind else { return None };
    let [disk] = layer.mapping.below()[..] else { return None };
    makers.entry((disk, info.kind)).or_insert_with(|| maker(case.stack.layer(disk), info)).clone()
}

fn maker(disk: &Layer, info: &PartitionTableInfo) -> Option<String> {
    let table = disk.tables.iter().find(|table| table.kind == info.kind)?;
    let starts: Vec<u64> = (table.partitions.iter())
        .filter(|part| !matches!(part.role, PartitionRole::Whole | PartitionRole::Protective))
        .map(|part| part.range.start_bytes())
        .collect();
    Some(history::made_by(&starts, info.sector.bytes(), disk.length()?)?.sentence())
}

fn put_right(case: &RuleInput<'_>, id: LayerId, miss: &Miss) -> Finding {
    let finding = finding("ST103", Severity::Info, id).says(evidence(case, id, miss));
    let tops = tops(case, id);
    let names: Vec<&str> =
        tops.iter().take(NAMES_MAX).map(|&top| case.stack.layer(top).name.as_str()).collect();
    let more = match tops.len().saturating_sub(NAMES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    finding.says(format!("the data of {}{more} is aligned on the drive", names.join(", ")))
}

pub(super) fn assumed(case: &RuleInput<'_>, miss: &Miss) -> bool {
    let units = &case.stack.layer(miss.owner).units;
    units.used(miss.kind).is_some_and(|(_, source)| source == Source::Assumed)
}

pub(super) fn evidence(case: &RuleInput<'_>, id: LayerId, miss: &Miss) -> String {
    let layer = case.stack.layer(id);
    let unit = Exact(miss.unit.length_bytes());
    let origin = match miss.unit.origin_bytes() {
        0 => String::new(),
        origin => format!(" (counted from byte {origin})"),
    };
    let owner = &case.stack.layer(miss.owner).name;
    let kind = match miss.kind {
        UnitKind::Granule => String::new(),
        kind => format!("{} ", kind.words()),
    };
    let boundary = format!("{unit} {kind}boundary of {owner}{origin}");
    let place = match &layer.mapping {
        Mapping::Linear(below) if below.offset_bytes > 0 => {
            format!(" at {},", case.place(id, below.offset_bytes))
        }
        _ => String::new(),
    };
    match miss.offset_bytes {
        Some(offset) => {
            format!("{} starts{place} {} after a {boundary}", layer.name, Exact(offset))
        }
        None => {
            let what = match layer.kind {
                LayerKind::ImageFormat(_) => "the guest's disk",
                _ => &layer.name,
            };
            let share = miss.share * 100.0;
            format!("{share:.1} % of {what} is off the {unit} {kind}boundaries of {owner}{origin}")
        }
    }
}
