//! Durable writes of the arms, one after another.

use device::Queue;

use super::super::answer::PanelKind;
use super::super::operations::Operations;
use super::super::panel::Timed;
use crate::{Fault, Slots};

/// The write of one arm.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteArm {
    pub(super) shift_bytes: u64,
    pub(super) length_bytes: u64,
}

impl WriteArm {
    pub(super) fn name(&self, panel: PanelKind) -> String {
        match panel {
            PanelKind::Size => format!("{} bytes", self.length_bytes),
            _ => format!("64 KiB, {} bytes further", self.shift_bytes),
        }
    }
}

/// Durable writes, one after another.
pub(super) struct Writes<'a, 'b, Q: Queue> {
    pub(super) queue: &'a mut Q,
    pub(super) operations: Operations,
    pub(super) slots: Slots,
    pub(super) arms: &'a [WriteArm],
    pub(super) block: (u64, u64),
    pub(super) pause: &'a mut (dyn FnMut(u64) -> bool + 'b),
}

impl<Q: Queue> Timed for Writes<'_, '_, Q> {
    fn time(&mut self, arm: usize) -> Result<u64, Fault> {
        let length = u32::try_from(self.arms[arm].length_bytes).expect("64 KiB at most");
        let offset = self.slots.next(arm);
        Ok(self.operations.write(self.queue, offset, length)?.latency_ns())
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
