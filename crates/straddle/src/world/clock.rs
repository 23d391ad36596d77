//! Time of a world: passing by itself, or simulated.

/// Clock of a world.
pub(crate) trait Clock {
    /// Now, in nanoseconds from any fixed moment; never goes back. Queues and durable files of the
    /// same world have the same clock.
    fn now_ns(&self) -> u64;

    /// Waits so long.
    fn rest(&self, nanoseconds: u64);
}
