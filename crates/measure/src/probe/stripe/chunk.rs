//! The chunk: across which boundaries reads at a depth are slower.

use device::Queue;

use super::super::answer::{PanelKind, Unidentified};
use super::super::panel::{Pairing, RatioQuestion};
use super::super::pattern::{self, ShiftPattern};
use super::super::residue_places::Comb;
use super::search::{Refused, Search, refused};
use crate::Fault;

/// The largest chunk that is looked for.
const CHUNK_BYTES_MAX: u64 = 1 << 20;
impl<Q: Queue> Search<'_, '_, '_, Q> {
    /// The chunk in bytes.
    pub(super) fn chunk(&mut self) -> Result<Result<u64, Refused>, Fault> {
        let half = self.half_bytes;
        let candidates: Vec<u64> = std::iter::successors(Some(2 * half), |bytes| Some(bytes << 1))
            .take_while(|bytes| *bytes <= CHUNK_BYTES_MAX)
            .collect();
        // Centered on odd multiples of `center`.
        let comb = |center: u64| Comb {
            modulus_bytes: 2 * center,
            first_bytes: center - half,
            step_bytes: 0,
            steps: 1,
            operation_bytes: 2 * half,
        };
        let centers = [half, half].into_iter().chain(candidates.iter().copied());
        let arms: Vec<(String, Comb)> = centers
            .map(|center| (format!("across odd multiples of {center} bytes"), comb(center)))
            .collect();
        let pairings = Pairing::with_control(candidates.iter().map(|_| RatioQuestion::Slower));
        let seen = match self.panel(PanelKind::Chunk, &arms, pairings, 100)? {
            Ok(seen) => seen,
            Err(refused) => return Ok(Err(refused)),
        };
        let readings = &seen.readings()[1..];
        self.boundaries = candidates.iter().copied().zip(readings.iter().copied()).collect();
        Ok(match pattern::of_lengths(readings) {
            ShiftPattern::Step(0) => refused(
                Unidentified::Contradiction,
                "reads across any boundary that was tried are slower: it may be a page of flash, \
                 or a chunk below what is read",
            ),
            ShiftPattern::Step(place) => Ok(candidates[place]),
            ShiftPattern::Flat => refused(
                Unidentified::NoSignal,
                "reads across boundaries up to 1 MiB are no slower: either there is only one \
                 drive, or a layer below hides the array",
            ),
            ShiftPattern::Open => refused(
                Unidentified::Noise,
                format!("some boundaries were undecided when {}", seen.ended.said()),
            ),
            ShiftPattern::Odd | ShiftPattern::Elsewhere => refused(
                Unidentified::Contradiction,
                "reads are slower across some boundaries and not across their multiples",
            ),
        })
    }
}
