//! A check that the boundary makes reads slower, and not what they share.
//!
//! The pages of flash go round its dies. Reads that lie on odd multiples of something lie on some
//! of the dies only, and wait for each other there: they are slower wherever they lie on those
//! pages, across a boundary or not. So for a chunk that was found, reads across its boundaries are
//! held against reads that end there and reads that begin there. All three lie on the same chunks,
//! on every one of them; where either of the others is not quicker, the boundary is elsewhere.

use device::Queue;

use super::super::answer::{PanelKind, Unidentified};
use super::super::panel::{Pairing, RatioQuestion};
use super::super::residue_places::Comb;
use super::super::slower_threshold::Reading;
use super::search::{Refused, Search, refused};
use crate::Fault;

/// The longest pages of flash: of 16 KiB, two planes at once.
const PAGE_BYTES_MAX: u64 = 32 << 10;

impl<Q: Queue> Search<'_, '_, '_, Q> {
    /// Returns whether reads are slower across the boundaries of chunks than on either side of
    /// them.
    pub(super) fn crossed(&mut self, chunk_bytes: u64) -> Result<Result<(), Refused>, Fault> {
        let length = 2 * self.half_bytes;
        let comb = |ahead: u64| Comb {
            modulus_bytes: chunk_bytes,
            first_bytes: chunk_bytes - ahead,
            step_bytes: 0,
            steps: 1,
            operation_bytes: length,
        };
        let arms = [
            ("across", self.half_bytes),
            ("across", self.half_bytes),
            ("up to", length),
            ("from", chunk_bytes),
        ];
        let arms = arms
            .map(|(word, ahead)| (format!("{word} multiples of {chunk_bytes} bytes"), comb(ahead)));
        let pair = |arm, against, wanted| Pairing { arm, against, wanted };
        let pairings = vec![
            pair(1, 0, RatioQuestion::Control),
            pair(0, 2, RatioQuestion::Slower),
            pair(0, 3, RatioQuestion::Slower),
        ];
        let seen = match self.panel(PanelKind::Shared, &arms, pairings, 50)? {
            Ok(seen) => seen,
            Err(refused) => return Ok(Err(refused)),
        };
        let readings = &seen.readings()[1..];
        if readings.contains(&Reading::Open) {
            let ended = seen.ended.said();
            let reason = format!(
                "undecided when {ended}: are reads slower at multiples of {chunk_bytes} bytes only"
            );
            return Ok(refused(Unidentified::Noise, reason));
        }
        Ok(match readings.iter().all(|one| *one == Reading::Slower) {
            true => Ok(()),
            false => refused(
                Unidentified::Contradiction,
                format!(
                    "reads at multiples of {chunk_bytes} bytes are slower beside the boundary as \
                     across it: they share something there, as the dies of flash, and no chunk \
                     ends there"
                ),
            ),
        })
    }

    /// Returns whether the chunks may be pages of flash, which go round its dies in the same way:
    /// `Err` with the reason where they may.
    pub(super) fn no_pages(&self, chunk_bytes: u64, members: u64) -> Result<(), Refused> {
        if self.is_turning || chunk_bytes > PAGE_BYTES_MAX.max(self.granule_bytes) {
            return Ok(());
        }
        refused(
            Unidentified::Contradiction,
            format!(
                "reads go round {members} parts by {chunk_bytes} bytes: an array, or flash with so \
                 many dies and such pages, which reads do not tell apart"
            ),
        )
    }
}
