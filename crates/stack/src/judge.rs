//! Judges each layer by where its data finally lies.

use format::{ProblemKind, lost_table};
use serde::{Deserialize, Serialize};
use units::{ByteRange, Source, Unit};

use crate::graph::Stack;
use crate::id::LayerId;
use crate::layer::{Bare, Contest, Layer, LayerKind};
use crate::mapping::{LaidStripe, Mapping};
use crate::placement::{self, DescendingRun, Obstacle, Shifts};
use crate::unit::UnitKind;

pub use crate::verdict::Verdict;
use crate::work_budget::WorkBudget;

/// Distance of a layer's data from the boundaries of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Misalignment {
    /// The unit missed: `granule`, `chunk`, `full-stripe`.
    pub unit: UnitKind,
    /// The unit's length in bytes.
    pub unit_bytes: u64,
    /// Bytes behind the last boundary; `null` when several offsets occur.
    pub offset_bytes: Option<u64>,
    /// Share of the layer's bytes that are off, in percent from 0 to 100.
    pub share_percent: f64,
}

/// Distance by which a layer is off one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Miss {
    /// The unit missed.
    pub kind: UnitKind,
    /// The unit, with its origin.
    pub unit: Unit,
    /// Bytes behind the last boundary; `None` when several occur.
    pub offset_bytes: Option<u64>,
    /// The share of the layer's bytes that are off, from 0 to 1.
    pub share: f64,
    /// The layer whose unit it is.
    pub owner: LayerId,
    /// True if an array with parity is missed.
    pub parity: bool,
    /// The full stripe in bytes and how far the layer is behind its last boundary, where chunks or
    /// full stripes are missed by one amount.
    pub full: Option<(u64, u64)>,
}

impl Miss {
    /// Returns how far off it is, in the form of documents: the share to a tenth of a percent.
    #[must_use]
    pub fn misalignment(&self) -> Misalignment {
        Misalignment {
            unit: self.kind,
            unit_bytes: self.unit.length_bytes(),
            offset_bytes: self.offset_bytes,
            share_percent: (self.share * 1000.0).round() / 10.0,
        }
    }
}

/// A verdict with its grounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgment {
    /// The verdict.
    pub verdict: Verdict,
    /// Facts that cannot be told, and why; empty when everything can.
    pub reason: String,
    /// Distance by which it is off the granule of a leaf.
    pub granule: Option<Miss>,
    /// Distance by which it is off a chunk or, when on chunks, off a full stripe.
    pub stripe: Option<Miss>,
    /// True if the granule that decided is only assumed.
    pub assumed: bool,
    /// An array whose chunk is not a multiple of a leaf's granule: its number and the chunk in
    /// bytes.
    pub small_chunk: Option<(LayerId, u64)>,
    /// Bytes that are not allocated yet, and judged by where an image's format will put them.
    pub predicted_bytes: u64,
}

impl Judgment {
    /// The miss that decides the verdict: off the granule first.
    #[must_use]
    pub fn miss(&self) -> Option<&Miss> {
        self.granule.as_ref().or(self.stripe.as_ref())
    }
}

/// The verdict on every layer of `stack`, in its order.
#[must_use]
pub fn judge_all(stack: &Stack) -> Vec<Judgment> {
    let budget = WorkBudget::for_all(stack);
    stack.iter().map(|(id, _)| judge_within(stack, id, whole(stack, id), &budget)).collect()
}

/// The verdict on layer `id`.
#[must_use]
pub fn judge(stack: &Stack, id: LayerId) -> Judgment {
    judge_range(stack, id, whole(stack, id))
}

fn whole(stack: &Stack, id: LayerId) -> ByteRange {
    let length = stack.layer(id).length().unwrap_or(1).max(1);
    ByteRange::new(0, length).expect("a range from 0 always exists")
}

