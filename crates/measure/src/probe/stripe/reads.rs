//! Blocks of reads at the queue's depth.

use device::Queue;
use units::random::Random;

use super::super::operations::Operations;
use super::super::panel::Timed;
use super::super::places::Places;
use crate::Fault;
use units::number::wide;

/// Blocks of reads at the queue's depth.
pub(super) struct BlockReads<'a, 'b, Q: Queue> {
    pub(super) queue: &'a mut Q,
    pub(super) operations: Operations,
    pub(super) places: Vec<Places>,
    pub(super) random: Random,
    pub(super) length_bytes: u32,
    pub(super) count: u32,
    pub(super) pause: &'a mut (dyn FnMut(u64) -> bool + 'b),
}

impl<Q: Queue> Timed for BlockReads<'_, '_, Q> {
    fn time(&mut self, arm: usize) -> Result<u64, Fault> {
        let (places, random) = (&self.places[arm], &mut self.random);
        self.operations
            .reads(self.queue, self.count, self.length_bytes, &mut || places.draw(random))
    }

    fn block(&self) -> (u64, u64) {
        (u64::from(self.count) * wide(self.places.len()), 0)
    }

    fn now_ns(&mut self) -> u64 {
        self.queue.now_ns()
    }

    fn goes_on(&mut self, took_ns: u64) -> bool {
        (self.pause)(took_ns)
    }
}
