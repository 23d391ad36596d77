//! How many turns a write takes that is not aligned.

use super::super::Ask;
use super::super::answer::{Answer, Unidentified};
use super::super::granule::Granule;
use super::Turn;
use crate::number::{count, real};

/// How far the turns of a write may be from a whole number.
const WHOLE_WITHIN: f64 = 0.25;
/// How many shifts are looked at.
const SHIFTS_TAKEN: usize = 2;
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

/// How many turns a misaligned write takes, from the times by which the alignment was judged.
#[must_use]
pub fn policy(ask: &Ask<'_>, turn: &Answer<Turn>, granule: &Granule) -> Answer<Turns> {
    let Answer::Found { value: turn, .. } = turn else {
        return Answer::not(Unidentified::NotTried, "no turn was found in which to count");
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
