//! The revolution time, and how many turns a write takes that is not aligned.
//!
//! One place is written again and again, each time durably. On a platter a write ends when the
//! place comes round, so from one end to the next there is a whole number of turns, *however long
//! the host waited between*. That is what is asked: the host waits a fifth or half of what a turn
//! seems to take, as a coin says. A drive of constant latency would add the wait; a cache would not
//! care.
//!
//! A misaligned write reads before it writes. Firmware that does both sectors in one pass takes 2
//! turns; one that goes sector by sector, 3; one that shares no pass, 4. Which it is follows from
//! the difference of aligned and misaligned writes in turns.

use device::Queue;
use units::random::Random;

use super::answer::{Answer, Unidentified};
use super::bout::Bout;
use super::granule::Granule;
use super::{Ask, Pause, Purse};
use crate::Fault;
use crate::number::{count, real, whole};
use crate::statistics::Ratios;

/// The writes from which the turn is guessed.
const PILOT: usize = 9;
/// The writes that test it.
const TESTS: usize = 48;
/// How many of them must end a whole number of turns after the last, at least.
const AGREE: f64 = 0.9;
/// How far from a whole number of turns an end may be, in turns.
const NEAR: f64 = 0.04;
/// The shortest and the longest turn of any drive, in nanoseconds: 30000 and 3000 turns a minute.
const TURN_NS: std::ops::RangeInclusive<u64> = 2_000_000..=20_000_000;
/// How often a clock is asked while the host waits, at most.
const SPINS_MAX: u64 = 20_000_000;
/// How far the turns of a write may be from a whole number.
const WHOLE_WITHIN: f64 = 0.25;
/// How many shifts are looked at.
const SHIFTS_TAKEN: usize = 2;
/// The length of the writes that find the turn.
const WRITE_BYTES: u32 = 4096;

/// How long a turn takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// The median, in nanoseconds.
    pub turn_ns: u64,
    /// The lower bound.
    pub low_ns: u64,
    /// The upper bound.
    pub high_ns: u64,
}

/// How many turns a misaligned write takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turns {
    /// 1, 2, 3 or 4.
    pub turns: u8,
    /// What was measured, in turns: the interval of the difference from an aligned write, and 1.
    pub low: f64,
    /// Its upper bound.
    pub high: f64,
}

impl Turns {
    /// What the firmware does, in a word: `unseen` where a misaligned write takes one turn, as
    /// with a buffer that does not forget.
    #[must_use]
    pub fn policy(&self) -> &'static str {
        match self.turns {
            0 | 1 => "unseen",
            2 => "batched",
            3 => "per-sector",
            _ => "serial",
        }
    }
}

/// How long the drive behind `queue` takes for a turn, if it turns.
///
/// # Errors
/// When an operation fails.
pub fn find<Q: Queue>(
    queue: &mut Q,
    ask: &Ask<'_>,
    purse: &mut Purse,
    pause: Pause<'_>,
) -> Result<Answer<Turn>, Fault> {
    let Some(offset_bytes) = home(ask) else {
        return Ok(Answer::not(
            Unidentified::NotTried,
            "there is no place to write again and again",
        ));
    };
    let mut loops = Rewrites { queue, offset_bytes, bout: Bout::new(1), purse, pause };
    let mut pilot = Vec::with_capacity(PILOT);
    while pilot.len() < PILOT {
        let Some((latency_ns, _)) = loops.write(0)? else { return Ok(budget()) };
        pilot.push(latency_ns);
    }
    // The first one finds the place anywhere.
    pilot.remove(0);
    pilot.sort_unstable();
    let guess_ns = pilot[pilot.len() / 2];
    if !TURN_NS.contains(&guess_ns) {
        return Ok(Answer::not(
            Unidentified::NoSignal,
            format!("a durable write of one place takes {guess_ns} ns, which is no drive's turn"),
        ));
    }
    let mut random = Random::new(ask.seed(90));
    let Some((_, mut last_ns)) = loops.write(0)? else { return Ok(budget()) };
    let (mut whole_turns, mut singles) = (0_usize, Ratios::new(ask.share(), TESTS));
    for _ in 0..TESTS {
        let wait_ns = if random.below(2) == 0 { guess_ns / 5 } else { guess_ns / 2 };
        let Some((_, ended_ns)) = loops.write(wait_ns)? else { return Ok(budget()) };
        let period = real(ended_ns.saturating_sub(last_ns)) / real(guess_ns);
        last_ns = ended_ns;
        if (period - period.round()).abs() <= NEAR && period > 0.5 {
            whole_turns += 1;
            if period < 1.5 {
                singles.record(period.ln());
            }
        }
    }
    if count(whole_turns) < AGREE * count(TESTS) || singles.pairs() < TESTS / 2 {
        return Ok(Answer::not(
            Unidentified::NoSignal,
            format!(
                "{whole_turns} of {TESTS} writes of one place ended a whole turn after the last"
            ),
        ));
    }
    let found = singles.median();
    let ns = |turns: f64| whole((turns * real(guess_ns)).round());
    let value = Turn { turn_ns: ns(found.ratio), low_ns: ns(found.low), high_ns: ns(found.high) };
    let said_by = format!(
        "{whole_turns} of {TESTS} writes of one place ended a whole number of turns after the \
         last, however long the host waited"
    );
    Ok(Answer::Found { value, alpha: ask.share(), said_by })
}

