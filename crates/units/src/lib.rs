//! Bytes, sectors, ranges, the arithmetic of alignment and stripes, sourced facts, text from disks,
//! seeded randomness.
//!
//! Everything above stands on these nouns. Nothing here reads a file, a clock or the environment.

mod alignment;
mod disk_text;
pub mod durable_ratio;
mod fact;
pub mod finite;
pub mod number;
pub mod prefix;
mod raid_rotation;
pub mod random;
mod range;
mod sector;
mod shell_word;
pub mod stripe;
pub mod word;

pub use alignment::Unit;
pub use disk_text::DiskText;
pub use fact::{Fact, Known, Source};
pub use range::ByteRange;
pub use sector::{Lba, SectorSize};

/// Text from disks as one harmless line, and as a word for a shell.
pub mod text {
    pub use crate::disk_text::{KEPT_BYTES, escape, escape_again, unescape};
    pub use crate::shell_word::{file_word, octal, plain_path, shell_word};
}
