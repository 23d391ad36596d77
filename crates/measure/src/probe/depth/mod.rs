//! The depth: how many reads a drive has at once, while the others wait before it in their order.
//!
//! More reads of random places are kept in flight than the drive takes. When one of them ends, all
//! that were submitted before it and have not ended were taken before it was: the drive had so many
//! at once, and it. A drive that chooses what to do next by where its heads are, and not by what
//! came first, ends the youngest of those that it has about as often as any other. So reads
//! overtake any number of others up to one, each about as often, and never more: that number, and
//! the read itself, are the depth. Two depths of the queue must show the same edge, and more in
//! flight than that must speed up nothing.
//!
//! Nothing else has it. What ends in its order overtakes nothing. What does things side by side, as
//! the dies of flash do, overtakes many the more rarely the more they are. Where those that wait
//! are not taken in their order, since a scheduler of the host sorts them or a free tag goes to
//! whoever asks first (`lib/sbitmap.c`), any number that is in flight is overtaken. And what is
//! throttled on its way, so that few overtake each other, is faster with more in flight. Of all of
//! these nothing is said.
//!
//! Each member of an array has a queue of its own, so that reads are kept on one member.
//!
//! | file | what it is |
//! |---|---|
//! | `overtaken` | how often reads overtook so many others, and what that says |
//! | `speed` | whether so many in flight are as fast as twice as many |

mod overtaken;
mod speed;

use device::Queue;
use units::random::Random;

pub use self::overtaken::DEPTH_MAX;
use self::overtaken::Overtaken;
pub use self::speed::BUFFER_BYTES;
use super::ProbedQueue;
use super::answer::{ArmComparison, Estimate, Unidentified};
use super::operations::Operations;
use super::residue_places::{Comb, Places};
use super::stripe::Stripe;
use crate::Fault;

/// The depth that the queue must have: the larger of the two at which reads are kept.
pub const QUEUE_DEPTH: u16 = 128;
/// Both depths.
const DEPTHS: [u16; 2] = [QUEUE_DEPTH / 2, QUEUE_DEPTH];
/// The reads between two looks at what they say.
const BATCH: u32 = 1024;
/// After so many reads whoever waits is asked whether to go on.
const ASKED_EVERY: u64 = 128;
/// The most batches at each depth.
const BATCHES_MAX: u64 = 8;
/// The places that there must be, so that few are read twice.
const TEETH_LEAST: u64 = 1024;

/// Number of reads in flight at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Their number, from 2 to [`DEPTH_MAX`].
    pub reads: u64,
    /// True if each member of an array has so many, and not the drive.
    pub is_of_member: bool,
}

/// A queue depth with the comparisons behind it.
#[derive(Clone, Debug)]
pub struct QueueDepth {
    /// Number of reads in flight at once.
    pub depth: Estimate<Depth>,
    /// Every comparison.
    pub compared: Vec<ArmComparison>,
}

impl QueueDepth {
    /// A queue that was not looked for.
    #[must_use]
    pub fn not_tried(reason: &str) -> QueueDepth {
        QueueDepth { depth: Estimate::not(Unidentified::NotTried, reason), compared: Vec::new() }
    }
}

