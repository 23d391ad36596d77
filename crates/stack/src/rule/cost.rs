//! Cost of one write as things are, beside what it would cost if aligned.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use units::prefix::Size;
use units::{ByteRange, Known};

use super::RuleInput;
use crate::amplify::{self, Effort, Io};
use crate::graph::Stack;
use crate::id::LayerId;
use crate::layer::LayerKind;
use crate::mapping::Mapping;
use crate::work_budget::WorkBudget;

/// The smallest write that layers above make: a page, a block of most file systems.
const WRITE_BYTES: u64 = 4096;

/// Number of places tried beside the first ones.
const SPREAD_PLACES: u64 = 15;

/// The golden ratio's fraction in 64 bits: its multiples fill a range evenly and never repeat.
const GOLDEN_FRACTION: u64 = 0x9e37_79b9_7f4a_7c15;

/// Number of full stripes looked at for one that begins on a granule.
const STRIPES_TRIED: u64 = 256;

/// Cost of one write of the layer above on the leaves, beside what it would cost if aligned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// The write's length in bytes.
    pub write_bytes: u64,
    /// Units read first, because the write covers them only in part.
    pub reads: u64,
    /// Units written.
    pub writes: u64,
    /// Read-modify-writes on drives.
    pub rmws: u64,
    /// Updates of parity.
    pub parity_updates: u64,
    /// Units read by the same write if aligned.
    pub aligned_reads: u64,
    /// Units written by the same write if aligned.
    pub aligned_writes: u64,
    /// The same in one sentence for people.
    pub sentence: String,
}

/// Cost of one write as things are, and if aligned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Costed {
    /// The write's length in bytes.
    write_bytes: u64,
    /// The worst of the places that were tried.
    actual: Effort,
    /// The same write where everything is aligned.
    aligned: Effort,
    /// True if the drives rotate, as far as known.
    pub(super) rotating: bool,
    /// True if an array with parity takes part.
    pub(super) parity: bool,
}

impl Costed {
    /// Read-modify-writes of drives and of parity that alignment would save.
    pub(super) fn excess_rmws(&self) -> u64 {
        let sum = |effort: &Effort| effort.rmws + effort.parity_rmws;
        sum(&self.actual).saturating_sub(sum(&self.aligned))
    }

    /// Returns whether alignment would change nothing.
    pub(super) fn is_nothing(&self) -> bool {
        self.actual == self.aligned
    }

    /// The cost as a finding tells it.
    pub(super) fn told(&self) -> Cost {
        let (actual, aligned) = (self.actual, self.aligned);
        Cost {
            write_bytes: self.write_bytes,
            reads: actual.reads,
            writes: actual.writes,
            rmws: actual.rmws,
            parity_updates: actual.parity_updates,
            aligned_reads: aligned.reads,
            aligned_writes: aligned.writes,
            sentence: self.sentence(),
        }
    }

    fn sentence(&self) -> String {
        let (actual, aligned) = (self.actual, self.aligned);
        let granules = |count| format!("{count} granule{}", if count == 1 { "" } else { "s" });
        let mut text = format!("each {} write ", Size(self.write_bytes));
        text += &match actual.reads {
            0 => format!("writes {}", granules(actual.writes)),
            reads => format!("reads {} and writes {}", granules(reads), actual.writes),
        };
        text += &match aligned.reads {
            0 => format!(" (aligned: writes {})", aligned.writes),
            reads => format!(" (aligned: reads {reads} and writes {})", aligned.writes),
        };
        if actual.leaves != aligned.leaves {
            text += &format!("; uses {} drives (aligned: {})", actual.leaves, aligned.leaves);
        }
        if actual.parity_updates != aligned.parity_updates {
            text += &format!(
                "; updates parity {} times (aligned: {})",
                actual.parity_updates, aligned.parity_updates
            );
        }
        text
    }
}

/// Costs of writes, each worked out once and all within one budget.
pub(super) struct Costs<'a> {
    case: &'a RuleInput<'a>,
    budget: WorkBudget,
    known: RefCell<BTreeMap<(LayerId, u64), Option<Costed>>>,
}

