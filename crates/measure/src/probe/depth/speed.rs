//! A comparison of so many reads in flight with twice as many: those that a drive has not taken
//! speed up nothing.
//!
//! The same number of reads is made in both ways. Where the drive has so many at once, it sees the
//! same in both until the last one, and they take the same time.

use device::Queue;
use units::random::Random;

use super::super::answer::{ArmComparison, PanelKind, Reading, Unidentified};
use super::super::operations::Operations;
use super::super::panel::{Pairing, Panel, RatioQuestion, Timed};
use super::super::places::Places;
use super::super::{Ask, Spending};
use crate::Fault;

/// The buffer that the queue must have for each slot, in bytes.
pub const BUFFER_BYTES: u32 = 4096;
/// The reads of a block for each that is had at once.
const ROUNDS: u32 = 4;

/// Why so many reads are not all that is had at once, if so.
type Refused = Option<(Unidentified, String)>;

/// Reads of the same places with so many in flight, and twice as many.
pub(super) struct Speed<'a, 'b, Q: Queue> {
    pub(super) queue: &'a mut Q,
    pub(super) places: &'a Places,
    pub(super) depth: u16,
    pub(super) pause: &'a mut (dyn FnMut(u64) -> bool + 'b),
}

impl<Q: Queue> Speed<'_, '_, Q> {
    /// The comparison, and what it refutes.
    pub(super) fn compare(
        self,
        ask: &Ask<'_>,
        spending: &mut Spending,
    ) -> Result<(Vec<ArmComparison>, Refused), Fault> {
        let depth = self.depth;
        let seed = ask.seed(92);
        let panel = Panel {
            kind: PanelKind::Depth,
            arms: [depth, 2 * depth].map(|depth| format!("{depth} reads in flight")).to_vec(),
            pairings: vec![Pairing { arm: 0, against: 1, wanted: RatioQuestion::Slower }],
            alpha: ask.share(),
            seed,
        };
        let mut reads = SpeedReads {
            queue: self.queue,
            operations: [depth, 2 * depth].map(Operations::new),
            places: self.places,
            random: Random::new(seed ^ 1),
            count: u32::from(depth) * ROUNDS,
            pause: self.pause,
        };
        let seen = panel.run(&mut reads, spending)?;
        let ended = seen.ended.said();
        let refused = match seen.readings()[0] {
            Reading::Slower => Some((
                Unidentified::Contradiction,
                format!(
                    "reads overtake up to {} others, and yet {depth} in flight are slower than \
                     twice as many: the drive has more at once than overtake each other",
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
}

struct SpeedReads<'a, 'b, Q: Queue> {
    queue: &'a mut Q,
    operations: [Operations; 2],
    places: &'a Places,
    random: Random,
    count: u32,
    pause: &'a mut (dyn FnMut(u64) -> bool + 'b),
}

impl<Q: Queue> Timed for SpeedReads<'_, '_, Q> {
    fn time(&mut self, arm: usize) -> Result<u64, Fault> {
        let (places, random) = (self.places, &mut self.random);
        let begun_ns = self.queue.now_ns();
        let mut place = || places.draw(random);
        self.operations[arm]
            .keep(self.queue, self.count, BUFFER_BYTES, &mut place, &mut |_| true)?;
        Ok(self.queue.now_ns().saturating_sub(begun_ns))
    }

    fn block(&self) -> (u64, u64) {
        (u64::from(self.count) * 2, 0)
    }

    fn now_ns(&mut self) -> u64 {
        self.queue.now_ns()
    }

    fn goes_on(&mut self, took_ns: u64) -> bool {
        (self.pause)(took_ns)
    }
}
