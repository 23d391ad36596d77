//! A few syncs at a time, with every layer's counters read around them; and how long each took.
//!
//! | before | a time as long as the last syncs took, in which nothing is done |
//! | window | eight syncs, one after the other; fewer where they are slow |
//!
//! It goes on until enough windows were quiet, or the time is up: others may use the same drive. No
//! sync begins after the end of the time.

use device::{DiskCounts, KernelTree};
use durability::{LayerCounts, Times, is_quiet};
use host::{Interrupt, TrialError, TrialStep};

use super::device::CountedLayer;
use crate::world::TimedSyncs;
use crate::world::clock::Clock;

/// Number of syncs a window has at most.
const SYNCS: u64 = 8;
/// A window takes one of so many parts of the usual time, by what the last sync took.
const PARTS: u64 = 16;
/// Number of rounds there are, where there is time: at least, and at most.
const ROUNDS: std::ops::RangeInclusive<u32> = 3..=24;
/// Number of pairs of methods a round has.
const PAIRS: u64 = 4;
/// Bytes that each write writes.
const WRITE_BYTES: u64 = 8192;
/// The most that is written: two windows a round, and what is tried beside them.
pub(crate) const WRITTEN_BYTES_MAX: u64 = (24 * (2 * SYNCS + 2 * PAIRS + 2) + 1) * WRITE_BYTES;
/// The length that the file comes to at most: a window a round makes it longer.
pub(crate) const LENGTH_BYTES_MAX: u64 = (24 * SYNCS + 1) * WRITE_BYTES;
/// Number of quiet windows each layer is to have.
const QUIET: usize = 4;
/// Time for all rounds, where nobody gives them less.
pub(crate) const LOOK_NS: u64 = 2_000_000_000;
/// Longest time for which others are watched, before each window.
const IDLE_NS_MAX: u64 = 25_000_000;

/// Time that a look may take, in nanoseconds from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LookTime {
    /// Most that it usually takes; where syncs are slow, it goes on until each kind was tried once.
    pub(crate) usual_ns: u64,
    /// After this no sync begins.
    pub(crate) end_ns: u64,
}

/// The time of a look as it goes.
pub(super) struct LookClock<'a> {
    clock: &'a dyn Clock,
    begun_ns: u64,
    time: LookTime,
    interrupt: &'a Interrupt,
}

impl<'a> LookClock<'a> {
    /// One that runs from now on.
    pub(super) fn new(
        clock: &'a dyn Clock,
        time: LookTime,
        interrupt: &'a Interrupt,
    ) -> LookClock<'a> {
        LookClock { clock, begun_ns: clock.now_ns(), time, interrupt }
    }

    fn spent_ns(&self) -> u64 {
        self.clock.now_ns().saturating_sub(self.begun_ns)
    }

    /// Returns whether nothing more may begin; with `enough` tried not after the usual time either.
    fn is_over(&self, enough: bool) -> bool {
        let end_ns = if enough { self.time.usual_ns } else { self.time.end_ns };
        self.interrupt.is_raised() || self.spent_ns() >= end_ns.min(self.time.end_ns)
    }

    /// Returns how many syncs a window has, where the last sync took `sync_ns`.
    fn syncs(&self, sync_ns: u64) -> u64 {
        self.time.usual_ns.div_euclid(PARTS).div_euclid(sync_ns.max(1)).clamp(1, SYNCS)
    }
}

/// Tries syncs of the file that `create` makes, and fills in what each layer counted: how long they
/// took, and why not all of them could be made, where that is so. What was counted until then
/// stands. A call that is under way when the time is over is waited for.
pub(super) fn tried<T: TimedSyncs>(
    tree: &dyn KernelTree,
    create: impl FnOnce() -> Result<(T, u64), TrialError>,
    layers: &mut [CountedLayer],
    clock: &LookClock<'_>,
) -> (Times, Option<TrialError>) {
    let mut times = Times::default();
    let ended = rounds(tree, create, layers, clock, &mut times);
    let Times { overwrite, append, empty, write, .. } = &mut times;
    for list in [overwrite, append, empty, write] {
        list.sort_unstable();
    }
    (times, ended.unwrap_or_else(Some))
}

