//! The granule: where a write must start, and how long it must be, to cost no read-modify-write.
//!
//! # Alignment and origin
//!
//! Durable writes of 64 KiB start 32 KiB after a boundary of 256 KiB, and so much further: one
//! sector, two, four ... 32 KiB, and 128 KiB. With alignment `a` every shift below `a` is slower
//! and every one from `a` on is not. All but the last two cross the same boundaries of 64 KiB and
//! above, so that the chunks of an array make no difference among them. Where nothing is slower,
//! or something faster, the first granule may start elsewhere: the residues below 4 KiB and some
//! above are tried until one is faster, and that one is tested again, with new operations, as the
//! first was. What chose it is not used again.
//!
//! # Size
//!
//! From an aligned start, a length `s` is held against one sector less, and against `a` less, for
//! `s` from `a` to 64 KiB. Both pairs are nearly of one length, so that what is transferred makes
//! no difference. Where `a` is also the size, a sector less is slower at every `s`, and `a` less at
//! none. With a size `g` above `a`, `a` less is slower from `s` = `g` on, and at none below, where
//! both are parts. Last, 64 KiB is held against half of `a` less: if that costs nothing, what was
//! found is no granule but a boundary of something else, as between the members of an array.
//!
//! | file | what it is |
//! |---|---|
//! | `alignment` | where a write must start |
//! | `write_length` | how long it must be |
//! | `write_evidence` | the comparisons as numbers, and the granule that follows from them |

mod alignment;
mod write_evidence;
mod write_length;

use device::Queue;
use units::Unit;

use super::ProbedQueue;
use super::answer::{ArmComparison, Estimate, PanelKind, Unidentified};
use super::operations::Operations;
use super::panel::{Pairing, Panel, PanelResult, RatioQuestion};
use crate::{Fault, SlotOrder, Slots, SlotsPlan};
use units::number::wide;

pub use write_evidence::{SupportedGranule, WriteComparison, WriteEvidence};

/// The length of the writes, and the largest granule that can be found.
pub const WHOLE_BYTES: u64 = 64 << 10;
/// The buffer that the queue must have for each slot.
pub const BUFFER_BYTES: u32 = 64 << 10;
/// Place where a slot's first operation starts.
const HOME_BYTES: u64 = WHOLE_BYTES >> 1;
/// Slots are multiples of this.
const SLOT_BYTES: u64 = WHOLE_BYTES << 2;
/// Place where writes must start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alignment {
    /// Every so many bytes.
    pub bytes: u64,
    /// The first such place, by the drive's addresses.
    pub origin_bytes: u64,
}

/// A granule with the comparisons behind it.
#[derive(Clone, Debug)]
pub struct Granule {
    /// Place where a write must start.
    pub alignment: Estimate<Alignment>,
    /// Of what its length must be a multiple.
    pub size: Estimate<u64>,
    /// Every comparison.
    pub compared: Vec<ArmComparison>,
    /// The last ones as numbers.
    pub evidence: WriteEvidence,
}

/// A panel of shifts as it ended.
#[derive(Clone, Debug)]
pub(super) struct Shifted {
    pub(super) seen: PanelResult,
    pub(super) arms: usize,
}

/// The granule of the drive that is probed; the buffers of its queue have [`BUFFER_BYTES`].
///
/// # Errors
/// When an operation fails.
pub fn find<Q: Queue>(probed: &mut ProbedQueue<'_, '_, Q>) -> Result<Granule, Fault> {
    let mut search = Search::new(probed, 0);
    let alignment = search.alignment()?;
    let (alignment, size) = match alignment {
        Estimate::Found { value, alpha, said_by } => search.size(value, alpha, &said_by)?,
        Estimate::Not { why, reason } => {
            let size = "where a write must start is not known, so that no length can be tried";
            (Estimate::Not { why, reason }, Estimate::not(Unidentified::NotTried, size))
        }
    };
    Ok(Granule { alignment, size, compared: search.compared, evidence: search.evidence })
}

