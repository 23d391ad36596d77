//! A queue whose operations end at once and move nothing: what is left is what a loop costs.

use device::{Action, Operation};

use super::buffers::Buffers;
use super::error::EngineError;
use super::sequential::{Operate, SequentialQueue};

/// Completes every operation in full when it is reaped, between two readings of the clock.
pub type NullQueue = SequentialQueue<NoOperation>;

/// Says that all was done.
#[derive(Debug)]
pub struct NoOperation;

impl Operate for NoOperation {
    #[inline]
    fn operate(&mut self, _: &mut Buffers, operation: &Operation) -> Result<u32, i32> {
        match operation.action {
            Action::Sync(_) => Ok(0),
            Action::Read | Action::Write { .. } => Ok(operation.length_bytes),
        }
    }
}

impl NullQueue {
    /// A queue of as many slots as there are `buffers`, over one file that is not there.
    ///
    /// # Errors
    /// None so far; as the other queues'.
    pub fn new(buffers: Buffers) -> Result<NullQueue, EngineError> {
        Ok(SequentialQueue::over(NoOperation, 1, buffers))
    }
}
