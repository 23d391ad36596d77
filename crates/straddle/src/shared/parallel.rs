//! Work on many things at once, handed on in their order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::bug::{self, Bug};

/// Number of batches of results that may wait to be taken for each worker.
const AHEAD: usize = 4;
/// The most things that a worker takes at a time: handing over costs more than a small image.
const BATCH: usize = 16;

/// The most bytes of results that wait to be taken, beside those that are being made. More than
/// this is held only of what comes next.
const HELD_BYTES: usize = 4 << 20;
/// So many bytes of results are handed over without waiting for the rest of the batch.
const HEAVY_BYTES: usize = 256 << 10;

/// Does `work` for each number below `count`, on all processors, and gives the results to `take` in
/// order, on this thread. Workers keep within a bound of what is taken next, so what is held does
/// not grow with `count`.
///
/// # Errors
/// The first error of `take`, or a [`WorkerPanic`] once everything before it is taken; nothing more
/// is then taken.
pub(crate) fn in_order<T: Send>(
    count: usize,
    work: impl Fn(usize) -> T + Sync,
    take: impl FnMut(usize, T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    in_order_with(count, || (), |(), index| work(index), |_| 0, take)
}

/// Does what [`in_order`] does; each worker keeps what `begin` gives from one number to the next,
/// and the bytes that `weigh` says a result holds are bounded too.
///
/// # Errors
/// When [`in_order`] fails.
pub(crate) fn in_order_with<S, T: Send>(
    count: usize,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> T + Sync,
    weigh: impl Fn(&T) -> usize + Sync,
    take: impl FnMut(usize, T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    in_order_by(workers, count, begin, work, weigh, take)
}

/// A worker that panicked.
#[derive(Debug)]
pub(crate) struct WorkerPanic {
    /// Number of the thing that it worked on.
    index: usize,
    bug: Bug,
}

impl std::fmt::Display for WorkerPanic {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.bug.fmt(formatter)
    }
}

impl std::error::Error for WorkerPanic {}

/// Returns `error`, which says what it could not do with which thing if a worker panicked:
/// `attempted` returns that, such as `judge a.raw`.
pub(crate) fn named(
    error: anyhow::Error,
    attempted: impl FnOnce(usize) -> String,
) -> anyhow::Error {
    match error.downcast::<WorkerPanic>() {
        Ok(WorkerPanic { index, bug }) => {
            anyhow::anyhow!("cannot {}: {bug}\nhint: {}", attempted(index), bug::HINT)
        }
        Err(error) => error,
    }
}

fn in_order_by<S, T: Send>(
    workers: usize,
    count: usize,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> T + Sync,
    weigh: impl Fn(&T) -> usize + Sync,
    mut take: impl FnMut(usize, T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let made = |state: &mut Option<S>, index| {
        let weighed = || {
            let result = work(state.get_or_insert_with(&begin), index);
            let bytes = weigh(&result);
            (result, bytes)
        };
        bug::caught(weighed).map_err(|bug| WorkerPanic { index, bug })
    };
    let workers = workers.min(count);
    if workers <= 1 {
        let mut state = None;
        return (0..count).try_for_each(|index| take(index, made(&mut state, index)?.0));
    }
    let next = AtomicUsize::new(0);
    let turn = ResultTurn::default();
    // A few targets may be slow disks: those are shared out one by one.
    let batch = count.div_euclid(workers * BATCH).clamp(1, BATCH);
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::sync_channel(AHEAD);
        for _ in 0..workers {
            let send = send.clone();
            let (next, turn, made) = (&next, &turn, &made);
            scope.spawn(move || {
                let mut state = None;
                loop {
                    let first = next.fetch_add(batch, Ordering::Relaxed);
                    if first >= count {
                        return;
                    }
                    let end = count.min(first + batch);
                    let mut done = OrderedResults::at(first);
                    for index in first..end {
                        // What was done is handed over before anything is waited for.
                        if done.results.is_empty() && !turn.wait_for(index, workers * AHEAD * batch)
                        {
                            return;
                        }
                        match made(&mut state, index) {
                            Ok((result, bytes)) => {
                                done.bytes += bytes;
                                done.results.push(result);
                            }
                            Err(panic) => {
                                // What comes before it is already some worker's; nothing after it
                                // is begun.
                                next.fetch_max(count, Ordering::Relaxed);
                                turn.hold(done.bytes);
                                done.panic = Some(panic);
                                let _ = send.send(done);
                                return;
                            }
                        }
                        if done.bytes >= HEAVY_BYTES || index + 1 == end {
                            turn.hold(done.bytes);
                            let ready = std::mem::replace(&mut done, OrderedResults::at(index + 1));
                            if send.send(ready).is_err() {
                                return;
                            }
                        }
                    }
                }
            });
        }
        drop(send);
        sorted(receive, &turn, &mut take)
    })
}

