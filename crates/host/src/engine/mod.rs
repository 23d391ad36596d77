//! Queues that move bytes and stamp how long it took, behind `device`'s `Queue`.
//!
//! [`SyncQueue`] does one system call an operation, [`UringQueue`] keeps many in flight, and
//! [`NullQueue`] does nothing, so that what a measuring loop itself costs can be measured. Between
//! the first submit and the last reap none of them allocates. Stamps are `CLOCK_MONOTONIC`.
//!
//! A queue belongs to one thread at a time and may be handed to another before its first submit.
//!
//! Not here: which operations, in which order, and what their times mean.

mod buffers;
mod clock;
mod error;
mod null;
mod open;
mod sequential;
mod slot_states;
mod system_calls;
mod uring;

pub(crate) use buffers::fill;
pub use buffers::{Buffers, SLOTS_MAX};
pub use clock::{ThreadUsage, now_ns};
pub use error::EngineError;
pub use null::NullQueue;
pub use open::{Access, open_measured, open_pinned};
pub use system_calls::SyncQueue;
pub use uring::UringQueue;
