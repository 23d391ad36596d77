//! Several traces as one, and times that count from the first entry.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::entry::Entry;

/// The entries of several traces of one machine's devices, in the order of their times: those of
/// the files that blktrace writes, one for each CPU. One entry of each is held, so where a trace
/// is not in order itself, neither is the whole. Entries of one time come in the order of the
/// traces; those without a time come first.
///
/// An error of a trace is given as soon as it is met, and is the last that is heard of that trace.
#[derive(Debug)]
pub struct Merge<I, E> {
    traces: Vec<I>,
    /// The next entry of each trace that is not at its end: its time and its trace, earliest first.
    heads: BinaryHeap<Reverse<(Option<u64>, usize)>>,
    /// The entries of the heads, one place for each trace.
    entries: Vec<Option<Entry>>,
    /// The traces whose next entry is to be asked for.
    hungry: Vec<usize>,
    errors: std::marker::PhantomData<E>,
}

impl<E, I: Iterator<Item = Result<Entry, E>>> Merge<I, E> {
    /// The entries of `traces`, whose targets are devices: numbers of files would mean another
    /// file in each.
    #[must_use]
    pub fn of(traces: Vec<I>) -> Merge<I, E> {
        let hungry = (0..traces.len()).rev().collect();
        let entries = vec![None; traces.len()];
        let heads = BinaryHeap::with_capacity(traces.len());
        Merge { traces, heads, entries, hungry, errors: std::marker::PhantomData }
    }

    /// The traces, with what was met in each so far.
    #[must_use]
    pub fn traces(&self) -> &[I] {
        &self.traces
    }
}

impl<E, I: Iterator<Item = Result<Entry, E>>> Iterator for Merge<I, E> {
    type Item = Result<Entry, E>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(trace) = self.hungry.pop() {
            match self.traces[trace].next() {
                Some(Ok(entry)) => {
                    self.heads.push(Reverse((entry.at_ns, trace)));
                    self.entries[trace] = Some(entry);
                }
                Some(Err(error)) => return Some(Err(error)),
                None => {}
            }
        }
        let Reverse((_, trace)) = self.heads.pop()?;
        self.hungry.push(trace);
        self.entries[trace].take().map(Ok)
    }
}

/// Entries whose times count from the first that has one. An earlier one behind it, which an
/// unsorted trace may hold, is at 0.
#[derive(Debug)]
pub struct FromFirst<I> {
    entries: I,
    first_ns: Option<u64>,
}

impl<I> FromFirst<I> {
    /// Returns what `entries` gives, with other times.
    #[must_use]
    pub fn of(entries: I) -> FromFirst<I> {
        FromFirst { entries, first_ns: None }
    }

    /// Returns what gives the entries.
    #[must_use]
    pub fn inner(&self) -> &I {
        &self.entries
    }
}

impl<E, I: Iterator<Item = Result<Entry, E>>> Iterator for FromFirst<I> {
    type Item = Result<Entry, E>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.entries.next()?;
        Some(entry.map(|entry| {
            let first_ns = self.first_ns.or(entry.at_ns);
            self.first_ns = first_ns;
            let since = |at_ns: u64| at_ns.saturating_sub(first_ns.unwrap_or(at_ns));
            Entry { at_ns: entry.at_ns.map(since), ..entry }
        }))
    }
}
