//! All questions, in their order: what durable writes say, and then what reads at a depth say. How
//! deep the drive is comes last, by [`super::depth::find`].

use device::Queue;

use super::ProbedQueue;
use super::answer::{Estimate, Unidentified};
use super::granule::{self, Granule};
use super::stripe::{self, DriveFacts, Stripe};
use super::turn::{self, MisalignedTurns, Revolution};
use crate::Fault;

/// Answers from durable writes.
#[derive(Clone, Debug)]
pub struct WriteAnswers {
    /// The granule.
    pub granule: Granule,
    /// The turn.
    pub turn: Estimate<Revolution>,
    /// Number of turns that a misaligned write takes.
    pub turns: Estimate<MisalignedTurns>,
}

impl WriteAnswers {
    /// Returns what writes through the queue say, which has depth 1 and buffers of
    /// [`granule::BUFFER_BYTES`]. It is to be judged by [`Stripe::judge`].
    ///
    /// # Errors
    /// When an operation fails.
    pub fn ask<Q: Queue>(probed: &mut ProbedQueue<'_, '_, Q>) -> Result<WriteAnswers, Fault> {
        let turn = turn::find(probed)?;
        let granule = granule::find(probed)?;
        let turn = turn::find_again(probed, turn, &granule)?;
        let turns = turn::policy(probed, &turn, &granule)?;
        Ok(WriteAnswers { granule, turn, turns })
    }

    /// Returns whether more writes might say more.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let is_noise = |why: Option<Unidentified>| why == Some(Unidentified::Noise);
        is_noise(self.granule.alignment.why()) || is_noise(self.granule.size.why())
    }

    /// Returns what `self` says, or `other`, which asked the same again: the one that says more.
    #[must_use]
    pub fn or(self, mut other: WriteAnswers) -> WriteAnswers {
        if other.is_open() && !self.is_open() {
            return self;
        }
        let mut compared = self.granule.compared;
        compared.append(&mut other.granule.compared);
        other.granule.compared = compared;
        other.turn = if other.turn.value().is_some() { other.turn } else { self.turn };
        other.turns = if other.turns.value().is_some() { other.turns } else { self.turns };
        other
    }

    /// Returns what is known for [`stripe::find`].
    #[must_use]
    pub fn known(&self) -> DriveFacts {
        DriveFacts {
            granule_bytes: self.granule.alignment.value().map_or(0, |found| found.bytes),
            is_turning: self.turn.value().is_some(),
        }
    }
}

/// Returns what reads through the queue say, whose depth is used whole and whose buffers have
/// [`stripe::BUFFER_BYTES`]; and what is left then of what writes said.
///
/// # Errors
/// When an operation fails.
pub fn reads<Q: Queue>(
    probed: &mut ProbedQueue<'_, '_, Q>,
    written: Option<&mut WriteAnswers>,
) -> Result<Stripe, Fault> {
    let known = written.as_deref().map(WriteAnswers::known).unwrap_or_default();
    let stripe = stripe::find(probed, known)?;
    if let Some(written) = written {
        stripe.judge(&mut written.granule);
    }
    Ok(stripe)
}
