//! The chunk and the members of an array, from reads at a depth.
//!
//! At depth 1 an array hides its boundaries: two members work side by side. At a depth that keeps
//! all of them busy, a read across a boundary costs two where another costs one. So reads of `2h`
//! bytes are centred on odd multiples of `c`, for `c` from `2h` to 1 MiB, and held against reads
//! centred on odd multiples of `h`, which no boundary is. They are slower exactly where `c` is a
//! multiple of the chunk. (`h` is 4 KiB, or the granule where that is longer.)
//!
//! A boundary alone may be anything: a controller splits commands, flash has pages. Only where the
//! chunks are also seen to lie on several members is it a chunk. With `k` a power of a prime, reads
//! are kept on every `k`-th chunk: where `k` divides the number of members they share fewer of them
//! than with the power below. The number is the product of the greatest `k` that do.
//!
//! Members are counted as reads go round them. In an array with parity some of each row hold none
//! of the data, which reads do not show.
//!
//! | file | what it is |
//! |---|---|
//! | `chunk` | across which boundaries reads are slower |
//! | `members` | how many members are seen behind them |
//! | `reads` | a block of reads at a depth, timed |

mod chunk;
mod members;
mod reads;

use device::Queue;
use units::random::Random;

pub use self::chunk::CHUNK_BYTES_MAX;
pub use self::members::MEMBERS_MAX;
use self::reads::Reads;
use super::answer::{Answer, Compared, Unidentified};
use super::bout::Bout;
use super::panel::{Pairing, Panel, Seen};
use super::places::{Comb, Places};
use super::{Ask, Pause, Purse};
use crate::Fault;
use crate::number::count;

/// The reads of a block for each in flight.
const ROUNDS: u32 = 2;
/// What half an operation has at least.
pub const HALF_BYTES: u64 = 4096;
/// The places that an arm needs, so that no cache holds them all.
const TEETH_LEAST: u64 = 4;
/// What was found of an array.
#[derive(Clone, Debug)]
pub struct Stripe {
    /// The bytes that lie on one member before the next one's come.
    pub chunk: Answer<u64>,
    /// How many members reads go round.
    pub members: Answer<u64>,
    /// Every comparison.
    pub compared: Vec<Compared>,
}

impl Stripe {
    /// An array that was not looked for.
    #[must_use]
    pub fn not_tried(reason: &str) -> Stripe {
        let (chunk, members) = (
            Answer::not(Unidentified::NotTried, reason),
            Answer::not(Unidentified::NotTried, reason),
        );
        Stripe { chunk, members, compared: Vec::new() }
    }

    fn not(why: Unidentified, reason: &str, compared: Vec<Compared>) -> Stripe {
        Stripe { chunk: Answer::not(why, reason), members: Answer::not(why, reason), compared }
    }
}

/// The array behind `queue`, whose depth is used whole and whose buffers hold twice `granule_bytes`
/// and 8 KiB.
///
/// # Errors
/// When an operation fails.
pub fn find<Q: Queue>(
    queue: &mut Q,
    ask: &Ask<'_>,
    granule_bytes: Option<u64>,
    purse: &mut Purse,
    pause: Pause<'_>,
) -> Result<Stripe, Fault> {
    let half_bytes = granule_bytes.unwrap_or(HALF_BYTES).max(HALF_BYTES);
    let mut search = Search { queue, ask, half_bytes, purse, pause, compared: Vec::new() };
    let chunk_bytes = match search.chunk()? {
        Ok(chunk_bytes) => chunk_bytes,
        Err((why, reason)) => {
            let members = Answer::not(Unidentified::NotTried, "there is no chunk to count them by");
            let chunk = Answer::not(why, reason);
            return Ok(Stripe { chunk, members, compared: search.compared });
        }
    };
    let members = match search.members(chunk_bytes)? {
        Ok(members) => members,
        Err((why, reason)) => return Ok(Stripe::not(why, &reason, search.compared)),
    };
    let alpha = ask.share() * count(search.compared.len());
    let said_by = format!(
        "reads at a depth are slower across odd multiples of {chunk_bytes} bytes and more, and not \
         of less; and slower where they are kept on every {members}th of them"
    );
    let found = |value| Answer::Found { value, alpha, said_by: said_by.clone() };
    Ok(Stripe { chunk: found(chunk_bytes), members: found(members), compared: search.compared })
}

type Refused = (Unidentified, String);

fn refused<T>(why: Unidentified, reason: impl Into<String>) -> Result<T, Refused> {
    Err((why, reason.into()))
}

struct Search<'a, 'b, Q: Queue> {
    queue: &'a mut Q,
    ask: &'a Ask<'b>,
    half_bytes: u64,
    purse: &'a mut Purse,
    pause: Pause<'a>,
    compared: Vec<Compared>,
}

impl<Q: Queue> Search<'_, '_, Q> {
    fn panel(
        &mut self,
        name: &'static str,
        arms: &[(String, Comb)],
        pairings: Vec<Pairing>,
        percent: u64,
    ) -> Result<Result<Seen, Refused>, Fault> {
        let places: Vec<Places> =
            arms.iter().map(|(_, comb)| Places::new(self.ask.runs, *comb)).collect();
        if places.iter().any(|places| places.teeth() < TEETH_LEAST) {
            let reason = "there is no room for reads across boundaries up to 1 MiB";
            return Ok(refused(Unidentified::NotTried, reason));
        }
        let depth = self.queue.depth();
        let part = if name == "chunk" { 70 } else { 71 };
        let seed = self.ask.seed(part);
        let panel = Panel {
            name,
            arms: arms.iter().map(|(name, _)| name.clone()).collect(),
            pairings,
            alpha: self.ask.share(),
            seed,
        };
        let now_ns = self.queue.now_ns();
        let mut purse = self.purse.part(percent, now_ns);
        let mut reads = Reads {
            queue: self.queue,
            bout: Bout::new(depth),
            places,
            random: Random::new(seed ^ 1),
            length_bytes: u32::try_from(2 * self.half_bytes).unwrap_or(u32::MAX),
            count: u32::from(depth) * ROUNDS,
            pause: self.pause,
        };
        let seen = panel.run(&mut reads, &mut purse);
        self.purse.settle(&purse);
        let seen = seen?;
        self.compared.extend(seen.compared.iter().cloned());
        Ok(match seen.void.clone() {
            Some(reason) => refused(Unidentified::Contradiction, reason),
            None => Ok(seen),
        })
    }
}
