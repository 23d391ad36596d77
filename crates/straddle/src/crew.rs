//! Work on many things at once, handed on in their order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, PoisonError};

/// How many batches of results may wait to be taken for each worker.
const AHEAD: usize = 4;
/// The most things that a worker takes at a time: handing over costs more than a small image.
const BATCH: usize = 16;

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
    in_order_with(count, || (), |(), index| work(index), take)
}

/// As [`in_order`]; each worker keeps what `begin` gives from one number to the next.
///
/// # Errors
/// As [`in_order`].
pub(crate) fn in_order_with<S, T: Send>(
    count: usize,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> T + Sync,
    mut take: impl FnMut(usize, T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(count);
    if workers <= 1 {
        let mut state = begin();
        return (0..count).try_for_each(|index| take(index, work(&mut state, index)));
    }
    let next = AtomicUsize::new(0);
    let turn = Turn::new();
    // A few targets may be slow disks: those are shared out one by one.
    let batch = count.div_euclid(workers * BATCH).clamp(1, BATCH);
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::sync_channel(AHEAD);
        for _ in 0..workers {
            let send = send.clone();
            let (next, turn, begin, work) = (&next, &turn, &begin, &work);
            scope.spawn(move || {
                let mut state = begin();
                loop {
                    let first = next.fetch_add(batch, Ordering::Relaxed);
                    if first >= count || !turn.wait_for(first, workers * AHEAD * batch) {
                        return;
                    }
                    let batch = first..count.min(first + batch);
                    let done: Vec<T> = batch.map(|index| work(&mut state, index)).collect();
                    if send.send((first, done)).is_err() {
                        return;
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

fn sorted<T>(
    receive: Receiver<(usize, Vec<T>)>,
    turn: &Turn,
    take: &mut impl FnMut(usize, T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (first, batch) in receive {
        early.insert(first, batch);
        while let Some(batch) = early.remove(&next) {
            for done in batch {
                take(next, done)?;
                next += 1;
            }
            turn.set(next);
        }
    }
    Ok(())
}

/// Which result is taken next: workers stay within a bound of it.
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
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let far = |next: &mut usize| *next != usize::MAX && index >= next.saturating_add(ahead);
        let next = self.moved.wait_while(next, far).unwrap_or_else(PoisonError::into_inner);
        *next != usize::MAX
    }

    fn set(&self, index: usize) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = index;
        self.moved.notify_all();
    }

    fn give_up(&self) {
        self.set(usize::MAX);
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
