//! The real units of a drive, from the times of operations alone.
//!
//! Each question is a `panel` of arms that take turns in random order; each comparison has a
//! confidence sequence, and the probability of an error is shared among all of them. An answer is
//! given only where *every* comparison says what one drive of the class would make them say;
//! anything else ends in a reason, never in a number. The classes:
//!
//! - *alignment* `a` with an origin, and *size* `g`, a multiple of it: a write costs more where it
//!   does not start on a boundary of `a`, and where its length is not a multiple of `g`. Both are
//!   powers of two. On most drives they are one number; NVMe drives may have NPWA below NPWG (NVM
//!   Command Set Specification, Identify Namespace).
//! - *chunk* and *members*: bytes go round so many drives, chunk by chunk, so that at a depth an
//!   operation across a boundary costs two, and operations that all lie on one member wait for it.
//! - *turn*: a durable write of one place again and again ends when the platter brings it round,
//!   however long the host waited meanwhile.
//! - *depth*: so many reads are had at once, and chosen among by where they are; others wait before
//!   them in their order.
//!
//! | file | what it is |
//! |---|---|
//! | `error_share` | input of a probe, and the share of its error for each comparison |
//! | `answer`, `budget` | what it answers, what it may use |
//! | `slower_threshold` | how much longer an arm must take to be slower |
//! | `panel`, `operations` | arms that take turns, and one operation of them |
//! | `residue_places` | where it goes |
//! | `probed_queue` | a queue with all of these |
//! | `questions` | all questions, in their order |
//! | `granule`, `pattern` | alignment, origin, size; which patterns are a drive's |
//! | `turn` | the revolution time, the turns of a read-modify-write |
//! | `stripe` | chunk and members |
//! | `depth` | how many reads are had at once |

mod answer;
mod budget;
pub mod depth;
mod error_share;
pub mod granule;
mod operations;
mod panel;
mod pattern;
mod probed_queue;
mod questions;
mod residue_places;
mod slower_threshold;
pub mod stripe;
pub mod turn;

pub use answer::{ArmComparison, Estimate, PanelKind, Unidentified};
pub use budget::{ProbeBudget, Spending};
pub use depth::Depth;
pub use error_share::{Ask, Pause};
pub use granule::{Alignment, Granule};
pub use probed_queue::ProbedQueue;
pub use questions::{WriteAnswers, reads};
pub use slower_threshold::{Reading, SLOWER_ABOVE};
pub use stripe::{DriveFacts, Stripe};
pub use turn::{MisalignedTurns, Revolution, TurnPolicy};