/// Returns the number of reads that the drive below the queue has in flight at once; for an array
/// that `stripe` describes, the number that each member has. The queue has at least [`QUEUE_DEPTH`]
/// slots, with buffers of [`BUFFER_BYTES`].
///
/// # Errors
/// When an operation fails.
pub fn find<Q: Queue>(
    probed: &mut ProbedQueue<'_, '_, Q>,
    stripe: &Stripe,
) -> Result<QueueDepth, Fault> {
    let is_of_member = stripe.chunk.value().is_some();
    let comb = match (stripe.chunk.value(), stripe.members.value()) {
        (None, _) => anywhere(),
        (Some(chunk_bytes), Some(members)) => on_one_member(*chunk_bytes, *members),
        (Some(_), None) => {
            let reason = "each member of an array has a queue of its own, and how many there are \
                          is not known";
            return Ok(QueueDepth::not_tried(reason));
        }
    };
    let ask = probed.ask;
    let places = Places::new(ask.runs, comb);
    if places.teeth().saturating_mul(comb.steps) < TEETH_LEAST {
        return Ok(QueueDepth::not_tried("there is no room for reads of 1024 places"));
    }
    let random = Random::new(ask.seed(90));
    let mut reads = RandomReads { probed, places: &places, random };
    let (reads, alpha, said_by) = match reads.depth(ask.share())? {
        Estimate::Found { value, alpha, said_by } => (value, alpha, said_by),
        Estimate::Not { why, reason } => {
            return Ok(QueueDepth { depth: Estimate::not(why, reason), compared: Vec::new() });
        }
    };
    let depth = u16::try_from(reads).unwrap_or(QUEUE_DEPTH / 2);
    let (compared, refused) = speed::compare(probed, &places, depth)?;
    let depth = match refused {
        Some((why, reason)) => Estimate::not(why, reason),
        None => Estimate::Found {
            value: Depth { reads, is_of_member },
            alpha: alpha + ask.share(),
            said_by: format!("{said_by}; and twice as many in flight are no faster"),
        },
    };
    Ok(QueueDepth { depth, compared })
}

/// Reads of random places, batch by batch.
struct RandomReads<'a, 'b, 'c, Q: Queue> {
    probed: &'a mut ProbedQueue<'b, 'c, Q>,
    places: &'a Places,
    random: Random,
}

impl<Q: Queue> RandomReads<'_, '_, '_, Q> {
    /// Returns how many are had at once, by how many others they overtake, which must be sure up to
    /// `alpha`.
    fn depth(&mut self, alpha: f64) -> Result<Estimate<u64>, Fault> {
        let mut seen = DEPTHS.map(Overtaken::new);
        for _ in 0..BATCHES_MAX {
            for seen in &mut seen {
                if let Some(reason) = self.batch(seen)? {
                    return Ok(Estimate::not(Unidentified::Noise, reason));
                }
            }
            if let Some(answer) = overtaken::answer(&seen, alpha) {
                return Ok(answer);
            }
        }
        Ok(overtaken::unsure(&seen))
    }

    /// Adds a batch to `seen`; why there is none, or none more, where that is so.
    fn batch(&mut self, seen: &mut Overtaken) -> Result<Option<String>, Fault> {
        let ProbedQueue { queue, spending, pause, .. } = &mut *self.probed;
        let begun_ns = queue.now_ns();
        if let Some(ended) = spending.lacks(BATCH.into(), 0, begun_ns) {
            return Ok(Some(format!("the reads were too few when {}", ended.said())));
        }
        let (places, random) = (self.places, &mut self.random);
        let mut operations = Operations::new(seen.depth());
        let (mut made, mut goes_on) = (0, true);
        let mut ended = |read| {
            seen.add(read);
            made += 1;
            goes_on = goes_on && (made % ASKED_EVERY != 0 || pause(0));
            goes_on
        };
        operations.keep(*queue, BATCH, BUFFER_BYTES, &mut || places.draw(random), &mut ended)?;
        spending.spend(made, 0);
        let goes_on = goes_on && pause(queue.now_ns().saturating_sub(begun_ns));
        Ok((!goes_on).then(|| "the probe was interrupted".to_owned()))
    }
}

fn anywhere() -> Comb {
    let length = u64::from(BUFFER_BYTES);
    Comb { modulus_bytes: length, first_bytes: 0, step_bytes: 0, steps: 1, operation_bytes: length }
}

fn on_one_member(chunk_bytes: u64, members: u64) -> Comb {
    let length = u64::from(BUFFER_BYTES);
    Comb {
        modulus_bytes: chunk_bytes * members,
        step_bytes: length,
        steps: chunk_bytes.div_euclid(length),
        ..anywhere()
    }
}

#[cfg(test)]
mod tests;
