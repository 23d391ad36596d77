//! The chunk and the members of an array, from reads at a depth.
//!
//! At depth 1 an array hides its boundaries: two members work side by side. At a depth that keeps
//! all of them busy, a read across a boundary costs two where another costs one. So reads of 8 KiB
//! are centered on odd multiples of `c`, for `c` from 8 KiB to 1 MiB, and held against reads
//! centered on odd multiples of 4 KiB, which no boundary is. They are slower exactly where `c` is a
//! multiple of the chunk.
//!
//! A boundary alone may be anything: a controller splits commands, flash has pages. Reads across it
//! must be slower than those beside it, and only where the chunks are also seen to lie on several
//! members is it a chunk: reads kept on every `k`-th chunk are slower where `k` divides their
//! number.
//!
//! Flash of short pages and few dies is an array in all of this, so chunks as short as pages are
//! believed on platters alone.
//!
//! Members are counted as reads go round them. In an array with parity some of each row hold none
//! of the data, which reads do not show.
//!
//! | file | what it is |
//! |---|---|
//! | `chunk` | across which boundaries reads are slower |
//! | `boundary` | whether that is the boundary, or what reads share |
//! | `members` | how many members are seen behind them |
//! | `parity_row` | whether a granule is the row of an array with parity |
//! | `search` | what all of these ask with |

mod boundary;
mod chunk;
mod members;
mod parity_row;
mod search;

use device::Queue;

pub use self::members::MEMBERS_MAX;
pub use self::search::{BUFFER_BYTES, DriveFacts};
use self::search::{Refused, Search};
use super::ProbedQueue;
use super::answer::{ArmComparison, Estimate, Unidentified};
use super::slower_threshold::Reading;
use crate::Fault;
use units::number::count;

/// An array with the comparisons behind it.
#[derive(Clone, Debug)]
pub struct Stripe {
    /// The bytes that lie on one member before the next one's come.
    pub chunk: Estimate<u64>,
    /// Number of members reads go round.
    pub members: Estimate<u64>,
    /// Every comparison.
    pub compared: Vec<ArmComparison>,
    /// Readings across odd multiples of so many bytes, which grow by two; empty where
    /// that was not seen.
    pub(super) boundaries: Vec<(u64, Reading)>,
}

impl Stripe {
    /// An array that was not looked for.
    #[must_use]
    pub fn not_tried(reason: &str) -> Stripe {
        Stripe::not(Unidentified::NotTried, reason, Vec::new())
    }

    fn not(why: Unidentified, reason: &str, compared: Vec<ArmComparison>) -> Stripe {
        Stripe {
            chunk: Estimate::not(why, reason),
            members: Estimate::not(why, reason),
            compared,
            boundaries: Vec::new(),
        }
    }
}

/// The array behind the queue, whose depth is used whole and whose buffers have [`BUFFER_BYTES`].
///
/// # Errors
/// When an operation fails.
pub fn find<Q: Queue>(
    probed: &mut ProbedQueue<'_, '_, Q>,
    known: DriveFacts,
) -> Result<Stripe, Fault> {
    let mut search = Search::new(probed, known);
    let found = search.chunk()?;
    let stripe = match found {
        Ok(chunk_bytes) => search.round(chunk_bytes)?,
        Err((why, reason)) => {
            let members =
                Estimate::not(Unidentified::NotTried, "members cannot be counted without a chunk");
            Stripe { members, ..Stripe::not(why, &reason, Vec::new()) }
        }
    };
    Ok(Stripe { compared: search.compared, boundaries: search.boundaries, ..stripe })
}

impl<Q: Queue> Search<'_, '_, '_, Q> {
    /// The array whose chunks seem to be of `chunk_bytes`.
    fn round(&mut self, chunk_bytes: u64) -> Result<Stripe, Fault> {
        let not = |(why, reason): Refused| Stripe::not(why, &reason, Vec::new());
        if let Err(refused) = self.crossed(chunk_bytes)? {
            return Ok(not(refused));
        }
        let found = self.members(chunk_bytes)?;
        let divisor = found.divisor;
        let members = match found.count {
            Err(refused) if divisor == 1 => return Ok(not(refused)),
            members => members,
        };
        if let Err(refused) = self.no_pages(chunk_bytes, divisor) {
            return Ok(not(refused));
        }
        let alpha = self.probed.ask.share() * count(self.compared.len());
        let said_by = format!(
            "reads at a depth are slower across odd multiples of {chunk_bytes} bytes and more, and \
             not of less; slower there than on either side; and slower where they are kept on \
             every {divisor}th of them"
        );
        let members = match members {
            Ok(value) => Estimate::Found {
                value,
                alpha,
                said_by: format!("{said_by}, but no slower on every multiple of that"),
            },
            Err((why, reason)) => Estimate::not(why, reason),
        };
        let chunk = Estimate::Found { value: chunk_bytes, alpha, said_by };
        Ok(Stripe { chunk, members, ..Stripe::not_tried("") })
    }
}
