//! Work on many things at once, handed on in their order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
/// The first error of `take`; nothing more is then taken.
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
    mut take: impl FnMut(usize, T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(count);
    if workers <= 1 {
        let mut state = begin();
        return (0..count).try_for_each(|index| take(index, work(&mut state, index)));
    }
    let next = AtomicUsize::new(0);
    let turn = ResultTurn::default();
    // A few targets may be slow disks: those are shared out one by one.
    let batch = count.div_euclid(workers * BATCH).clamp(1, BATCH);
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::sync_channel(AHEAD);
        for _ in 0..workers {
            let send = send.clone();
            let (next, turn, begin, work, weigh) = (&next, &turn, &begin, &work, &weigh);
            scope.spawn(move || {
                let mut state = begin();
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
                        let result = work(&mut state, index);
                        done.bytes += weigh(&result);
                        done.results.push(result);
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
        let done = sorted(receive, &turn, &mut take);
        turn.give_up();
        done
    })
}

/// Results one after the other.
struct OrderedResults<T> {
    first: usize,
    results: Vec<T>,
    bytes: usize,
}

impl<T> OrderedResults<T> {
    fn at(first: usize) -> OrderedResults<T> {
        OrderedResults { first, results: Vec::new(), bytes: 0 }
    }
}

fn sorted<T>(
    receive: Receiver<OrderedResults<T>>,
    turn: &ResultTurn,
    take: &mut impl FnMut(usize, T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for batch in receive {
        early.insert(batch.first, batch);
        while let Some(batch) = early.remove(&next) {
            for done in batch.results {
                take(next, done)?;
                next += 1;
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
