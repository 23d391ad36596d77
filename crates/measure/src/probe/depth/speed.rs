//! A comparison of so many reads in flight with twice as many: those that a drive has not taken
//! speed up nothing.
//!
//! The same number of reads is made in both ways. Where the drive has so many at once, it sees the
//! same in both until the last one, and they take the same time.

use device::Queue;
use units::random::Random;

use super::super::ProbedQueue;
use super::super::answer::{ArmComparison, PanelKind, Unidentified};
use super::super::operations::Operations;
use super::super::panel::{Pairing, Panel, RatioQuestion};
use super::super::residue_places::Places;
use super::super::slower_threshold::Reading;
use crate::Fault;

/// The buffer that the queue must have for each slot, in bytes.
pub const BUFFER_BYTES: u32 = 4096;
/// The reads of a block for each that is had at once.
const ROUNDS: u32 = 4;

/// Why so many reads are not all that is had at once, if so.
type Refused = Option<(Unidentified, String)>;

/// Compares reads of the same places with so many in flight and twice as many: the comparison, and
/// what it refutes.
pub(super) fn compare<Q: Queue>(
    probed: &mut ProbedQueue<'_, '_, Q>,
    places: &Places,
    depth: u16,
) -> Result<(Vec<ArmComparison>, Refused), Fault> {
    let seed = probed.ask.seed(92);
    let panel = Panel {
        kind: PanelKind::Depth,
        arms: [depth, 2 * depth].map(|depth| format!("{depth} reads in flight")).to_vec(),
        pairings: vec![Pairing { arm: 0, against: 1, wanted: RatioQuestion::Slower }],
        alpha: probed.ask.share(),
        seed,
    };
    let mut operations = [depth, 2 * depth].map(Operations::new);
    let mut random = Random::new(seed ^ 1);
    let count = u32::from(depth) * ROUNDS;
    let time = |queue: &mut Q, arm: usize| {
        let begun_ns = queue.now_ns();
        let mut place = || places.draw(&mut random);
        operations[arm].keep(queue, count, BUFFER_BYTES, &mut place, &mut |_| true)?;
        Ok(queue.now_ns().saturating_sub(begun_ns))
    };
    let seen = probed.run(&panel, 100, (u64::from(count) * 2, 0), time)?;
    let ended = seen.ended.said();
    let refused = match seen.readings()[0] {
        Reading::Slower => Some((
            Unidentified::Contradiction,
            format!(
                "reads overtake up to {} others, and yet {depth} in flight are slower than twice \
                 as many: the drive has more at once than overtake each other",
                depth - 1
            ),
        )),
        reading if reading.is_not_slower() => None,
        _ => Some((
            Unidentified::Noise,
            format!(
                "whether {depth} reads in flight are as fast as twice as many was not settled \
                 when {ended}"
            ),
        )),
    };
    Ok((seen.compared, refused))
}