/// Results one after the other.
struct OrderedResults<T> {
    first: usize,
    results: Vec<T>,
    bytes: usize,
    /// Why there are no more.
    panic: Option<WorkerPanic>,
}

impl<T> OrderedResults<T> {
    fn at(first: usize) -> OrderedResults<T> {
        OrderedResults { first, results: Vec::new(), bytes: 0, panic: None }
    }
}

fn sorted<T>(
    receive: Receiver<OrderedResults<T>>,
    turn: &ResultTurn,
    take: &mut impl FnMut(usize, T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    // Also where `take` panics: workers that wait for their turn would never end.
    let _last = LastTurn(turn);
    let mut early = BTreeMap::new();
    let mut next = 0;
    for batch in receive {
        early.insert(batch.first, batch);
        while let Some(batch) = early.remove(&next) {
            for done in batch.results {
                take(next, done)?;
                next += 1;
            }
            if let Some(panic) = batch.panic {
                return Err(panic.into());
            }
            turn.taken(next, batch.bytes);
        }
    }
    Ok(())
}

/// Number of the result that is taken next, and how much waits: workers stay within a bound of
/// both.
#[derive(Default)]
struct ResultTurn {
    state: Mutex<CrewState>,
    moved: std::sync::Condvar,
}

/// Ends every wait when it is dropped.
struct LastTurn<'a>(&'a ResultTurn);

impl Drop for LastTurn<'_> {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

#[derive(Default)]
struct CrewState {
    next: usize,
    held_bytes: usize,
    is_over: bool,
}

impl ResultTurn {
    /// Waits until `index` is less than `ahead` before the one that is next and not too much is
    /// held; the next one itself waits for nothing. False to give up.
    fn wait_for(&self, index: usize, ahead: usize) -> bool {
        let early = |state: &mut CrewState| {
            let far = index >= state.next.saturating_add(ahead);
            let full = state.held_bytes > HELD_BYTES && index != state.next;
            !state.is_over && (far || full)
        };
        let waited = self.moved.wait_while(self.lock(), early);
        !waited.unwrap_or_else(PoisonError::into_inner).is_over
    }

    fn hold(&self, bytes: usize) {
        self.lock().held_bytes += bytes;
    }

    fn taken(&self, next: usize, bytes: usize) {
        let mut state = self.lock();
        state.next = next;
        state.held_bytes -= bytes;
        drop(state);
        self.moved.notify_all();
    }

