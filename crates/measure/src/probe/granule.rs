//! The granule: where a write must start, and how long it must be, to cost no read-modify-write.
//!
//! # Alignment and origin
//!
//! Durable writes of 64 KiB start 32 KiB behind a boundary of 256 KiB, and so much further: one
//! sector, two, four ... 32 KiB, and 128 KiB. With alignment `a` every shift below `a` is slower
//! and every one from `a` on is not. All but the last two cross the same boundaries of 64 KiB and
//! above, so that the chunks of an array make no difference among them. Where nothing is slower,
//! or something faster, the first granule may start elsewhere: the residues below 4 KiB and some
//! above are tried until one is faster, and that one is tested anew, with new operations, as the
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

use device::Queue;
use units::Unit;

use super::answer::{Answer, Compared, Reading, Unidentified};
use super::bout::Bout;
use super::panel::{Pairing, Panel, Seen, Timed, Wanted};
use super::pattern::{self, Pattern};
use super::{Ask, Pause, Purse};
use crate::number::{count, wide};
use crate::{Fault, Order, Slots, SlotsPlan};

/// The length of the writes, and the largest granule that can be found.
pub const WHOLE_BYTES: u64 = 64 << 10;
/// The buffer that the queue must have for each slot.
pub const BUFFER_BYTES: u32 = 64 << 10;
/// Where a slot's first operation starts.
const HOME_BYTES: u64 = WHOLE_BYTES >> 1;
/// What slots are multiples of.
const SLOT_BYTES: u64 = WHOLE_BYTES << 2;
/// A shift that no alignment up to [`WHOLE_BYTES`] minds.
const FAR_BYTES: u64 = WHOLE_BYTES << 1;
/// The first origins that are tried beside 0 are below it.
const NEAR_BYTES: u64 = 4096;

/// Where writes must start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alignment {
    /// Every so many bytes.
    pub bytes: u64,
    /// The first such place, by the drive's addresses.
    pub origin_bytes: u64,
}

/// What was found of the granule.
#[derive(Clone, Debug)]
pub struct Granule {
    /// Where a write must start.
    pub alignment: Answer<Alignment>,
    /// Of what its length must be a multiple.
    pub size: Answer<u64>,
    /// Every comparison.
    pub compared: Vec<Compared>,
    /// The times of the first and the most misaligned arm of the panel that said the alignment,
    /// for [`super::turn`]; `None` where none did.
    pub(super) shifted: Option<Shifted>,
}

/// A panel of shifts as it ended.
#[derive(Clone, Debug)]
pub(super) struct Shifted {
    pub(super) seen: Seen,
    pub(super) arms: usize,
}

/// What one arm writes.
#[derive(Clone, Copy, Debug)]
struct Arm {
    shift_bytes: u64,
    length_bytes: u64,
}

/// The granule of the drive behind `queue`, whose buffers have [`BUFFER_BYTES`].
///
/// # Errors
/// When an operation fails.
pub fn find<Q: Queue>(
    queue: &mut Q,
    ask: &Ask<'_>,
    purse: &mut Purse,
    pause: Pause<'_>,
) -> Result<Granule, Fault> {
    let mut search = Search { queue, ask, purse, pause, compared: Vec::new(), parts: 0 };
    let (alignment, shifted) = search.alignment()?;
    let (alignment, size) = match alignment {
        Answer::Found { value, alpha, said_by } => search.size(value, alpha, &said_by)?,
        Answer::Not { why, reason } => {
            let size = "where a write must start is not known, so that no length can be tried";
            (Answer::Not { why, reason }, Answer::not(Unidentified::NotTried, size))
        }
    };
    Ok(Granule { alignment, size, compared: search.compared, shifted })
}

struct Search<'a, 'b, Q: Queue> {
    queue: &'a mut Q,
    ask: &'a Ask<'b>,
    purse: &'a mut Purse,
    pause: Pause<'a>,
    compared: Vec<Compared>,
    parts: u64,
}

