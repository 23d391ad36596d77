//! Linux itself: opens, reads and asks. Everything here is read only.
//!
//! `format` and `stack` see the world through `device`'s traits; this crate stands behind them on a
//! real machine. It fetches raw bytes and raw answers, and understands none of them. Files, clocks
//! and
//! `unsafe` are found here and in the binary only.

pub mod beside;
pub mod cache;
pub mod disk;
pub mod identity;
pub mod inquiry;
pub mod scan;
pub mod terminal;
pub mod tree;

pub use beside::Beside;
pub use cache::{HeadCache, Reads, Sparse, Stretch};
pub use disk::{FileDisk, OpenError};
pub use identity::{Identity, canonical, identity, is_root};
pub use inquiry::Inquiry;
pub use scan::{Listing, list_files};
pub use terminal::terminal_width;
pub use tree::LiveTree;