/// Writes of `length_bytes` that start `first_bytes` after a boundary of 32 KiB, against others
/// that start `shift_bytes` further; the first arm has the boundary's. At most 64 KiB are reached.
///
/// # Errors
/// When an operation fails.
pub(super) fn against_shifted<Q: Queue>(
    probed: &mut ProbedQueue<'_, '_, Q>,
    (first_bytes, shift_bytes, length_bytes): (u64, u64, u64),
) -> Result<Shifted, Fault> {
    let mut search = Search::new(probed, TURNS_PART);
    let arm = |shift| WriteArm { shift_bytes: first_bytes + shift, length_bytes };
    let arms = [arm(0), arm(0), arm(shift_bytes)];
    let pair = |arm, wanted| Pairing { arm, against: 0, wanted };
    let pairings =
        vec![pair(1, RatioQuestion::Control), pair(2, RatioQuestion::Rounds(TURNS_ROUNDS))];
    let seen = search.panel(PanelKind::Turns, &arms, pairings, 100)?;
    Ok(Shifted { seen, arms: arms.len() })
}

/// The part that draws the order of the writes whose turns are counted.
const TURNS_PART: u64 = 40;
/// The rounds after which turns are counted.
const TURNS_ROUNDS: u64 = 96;

/// The write of one arm.
#[derive(Clone, Copy, Debug)]
struct WriteArm {
    shift_bytes: u64,
    length_bytes: u64,
}

impl WriteArm {
    fn name(&self, panel: PanelKind) -> String {
        match panel {
            PanelKind::Size => format!("{} bytes", self.length_bytes),
            _ => format!("64 KiB, shifted by {} B", self.shift_bytes),
        }
    }
}

struct Search<'a, 'b, 'c, Q: Queue> {
    probed: &'a mut ProbedQueue<'b, 'c, Q>,
    compared: Vec<ArmComparison>,
    evidence: WriteEvidence,
    parts: u64,
}

impl<'a, 'b, 'c, Q: Queue> Search<'a, 'b, 'c, Q> {
    fn new(probed: &'a mut ProbedQueue<'b, 'c, Q>, parts: u64) -> Search<'a, 'b, 'c, Q> {
        Search { probed, compared: Vec::new(), evidence: WriteEvidence::default(), parts }
    }

    fn panel(
        &mut self,
        kind: PanelKind,
        arms: &[WriteArm],
        pairings: Vec<Pairing>,
        percent: u64,
    ) -> Result<PanelResult, Fault> {
        self.parts += 1;
        let seed = self.probed.ask.seed(self.parts);
        let shifts: Vec<u64> = arms.iter().map(|arm| HOME_BYTES + arm.shift_bytes).collect();
        let plan = SlotsPlan {
            runs: self.probed.ask.runs,
            unit: Unit::new(SLOT_BYTES).expect("it is a power of two"),
            operation_bytes: WHOLE_BYTES,
            shifts_bytes: &shifts,
            order: SlotOrder::Backwards,
            seed,
        };
        let mut slots = Slots::new(plan).map_err(|error| {
            Fault::Void(format!("there is no room to compare anything: {error}"))
        })?;
        let panel = Panel {
            kind,
            arms: arms.iter().map(|arm| arm.name(kind)).collect(),
            pairings,
            alpha: self.probed.ask.share(),
            seed,
        };
        let bytes = arms.iter().map(|arm| arm.length_bytes).sum();
        let mut operations = Operations::new(1);
        let time = |queue: &mut Q, arm: usize| {
            let length = u32::try_from(arms[arm].length_bytes).expect("64 KiB at most");
            Ok(operations.write(queue, slots.next(arm), length)?.latency_ns())
        };
        let seen = self.probed.run(&panel, percent, (wide(arms.len()), bytes), time)?;
        self.evidence.take(kind, arms, &panel.pairings, &seen);
        self.compared.extend(seen.compared.iter().cloned());
        Ok(seen)
    }
}
