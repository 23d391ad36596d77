//! Places of operations: which bytes of a file are used, and in which order.
//!
//! A *slot* is a stretch of the file that lies within one run, whose address on the leaf is on a
//! boundary of the unit, and which has whole units enough for one operation at the largest shift.
//! So two operations in two slots never touch one unit, whatever their arms, and no arm pays for
//! what another left in a unit.
//!
//! The next slot depends on how many were taken before, and never on the arm that takes it:
//! the places of a pair are what they are, and only the coin says which arm is in which. That is
//! what the intervals rest on (see the head of [`crate::statistics`]).

mod shuffle;

use thiserror::Error;
use units::Unit;
use units::random::Random;

use self::shuffle::Shuffle;

/// A run of bytes that offsets count, and where it lies on its leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedRun {
    /// Its first byte, as operations name it: of a file or a device.
    pub offset_bytes: u64,
    /// Number of bytes it has.
    pub length_bytes: u64,
    /// The leaf that it lies on.
    pub leaf: usize,
    /// The leaf's address of its first byte.
    pub address_bytes: u64,
}

/// Order of the slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotOrder {
    /// The next one, in the order of the runs, and the first again after the last. All arms share
    /// one cursor.
    Cursor,
    /// From the last to the first: on a platter each waits about as long for
    /// its place, most of a turn, where forwards the next place comes at once.
    Backwards,
    /// Any, and none twice in a pair.
    Random,
}

/// Plan of slots.
#[derive(Clone, Copy, Debug)]
pub struct SlotsPlan<'a> {
    /// Stretches that may be used, in the order of [`SlotOrder::Cursor`]. They do not overlap.
    pub runs: &'a [MappedRun],
    /// Unit that two slots must not share.
    pub unit: Unit,
    /// The length of every operation.
    pub operation_bytes: u64,
    /// Distance of each arm's operation from the start of its slot.
    pub shifts_bytes: &'a [u64],
    /// Order of the slots.
    pub order: SlotOrder,
    /// Seed of [`SlotOrder::Random`].
    pub seed: u64,
}

/// There are too few slots to compare anything.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{found} places for {operation_bytes} bytes shifted by up to {shift_bytes}, each of \
     {slot_bytes} bytes on a unit of {unit_bytes}, were found in {runs} runs of {runs_bytes} bytes \
     in all; {needed} are needed"
)]
pub struct NoRoom {
    /// The slots there are.
    pub found: u64,
    /// The slots that there must be.
    pub needed: u64,
    /// The length of an operation.
    pub operation_bytes: u64,
    /// The largest shift.
    pub shift_bytes: u64,
    /// The length of a slot.
    pub slot_bytes: u64,
    /// The length of the unit.
    pub unit_bytes: u64,
    /// The runs there are.
    pub runs: usize,
    /// Their bytes.
    pub runs_bytes: u64,
}

impl NoRoom {
    /// Returns what to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        if self.runs == 0 {
            return "no part of the file has a known address on its device".to_owned();
        }
        let bytes = self.needed.saturating_mul(self.slot_bytes);
        format!(
            "use a file of {bytes} bytes or more in few pieces, shorter operations or a smaller \
             unit"
        )
    }
}

/// Slots for each arm, so that no slot serves twice in a short time.
const SLOTS_PER_ARM: u64 = 4;

/// The slots of a file, and what comes next.
#[derive(Clone, Debug)]
pub struct Slots {
    stretches: Vec<Stretch>,
    slot_bytes: u64,
    count: u64,
    shifts_bytes: Vec<u64>,
    next: NextSlot,
}

/// Slots that follow each other without a gap.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Number of slots come before.
    before: u64,
    /// The offset of the first.
    offset_bytes: u64,
}

#[derive(Clone, Debug)]
enum NextSlot {
    Cursor(u64),
    Backwards(u64),
    Random(Shuffle),
}

