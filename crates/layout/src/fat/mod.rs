//! A FAT made again with sectors of another size, with all of its files.
//!
//! Directory entries are kept as they stand: names, short names, times, attributes. Only first
//! clusters change. Contents are not held in memory: they are read from the old volume.
//!
//! Source: Microsoft's FAT specification (fatgen103).

mod old_volume;
mod rebuilt;
mod shape;
mod unused_bytes;
mod writes;

pub use rebuilt::RebuiltFat;

#[cfg(test)]
mod tests;