/// The verdict on `range` of layer `id`, counted as if the layer began at byte 0.
#[must_use]
pub fn judge_range(stack: &Stack, id: LayerId, range: ByteRange) -> Judgment {
    judge_within(stack, id, range, &WorkBudget::for_all(stack))
}

fn judge_within(stack: &Stack, id: LayerId, range: ByteRange, budget: &WorkBudget) -> Judgment {
    let mut grounds = Grounds::new(budget);
    // Of a captured disk nobody tried to read the bytes: it is judged by what the kernel shows.
    let told = stack.layer(id).problems.first().filter(|it| it.kind != ProblemKind::Uncaptured);
    if let (Mapping::Leaf, None, Some(told)) = (&stack.layer(id).mapping, stack.bytes(id), told) {
        grounds.obstacles.push(Obstacle::Unknown(told.detail.clone()));
    }
    match &stack.layer(id).bare {
        Some(Bare::Unknown(reason)) => grounds.obstacles.push(Obstacle::Unknown(reason.clone())),
        Some(Bare::Empty(reason)) => grounds.empty = Some(reason.clone()),
        Some(Bare::Lost(volumes)) => {
            grounds.obstacles.push(Obstacle::Unknown(lost_table::reason(volumes)));
        }
        None => {}
    }
    let under = stack.under(id);
    if !budget.spend(under.len()) {
        grounds.obstacles.push(Obstacle::more_paths());
        return grounds.judgment();
    }
    for (leaf, _) in stack.leaves(id) {
        grounds.granule(stack, id, range, leaf);
    }
    for &below in under.iter().chain([&id]) {
        grounds.obstacles.extend(lacking(stack.layer(below)).map(Obstacle::Unknown));
    }
    for &below in &under {
        if let Mapping::Unknown { on, reason } = &stack.layer(below).mapping
            && on.is_empty()
        {
            grounds.obstacles.push(Obstacle::Unknown(reason.clone()));
        }
    }
    for &array in &under {
        grounds.stripes(stack, id, range, array);
    }
    grounds.kernel(stack, &under);
    let judgment = grounds.judgment();
    // What a disk holds does not change its own verdict, unless nothing is known to be on it.
    let counts = |below: LayerId| below != id || stack.above(id).is_empty();
    let contests = under.iter().copied().filter(|&below| counts(below)).filter_map(|below| {
        let contest = stack.layer(below).contest.as_ref()?;
        let other = other_verdict(stack, below, contest, budget);
        (other != judgment.verdict).then(|| contest.reason.clone())
    });
    match contests.last() {
        Some(reason) => Judgment { verdict: Verdict::Unknown, reason, ..judgment },
        None => judgment,
    }
}

/// The verdict on the other of two contents of `disk`, by which the stack does not go on: aligned,
/// misaligned or, where stripes or several places of its data make it harder, unknown.
fn other_verdict(stack: &Stack, disk: LayerId, contest: &Contest, budget: &WorkBudget) -> Verdict {
    let rest = |start: u64| ByteRange::new(start, stack.layer(disk).length()?.checked_sub(start)?);
    let Some(range) = contest.data_at_bytes.and_then(rest) else { return Verdict::Unknown };
    let has_stripes = stack.under(disk).into_iter().any(|below| {
        let layer = stack.layer(below);
        !layer.mapping.stripes().is_empty() || layer.units.used(UnitKind::FullStripe).is_some()
    });
    let run = DescendingRun { id: disk, range, shift: range.start_bytes() };
    let is_on = |leaf: &Layer, id: LayerId| {
        let (unit, _) = leaf.units.used(UnitKind::Granule)?;
        let shifts = placement::shifts_within(stack, &run, id, unit.length_bytes(), budget);
        let is_known = shifts.obstacles.is_empty() && !shifts.bytes.is_empty();
        is_known.then(|| shifts.bytes.keys().all(|&shift| unit.aligns(shift)))
    };
    let leaves: Option<Vec<bool>> = stack.leaves(disk).map(|(id, leaf)| is_on(leaf, id)).collect();
    match leaves {
        Some(leaves) if leaves.contains(&false) => Verdict::Misaligned,
        Some(_) if !has_stripes => Verdict::Aligned,
        _ => Verdict::Unknown,
    }
}

