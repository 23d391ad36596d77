//! `straddle check`: opens targets, assembles and judges each, and hands results on in order.
//!
//! Targets are looked at on all processors, a bounded number ahead of the one that is printed next,
//! so memory does not grow with their number. Members of one array or volume group wait until all
//! targets were seen, and are then judged together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

use device::KernelTree;
use host::{Beside, LiveTree};
use report::{Refusal, Severity, Summary, Verdict};
use stack::assemble::{self, Assembled, Start};

use crate::arguments::{Check, Colour, Format};
use crate::convert::{self, View};
use crate::exit::Outcome;
use crate::printer;
use crate::show::{Show, shower};
use crate::target::{self, Target, What};

/// How many batches of results may wait to be printed for each worker.
const AHEAD: usize = 4;
/// The most targets that a worker takes at a time: handing over costs more than a small image.
const BATCH: usize = 16;

pub(crate) fn run(check: &Check) -> anyhow::Result<Outcome> {
    let begun = Instant::now();
    let tree = LiveTree::new(Path::new("/"));
    let targets = target::expand(&check.targets, &tree);
    let many = targets.len() > 1;
    // Formats for machines hold no colours that would have to be taken out again.
    let people = check.chosen() == Format::Table;
    let mut output = printer::output(if people { check.color } else { Colour::Always });
    let mut show = shower(check, many, &mut output);
    let mut tally = Tally::default();
    show.begin()?;
    let rest = each(check, &targets, &tree, |result| tally.show(check, &mut *show, result))?;
    for group in groups(&rest.waiting) {
        let members: Vec<&Target> = group.iter().map(|&index| &targets[index]).collect();
        tally.show(check, &mut *show, &together(check, &members, &tree))?;
    }
    tally.summary.elapsed_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    show.end(&tally.summary)?;
    drop(show);
    std::io::Write::flush(&mut output)?;
    if rest.left_out > 0 {
        let count = rest.left_out;
        printer::note(&format!("left out, since nothing in them is recognised: {count} files"));
    }
    Ok(tally.outcome(check))
}

/// Counts, over everything that was shown.
#[derive(Default)]
struct Tally {
    summary: Summary,
    worst: Option<Severity>,
}

impl Tally {
    fn show(
        &mut self,
        check: &Check,
        show: &mut dyn Show,
        target: &report::Target,
    ) -> anyhow::Result<()> {
        self.summary.add(target);
        let worst = target.findings.iter().map(|finding| finding.severity).max();
        self.worst = self.worst.max(worst);
        if !check.only_bad || report::is_bad(target) {
            show.target(target)?;
        }
        Ok(())
    }

    fn outcome(&self, check: &Check) -> Outcome {
        let fails = check.fail_on.severity();
        let summary = &self.summary;
        if summary.targets == 0 || summary.broken_targets + summary.verdicts.unknown > 0 {
            Outcome::Unanswered
        } else if fails.is_some_and(|least| self.worst >= Some(least)) {
            Outcome::Found
        } else {
            Outcome::Clean
        }
    }
}

/// A target that lacks members, and the ids of what it lacks them of.
struct Waiting {
    index: usize,
    lacks: BTreeSet<String>,
}

/// What is left when every target was looked at.
#[derive(Default)]
struct Rest {
    /// Targets that lack members.
    waiting: Vec<Waiting>,
    /// Files that a directory happened to hold and that are no images.
    left_out: usize,
}

/// What a worker found of one target.
struct Seen {
    index: usize,
    result: report::Target,
    lacks: Vec<String>,
    /// Whether it is a file that a directory happened to hold, and no image.
    left_out: bool,
}

