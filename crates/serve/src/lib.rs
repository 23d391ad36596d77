//! Drive models in real time, and the protocols by which clients use one.
//!
//! The room that takes bytes from strangers. Sockets, devices and files are handed in, already
//! open: nothing here opens a path, so a request can reach the store of its drive and nothing else.
//! Lengths are checked before anything is allocated, and each connection has bounded memory.
//!
//! | part | what it is |
//! |---|---|
//! | `served_drive` | a model with a clock, a store and counters |
//! | `pace` | simulated time as real time |
//! | `store` | the bytes: sparse memory, or a sparse file |
//! | `file` | a file of FUSE |
//! | `nbd` | the Network Block Device protocol |
//! | `trace` | what was done, as text of blkparse |
//! | `recording` | what was done, with all bytes, to cut the power afterwards |

mod counts;
mod fault;
pub mod file;
pub mod nbd;
mod pace;
mod recording;
mod served_drive;
mod store;
mod trace;

pub use fault::ServeFault;
pub use pace::Pace;
pub use recording::{RecordedCommand, RecordedLine, Recording};
pub use served_drive::ServedDrive;
pub use store::Store;
pub use trace::TraceLog;