impl Slots {
    /// The slots of `plan`. Memory grows with the runs, not with the slots.
    ///
    /// # Errors
    /// When there are fewer than four slots for each arm.
    pub fn new(plan: SlotsPlan<'_>) -> Result<Slots, NoRoom> {
        let shift_bytes = plan.shifts_bytes.iter().copied().max().unwrap_or(0);
        let unit_bytes = plan.unit.length_bytes();
        let reach_bytes = plan.operation_bytes.checked_add(shift_bytes);
        let slot_bytes =
            reach_bytes.and_then(|bytes| bytes.max(1).checked_next_multiple_of(unit_bytes));
        let (mut stretches, mut count) = (Vec::new(), 0_u64);
        for run in plan.runs {
            let Some((offset_bytes, slots)) = fitting(run, plan.unit, slot_bytes) else { continue };
            stretches.push(Stretch { before: count, offset_bytes });
            count = count.saturating_add(slots);
        }
        let arms = plan.shifts_bytes.len().max(1);
        let needed = units::number::wide(arms).saturating_mul(SLOTS_PER_ARM);
        let slot_bytes = slot_bytes.unwrap_or(u64::MAX);
        if count < needed {
            let bytes = |sum: u64, run: &MappedRun| sum.saturating_add(run.length_bytes);
            return Err(NoRoom {
                found: count,
                needed,
                operation_bytes: plan.operation_bytes,
                shift_bytes,
                slot_bytes,
                unit_bytes,
                runs: plan.runs.len(),
                runs_bytes: plan.runs.iter().fold(0, bytes),
            });
        }
        let next = match plan.order {
            SlotOrder::Cursor => NextSlot::Cursor(0),
            SlotOrder::Backwards => NextSlot::Backwards(0),
            SlotOrder::Random => NextSlot::Random(Shuffle::new(count, Random::new(plan.seed))),
        };
        Ok(Slots { stretches, slot_bytes, count, shifts_bytes: plan.shifts_bytes.to_vec(), next })
    }

    /// Returns how many there are, at least four for each arm.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns how many arms have a shift.
    #[must_use]
    pub fn arms(&self) -> usize {
        self.shifts_bytes.len()
    }

    /// The length of a slot in bytes, whole units.
    #[must_use]
    pub fn slot_bytes(&self) -> u64 {
        self.slot_bytes
    }

    /// The file's offset of the first slot, without any shift.
    #[must_use]
    pub fn first_offset_bytes(&self) -> u64 {
        self.stretches[0].offset_bytes
    }

    /// Begins a pair: with [`SlotOrder::Random`], any slot may come again from here.
    pub fn start_pair(&mut self) {
        if let NextSlot::Random(shuffle) = &mut self.next {
            shuffle.restart();
        }
    }

    /// The file's offset of the next operation of `arm`. Between two calls of
    /// [`Slots::start_pair`] no slot comes again before all came; [`SlotOrder::Cursor`] goes
    /// through all of them, pair after pair. Allocates nothing.
    ///
    /// # Panics
    /// When there is no such arm.
    #[inline]
    pub fn next(&mut self, arm: usize) -> u64 {
        let shift_bytes = self.shifts_bytes[arm];
        let number = match &mut self.next {
            NextSlot::Cursor(cursor) => {
                let number = *cursor;
                *cursor = if number + 1 < self.count { number + 1 } else { 0 };
                number
            }
            NextSlot::Backwards(cursor) => {
                *cursor = cursor.checked_sub(1).unwrap_or(self.count - 1);
                *cursor
            }
            NextSlot::Random(shuffle) => shuffle.next(),
        };
        self.offset_bytes(number) + shift_bytes
    }

    /// The file's offset of a slot below the count.
    fn offset_bytes(&self, number: u64) -> u64 {
        let behind = self.stretches.partition_point(|stretch| stretch.before <= number);
        let stretch = self.stretches[behind - 1];
        stretch.offset_bytes + (number - stretch.before) * self.slot_bytes
    }
}

/// The offset of the first slot in a run, and how many there are; `None` without any.
fn fitting(run: &MappedRun, unit: Unit, slot_bytes: Option<u64>) -> Option<(u64, u64)> {
    // Offsets and addresses that do not fit in 64 bits do not exist.
    run.offset_bytes.checked_add(run.length_bytes)?;
    let head_bytes = unit.ceil(run.address_bytes)? - run.address_bytes;
    let slots = run.length_bytes.checked_sub(head_bytes)?.div_euclid(slot_bytes?);
    (slots > 0).then_some((run.offset_bytes + head_bytes, slots))
}

#[cfg(test)]
mod tests;