impl<'a> Costs<'a> {
    pub(super) fn new(case: &'a RuleInput<'a>) -> Costs<'a> {
        Costs { case, budget: WorkBudget::for_all(case.stack), known: RefCell::default() }
    }

    /// The cost of one write of a granule, at least 4 KiB, by the layer on `id`, at its own
    /// boundaries; `None` where it cannot be told.
    pub(super) fn of_layer(&self, id: LayerId) -> Option<Costed> {
        // 0 stands for the granule, so that a layer that is asked about again need not be looked
        // under for its leaf.
        self.once(id, 0, || {
            let leaf = first_leaf(self.case.stack, &self.under(id)?)?;
            let granule = amplify::granule_of(self.case.stack, leaf).length_bytes();
            self.of_write(id, granule.max(WRITE_BYTES))
        })
    }

    /// The cost of a write of `write_bytes`, which is not 0, by the layer on `id`, at multiples of
    /// that.
    pub(super) fn of_write(&self, id: LayerId, write_bytes: u64) -> Option<Costed> {
        self.once(id, write_bytes, || self.work_out(id, write_bytes))
    }

    fn once(&self, id: LayerId, bytes: u64, cost: impl Fn() -> Option<Costed>) -> Option<Costed> {
        if let Some(known) = self.known.borrow().get(&(id, bytes)) {
            return known.clone();
        }
        let cost = cost();
        self.known.borrow_mut().insert((id, bytes), cost.clone());
        cost
    }

    fn work_out(&self, id: LayerId, write_bytes: u64) -> Option<Costed> {
        let stack = self.case.stack;
        let under = self.under(id)?;
        let leaf = first_leaf(stack, &under)?;
        let length = stack.layer(id).length()?;
        let places = match length >= write_bytes && self.is_even(&under, leaf, write_bytes) {
            true => vec![0],
            false => samples(self.case, id, length, write_bytes),
        };
        let efforts = places.into_iter().filter_map(|start| self.effort(id, start, write_bytes));
        let efforts: Vec<Effort> = efforts.collect();
        let rmws = |effort: &Effort| effort.rmws + effort.parity_rmws;
        let worst = |effort: &&Effort| (rmws(effort), effort.writes, effort.leaves);
        let actual = *efforts.iter().max_by_key(worst)?;
        // If one member alone is off, a place aligned to it is off the others.
        let moved = self.aligned(id, leaf, write_bytes)?;
        let best = |effort: &&Effort| (rmws(effort), effort.reads, effort.writes, effort.leaves);
        let aligned = *efforts.iter().chain([&moved]).min_by_key(best)?;
        let several = (self.case.judgment(id).granule.as_ref())
            .is_some_and(|miss| miss.offset_bytes.is_none());
        if self.budget.is_spent() || several && actual == aligned {
            // Some places were not tried, or none that is off, so the comparison says nothing.
            return None;
        }
        let rotating = under.iter().any(|&below| match &stack.layer(below).kind {
            LayerKind::Drive(drive) => matches!(&drive.rotational, Known::Yes(fact) if fact.value),
            _ => false,
        });
        Some(Costed { write_bytes, actual, aligned, rotating, parity: has_parity(stack, &under) })
    }

    /// The layers under `id`; `None` when there are more than may still be looked at.
    fn under(&self, id: LayerId) -> Option<Vec<LayerId>> {
        let under = self.case.stack.under(id);
        self.budget.spend(under.len()).then_some(under)
    }

    /// Returns whether a write costs the same at all multiples of its length: whole granules of one
    /// leaf, with nothing in between that could break them up.
    fn is_even(&self, under: &[LayerId], leaf: LayerId, write_bytes: u64) -> bool {
        let stack = self.case.stack;
        let granule = amplify::granule_of(stack, leaf).length_bytes();
        let plain =
            |id: &LayerId| matches!(stack.layer(*id).mapping, Mapping::Linear(_) | Mapping::Leaf);
        write_bytes.is_multiple_of(granule) && under.iter().all(plain)
    }

    fn effort(&self, id: LayerId, start: u64, length: u64) -> Option<Effort> {
        let range = ByteRange::new(start, length)?;
        let io = Io { write: true, range };
        amplify::amplify_within(self.case.stack, id, io, &self.budget).ok()
    }

    /// Returns what the write costs at an address where it is aligned: moved by what the layer is
    /// off. Where it is off by several amounts, one leaf is counted.
    fn aligned(&self, id: LayerId, leaf: LayerId, write_bytes: u64) -> Option<Effort> {
        let stack = self.case.stack;
        let judgment = self.case.judgment(id);
        let granule = judgment
            .granule
            .as_ref()
            .and_then(|miss| Some((miss.unit.length_bytes(), miss.offset_bytes?)));
        let stripe = judgment.stripe.as_ref().and_then(|miss| miss.full);
        if let Some(at) = aligned_at(granule, stripe)
            && let Some(effort) = self.effort(id, at, write_bytes)
        {
            return Some(effort);
        }
        let granule = amplify::granule_of(stack, leaf);
        let at = granule.origin_bytes();
        let partial = granule.partial(at, write_bytes);
        let writes = granule.touched(at, write_bytes);
        Some(Effort { reads: partial, writes, rmws: partial, leaves: 1, ..Effort::default() })
    }
}

