//! A few syncs at a time, with every layer's counters read around them; and how long each took.
//!
//! | before | a time as long as the last syncs took, in which nothing is done |
//! | window | eight syncs, one behind the other |
//!
//! It goes on until enough windows were quiet, or the time is up: others may use the same drive.

use std::path::Path;
use std::time::Duration;

use device::{DiskCounts, KernelTree};
use host::engine::now_ns;
use host::{SyncTrial, TrialError, TrialStep};
use stack::honesty::{Counts, Times, Window, is_quiet};

use super::device::Found;

/// How many syncs a window has.
const SYNCS: u64 = 8;
/// How many rounds there are, where there is time: at least, and at most.
const ROUNDS: std::ops::RangeInclusive<u32> = 3..=24;
/// How many pairs of methods a round has.
const PAIRS: u64 = 4;
/// How much each write writes.
const WRITE_BYTES: u64 = 8192;
/// The most that is written: two windows a round, and what is tried beside them.
pub(crate) const WRITTEN_BYTES_MAX: u64 = (24 * (2 * SYNCS + 2 * PAIRS + 2) + 1) * WRITE_BYTES;
/// The length that the file comes to at most: a window a round makes it longer.
pub(crate) const LENGTH_BYTES_MAX: u64 = (24 * SYNCS + 1) * WRITE_BYTES;
/// How many quiet windows each layer is to have.
const QUIET: usize = 4;
/// How long all rounds take at most, where nobody gives them less; the first is always made.
pub(crate) const LOOK_NS: u64 = 2_000_000_000;
/// How long others are watched at most, before each window.
const IDLE_NS_MAX: u64 = 25_000_000;

/// Tries syncs in `directory`, and fills in what each layer counted: how long they took, and why
/// not all of them could be made, where that is so. What was counted until then stands. All of it
/// takes `most_ns` at most, where one round does.
pub(super) fn tried(
    tree: &dyn KernelTree,
    directory: &Path,
    layers: &mut [Found],
    most_ns: u64,
) -> (Times, Option<TrialError>) {
    let mut times = Times::default();
    let ended = rounds(tree, directory, layers, most_ns, &mut times);
    let Times { overwrite, append, empty, write, .. } = &mut times;
    for list in [overwrite, append, empty, write] {
        list.sort_unstable();
    }
    (times, ended.unwrap_or_else(Some))
}

/// All rounds; why no file could grow, where that is so.
///
/// # Errors
/// When no file can be made in `directory`, or another call fails.
fn rounds(
    tree: &dyn KernelTree,
    directory: &Path,
    layers: &mut [Found],
    most_ns: u64,
    times: &mut Times,
) -> Result<Option<TrialError>, TrialError> {
    let begun_ns = now_ns();
    let mut trial = SyncTrial::create(directory)?;
    let (mut idle_ns, mut no_room) = (0, None);
    for round in 1..=*ROUNDS.end() {
        let round_ns = now_ns();
        for step in [TrialStep::Overwrite, TrialStep::Append, TrialStep::Empty] {
            if step == TrialStep::Append && no_room.is_some() {
                continue;
            }
            let took = match window(tree, layers, &mut trial, step, idle_ns) {
                // What is there may be written again where no file can grow.
                Err(error) if step == TrialStep::Append && error.has_no_room => {
                    no_room = Some(error);
                    continue;
                }
                took => took?,
            };
            idle_ns = took.iter().sum::<u64>().min(IDLE_NS_MAX);
            match step {
                TrialStep::Append => times.append.extend(took),
                TrialStep::Empty => times.empty.extend(took),
                _ => times.overwrite.extend(took),
            }
        }
        for number in 0..PAIRS {
            // Not all file systems have such writes.
            times.pairs.extend(pair(&mut trial, number % 2 == 0)?);
        }
        times.write.push(trial.step(TrialStep::Write)?);
        // What that left goes with this one, and counts for nothing.
        trial.step(TrialStep::Overwrite)?;
        // One more as long as this one would be too late.
        let spent_ns = now_ns().saturating_sub(begun_ns);
        let is_late = spent_ns.saturating_add(now_ns().saturating_sub(round_ns)) > most_ns;
        if is_late || (round >= *ROUNDS.start() && layers.iter().all(has_enough)) {
            break;
        }
    }
    Ok(no_room)
}

/// The same bytes by two methods; `None` where the second is not to be had.
fn pair(trial: &mut SyncTrial, data_first: bool) -> Result<Option<(u64, u64)>, TrialError> {
    let before_ns = data_first.then(|| trial.step(TrialStep::Overwrite)).transpose()?;
    let dsync_ns = match trial.step(TrialStep::Dsync) {
        Ok(took_ns) => took_ns,
        Err(error) if error.is_sync => return Err(error),
        Err(_) => return Ok(None),
    };
    let data_ns = before_ns.map_or_else(|| trial.step(TrialStep::Overwrite), Ok)?;
    Ok(Some((data_ns, dsync_ns)))
}

/// Whether a layer that counts has quiet windows enough.
fn has_enough(found: &Found) -> bool {
    let Ok(counts) = &found.layer.counted else { return true };
    let windows = counts.overwrites.iter().chain(&counts.appends);
    windows.filter(|window| is_quiet(window)).count() >= QUIET
}

/// One window: how long each sync took.
fn window(
    tree: &dyn KernelTree,
    layers: &mut [Found],
    trial: &mut SyncTrial,
    step: TrialStep,
    idle_ns: u64,
) -> Result<Vec<u64>, TrialError> {
    let start = read(tree, layers);
    std::thread::sleep(Duration::from_nanos(idle_ns));
    let before = read(tree, layers);
    let took: Vec<u64> = (0..SYNCS).map(|_| trial.step(step)).collect::<Result<_, TrialError>>()?;
    let after = read(tree, layers);
    for (place, found) in layers.iter_mut().enumerate() {
        let Ok(counts) = &mut found.layer.counted else { continue };
        match counted(start[place], before[place], after[place]) {
            Some(window) => of_step(counts, step).push(window),
            None => found.layer.counted = Err("its counters tell no flushes".to_owned()),
        }
    }
    Ok(took)
}

fn of_step(counts: &mut Counts, step: TrialStep) -> &mut Vec<Window> {
    match step {
        TrialStep::Append => &mut counts.appends,
        TrialStep::Empty => &mut counts.empty,
        _ => &mut counts.overwrites,
    }
}

/// What was counted; `None` where the kernel counts no flushes, as before Linux 5.5.
fn counted(
    start: Option<DiskCounts>,
    before: Option<DiskCounts>,
    after: Option<DiskCounts>,
) -> Option<Window> {
    let (start, before, after) = (start?, before?, after?);
    let since = after.since(&before);
    Some(Window {
        syncs: SYNCS,
        flushes: since.flushes?,
        writes: since.writes,
        idle_flushes: before.since(&start).flushes?,
    })
}

/// The counters of every layer now; `None` where it has none.
fn read(tree: &dyn KernelTree, layers: &[Found]) -> Vec<Option<DiskCounts>> {
    let one = |path: &String| DiskCounts::parse(&tree.read(path).ok()?);
    let sum = |found: &Found| {
        let mut counts = found.counters.iter().map(one);
        let first = counts.next()??;
        counts.try_fold(first, |sum, more| Some(sum.plus(&more?)))
    };
    layers.iter().map(sum).collect()
}