    fn give_up(&self) {
        self.lock().is_over = true;
        self.moved.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, CrewState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_once_each_and_in_order() {
        for count in [0, 1, 2, 17, 1000] {
            let mut taken = Vec::new();
            let take = |index, result: usize| {
                taken.push((index, result));
                Ok(())
            };
            in_order(count, |index| index * 3, take).unwrap();
            assert_eq!(taken, (0..count).map(|index| (index, index * 3)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn heavy_results_wait_in_a_bounded_number() {
        let (made, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let ahead = AtomicUsize::new(0);
        let work = |(): &mut (), _| {
            let waiting = made.fetch_add(1, Ordering::SeqCst) - taken.load(Ordering::SeqCst);
            ahead.fetch_max(waiting, Ordering::SeqCst);
        };
        let take = |_, ()| {
            taken.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        in_order_with(10_000, || (), work, |()| HELD_BYTES, take).unwrap();
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        // Each worker may have seen that there was room before the others took it.
        assert!(ahead.into_inner() <= 2 * workers + 2, "{workers} workers");
        assert_eq!(taken.into_inner(), 10_000);
    }

    /// Numbers that are worked on, by how many workers, and where it goes wrong.
    fn cases() -> impl Iterator<Item = (usize, usize, usize)> {
        let each = [1, 2, 4, 16].into_iter().flat_map(|workers| {
            [1, 2, 17, 100, 3000].into_iter().map(move |count| (workers, count))
        });
        each.flat_map(|(workers, count)| {
            [0, 1, count / 2, count - 1].map(|bad| (workers, count, bad.min(count - 1)))
        })
    }

    #[test]
    fn a_worker_that_panics_ends_the_work_after_all_before_it_was_taken() {
        for (workers, count, bad) in cases() {
            let mut taken = Vec::new();
            let work = |(): &mut (), index| {
                assert!(index != bad, "number {index} is bad");
                index
            };
            let take = |index, _| {
                taken.push(index);
                Ok(())
            };
            let done = in_order_by(workers, count, || (), work, |_| 0, take).unwrap_err();
            let panic: WorkerPanic = done.downcast().expect("a worker panicked");
            assert_eq!(panic.index, bad, "{workers} workers, {count} numbers");
            assert!(panic.to_string().contains(&format!("number {bad} is bad")), "{panic}");
            assert_eq!(taken, (0..bad).collect::<Vec<_>>(), "{workers} workers");
        }
    }

    #[test]
    fn the_first_of_several_panics_is_the_one_that_is_returned() {
        for (workers, count, bad) in cases() {
            let work = |(): &mut (), index| assert!(index < bad, "bad");
            let done = in_order_by(workers, count, || (), work, |()| HELD_BYTES, |_, ()| Ok(()));
            let panic: WorkerPanic = done.unwrap_err().downcast().expect("a worker panicked");
            assert_eq!(panic.index, bad, "{workers} workers, {count} numbers");
        }
    }

    #[test]
    fn a_panic_while_a_worker_begins_or_a_result_is_weighed_ends_the_work() {
        for workers in [1, 4] {
            let begin = || assert!(workers == 0, "cannot begin");
            let done = in_order_by(workers, 100, begin, |(), _| (), |()| 0, |_, ()| Ok(()));
            assert!(done.unwrap_err().to_string().contains("cannot begin"));
            let weigh = |&index: &usize| if index == 50 { panic!("cannot weigh") } else { 0 };
            let work = |(): &mut (), index| index;
            let done = in_order_by(workers, 100, || (), work, weigh, |_, _| Ok(()));
            assert!(done.unwrap_err().to_string().contains("cannot weigh"));
        }
    }

    #[test]
    fn a_panic_of_the_taker_ends_the_work_and_is_handed_on() {
        for (workers, count, bad) in cases() {
            let take = |index, ()| {
                assert!(index != bad, "cannot take {index}");
                Ok(())
            };
            let work = |(): &mut (), _| ();
            let all = || in_order_by(workers, count, || (), work, |()| HELD_BYTES, take);
            let bug = bug::caught(all).expect_err("it panics");
            assert!(bug.to_string().contains(&format!("cannot take {bad}")), "{bug}");
        }
    }

    #[test]
    fn an_error_of_the_taker_ends_the_work() {
        let mut taken = 0;
        let done = in_order(
            10_000,
            |index| index,
            |_, _| {
                taken += 1;
                anyhow::ensure!(taken < 5, "enough");
                Ok(())
            },
        );
        assert_eq!((done.unwrap_err().to_string().as_str(), taken), ("enough", 5));
    }
}