fn has_parity(stack: &Stack, under: &[LayerId]) -> bool {
    under.iter().any(|&below| {
        let layer = stack.layer(below);
        layer.told_parity || layer.mapping.stripes().iter().any(|laid| laid.parity > 0)
    })
}

/// Places to try: the first ones, some spread over the layer, and one that crosses a chunk.
fn samples(case: &RuleInput<'_>, id: LayerId, length: u64, write_bytes: u64) -> Vec<u64> {
    let count = length.checked_div(write_bytes).unwrap_or(0);
    let mut places: Vec<u64> = (0..count.min(8)).collect();
    places.extend((1..=SPREAD_PLACES).map(|number| spread(number, count)));
    if let Some(miss) = &case.judgment(id).stripe {
        let chunk = miss.unit.length_bytes();
        let behind = miss.offset_bytes.unwrap_or(0);
        let to_boundary = (chunk - behind).saturating_sub(1);
        places.push(to_boundary.checked_div(write_bytes).unwrap_or(0));
    }
    places.retain(|&place| place < count);
    places.sort_unstable();
    places.dedup();
    places.into_iter().map(|place| place * write_bytes).collect()
}

/// Place `number` of a spread over `count`, which no power of two divides: the blocks of a VHD are
/// off by amounts that return after a few of them.
fn spread(number: u64, count: u64) -> u64 {
    let fraction = number.wrapping_mul(GOLDEN_FRACTION);
    u64::try_from((u128::from(fraction) * u128::from(count)) >> 64).expect("below the count")
}

/// An address of a layer that is behind by the second number of each unit, the first number, where
/// it is aligned to both; to the granule alone where none is aligned to both.
fn aligned_at(granule: Option<(u64, u64)>, stripe: Option<(u64, u64)>) -> Option<u64> {
    let first = |(unit, behind): (u64, u64)| Some((unit - behind.checked_rem(unit)?) % unit);
    let Some((full, behind)) = stripe else { return first(granule?) };
    let on_granule =
        |at: &u64| granule.is_none_or(|(unit, behind)| (at + behind).is_multiple_of(unit));
    let start = first((full, behind))?;
    let stripes =
        (0..STRIPES_TRIED).filter_map(|count| full.checked_mul(count)?.checked_add(start));
    stripes.into_iter().find(on_granule).or_else(|| first(granule?))
}

/// The first of `under` with nothing under it.
fn first_leaf(stack: &Stack, under: &[LayerId]) -> Option<LayerId> {
    under.iter().copied().find(|&below| matches!(stack.layer(below).mapping, Mapping::Leaf))
}
