//! The drive's own word about what was written: to it by hosts, and by it to its media.
//!
//! A [`WearReading`] is what a drive's pages say at one moment, over its life; two of them and the
//! time between give a [`WearInterval`]. A page that cannot be right gives no number but the
//! reason.

mod coarse_bytes;
mod media_wear;
mod wear_bounds;
mod wear_interval;
mod wear_reading;

pub use coarse_bytes::CoarseBytes;
pub use media_wear::MediaWear;
pub use wear_bounds::WearBounds;
pub use wear_interval::{REFRESH_NS, WearInterval};
pub use wear_reading::WearReading;

/// Least ratio of media bytes to host bytes that is believed. Drives that compress write less than
/// they are sent; a counter below half more likely counts in another unit. The limit is ours.
const AMPLIFICATION_LEAST: f64 = 0.5;
