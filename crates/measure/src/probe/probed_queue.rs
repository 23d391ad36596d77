//! A queue that is probed, with what is asked of it and what may be used.

use device::Queue;

use super::panel::{Panel, PanelResult, Timed};
use super::{Ask, Pause, Spending};
use crate::Fault;

/// A queue that is probed.
pub struct ProbedQueue<'a, 'b, Q: Queue> {
    /// The queue.
    pub queue: &'a mut Q,
    /// Places where it may work, and how sure answers must be.
    pub ask: &'a Ask<'b>,
    /// Bytes, operations and time that may be used.
    pub spending: &'a mut Spending,
    /// Rests between blocks.
    pub pause: Pause<'a>,
}

impl<Q: Queue> ProbedQueue<'_, '_, Q> {
    /// Runs `panel` with so many percent of what may still be used. `block` holds the operations
    /// and written bytes of one block; `time` runs an arm, and returns how long it took.
    pub(super) fn run(
        &mut self,
        panel: &Panel,
        percent: u64,
        block: (u64, u64),
        time: impl FnMut(&mut Q, usize) -> Result<u64, Fault>,
    ) -> Result<PanelResult, Fault> {
        let mut part = self.spending.part(percent, self.queue.now_ns());
        let mut arms = TimedArms { queue: self.queue, pause: self.pause, block, time };
        let seen = panel.run(&mut arms, &mut part);
        self.spending.settle(&part);
        seen
    }
}

struct TimedArms<'a, Q, T> {
    queue: &'a mut Q,
    pause: Pause<'a>,
    block: (u64, u64),
    time: T,
}

impl<Q: Queue, T: FnMut(&mut Q, usize) -> Result<u64, Fault>> Timed for TimedArms<'_, Q, T> {
    fn time(&mut self, arm: usize) -> Result<u64, Fault> {
        (self.time)(self.queue, arm)
    }

    fn block(&self) -> (u64, u64) {
        self.block
    }

    fn now_ns(&mut self) -> u64 {
        self.queue.now_ns()
    }

    fn goes_on(&mut self, took_ns: u64) -> bool {
        (self.pause)(took_ns)
    }
}