/// All rounds; why no file could grow, where that is so.
///
/// # Errors
/// When no file can be made, or another call fails.
fn rounds<T: TimedSyncs>(
    tree: &dyn KernelTree,
    create: impl FnOnce() -> Result<(T, u64), TrialError>,
    layers: &mut [CountedLayer],
    clock: &LookClock<'_>,
    times: &mut Times,
) -> Result<Option<TrialError>, TrialError> {
    if clock.is_over(false) {
        return Ok(None);
    }
    let (mut trial, mut sync_ns) = create()?;
    let (mut idle_ns, mut no_room) = (0, None);
    for round in 1..=*ROUNDS.end() {
        let begun_ns = clock.spent_ns();
        for step in [TrialStep::Overwrite, TrialStep::Append, TrialStep::Empty] {
            let enough = !times.overwrite.is_empty() && !times.append.is_empty();
            if clock.is_over(enough) {
                return Ok(no_room);
            }
            if step == TrialStep::Append && no_room.is_some() {
                continue;
            }
            let window = SyncWindow { step, idle_ns, syncs: clock.syncs(sync_ns) };
            let took = match window.tried(tree, layers, &mut trial, clock) {
                // What is there may be written again where no file can grow.
                Err(error) if step == TrialStep::Append && error.has_no_room => {
                    no_room = Some(error);
                    continue;
                }
                took => took?,
            };
            idle_ns = took.iter().sum::<u64>().min(IDLE_NS_MAX);
            match step {
                TrialStep::Append => times.append.extend(&took),
                TrialStep::Empty => times.empty.extend(&took),
                _ => times.overwrite.extend(&took),
            }
            // An empty sync is quicker than others.
            if step != TrialStep::Empty {
                sync_ns = took.last().copied().unwrap_or(sync_ns);
            }
        }
        for number in 0..PAIRS {
            if clock.is_over(true) {
                return Ok(no_room);
            }
            // Not all file systems have such writes.
            times.pairs.extend(pair(&mut trial, number % 2 == 0)?);
        }
        times.write.push(trial.step(TrialStep::Write)?);
        // What that left goes with this one, and counts for nothing.
        trial.step(TrialStep::Overwrite)?;
        // One more as long as this one would be too late.
        let spent_ns = clock.spent_ns();
        let is_late = spent_ns.saturating_add(spent_ns - begun_ns) > clock.time.usual_ns;
        if is_late || (round >= *ROUNDS.start() && layers.iter().all(has_enough)) {
            break;
        }
    }
    Ok(no_room)
}

/// The same bytes by two methods; `None` where the second is not to be had.
fn pair(trial: &mut impl TimedSyncs, data_first: bool) -> Result<Option<(u64, u64)>, TrialError> {
    let before_ns = data_first.then(|| trial.step(TrialStep::Overwrite)).transpose()?;
    let dsync_ns = match trial.step(TrialStep::Dsync) {
        Ok(took_ns) => took_ns,
        Err(error) if error.is_sync => return Err(error),
        Err(_) => return Ok(None),
    };
    let data_ns = before_ns.map_or_else(|| trial.step(TrialStep::Overwrite), Ok)?;
    Ok(Some((data_ns, dsync_ns)))
}

/// Returns whether a layer that counts has quiet windows enough.
fn has_enough(found: &CountedLayer) -> bool {
    let Ok(counts) = &found.layer.counted else { return true };
    let windows = counts.overwrites.iter().chain(&counts.appends);
    windows.filter(|window| is_quiet(window)).count() >= QUIET
}

/// Some syncs of one kind.
struct SyncWindow {
    step: TrialStep,
    /// Time for which others are watched before.
    idle_ns: u64,
    syncs: u64,
}

impl SyncWindow {
    /// Makes the syncs, as many as there is time for, and counts; how long each took.
    fn tried(
        &self,
        tree: &dyn KernelTree,
        layers: &mut [CountedLayer],
        trial: &mut impl TimedSyncs,
        clock: &LookClock<'_>,
    ) -> Result<Vec<u64>, TrialError> {
        let start = read(tree, layers);
        clock.clock.rest(self.idle_ns);
        let before = read(tree, layers);
        let mut took = Vec::new();
        for _ in 0..self.syncs {
            if clock.is_over(false) {
                break;
            }
            took.push(trial.step(self.step)?);
        }
        let after = read(tree, layers);
        let syncs = u64::try_from(took.len()).unwrap_or(SYNCS);
        for (place, found) in layers.iter_mut().enumerate() {
            let Ok(counts) = &mut found.layer.counted else { continue };
            match counted(syncs, [start[place], before[place], after[place]]) {
                Some(window) => of_step(counts, self.step).push(window),
                None => found.layer.counted = Err("its counters tell no flushes".to_owned()),
            }
        }
        Ok(took)
    }
}

fn of_step(counts: &mut LayerCounts, step: TrialStep) -> &mut Vec<durability::CountedWindow> {
    match step {
        TrialStep::Append => &mut counts.appends,
        TrialStep::Empty => &mut counts.empty,
        _ => &mut counts.overwrites,
    }
}

/// Returns what was counted at the start, before so many syncs and after; `None` where the kernel
/// counts no flushes, as before Linux 5.5.
fn counted(syncs: u64, counts: [Option<DiskCounts>; 3]) -> Option<durability::CountedWindow> {
    let [start, before, after] = counts;
    let (start, before, after) = (start?, before?, after?);
    let since = after.since(&before);
    Some(durability::CountedWindow {
        syncs,
        flushes: since.flushes?,
        writes: since.writes,
        idle_flushes: before.since(&start).flushes?,
    })
}

/// The counters of every layer now; `None` where it has none.
fn read(tree: &dyn KernelTree, layers: &[CountedLayer]) -> Vec<Option<DiskCounts>> {
    let one = |path: &String| DiskCounts::parse(&tree.read(path).ok()?);
    let sum = |found: &CountedLayer| {
        let mut counts = found.counters.iter().map(one);
        let first = counts.next()??;
        counts.try_fold(first, |sum, more| Some(sum.plus(&more?)))
    };
    layers.iter().map(sum).collect()
}