/// Returns how many members of an array or a volume were not given, in words; `None` for none.
fn lacking(layer: &Layer) -> Option<String> {
    let missing = layer.not_given();
    let plural = if missing == 1 { "member was" } else { "members were" };
    (missing > 0).then(|| format!("{missing} {plural} not given"))
}

struct Grounds<'a> {
    budget: &'a WorkBudget,
    granule: Option<Miss>,
    stripe: Option<Miss>,
    obstacles: Vec<Obstacle>,
    assumed: bool,
    reached: bool,
    stacking_failed: bool,
    nowhere_bytes: u64,
    predicted_bytes: u64,
    /// Why nothing is on it.
    empty: Option<String>,
}

impl<'a> Grounds<'a> {
    fn new(budget: &'a WorkBudget) -> Grounds<'a> {
        Grounds {
            budget,
            granule: None,
            stripe: None,
            obstacles: Vec::new(),
            assumed: false,
            reached: false,
            stacking_failed: false,
            nowhere_bytes: 0,
            predicted_bytes: 0,
            empty: None,
        }
    }

    fn granule(&mut self, stack: &Stack, id: LayerId, range: ByteRange, leaf: LayerId) {
        let Some((unit, source)) = stack.layer(leaf).units.used(UnitKind::Granule) else {
            self.obstacles.push(Obstacle::Unknown("the granule is unknown".to_owned()));
            return;
        };
        let shifts = self.shifts(stack, DescendingRun { id, range, shift: 0 }, leaf, unit);
        self.assumed |= source == Source::Assumed && !shifts.bytes.is_empty();
        self.take(&shifts);
        let off = |shift| !unit.aligns(shift);
        let share = shifts.share(off);
        if share > 0.0 && id != leaf {
            let offset_bytes = shifts.single().map(|shift| unit.misalignment(shift));
            let kind = UnitKind::Granule;
            let miss =
                Miss { kind, unit, offset_bytes, share, owner: leaf, parity: false, full: None };
            keep_worst(&mut self.granule, miss);
        }
    }

    fn stripes(&mut self, stack: &Stack, id: LayerId, range: ByteRange, array: LayerId) {
        let layer = stack.layer(array);
        let told = layer.units.used(UnitKind::FullStripe).zip(layer.units.used(UnitKind::Chunk));
        let told = told.filter(|_| layer.mapping.stripes().is_empty());
        if let Some(((full, _), (chunk, _))) = told {
            if array != id {
                let parity = layer.told_parity;
                let laid = ArrayRows { chunk, full, start_bytes: 0, parity };
                self.stripe(stack, id, range, array, laid);
            }
            return;
        }
        for laid in layer.mapping.stripes() {
            // An array's own start is where its stripes start; a layer of several runs may begin
            // within one.
            if array == id || laid.stripe.data_members() < 2 {
                continue;
            }
            if let Some(rows) = ArrayRows::of(laid) {
                self.stripe(stack, id, range, array, rows);
            }
        }
    }

    fn stripe(
        &mut self,
        stack: &Stack,
        id: LayerId,
        range: ByteRange,
        array: LayerId,
        rows: ArrayRows,
    ) {
        let full = rows.full.length_bytes();
        let shifts = self.shifts(stack, DescendingRun { id, range, shift: 0 }, array, rows.full);
        let cut = Obstacle::more_paths();
        if shifts.obstacles.contains(&cut) && !self.obstacles.contains(&cut) {
            self.obstacles.push(cut);
        }
        let back = full - rows.start_bytes % full;
        let within = |shift: u64| (shift + back) % full;
        let off_chunk = shifts.share(|shift| !rows.chunk.aligns(within(shift)));
        let off_full = shifts.share(|shift| !rows.full.aligns(within(shift)));
        let (kind, unit, share) = if off_chunk > 0.0 {
            (UnitKind::Chunk, rows.chunk, off_chunk)
        } else {
            (UnitKind::FullStripe, rows.full, off_full)
        };
        if share > 0.0 {
            let offset_bytes = shifts.single().map(|shift| unit.misalignment(within(shift)));
            let behind = shifts.single().map(|shift| rows.full.misalignment(within(shift)));
            let full = behind.map(|behind| (full, behind));
            let parity = rows.parity;
            let miss = Miss { kind, unit, offset_bytes, share, owner: array, parity, full };
            keep_worst(&mut self.stripe, miss);
        }
    }

    fn shifts(&self, stack: &Stack, path: DescendingRun, to: LayerId, unit: Unit) -> Shifts {
        placement::shifts_within(stack, &path, to, unit.length_bytes(), self.budget)
    }

    fn take(&mut self, shifts: &Shifts) {
        self.reached |= !shifts.bytes.is_empty();
        self.nowhere_bytes = self.nowhere_bytes.saturating_add(shifts.nowhere_bytes);
        self.predicted_bytes = self.predicted_bytes.max(shifts.predicted_bytes);
        for obstacle in &shifts.obstacles {
            if !self.obstacles.contains(obstacle) {
                self.obstacles.push(obstacle.clone());
            }
        }
    }

    fn kernel(&mut self, stack: &Stack, under: &[LayerId]) {
        self.stacking_failed = under.iter().any(|&id| {
            let layer = stack.layer(id);
            let drive = match &layer.kind {
                LayerKind::Drive(drive) => drive.alignment_offset_bytes.value(),
                _ => None,
            };
            let stacked = layer.limits.as_ref().map(|limits| &limits.alignment_offset_bytes);
            drive.or_else(|| stacked.and_then(units::Known::value)) == Some(&-1)
        });
    }

    fn judgment(self) -> Judgment {
        let small_chunk = self.obstacles.iter().find_map(|obstacle| match obstacle {
            Obstacle::ChunkBelowUnit { array, chunk_bytes } => Some((*array, *chunk_bytes)),
            _ => None,
        });
        let reason = |wanted: fn(&Obstacle) -> Option<&String>| {
            self.obstacles.iter().find_map(wanted).cloned()
        };
        let not_expressible = reason(|obstacle| match obstacle {
            Obstacle::NotExpressible(reason) => Some(reason),
            _ => None,
        });
        let unknown = reason(|obstacle| match obstacle {
            Obstacle::Unknown(reason) => Some(reason),
            _ => None,
        });
        let off_chunk = self.stripe.as_ref().is_some_and(|miss| miss.kind == UnitKind::Chunk);
        let (verdict, reason) = if self.granule.is_some() || small_chunk.is_some() || off_chunk {
            (Verdict::Misaligned, unknown.or(not_expressible).unwrap_or_default())
        } else if self.stacking_failed {
            let reason = "the kernel says that stacking failed (alignment_offset -1)".to_owned();
            (Verdict::Undefined, reason)
        } else if let Some(reason) = not_expressible {
            (Verdict::NotExpressible, reason)
        } else if let Some(reason) = unknown {
            (Verdict::Unknown, reason)
        } else if let Some(reason) = self.empty {
            (Verdict::Empty, reason)
        } else if !self.reached && self.nowhere_bytes > 0 {
            (Verdict::Unknown, "nothing of it is allocated yet".to_owned())
        } else if !self.reached {
            (Verdict::Unknown, "where it lies could not be learnt".to_owned())
        } else if self.stripe.is_some() {
            (Verdict::ChunkOnly, String::new())
        } else {
            (Verdict::Aligned, String::new())
        };
        Judgment {
            verdict,
            reason,
            granule: self.granule,
            stripe: self.stripe,
            assumed: self.assumed,
            small_chunk,
            predicted_bytes: self.predicted_bytes,
        }
    }
}

/// The rows of an array: its chunk, its full stripe, and where the first one starts on the layer.
#[derive(Clone, Copy)]
struct ArrayRows {
    chunk: Unit,
    full: Unit,
    start_bytes: u64,
    parity: bool,
}

impl ArrayRows {
    fn of(laid: LaidStripe) -> Option<ArrayRows> {
        Some(ArrayRows {
            chunk: Unit::new(laid.stripe.chunk_bytes())?,
            full: Unit::new(laid.stripe.full_bytes())?,
            start_bytes: laid.start_bytes,
            parity: laid.parity > 0,
        })
    }
}

/// Keeps the miss of the larger share, the first one where they are equal; a chunk missed outweighs
/// a full stripe missed.
fn keep_worst(kept: &mut Option<Miss>, miss: Miss) {
    let weight = |miss: &Miss| (miss.kind == UnitKind::FullStripe, -miss.share);
    match kept {
        Some(old) if weight(old) <= weight(&miss) => {}
        _ => *kept = Some(miss),
    }
}

#[cfg(test)]
mod tests {
    use units::Known;
    use units::stripe::Stripe;