/// Looks at every target and gives the results to `take` in order; returns those that lack members.
fn each(
    check: &Check,
    targets: &[Target],
    tree: &LiveTree,
    mut take: impl FnMut(&report::Target) -> anyhow::Result<()>,
) -> anyhow::Result<Rest> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(targets.len());
    if workers <= 1 {
        let mut rest = Rest::default();
        for index in 0..targets.len() {
            let seen = look(check, targets, index, tree);
            deliver(targets.len(), seen, &mut rest, &mut take)?;
        }
        return Ok(rest);
    }
    let next = AtomicUsize::new(0);
    let turn = Turn::new();
    // A few targets may be slow disks: those are shared out one by one.
    let batch = targets.len().div_euclid(workers * BATCH).clamp(1, BATCH);
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::sync_channel(AHEAD);
        for _ in 0..workers {
            let send = send.clone();
            let (next, turn) = (&next, &turn);
            scope.spawn(move || {
                loop {
                    let first = next.fetch_add(batch, Ordering::Relaxed);
                    if first >= targets.len() || !turn.wait_for(first, workers * AHEAD * batch) {
                        return;
                    }
                    let batch = first..targets.len().min(first + batch);
                    let seen = batch.map(|index| look(check, targets, index, tree)).collect();
                    if send.send(seen).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let done = in_order(receive, targets.len(), &turn, &mut take);
        turn.give_up();
        done
    })
}

/// Which result is printed next: workers stay within a bound of it.
struct Turn {
    next: Mutex<usize>,
    moved: std::sync::Condvar,
}

impl Turn {
    fn new() -> Turn {
        Turn { next: Mutex::new(0), moved: std::sync::Condvar::new() }
    }

    /// Waits until `index` is less than `ahead` before the one that is next; false to give up.
    fn wait_for(&self, index: usize, ahead: usize) -> bool {
        let next = self.next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let far = |next: &mut usize| *next != usize::MAX && index >= next.saturating_add(ahead);
        let next =
            self.moved.wait_while(next, far).unwrap_or_else(std::sync::PoisonError::into_inner);
        *next != usize::MAX
    }

    fn set(&self, index: usize) {
        *self.next.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = index;
        self.moved.notify_all();
    }

    fn give_up(&self) {
        self.set(usize::MAX);
    }
}

fn in_order(
    receive: Receiver<Vec<Seen>>,
    count: usize,
    turn: &Turn,
    take: &mut impl FnMut(&report::Target) -> anyhow::Result<()>,
) -> anyhow::Result<Rest> {
    let mut early: BTreeMap<usize, Seen> = BTreeMap::new();
    let mut rest = Rest::default();
    let mut next = 0;
    for batch in receive {
        early.extend(batch.into_iter().map(|seen| (seen.index, seen)));
        while let Some(seen) = early.remove(&next) {
            deliver(count, seen, &mut rest, take)?;
            next += 1;
        }
        turn.set(next);
    }
    Ok(rest)
}

/// Hands a result on, unless it may be completed by other targets.
fn deliver(
    count: usize,
    seen: Seen,
    rest: &mut Rest,
    take: &mut impl FnMut(&report::Target) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if seen.left_out {
        rest.left_out += 1;
        return Ok(());
    }
    if seen.lacks.is_empty() || count < 2 {
        return take(&seen.result);
    }
    rest.waiting.push(Waiting { index: seen.index, lacks: seen.lacks.into_iter().collect() });
    Ok(())
}

fn look(check: &Check, targets: &[Target], index: usize, tree: &LiveTree) -> Seen {
    let target = &targets[index];
    match target::start(target, tree) {
        Ok(start) => {
            let assembled = assembled(check, vec![start]);
            let result = result(check, target.name.clone(), &assembled, partition(target));
            let bare = result.layers.len() == 1 && result.findings.is_empty();
            let left_out = bare && matches!(target.what, What::Found(_));
            Seen { index, result, lacks: assembled.incomplete, left_out }
        }
        Err(refusal) => {
            let result = refused(target.name.clone(), refusal);
            Seen { index, result, lacks: Vec::new(), left_out: false }
        }
    }
}

fn assembled(check: &Check, starts: Vec<Start>) -> Assembled {
    assemble::assemble(starts, &Beside, check.on.as_ref())
}

fn partition(target: &Target) -> Option<&crate::machine::KernelPartition> {
    match &target.what {
        What::Device { partition, .. } => partition.as_ref(),
        _ => None,
    }
}

/// Targets that share an array or a volume group, directly or through others, in order.
fn groups(waiting: &[Waiting]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(BTreeSet<String>, Vec<usize>)> = Vec::new();
    for one in waiting {
        let mut ids = one.lacks.clone();
        let mut members = vec![one.index];
        let (joined, rest): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|(other, _)| !other.is_disjoint(&ids));
        for (other, indices) in joined {
            ids.extend(other);
            members.extend(indices);
        }
        groups = rest;
        groups.push((ids, members));
    }
    let mut groups: Vec<Vec<usize>> = groups.into_iter().map(|(_, members)| members).collect();
    groups.iter_mut().for_each(|members| members.sort_unstable());
    groups.sort_unstable();
    groups
}

/// Members of one stack, judged together. One that can no longer be opened is left out, and what it
/// held is then missing from the stack, which says so.
fn together(check: &Check, members: &[&Target], tree: &dyn KernelTree) -> report::Target {
    let mut starts = Vec::new();
    let mut seen = BTreeSet::new();
    for target in members {
        // The same disk named twice, by two of its partitions, is one start.
        let key = match &target.what {
            What::Device { disk, .. } => disk.clone(),
            _ => target.name.clone(),
        };
        if seen.insert(key)
            && let Ok(start) = target::start(target, tree)
        {
            starts.push(start);
        }
    }
    let names: Vec<&str> = members.iter().map(|target| target.name.as_str()).collect();
    let name = match names.as_slice() {
        [one] => (*one).to_owned(),
        [first, .., last] if names.len() > 4 => {
            format!("{first} … {last} ({} targets)", names.len())
        }
        _ => names.join(" + "),
    };
    let partition = members.first().filter(|_| members.len() == 1).and_then(|one| partition(one));
    result(check, name, &assembled(check, starts), partition)
}

fn result(
    check: &Check,
    name: String,
    assembled: &Assembled,
    partition: Option<&crate::machine::KernelPartition>,
) -> report::Target {
    let view = View { told: check.on.as_ref(), rules: &check.rules, partition };
    convert::target(name, assembled, &view)
}

fn refused(name: String, refusal: Refusal) -> report::Target {
    report::Target {
        target: name,
        refusal: Some(refusal),
        verdict: Verdict::Unknown,
        layers: Vec::new(),
        findings: Vec::new(),
    }
}

impl Check {
    /// The format asked for.
    pub(crate) fn chosen(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(index: usize, lacks: &[&str]) -> Waiting {
        Waiting { index, lacks: lacks.iter().map(|&id| id.to_owned()).collect() }
    }

    #[test]
    fn targets_that_share_anything_directly_or_not_are_one_group() {
        let found = groups(&[
            waiting(0, &["a"]),
            waiting(1, &["b"]),
            waiting(2, &["c"]),
            waiting(3, &["a", "b"]),
        ]);
        assert_eq!(found, [vec![0, 1, 3], vec![2]]);
    }
}
