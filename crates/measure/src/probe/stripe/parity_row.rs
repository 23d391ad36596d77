//! A check that a granule is not the row of an array with parity.
//!
//! A part of a row is written as a part of a granule is: what it replaces is read first, the parity
//! with it. Within a granule there are no boundaries, and within a row there are those of its
//! chunks; where reads at a depth are slower across one, it is a row. That they are not says
//! little: members may be too fast for the depth. So from the shortest row of usual controllers on
//! nothing is called a granule, unless there are chunks, and they are longer.

use super::super::answer::{Estimate, Unidentified};
use super::super::granule::{Alignment, Granule};
use super::super::slower_threshold::Reading;
use super::Stripe;

/// The shortest row: two chunks of 16 KiB, the shortest that controllers make.
const ROW_BYTES_LEAST: u64 = 32 << 10;

impl Stripe {
    /// Takes back of `granule` what may be the row of an array.
    pub fn judge(&self, granule: &mut Granule) {
        let Estimate::Found { value: Alignment { bytes, .. }, .. } = granule.alignment else {
            return;
        };
        let Some((why, reason)) = self.doubts(bytes) else { return };
        granule.alignment = Estimate::not(why, reason.clone());
        granule.size = Estimate::not(why, reason);
    }

    /// Why a granule of `bytes` may be none.
    fn doubts(&self, bytes: u64) -> Option<(Unidentified, String)> {
        let mut within = self.boundaries.iter().filter(|(boundary, _)| *boundary < bytes);
        let slower = within.find(|(_, reading)| *reading == Reading::Slower);
        if let Some((boundary, _)) = slower {
            let reason = format!(
                "{bytes} bytes cost least when written whole, and reads are slower across \
                 boundaries each {boundary} bytes within: that is the row of an array with parity, \
                 and no granule of a drive"
            );
            return Some((Unidentified::Contradiction, reason));
        }
        let is_within_a_chunk = self.chunk.value().is_some_and(|chunk| *chunk >= bytes);
        if bytes < ROW_BYTES_LEAST || is_within_a_chunk {
            return None;
        }
        let reason = format!(
            "{bytes} bytes cost least when written whole: the granule of a drive, or the row of an \
             array with parity, which times do not tell apart"
        );
        Some((Unidentified::NoSignal, reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is doubted of a granule of so many bytes, where reads are so across 8, 16 and
    /// 32 KiB.
    fn doubts(bytes: u64, readings: [Reading; 3], chunk: Option<u64>) -> Option<Unidentified> {
        let mut stripe = Stripe::not_tried("no reads");
        stripe.boundaries = (13..16).map(|power| 1 << power).zip(readings).collect();
        if let Some(value) = chunk {
            stripe.chunk = Estimate::Found { value, alpha: 0.0, said_by: String::new() };
        }
        stripe.doubts(bytes).map(|(why, _)| why)
    }

    #[test]
    fn what_may_be_a_row_is_no_granule() {
        use Reading::{NotSlower, Open, Same, Slower};
        assert_eq!(doubts(4096, [Slower; 3], None), None);
        assert_eq!(doubts(16384, [Same, NotSlower, Same], None), None);
        assert_eq!(doubts(16384, [Open, Slower, Slower], None), None);
        assert_eq!(doubts(16384, [Slower; 3], None), Some(Unidentified::Contradiction));
        assert_eq!(doubts(65536, [Same, Slower, Slower], None), Some(Unidentified::Contradiction));
        assert_eq!(doubts(65536, [Same; 3], None), Some(Unidentified::NoSignal));
        assert_eq!(doubts(65536, [Same; 3], Some(65536)), None);
    }
}
