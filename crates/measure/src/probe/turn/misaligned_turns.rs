//! Number of turns that a misaligned write takes.

use device::Queue;
use serde::{Deserialize, Serialize};

use super::super::ProbedQueue;
use super::super::answer::{Estimate, Unidentified};
use super::super::granule::{self, Granule};
use super::revolution::Revolution;
use crate::Fault;
use units::number::real;

/// Largest distance of the turns of a write from a whole number.
const WHOLE_WITHIN: f64 = 0.25;
/// Number of turns a misaligned write takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MisalignedTurns {
    /// 2, 3 or 4.
    pub turns: u8,
    /// Lower bound of the difference from an aligned write, in turns, plus 1.
    pub low: f64,
    /// Its upper bound.
    pub high: f64,
}

/// Policy of firmware for a misaligned write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TurnPolicy {
    /// One pass reads both sectors, the next one writes them: 2 turns.
    Batched,
    /// Sector by sector: 3 turns.
    PerSector,
    /// No pass is shared: 4 turns.
    Serial,
}

units::words!(TurnPolicy);

impl MisalignedTurns {
    /// Returns the policy that takes so many turns.
    #[must_use]
    pub fn policy(&self) -> TurnPolicy {
        match self.turns {
            0..=2 => TurnPolicy::Batched,
            3 => TurnPolicy::PerSector,
            _ => TurnPolicy::Serial,
        }
    }
}

/// Unit of which an aligned write has whole ones: the write starts this far after a boundary of
/// 16 KiB and is twice as long, so that no chunk of 16 KiB or more ends in it, shifted or not.
const UNIT_BYTES: u64 = 4096;

/// Returns how many turns a misaligned write takes, from the times of such writes and aligned ones.
///
/// # Errors
/// When an operation fails.
pub fn policy<Q: Queue>(
    probed: &mut ProbedQueue<'_, '_, Q>,
    turn: &Estimate<Revolution>,
    granule: &Granule,
) -> Result<Estimate<MisalignedTurns>, Fault> {
    let Estimate::Found { value: turn, .. } = turn else {
        let reason = "no rotation was found, so the cost cannot be counted in turns";
        return Ok(Estimate::not(Unidentified::NotTried, reason));
    };
    let (ask, alignment) = (probed.ask, granule.alignment.value());
    if ask.sector_bytes >= UNIT_BYTES || alignment.is_some_and(|found| found.bytes != UNIT_BYTES) {
        let reason = "turns can be counted only for granules of 4 KiB and smaller logical sectors";
        return Ok(Estimate::not(Unidentified::NotTried, reason));
    }
    let origin_bytes = alignment.map_or(0, |found| found.origin_bytes);
    let lengths = (UNIT_BYTES + origin_bytes, ask.sector_bytes, 2 * UNIT_BYTES);
    let shifted = granule::against_shifted(probed, lengths)?;
    if let Some(reason) = shifted.seen.void {
        return Ok(Estimate::not(Unidentified::Contradiction, reason));
    }
    let turn_ns = real(turn.turn_ns);
    let difference = shifted.seen.difference((2, 0), shifted.arms, turn_ns, ask.share());
    let Some((_, low, high)) = difference else {
        let reason = format!("no misaligned write was timed: {}", shifted.seen.ended.said());
        return Ok(Estimate::not(Unidentified::Noise, reason));
    };
    let nearest = (0..=3_u8).find(|more| {
        let more = f64::from(*more);
        more - WHOLE_WITHIN < low && high < more + WHOLE_WITHIN
    });
    let is_seen = alignment.is_some();
    Ok(match nearest {
        // Without a granule a write that costs nothing may be aligned as well.
        Some(0) => Estimate::not(
            Unidentified::NoSignal,
            "a write shifted by a sector takes no extra turn: either a non-volatile write buffer \
             hides it, or the granule is one sector",
        ),
        Some(more) if is_seen => Estimate::Found {
            value: MisalignedTurns { turns: more + 1, low: low + 1.0, high: high + 1.0 },
            alpha: ask.share(),
            said_by: format!(
                "writes shifted by a sector take {more} more turns than aligned ones ({low:.2} to \
                 {high:.2})"
            ),
        },
        Some(_) => Estimate::not(
            Unidentified::Contradiction,
            "shifted writes take extra turns, but no granule was found",
        ),
        None => Estimate::not(
            Unidentified::Noise,
            format!(
                "shifted writes take {low:.2} to {high:.2} extra turns, which is not a whole number"
            ),
        ),
    })
}
