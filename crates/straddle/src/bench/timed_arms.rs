//! Arms on open files, timed in turns: all on one file, where they differ in their offsets alone,
//! or each on a file of its own.

use device::{Action, Counters, Queue};
use host::engine::EngineError;
use measure::{Role, SlotOrder, Slots, SlotsPlan, Subject};
use report::bench::Experiment;
use units::ByteRange;
use units::number::real;
use units::prefix::Size;

use super::document::{self, About, ArmRecord};
use super::paired_loop::{self, Bounds, Timed};
use super::plan::{self, PlannedArm};
use super::session::Session;
use super::work::ArmWork;
use crate::shared::halt::Halt;
use crate::shared::measured_bytes::MeasuredBytes;
use crate::world::{BufferPlan, World};

/// Number of times that the length of a block is tried.
const REHEARSALS: u64 = 4;
/// The fewest pairs that say something.
const PAIRS_MIN: u64 = 12;
/// Number of pairs of blocks the bytes must allow.
const PAIRS_WANTED: u64 = 48;

/// The arms of one comparison, and all that they share.
pub(crate) struct ArmSetting<'a> {
    pub(crate) place: &'a MeasuredBytes,
    pub(crate) arms: &'a [PlannedArm],
    pub(crate) work: ArmWork,
    pub(crate) title: String,
    pub(crate) alpha: f64,
    pub(crate) bounds: Bounds,
    /// Says so if what is measured lies elsewhere now.
    pub(crate) moved: &'a dyn Fn() -> Option<String>,
}

/// Compares the arms on open files, each with the slots of operations on it: one file for all
/// arms, or one for each.
pub(crate) fn compare<W: World>(
    session: &mut Session<'_>,
    world: &W,
    setting: &ArmSetting<'_>,
    files: Vec<(W::File, Slots)>,
) -> Result<Experiment, Halt> {
    let ArmWork { depth, operation_bytes, .. } = setting.work;
    let buffers = BufferPlan { depth, slot_bytes: operation_bytes, seed: session.seed };
    if depth == 1 {
        let queue = |(file, slots)| Ok((world.one(file, buffers)?, slots));
        let queues: Result<Vec<_>, EngineError> = files.into_iter().map(queue).collect();
        on_queues(session, world, setting, queues?)
    } else {
        let queue = |(file, slots)| Ok((world.many(file, buffers)?, slots));
        let queues: Result<Vec<_>, EngineError> = files.into_iter().map(queue).collect();
        on_queues(session, world, setting, queues?)
    }
}

fn on_queues<W: World, Q: Queue>(
    session: &mut Session<'_>,
    world: &W,
    setting: &ArmSetting<'_>,
    queues: Vec<(Q, Slots)>,
) -> Result<Experiment, Halt> {
    let ArmSetting { place, arms, work, title, .. } = setting;
    // Arms that share a file have their offsets in it; each other has a file of its own.
    let (arms_each, first_bytes) = match &queues[..] {
        [(_, slots)] => (arms.len(), Some(slots.first_offset_bytes())),
        _ => (1, place.stretch().map(ByteRange::start_bytes)),
    };
    let subject = |(queue, slots)| {
        let counters = place.counted.and_then(|number| world.counters(number));
        Subject::new(queue, counters, work.measured(), slots, arms_each)
    };
    let mut subjects: Vec<_> = queues.into_iter().map(subject).collect();
    let block = calibrated(session, &mut subjects[0], setting.bounds.bytes, arms.len())?;
    session.wrote(subjects[0].written_bytes());
    subjects.iter_mut().for_each(|subject| subject.set_block_operations(block));
    let mut turns = JobTurns { subjects, setting };
    let plan = session.experiment(arms, setting.alpha);
    let done = paired_loop::run(session, plan, title, setting.bounds, &mut turns)?;
    if let [subject] = &turns.subjects[..] {
        for remark in subject.remarks(&turns.names()) {
            session.note(format!("{title}: {remark}"));
        }
    }
    let block_operations = turns.subjects[0].work().operations();
    let shift_bytes = arms.iter().find(|arm| arm.role == Role::Shifted).map(|arm| arm.shift_bytes);
    let about = About {
        title: title.clone(),
        unit: if block_operations == 1 { "operation" } else { "block" },
        block_operations: u64::from(block_operations),
        workload: work.document(),
        arms: arms.to_vec(),
        seen: (0..arms.len()).map(|arm| turns.seen(arm)).collect(),
        elapsed_ns: done.elapsed_ns,
        written_bytes: done.written_bytes,
        predicted: first_bytes.zip(shift_bytes).and_then(|(first, shift)| {
            place.predicted(!work.read, first, u64::from(work.operation_bytes), shift)
        }),
        turn_ns: place.drive.as_ref().and_then(|drive| drive.turn_ns),
    };
    Ok(document::experiment(about, &done.experiment, done.conclusion))
}

/// Returns where the operations of arms go that share one file.
///
/// # Errors
/// When there is no room for them.
pub(crate) fn slots(session: &Session<'_>, setting: &ArmSetting<'_>) -> Result<Slots, Halt> {
    let ArmSetting { place, arms, work, title, .. } = setting;
    let shifts: Vec<u64> = arms.iter().map(|arm| arm.shift_bytes).collect();
    let plan = SlotsPlan {
        runs: &place.runs,
        unit: place.unit,
        operation_bytes: u64::from(work.operation_bytes),
        shifts_bytes: &shifts,
        order: if work.in_order { SlotOrder::Cursor } else { SlotOrder::Random },
        seed: session.seed,
    };
    Slots::new(plan).map_err(|error| {
        let message = format!("cannot place the operations of {title}: {error}");
        Halt::hinted(message, session.longer_scratch())
    })
}

