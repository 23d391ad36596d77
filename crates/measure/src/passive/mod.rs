//! The passive probe: a drive's indirection unit from the writes that others send it.
//!
//! OCP's log page C0h counts "Unaligned I/O": writes whose start is no multiple of the drive's
//! indirection unit, whatever their length. The host counts the same writes against several units.
//! The unit whose count moves one to one with the drive's is the drive's own. Nothing is written
//! and nothing is sent but the question for the page.

mod counter_refresh;
mod no_unit;
mod observed_interval;
mod off_counts;
mod passive_unit;
#[cfg(test)]
mod tests;

pub use counter_refresh::CounterRefresh;
pub use no_unit::NoUnit;
pub use observed_interval::ObservedInterval;
pub use off_counts::{CANDIDATES, OffCounts, UNITS_BYTES};
pub use passive_unit::{CountingRule, PassiveUnit, WRITES_LEAST, passive_unit};
