//! Durable writes of engines, and how long they can wait for one.
//!
//! An engine is a data file (`profiles/NAME.toml`): its write pattern, two limits on a quantile of
//! the time that one durable write takes, each with its source, and the words for an operator. The
//! built-in files are embedded and read by the same code as a site's own, which may add engines or
//! replace them. `docs/engines.md` describes the form and lists all engines; [`page`] makes it.

mod engines;
pub mod page;
mod pattern;
mod profile;
mod reader;

pub use engines::Engines;
pub use pattern::{Placement, Space, Sync, WritePattern};
pub use profile::{Limit, LimitSource, Profile, Quantile};

#[cfg(test)]
mod tests;