/// Finds how many operations take about as long as a block is to take; at least four for each slot.
/// If that would leave too few pairs for `bytes` and `arms`, it is as many as allow enough.
fn calibrated<Q: Queue, C: Counters>(
    session: &Session<'_>,
    subject: &mut Subject<Q, C>,
    bytes: u64,
    arms: usize,
) -> Result<u32, Halt> {
    let depth = subject.work().depth;
    if depth == 1 {
        return Ok(subject.work().operations());
    }
    let least = u32::from(depth) * 4;
    affords(session, subject.work(), (least, bytes, arms))?;
    let mut operations = least;
    // A few rounds, since the first ones meet cold caches.
    for _ in 0..REHEARSALS {
        subject.set_block_operations(operations);
        let took_ns = subject.rehearse()?.max(1);
        let wanted = u64::from(operations).saturating_mul(plan::BLOCK_NS).div_euclid(took_ns);
        let wanted = wanted.min(affordable(subject.work(), bytes, arms));
        operations = u32::try_from(wanted).unwrap_or(u32::MAX).clamp(least, 65_536);
    }
    subject.set_block_operations(operations);
    Ok(operations)
}

/// Refuses blocks that are too long for `bytes`, which must do to find out their length and for the
/// fewest pairs that say something.
fn affords(
    session: &Session<'_>,
    work: &measure::Work,
    (least, bytes, arms): (u32, u64, usize),
) -> Result<(), Halt> {
    if work.action == Action::Read {
        return Ok(());
    }
    let block_bytes = u64::from(least).saturating_mul(u64::from(work.operation_bytes));
    let arms = u64::try_from(arms).unwrap_or(u64::MAX);
    let blocks = REHEARSALS.saturating_add(PAIRS_MIN.saturating_mul(arms));
    let needed_bytes = block_bytes.saturating_mul(blocks);
    if needed_bytes <= bytes {
        return Ok(());
    }
    let (size, needed, left) = (Size(block_bytes), Size(needed_bytes), Size(bytes));
    Err(Halt::hinted(
        format!(
            "cannot measure blocks of {size} at depth {}: they need {needed}, and {left} may be \
             written",
            work.depth
        ),
        format!("{}; or take a smaller --depth or --size", session.more_bytes(needed_bytes, bytes)),
    ))
}

/// The most operations of a block with which enough pairs stay within `bytes`.
fn affordable(work: &measure::Work, bytes: u64, arms: usize) -> u64 {
    if work.action == Action::Read {
        return u64::MAX;
    }
    let arms = u64::try_from(arms).unwrap_or(u64::MAX);
    let pair_bytes = arms.saturating_mul(u64::from(work.operation_bytes)).max(1);
    bytes.div_euclid(PAIRS_WANTED).div_euclid(pair_bytes)
}

/// The arms in their turns: on one subject for all of them, or on one for each.
struct JobTurns<'a, Q: Queue, C: Counters> {
    subjects: Vec<Subject<Q, C>>,
    setting: &'a ArmSetting<'a>,
}

impl<Q: Queue, C: Counters> JobTurns<'_, Q, C> {
    /// Returns the subject of an arm, and the number of the arm on it.
    fn place(&self, arm: usize) -> (usize, usize) {
        if self.subjects.len() == 1 { (0, arm) } else { (arm, 0) }
    }

    fn names(&self) -> Vec<&str> {
        self.setting.arms.iter().map(|arm| arm.name.as_str()).collect()
    }

    fn seen(&self, arm: usize) -> ArmRecord {
        let (subject, arm) = self.place(arm);
        let seen = self.subjects[subject].seen(arm);
        let seconds = real(seen.busy_ns) / 1e9;
        ArmRecord {
            latencies: Some(seen.latencies.clone()),
            counts: seen.counts,
            seen: seen.observations,
            exact: seen.exact,
            operations_per_second: (seconds > 0.0).then(|| real(seen.operations) / seconds),
        }
    }

    /// Why the arms' times differ by more than the drive: the file system locks a whole file.
    fn serialized(&self) -> Option<String> {
        let names = self.names();
        let why = match &self.subjects[..] {
            [subject] => subject.serialized(&names),
            all => Subject::serialized_among(all, &names),
        };
        Some(format!("{}; measure at depth 1, or reads", why?))
    }
}

impl<Q: Queue, C: Counters> Timed for JobTurns<'_, Q, C> {
    fn time(&mut self, arm: usize) -> Result<u64, Halt> {
        let (subject, number) = self.place(arm);
        self.subjects[subject].observe(number).map_err(|fault| match Halt::from(fault) {
            Halt::Void(reason) => Halt::Void(format!("{}: {reason}", self.setting.arms[arm].name)),
            halt => halt,
        })
    }

    fn pair_bytes(&self) -> u64 {
        let work = &self.setting.work;
        if work.read {
            return 0;
        }
        let arms = u64::try_from(self.setting.arms.len()).unwrap_or(u64::MAX);
        let block = u64::from(self.subjects[0].work().operations());
        arms.saturating_mul(block).saturating_mul(u64::from(work.operation_bytes))
    }

    fn start_pair(&mut self) {
        self.subjects.iter_mut().for_each(Subject::start_pair);
    }

    fn fault(&mut self) -> Option<String> {
        if let Some(moved) = (self.setting.moved)() {
            return Some(moved);
        }
        // Behind a page cache the drive need not have counted what was asked.
        if !self.setting.work.direct {
            return None;
        }
        self.subjects.iter().find_map(Subject::accounting).or_else(|| self.serialized())
    }
}
