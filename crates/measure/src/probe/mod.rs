//! What a drive's units really are, from the times of operations alone.
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
//! | `answer`, `purse`, `panel`, `bout` | what all questions are made of |
//! | `asked` | all questions, in their order |
//! | `granule`, `pattern` | alignment, origin, size; which patterns are a drive's |
//! | `turn` | the revolution time, the turns of a read-modify-write |
//! | `stripe` | chunk and members |
//! | `depth` | how many reads are had at once |

pub mod answer;
mod asked;
mod bout;
pub mod depth;
pub mod granule;
mod panel;
mod pattern;
mod places;
pub mod purse;
pub mod stripe;
pub mod turn;

pub use answer::{Answer, Compared, Reading, SLOWER_ABOVE, Unidentified};
pub use asked::{Written, reads};
pub use depth::Depth;
pub use granule::{Alignment, Granule};
pub use purse::{Budget, Purse};
pub use stripe::{Known, Stripe};
pub use turn::{Turn, Turns};

use crate::Run;

/// The most comparisons that all questions together make; each has its share of the alpha.
pub const COMPARISONS_MAX: u32 = 200;

/// What a probe is told.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// What may be used, and where it lies on its drive.
    pub runs: &'a [Run],
    /// The logical sector: the least step.
    pub sector_bytes: u64,
    /// The probability that any of all answers is wrong.
    pub alpha: f64,
    /// What decides all orders and places.
    pub seed: u64,
}

impl Ask<'_> {
    /// The share of each comparison.
    fn share(&self) -> f64 {
        self.alpha / f64::from(COMPARISONS_MAX)
    }

    /// A seed of its own for each part.
    fn seed(&self, part: u64) -> u64 {
        self.seed ^ part.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// Told between blocks how long the last one took, in nanoseconds; whether to go on. It may rest.
pub type Pause<'a> = &'a mut dyn FnMut(u64) -> bool;