    use super::*;
    use crate::mapping::{Below, Copies, Segment};

    const CHUNK: u64 = 65536;

    fn add(stack: &mut Stack, mapping: Mapping) -> LayerId {
        let length = Known::yes(1 << 30, Source::OnDisk);
        stack.add(Layer::new(LayerKind::ImageFile, "x".to_owned(), length, mapping))
    }

    /// The verdict on a layer that starts at byte `start` of a volume whose stripes over two drives
    /// begin at byte `first`, with the unit that it misses and by how much.
    fn striped(first: u64, start: u64) -> (Verdict, Option<(UnitKind, Option<u64>)>) {
        let mut stack = Stack::new();
        let members = [0, 1].map(|_| {
            let layer = add(&mut stack, Mapping::Leaf);
            stack.layer_mut(layer).units.put_used(UnitKind::Granule, 4096, Source::Told, "");
            Some(Below { layer, offset_bytes: 1 << 20 })
        });
        let stripe = Stripe::new(CHUNK, 2).unwrap();
        let copies = Copies::Neighbors(1);
        let mapping = Mapping::Striped { stripe, copies, members: members.to_vec() };
        let range = ByteRange::new(first, 1 << 20).unwrap();
        let layer = add(&mut stack, Mapping::Segments(vec![Segment { range, mapping }]));
        let top = add(&mut stack, Mapping::Linear(Below { layer, offset_bytes: start }));
        let judgment = judge(&stack, top);
        (judgment.verdict, judgment.miss().map(|miss| (miss.kind, miss.offset_bytes)))
    }

    fn missed(kind: UnitKind, bytes: u64) -> Option<(UnitKind, Option<u64>)> {
        Some((kind, Some(bytes)))
    }

    #[test]
    fn a_start_off_the_chunk_is_misaligned_and_off_the_full_stripe_alone_is_not() {
        assert_eq!(striped(0, 2 * CHUNK), (Verdict::Aligned, None));
        let chunk = missed(UnitKind::Chunk, 4096);
        assert_eq!(striped(0, 2 * CHUNK + 4096), (Verdict::Misaligned, chunk));
        let full = missed(UnitKind::FullStripe, CHUNK);
        assert_eq!(striped(0, 3 * CHUNK), (Verdict::ChunkOnly, full));
    }

    #[test]
    fn stripes_count_from_where_they_begin() {
        let first = 4096;
        assert_eq!(striped(first, first + 2 * CHUNK), (Verdict::Aligned, None));
        let chunk = missed(UnitKind::Chunk, CHUNK - first);
        assert_eq!(striped(first, 2 * CHUNK), (Verdict::Misaligned, chunk));
    }
}
