//! The revolution time, and how many turns a write takes that is not aligned.
//!
//! One place is written again and again, each time durably. On a platter a write ends when the
//! place comes round, so from one end to the next there is a whole number of turns, *however long
//! the host waited between*. That is what is asked: the host waits a fifth or half of what a turn
//! seems to take, as a coin says. A drive of constant latency would add the wait; a cache would not
//! care. What lets one write through in each interval, as the throttle of a cloud, would do the
//! same; so the host also waits for longer than a turn, which such a thing does not mind.
//!
//! Anything that works at the ticks of a clock is still left. On a platter places come round one
//! after another: so other places are written in between, and some of them must end at another
//! time.
//!
//! If the first granule starts elsewhere, such writes take turns more, as many as firmware
//! likes: once the origin is known, they are made again on granules ([`find_again`]).
//!
//! A misaligned write reads before it writes. Firmware that does both sectors in one pass takes 2
//! turns; one that goes sector by sector, 3; one that shares no pass, 4. Which it is follows from
//! the difference of aligned and misaligned writes in turns. Both ends of such a write must be
//! read, so that it lies wholly on one drive, even of an array: within 16 KiB.

mod misaligned_turns;
mod revolution;

pub use misaligned_turns::{MisalignedTurns, TurnPolicy, policy};
pub use revolution::{Revolution, find, find_again};