impl<Q: Queue> Search<'_, '_, Q> {
    /// The alignment, before its size confirms it.
    fn alignment(&mut self) -> Result<(Answer<Alignment>, Option<Shifted>), Fault> {
        let shifts = self.shifts();
        let first = self.shift_panel("alignment", 0, &shifts, 35)?;
        match self.judged(&first, &shifts, 0) {
            Ok(found) => return Ok((found, Some(first))),
            Err(Pattern::Flat | Pattern::Elsewhere | Pattern::Odd) if first.seen.void.is_none() => {
            }
            Err(pattern) => return Ok((refused(pattern, &first.seen), Some(first))),
        }
        let residues = self.residues();
        let screen = self.shift_panel("origin", 0, &residues, 40)?;
        let Some(origin) = best(&screen.seen, &residues) else {
            let pattern = match screen.seen.is_settled {
                true => self.judged(&first, &shifts, 0).err().unwrap_or(Pattern::Odd),
                false => Pattern::Open,
            };
            return Ok((refused(pattern, &screen.seen), Some(first)));
        };
        let again = self.shift_panel("alignment", origin, &shifts, 60)?;
        Ok(match self.judged(&again, &shifts, origin) {
            Ok(found) => (found, Some(again)),
            Err(pattern) => (refused(pattern, &again.seen), Some(again)),
        })
    }

    /// What a panel of shifts says.
    fn judged(
        &self,
        panel: &Shifted,
        shifts: &[u64],
        origin: u64,
    ) -> Result<Answer<Alignment>, Pattern> {
        if panel.seen.void.is_some() {
            return Err(Pattern::Odd);
        }
        let readings = &panel.seen.readings()[1..];
        let may_be_faster = shifts.iter().position(|shift| *shift >= HOME_BYTES);
        let step = match pattern::of_shifts(readings, may_be_faster.unwrap_or(shifts.len())) {
            Pattern::Step(step) => step,
            other => return Err(other),
        };
        // Behind 32 KiB comes 128 KiB, which says of 64 KiB that it is enough.
        let bytes = shifts[step].min(WHOLE_BYTES);
        let value = Alignment { bytes, origin_bytes: (HOME_BYTES + origin) % bytes };
        let said_by = format!(
            "writes of 64 KiB shifted by {} to {} bytes are slower, by {} bytes and more not",
            shifts[0],
            shifts[step - 1],
            bytes
        );
        Ok(Answer::Found { value, alpha: self.ask.share() * count(readings.len() + 1), said_by })
    }

    /// The size, and the alignment once its halves were seen to cost.
    fn size(
        &mut self,
        alignment: Alignment,
        alpha: f64,
        said_by: &str,
    ) -> Result<(Answer<Alignment>, Answer<u64>), Fault> {
        let start = (alignment.origin_bytes + WHOLE_BYTES - HOME_BYTES) % WHOLE_BYTES;
        let lengths = Lengths::of(alignment.bytes, self.ask.sector_bytes);
        let arms: Vec<Arm> = lengths
            .arms
            .iter()
            .map(|length| Arm { shift_bytes: start, length_bytes: *length })
            .collect();
        let seen = self.panel("size", &arms, lengths.pairings.clone(), 80)?;
        if let Some(reason) = &seen.void {
            let not = |reason: &String| Unidentified::Contradiction.because(reason);
            return Ok((not(reason), Unidentified::Contradiction.because(reason)));
        }
        let readings = seen.readings();
        let alpha = alpha + self.ask.share() * count(readings.len());
        match readings[lengths.half] {
            Reading::Slower => {}
            Reading::Open => {
                let reason =
                    "whether a part of what the shifts found costs anything is not settled";
                return Ok((
                    Answer::not(Unidentified::Noise, reason),
                    Answer::not(Unidentified::Noise, reason),
                ));
            }
            _ => {
                let reason = format!(
                    "starts must be multiples of {} bytes, but half of that is written at no cost: \
                     a boundary of something else, such as a stripe unit",
                    alignment.bytes
                );
                return Ok((
                    Answer::not(Unidentified::Contradiction, reason.clone()),
                    Answer::not(Unidentified::Contradiction, reason),
                ));
            }
        }
        let size = self.sized(alignment, &lengths, &readings, alpha);
        let said_by = format!("{said_by}; and 64 KiB less half of that is slower than 64 KiB");
        Ok((Answer::Found { value: alignment, alpha, said_by }, size))
    }