/// How many turns a misaligned write takes, from the times by which the alignment was judged.
#[must_use]
pub fn policy(ask: &Ask<'_>, turn: &Answer<Turn>, granule: &Granule) -> Answer<Turns> {
    let Answer::Found { value: turn, .. } = turn else {
        return Answer::not(Unidentified::NotTried, "it is not seen to turn");
    };
    let Some(shifted) = &granule.shifted else {
        return Answer::not(Unidentified::NotTried, "no misaligned write was timed");
    };
    // Behind the baseline and the control come the shifts, one sector first. Of the first
    // two the one with the narrowest interval is taken: the others' errors are counted too.
    let turn_ns = real(turn.turn_ns);
    let shifts = 2..2 + SHIFTS_TAKEN.min(shifted.arms - 2);
    let tried = count(shifts.len());
    let differences = shifts
        .filter_map(|arm| shifted.seen.difference((arm, 0), shifted.arms, turn_ns, ask.share()));
    let narrowest = differences.min_by(|(_, low, high), (_, other_low, other_high)| {
        (high - low).total_cmp(&(other_high - other_low))
    });
    let Some((_, low, high)) = narrowest else {
        return Answer::not(Unidentified::NotTried, "no misaligned write was timed");
    };
    let nearest = (0..=3_u8).find(|more| {
        let more = f64::from(*more);
        more - WHOLE_WITHIN < low && high < more + WHOLE_WITHIN
    });
    let is_seen = granule.alignment.value().is_some();
    match nearest {
        // Without a granule a write that costs nothing may be aligned as well.
        Some(0) => Answer::not(
            Unidentified::NoSignal,
            "a write shifted by a sector takes no turn more: a buffer that does not forget, or a \
             granule of one sector",
        ),
        Some(more) if is_seen => Answer::Found {
            value: Turns { turns: more + 1, low: low + 1.0, high: high + 1.0 },
            alpha: ask.share() * tried,
            said_by: format!(
                "writes shifted by a sector or two take {more} turns more than aligned ones \
                 ({low:.2} to {high:.2})"
            ),
        },
        Some(_) => Answer::not(
            Unidentified::Contradiction,
            "shifted writes take turns more, but no granule was found",
        ),
        None => Answer::not(
            Unidentified::Noise,
            format!("shifted writes take {low:.2} to {high:.2} turns more, which is no number"),
        ),
    }
}

fn budget<T>() -> Answer<T> {
    Answer::not(Unidentified::Noise, "the budget ended first")
}

/// A place on a boundary of 64 KiB, so that no granule is read before it is written but by drives
/// whose first granule is elsewhere; those take whole turns as well.
fn home(ask: &Ask<'_>) -> Option<u64> {
    const STEP: u64 = 64 << 10;
    ask.runs.iter().find_map(|run| {
        let ahead = run.address_bytes.checked_next_multiple_of(STEP)? - run.address_bytes;
        let room = run.length_bytes.checked_sub(ahead)?;
        (room >= STEP).then_some(run.offset_bytes + ahead)
    })
}

/// One place that is written again and again.
struct Rewrites<'a, 'b, Q: Queue> {
    queue: &'a mut Q,
    offset_bytes: u64,
    bout: Bout,
    purse: &'a mut Purse,
    pause: &'a mut (dyn FnMut(u64) -> bool + 'b),
}

impl<Q: Queue> Rewrites<'_, '_, Q> {
    /// Waits, and writes: how long the write took, and when it ended. `None` where the budget is
    /// used up.
    fn write(&mut self, wait_ns: u64) -> Result<Option<(u64, u64)>, Fault> {
        let mut now_ns = self.queue.now_ns();
        if !self.purse.affords(1, u64::from(WRITE_BYTES), now_ns) {
            return Ok(None);
        }
        let until_ns = now_ns.saturating_add(wait_ns);
        let mut spins = 0;
        while now_ns < until_ns && spins < SPINS_MAX {
            now_ns = self.queue.now_ns();
            spins += 1;
        }
        let completion = self.bout.write(self.queue, self.offset_bytes, WRITE_BYTES)?;
        self.purse.spend(1, u64::from(WRITE_BYTES));
        // A rest between would be taken for a wait; it is only asked whether to go on.
        let goes_on = (self.pause)(0);
        Ok(goes_on.then_some((completion.latency_ns(), completion.completed_ns)))
    }
}
