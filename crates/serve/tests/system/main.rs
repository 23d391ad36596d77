//! Drives that are served, as their clients use them.

mod hostile;
mod nbd;
mod panics;
mod same_bytes;
mod served;
mod timing;
