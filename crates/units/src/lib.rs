//! Bytes, sectors, ranges, the arithmetic of alignment and stripes, sourced facts, text from disks,
//! seeded randomness.
//!
//! Everything above stands on these nouns. Nothing here reads a file, a clock or the environment.

mod alignment;
pub mod durable;
mod fact;
pub mod finite;
pub mod number;
pub mod prefix;
mod raid_rotation;
pub mod random;
mod range;
mod sector;
pub mod stripe;
pub mod text;
pub mod word;

pub use alignment::Unit;
pub use fact::{Fact, Known, Source};
pub use range::ByteRange;
pub use sector::{Lba, SectorSize};
pub use text::DiskText;
