//! The questions of `measure::probe`, asked of a real queue.
//!
//! Writes have most of the time, and the reads that look for an array most of what is left. Where
//! writes left something open and there is time and there are bytes after the reads, they are made
//! again with all of that. What is left then is for the depth.

use host::engine::Access;
use measure::Fault;
use measure::probe::{
    self, Ask, ProbeBudget, ProbedQueue, Spending, Stripe, WriteAnswers, depth, granule, stripe,
};
use report::Refusal;
use report::probe::Probe as Document;

use super::open_target::{OpenTarget, unopened};
use super::pauses::Pauses;
use super::session::Session;
use crate::shared::busy::{Others, SHARE_PERCENT};
use crate::world::{BufferPlan, World};

/// The probability that any of all answers is wrong, at most.
const ALPHA: f64 = 0.02;
/// Number of reads in flight where an array is looked for.
const DEPTH: u16 = 16;
/// The most operations.
const OPERATIONS: u64 = 20_000_000;
/// Share of the time that the writes may take before the reads, in percent.
const WRITES_PERCENT: u64 = 65;
/// Share of the time left then that the reads which look for an array may take, in percent.
const READS_PERCENT: u64 = 70;
/// Share of the time and of the bytes that must be left to make writes again, in percent.
const AGAIN_PERCENT: u64 = 10;
/// Why nothing is asked that needs a depth.
const BUSY: &str = "the drive is busy with other I/O, which limits the probe to depth 1";
/// The seed of the writes that are made again, beside that of the first.
const AGAIN_SEED: u64 = 0xa6a1;

/// Results of the questions; `None` where one was not asked.
pub(super) struct ProbeResults {
    pub(super) written: Option<WriteAnswers>,
    pub(super) stripe: Stripe,
    pub(super) depth: depth::QueueDepth,
}

/// Asks all questions that can be asked there.
pub(super) fn run<W: World>(
    run: &Session<'_>,
    world: &W,
    target: &OpenTarget<W::Scratch>,
    watched: &mut Pauses<'_>,
    document: &mut Document,
) -> Result<ProbeResults, Refusal> {
    let is_busy = others(run, world, target).is_some_and(Others::is_busy);
    if is_busy {
        document.envelope.notes.push(format!(
            "the drive is busy with other I/O: limited to depth 1 and a {SHARE_PERCENT} % duty \
             cycle; questions that need more depth are not tried"
        ));
        watched.share(SHARE_PERCENT.into());
    }
    let ask = Ask {
        runs: &target.place.runs,
        sector_bytes: target.sector_bytes,
        alpha: ALPHA,
        seed: run.seed,
    };
    let mut asking = Asking { run, world, target, watched, ask, whole: whole(run, target) };
    let (stripe, depth) = (Stripe::not_tried(BUSY), depth::QueueDepth::not_tried(BUSY));
    let mut found = ProbeResults { written: None, stripe, depth };
    let first = asking.part(if is_busy { 100 } else { WRITES_PERCENT });
    if target.writes {
        found.written = Some(asking.writes(ask, first)?);
    }
    if is_busy {
        found.stripe = not_read(BUSY, found.written.as_mut());
    } else {
        found.stripe = asking.reads(found.written.as_mut())?;
    }
    if let Some(written) = found.written.take() {
        found.written = Some(asking.again(written, &found.stripe)?);
    }
    if !is_busy {
        found.depth = asking.depth(&found.stripe)?;
    }
    let whole = &asking.whole;
    document.spent.written_bytes = target.prepared_bytes.saturating_add(whole.written_bytes());
    document.spent.operations = whole.operations();
    match target.moved() {
        Some(reason) => {
            let hint = "probe again, on a file system that nobody else writes to".to_owned();
            Err(Refusal::undecided(reason, Some(hint)))
        }
        None => Ok(found),
    }
}

/// Work that others give the drive now; `None` where that is not known.
fn others<W: World>(
    run: &Session<'_>,
    world: &W,
    target: &OpenTarget<W::Scratch>,
) -> Option<Others> {
    Others::of(world.counters(target.place.counted?)?, run.clock)
}

/// All that may be used from now on.
fn whole<S>(run: &Session<'_>, target: &OpenTarget<S>) -> Spending {
    let budget = ProbeBudget {
        written_bytes: run.probe.bytes_max.saturating_sub(target.prepared_bytes),
        operations: OPERATIONS,
        nanoseconds: u64::from(run.probe.seconds).saturating_mul(1_000_000_000),
    };
    Spending::new(budget, run.clock.now_ns())
}

/// An array that was not looked for.
fn not_read(reason: &str, written: Option<&mut WriteAnswers>) -> Stripe {
    let stripe = Stripe::not_tried(reason);
    if let Some(written) = written {
        stripe.judge(&mut written.granule);
    }
    stripe
}