    /// What the lengths say.
    fn sized(
        &self,
        alignment: Alignment,
        lengths: &Lengths,
        readings: &[Reading],
        alpha: f64,
    ) -> Answer<u64> {
        let at = |places: &[usize]| places.iter().map(|at| readings[*at]).collect::<Vec<_>>();
        let sectors = pattern::of_lengths(&at(&lengths.sector_less));
        let units = pattern::of_lengths(&at(&lengths.unit_less));
        let whole = alignment.bytes;
        match (sectors, units) {
            (Pattern::Step(0), Pattern::Flat) => Answer::Found {
                value: whole,
                alpha,
                said_by: format!(
                    "from {whole} bytes to 64 KiB one sector less is slower, and {whole} bytes \
                     less is not"
                ),
            },
            // From the size on a part of it costs, whichever part.
            (Pattern::Step(sector), Pattern::Step(unit)) if sector <= unit + 1 => {
                let value = whole << (unit + 1);
                Answer::Found {
                    value,
                    alpha,
                    said_by: format!(
                        "{whole} bytes less are slower from a length of {value} bytes on, and not \
                         below it"
                    ),
                }
            }
            (Pattern::Open, _) | (_, Pattern::Open) => Answer::not(
                Unidentified::Noise,
                "some lengths were not settled when the budget ended",
            ),
            (Pattern::Flat, Pattern::Flat) => Answer::not(
                Unidentified::NoSignal,
                "no part of any length up to 64 KiB is slower than the whole",
            ),
            _ => Answer::not(
                Unidentified::Contradiction,
                "parts are slower at some lengths and not at others, as with no power of two",
            ),
        }
    }

    /// Shifts from a sector to 32 KiB, and a far one.
    fn shifts(&self) -> Vec<u64> {
        let steps = std::iter::successors(Some(self.ask.sector_bytes), |shift| Some(shift << 1));
        steps.take_while(|shift| *shift <= HOME_BYTES).chain([FAR_BYTES]).collect()
    }

    /// Where the first granule may start.
    fn residues(&self) -> Vec<u64> {
        let sector = self.ask.sector_bytes;
        let near = (1..).map(|number| number * sector).take_while(|residue| *residue < NEAR_BYTES);
        let far = [NEAR_BYTES, 2 * NEAR_BYTES, 3 * NEAR_BYTES, 4 * NEAR_BYTES, HOME_BYTES];
        near.chain(far).collect()
    }

    /// Shifts against none, behind `origin`; the first pairing is the control.
    fn shift_panel(
        &mut self,
        name: &'static str,
        origin: u64,
        shifts: &[u64],
        percent: u64,
    ) -> Result<Shifted, Fault> {
        let arm = |shift: u64| Arm { shift_bytes: origin + shift, length_bytes: WHOLE_BYTES };
        let arms: Vec<Arm> = [0, 0].into_iter().chain(shifts.iter().copied()).map(arm).collect();
        let mut pairings = vec![Pairing { arm: 1, against: 0, wanted: Wanted::Control }];
        let wanted = if name == "origin" { Wanted::Faster } else { Wanted::Exactly };
        let others = (2..arms.len()).map(|arm| Pairing { arm, against: 0, wanted });
        pairings.extend(others);
        let seen = self.panel(name, &arms, pairings, percent)?;
        Ok(Shifted { seen, arms: arms.len() })
    }

    fn panel(
        &mut self,
        name: &'static str,
        arms: &[Arm],
        pairings: Vec<Pairing>,
        percent: u64,
    ) -> Result<Seen, Fault> {
        self.parts += 1;
        let seed = self.ask.seed(self.parts);
        let shifts: Vec<u64> = arms.iter().map(|arm| HOME_BYTES + arm.shift_bytes).collect();
        let plan = SlotsPlan {
            runs: self.ask.runs,
            unit: Unit::new(SLOT_BYTES).expect("it is a power of two"),
            operation_bytes: WHOLE_BYTES,
            shifts_bytes: &shifts,
            order: Order::Backwards,
            seed,
        };
        let slots = Slots::new(plan).map_err(|error| {
            Fault::Void(format!("there is no room to compare anything: {error}"))
        })?;
        let panel = Panel {
            name,
            arms: arms.iter().map(|arm| arm.name(name)).collect(),
            pairings,
            alpha: self.ask.share(),
            seed,
        };
        let bytes = arms.iter().map(|arm| arm.length_bytes).sum();
        let now_ns = self.queue.now_ns();
        let mut part = self.purse.part(percent, now_ns);
        let mut writes = Writes {
            queue: self.queue,
            bout: Bout::new(1),
            slots,
            arms,
            block: (wide(arms.len()), bytes),
            pause: self.pause,
        };
        let seen = panel.run(&mut writes, &mut part);
        self.purse.settle(&part);
        let seen = seen?;
        self.compared.extend(seen.compared.iter().cloned());
        Ok(seen)
    }
}

