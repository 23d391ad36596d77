//! The cheapest sufficient change of a disk's partitions, so that all data in them is aligned.
//!
//! Pure: bytes and stack in, a [`Plan`] out, and the shell script that carries it out. The data at
//! the leaf decides, never the start of a partition alone: what compensates stays, or moves by a
//! multiple. The order is: leave; the nearest aligned start that is free; all partitions together.
//!
//! | file | what it is |
//! |---|---|
//! | `raw` | the table as its bytes stand |
//! | `piece` | a partition, and what its data needs |
//! | `unit` | where a partition may start |
//! | `place` | the best places for all of them |
//! | `encode` | the table's new bytes |
//! | `content` | what file systems keep of where they start |
//! | `moves` | what moves, in which order |
//! | `plan` | all of it together |
//! | `after` | the disk as it will be |
//! | `fresh` | advice for a disk without data |
//! | `script` | the shell script |

mod after;
mod content;
mod encode;
mod fresh;
mod moves;
mod piece;
mod place;
mod plan;
mod raw;
mod refusal;
mod script;
mod unit;

pub use after::After;
pub use content::FixUp;
pub use encode::Region;
pub use fresh::{Advice, advice};
pub use moves::Move;
pub use plan::{Plan, Row, disk_of, plan};
pub use refusal::NoPlan;
pub use script::{Source, script};