struct Asking<'a, 'b, W: World> {
    run: &'a Session<'a>,
    world: &'a W,
    target: &'a OpenTarget<W::Scratch>,
    watched: &'a mut Pauses<'b>,
    ask: Ask<'a>,
    whole: Spending,
}

impl<W: World> Asking<'_, '_, W> {
    /// So much of what is left, in percent.
    fn part(&self, percent: u64) -> Spending {
        self.whole.part(percent, self.run.clock.now_ns())
    }

    /// Returns what durable writes say that use `purse`; all bytes are theirs.
    fn writes(&mut self, ask: Ask<'_>, purse: Spending) -> Result<WriteAnswers, Refusal> {
        let file = self.target.open(self.world, Access::Write)?;
        let buffers = BufferPlan { depth: 1, slot_bytes: granule::BUFFER_BYTES, seed: ask.seed };
        let mut queue = self.world.one(file, buffers).map_err(|error| unopened(&error))?;
        self.watched.begin("durable writes");
        let mut purse = purse.with_bytes(self.whole.left(self.run.clock.now_ns()).written_bytes);
        let watched = &mut *self.watched;
        let found = WriteAnswers::ask(&mut ProbedQueue {
            queue: &mut queue,
            ask: &ask,
            spending: &mut purse,
            pause: &mut |took| watched.pause(took),
        });
        self.whole.settle(&purse);
        found.map_err(|fault| faulty(&fault))
    }

    /// A queue of this depth; `Err` with the reason where there is no io_uring: the rest is still
    /// found then.
    fn deep(&self, depth: u16, slot_bytes: u32) -> Result<Result<W::Many, String>, Refusal> {
        let file = self.target.open(self.world, Access::Read)?;
        let queue = self.world.many(file, BufferPlan { depth, slot_bytes, seed: self.run.seed });
        Ok(queue.map_err(|error| format!("there is no depth: {error}")))
    }

    /// Returns what reads at a depth say of an array.
    fn reads(&mut self, written: Option<&mut WriteAnswers>) -> Result<Stripe, Refusal> {
        let mut queue = match self.deep(DEPTH, stripe::BUFFER_BYTES)? {
            Ok(queue) => queue,
            Err(reason) => return Ok(not_read(&reason, written)),
        };
        self.watched.begin("reads at a depth");
        let mut purse = self.part(READS_PERCENT);
        let watched = &mut *self.watched;
        let mut probed = ProbedQueue {
            queue: &mut queue,
            ask: &self.ask,
            spending: &mut purse,
            pause: &mut |took| watched.pause(took),
        };
        let found = probe::reads(&mut probed, written);
        self.whole.settle(&purse);
        found.map_err(|fault| faulty(&fault))
    }

    /// Returns how many reads are had at once, with all the time that is left.
    fn depth(&mut self, stripe: &Stripe) -> Result<depth::QueueDepth, Refusal> {
        if self.run.interrupt.is_raised() {
            return Ok(depth::QueueDepth::not_tried("it was interrupted"));
        }
        let mut queue = match self.deep(depth::QUEUE_DEPTH, depth::BUFFER_BYTES)? {
            Ok(queue) => queue,
            Err(reason) => return Ok(depth::QueueDepth::not_tried(&reason)),
        };
        self.watched.begin("reads at more than its depth");
        let mut purse = self.part(100);
        let watched = &mut *self.watched;
        let mut probed = ProbedQueue {
            queue: &mut queue,
            ask: &self.ask,
            spending: &mut purse,
            pause: &mut |took| watched.pause(took),
        };
        let found = depth::find(&mut probed, stripe);
        self.whole.settle(&purse);
        found.map_err(|fault| faulty(&fault))
    }

    /// Returns what `written` says, asked again with all that is left where it left something open.
    fn again(&mut self, written: WriteAnswers, stripe: &Stripe) -> Result<WriteAnswers, Refusal> {
        let left = self.whole.left(self.run.clock.now_ns());
        let all = whole(self.run, self.target).left(self.run.clock.now_ns());
        let is_enough =
            |left: u64, all: u64| left.saturating_mul(100) >= all.saturating_mul(AGAIN_PERCENT);
        let has_room = is_enough(left.nanoseconds, all.nanoseconds)
            && is_enough(left.written_bytes, all.written_bytes);
        if !written.is_open() || !has_room || self.run.interrupt.is_raised() {
            return Ok(written);
        }
        let ask = Ask { seed: self.ask.seed ^ AGAIN_SEED, ..self.ask };
        let mut more = self.writes(ask, self.part(100))?;
        stripe.judge(&mut more.granule);
        Ok(written.or(more))
    }
}

fn faulty(fault: &Fault) -> Refusal {
    let hint = "look for the error in the kernel's log: dmesg -T | straddle explain -".to_owned();
    Refusal::undecided(format!("cannot finish the measurement: {fault}"), Some(hint))
}