impl Arm {
    fn name(&self, panel: &str) -> String {
        match panel {
            "size" => format!("{} bytes", self.length_bytes),
            _ => format!("64 KiB, {} bytes further", self.shift_bytes),
        }
    }
}

impl Unidentified {
    fn because<T>(self, reason: &str) -> Answer<T> {
        Answer::not(self, reason)
    }
}

/// The lengths that are tried, and which is held against which.
struct Lengths {
    arms: Vec<u64>,
    pairings: Vec<Pairing>,
    /// The pairings of a sector less, the lengths growing.
    sector_less: Vec<usize>,
    /// The pairings of an alignment less.
    unit_less: Vec<usize>,
    /// The pairing of half an alignment less.
    half: usize,
}

impl Lengths {
    fn of(unit: u64, sector: u64) -> Lengths {
        // The first two are the control.
        let mut lengths = Lengths {
            arms: vec![WHOLE_BYTES, WHOLE_BYTES],
            pairings: vec![Pairing { arm: 1, against: 0, wanted: Wanted::Control }],
            sector_less: Vec::new(),
            unit_less: Vec::new(),
            half: 0,
        };
        let mut whole = unit;
        while whole <= WHOLE_BYTES {
            let pairing = lengths.pair(whole - sector, whole);
            lengths.sector_less.push(pairing);
            if whole > unit {
                let pairing = lengths.pair(whole - unit, whole);
                lengths.unit_less.push(pairing);
            }
            whole <<= 1;
        }
        lengths.half = lengths.pair(WHOLE_BYTES - (unit >> 1), WHOLE_BYTES);
        lengths
    }

    /// The place of the pairing of these two.
    fn pair(&mut self, part: u64, whole: u64) -> usize {
        let (arm, against) = (self.arm(part), self.arm(whole));
        self.pairings.push(Pairing { arm, against, wanted: Wanted::Slower });
        self.pairings.len() - 1
    }

    fn arm(&mut self, length: u64) -> usize {
        match self.arms.iter().position(|arm| *arm == length) {
            Some(place) => place,
            None => {
                self.arms.push(length);
                self.arms.len() - 1
            }
        }
    }
}

/// The fastest residue of those that were faster than the baseline.
fn best(seen: &Seen, residues: &[u64]) -> Option<u64> {
    if seen.void.is_some() {
        return None;
    }
    let arms = seen.compared[1..].iter().zip(residues);
    let faster = arms.filter(|(one, _)| one.reading == Reading::Faster);
    let best = faster.min_by(|(one, _), (other, _)| one.ratio.ratio.total_cmp(&other.ratio.ratio));
    best.map(|(_, residue)| *residue)
}

/// Why there is no alignment.
fn refused(pattern: Pattern, seen: &Seen) -> Answer<Alignment> {
    if let Some(reason) = &seen.void {
        return Answer::not(Unidentified::Contradiction, reason.clone());
    }
    match pattern {
        Pattern::Open => {
            Answer::not(Unidentified::Noise, "some shifts were not settled when the budget ended")
        }
        Pattern::Flat | Pattern::Elsewhere => Answer::not(
            Unidentified::NoSignal,
            "no shift of a durable write makes a steady difference: a cache hides it, the logical \
             sector is the granule, or it is no power of two up to 64 KiB",
        ),
        Pattern::Odd | Pattern::Step(_) => Answer::not(
            Unidentified::Contradiction,
            "shifts are slower in a pattern that no power of two up to 64 KiB makes",
        ),
    }
}

/// Durable writes, one after another.
struct Writes<'a, 'b, Q: Queue> {
    queue: &'a mut Q,
    bout: Bout,
    slots: Slots,
    arms: &'a [Arm],
    block: (u64, u64),
    pause: &'a mut (dyn FnMut(u64) -> bool + 'b),
}

impl<Q: Queue> Timed for Writes<'_, '_, Q> {
    fn time(&mut self, arm: usize) -> Result<u64, Fault> {
        let length = u32::try_from(self.arms[arm].length_bytes).expect("64 KiB at most");
        let offset = self.slots.next(arm);
        Ok(self.bout.write(self.queue, offset, length)?.latency_ns())
    }

    fn block(&self) -> (u64, u64) {
        self.block
    }

    fn now_ns(&mut self) -> u64 {
        self.queue.now_ns()
    }

    fn goes_on(&mut self, took_ns: u64) -> bool {
        (self.pause)(took_ns)
    }
}
