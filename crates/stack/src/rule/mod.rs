//! Rules: what fires, how much it matters, what it costs, how to put it right.
//!
//! [`table::RULES`] says what each code means; the functions in the other files find where one
//! applies. Severity follows from predicted cost, not from taste.

use units::prefix::SectorAddress;

use crate::graph::Stack;
use crate::id::LayerId;
use crate::judge::{self, Judgment};
use crate::layer::LayerKind;
use crate::mapping::Mapping;
use crate::on_option::Condition;
use crate::unit::UnitKind;

mod alignment;
mod cost;
mod damage;
mod discard;
mod discard_stop;
mod drive_reports;
mod image;
mod kernel;
mod lba_format;
mod length;
mod partition_offset;
mod rarely_written;
mod remedy;
mod sector;
mod severity;
mod stripe;
pub mod table;
mod top_layers;
mod zone;

pub use cost::Cost;
pub use rarely_written::{is_covered_iso, read_only_medium};
pub use remedy::{CopySource, Remedy, copy_command, copy_name, plan_of, replay_command};
pub use severity::Severity;
pub use table::{RULES, Rule, rule};
pub(crate) use top_layers::is_extended;

/// A rule that fired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Importance of the finding here.
    pub severity: Severity,
    /// The layer that it is about.
    pub layer: LayerId,
    /// The values that made it fire.
    pub evidence: Vec<String>,
    /// Cost of what was found, where that can be told.
    pub cost: Option<Cost>,
    /// Ways to put it right here, of which one is enough.
    pub remedies: Vec<Remedy>,
}

impl Finding {
    /// The fixes in lines: the steps of each; `or` begins each but the first.
    #[must_use]
    pub fn fixes(&self) -> Vec<String> {
        remedy::lines(&self.remedies)
    }

    fn says(mut self, evidence: String) -> Finding {
        self.evidence.push(evidence);
        self
    }

    fn fixed_by(mut self, remedies: impl IntoIterator<Item = Remedy>) -> Finding {
        self.remedies.extend(remedies);
        self
    }
}

/// Facts that the rules look at.
pub struct RuleInput<'a> {
    /// The stack.
    pub stack: &'a Stack,
    /// The verdict on each of its layers.
    pub judgments: &'a [Judgment],
    /// The disk that the user tells.
    pub told: Option<&'a Condition>,
}

impl RuleInput<'_> {
    fn judgment(&self, id: LayerId) -> &Judgment {
        &self.judgments[id.0]
    }

    /// An address in `id` with its sector, in the logical sectors of what it lies on first.
    fn place(&self, id: LayerId, bytes: u64) -> SectorAddress {
        let below = |&id: &LayerId| self.stack.layer(id).mapping.below().first().copied();
        let mut down = std::iter::successors(Some(id), below);
        let sector =
            down.find_map(|id| self.stack.layer(id).units.used_bytes(UnitKind::LogicalSector));
        SectorAddress { bytes, sector_bytes: sector.unwrap_or(512) }
    }

    /// Byte of its disk at which a partition starts, whether the table or the kernel lists it;
    /// `None` for any other layer.
    fn partition_start(&self, id: LayerId) -> Option<u64> {
        let layer = self.stack.layer(id);
        match (&layer.kind, &layer.mapping) {
            (LayerKind::Partition(..) | LayerKind::KernelPartition, Mapping::Linear(below)) => {
                Some(below.offset_bytes)
            }
            _ => None,
        }
    }

    fn misaligned(&self, id: LayerId) -> bool {
        self.judgment(id).verdict == judge::Verdict::Misaligned
    }
}

/// Everything that the rules find, in order of severity, then of layer, then of code.
#[must_use]
pub fn findings(case: &RuleInput<'_>) -> Vec<Finding> {
    let costs = cost::Costs::new(case);
    let costed: [fn(&RuleInput<'_>, &cost::Costs<'_>) -> Vec<Finding>; 2] =
        [alignment::check, stripe::check];
    let free: [fn(&RuleInput<'_>) -> Vec<Finding>; 11] = [
        length::check,
        sector::check,
        damage::check,
        image::check,
        drive_reports::check,
        zone::check,
        partition_offset::check,
        discard::check,
        discard_stop::check,
        lba_format::check,
        kernel::check,
    ];
    let mut found: Vec<Finding> = costed.iter().flat_map(|check| check(case, &costs)).collect();
    found.extend(free.iter().flat_map(|check| check(case)));
    damage::withhold(case, &mut found);
    damage::unplanned(case, &mut found);
    for finding in found.iter_mut().filter(|finding| finding.severity == Severity::Info) {
        let remedies = std::mem::take(&mut finding.remedies);
        finding.remedies = remedies.into_iter().map(Remedy::optional).collect();
    }
    found.sort_by_key(|finding| {
        (std::cmp::Reverse(finding.severity), finding.layer, finding.rule.code)
    });
    found
}

/// Layers that make things bad on their own: misaligned, on nothing misaligned, and not put right
/// further up. The report marks them.
#[must_use]
pub fn first_bad(case: &RuleInput<'_>) -> Vec<LayerId> {
    alignment::culprits(case)
}

/// Returns whether a layer is a container, a boot helper, or never written in place: its alignment
/// is not worth a verdict that anyone should act on.
#[must_use]
pub fn is_rarely_written(case: &RuleInput<'_>, id: LayerId) -> bool {
    rarely_written::why(case, id).is_some()
}

/// Returns whether a partition is a part of the ISO image on the same disk, which finds its parts
/// by their places.
#[must_use]
pub fn is_part_of_iso(case: &RuleInput<'_>, id: LayerId) -> bool {
    rarely_written::iso_around(case, id).is_some()
}

fn finding(code: &str, severity: Severity, layer: LayerId) -> Finding {
    let rule = rule(code).expect("checks name codes of the table");
    Finding { rule, severity, layer, evidence: Vec::new(), cost: None, remedies: Vec::new() }
}
