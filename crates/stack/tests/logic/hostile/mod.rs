//! Hostile bytes: whatever an image holds, the stack on it, its verdicts and its findings are told
//! in bounded time and 64 MiB.
//!
//! `heads` damages what real tools made: cut at each byte of what they hold, and each byte that is
//! read changed to another value, of which everyday runs take one in three; with `STRADDLE_SOAK` set,
//! each byte to all 255. `guest` changes bytes of the disks of a whole machine, which share arrays
//! and volume groups: a seeded few of each disk, or with `STRADDLE_SOAK` every one, which takes an
//! hour. The other files are monsters made by hand.

mod arrays;
mod guest;
mod heads;
mod images;
mod made;
mod names;
mod nested;
mod tables;
mod volumes;
mod watched;
