//! The filters of a process's threads. Filters are a thread's own, and `/proc` tells no more than
//! how many it has: so threads are asked one by one, those first that have another number of them.

use std::collections::BTreeSet;

use super::procfs::{COUNT_MAX, Stat, field, read};
use super::{filters, rights};

/// The most threads that are stopped to be asked.
const ASKED_MAX: usize = 64;

/// Filters of the threads of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filters {
    /// Each different set of filters that was found.
    pub sets: Vec<ThreadFilters>,
    /// The threads that there are.
    pub threads: usize,
    /// The threads of which nothing more than the number of their filters is known, where others
    /// with that number were read.
    pub alike: usize,
    /// Why others were not read; `None` where all were, or are alike.
    pub missed: Option<String>,
}

/// The filters of some threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadFilters {
    /// Number of threads seen to have just these.
    pub threads: usize,
    /// Seccomp's strict mode, in which every call that syncs ends the thread.
    pub is_strict: bool,
    /// The oldest first, each the bytes of a program; none where they have none.
    pub programs: Vec<Vec<u8>>,
}

/// A thread, and how many filters it has; `None` in strict mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Thread {
    count: Option<u64>,
    number: u32,
}

/// The first thread that has not ended: where in `/proc` it is.
pub(super) fn living(pid: u32) -> Option<String> {
    let mut threads = numbers(pid).ok()?.into_iter();
    threads.find_map(|thread| {
        let base = format!("/proc/{pid}/task/{thread}");
        let stat = Stat::parse(&read(&format!("{base}/stat")).ok()?)?;
        (!stat.has_ended).then_some(base)
    })
}

/// Reads the filters of the threads of process `pid`.
///
/// # Errors
/// When nothing is known of them; the text says why, and what may help.
pub(super) fn of(pid: u32) -> Result<Filters, String> {
    let threads: Vec<Thread> =
        numbers(pid)?.into_iter().filter_map(|number| thread(pid, number)).collect();
    if threads.is_empty() {
        return Err("its threads have ended".to_owned());
    }
    let mut found = Filters { sets: Vec::new(), threads: threads.len(), alike: 0, missed: None };
    let mut counts_read = BTreeSet::new();
    for (place, thread) in in_order(&threads).into_iter().enumerate() {
        match thread.count {
            None => found.add(true, Vec::new()),
            Some(0) => found.add(false, Vec::new()),
            Some(count) if place >= ASKED_MAX => match counts_read.contains(&count) {
                true => found.alike += 1,
                false => found.missed = Some(format!("more than {ASKED_MAX} threads have filters")),
            },
            Some(count) => match asked(thread.number) {
                Ok(programs) => {
                    counts_read.insert(count);
                    found.add(false, programs);
                }
                // One that ended meanwhile makes no syncs.
                Err(_) if self::thread(pid, thread.number).is_none() => found.threads -= 1,
                Err(reason) => found.missed = Some(reason),
            },
        }
    }
    match (&found.missed, found.sets.is_empty()) {
        (Some(reason), true) => Err(format!(
            "it runs under a seccomp filter, and what that does is not known: {reason}"
        )),
        _ => Ok(found),
    }
}

impl Filters {
    fn add(&mut self, is_strict: bool, programs: Vec<Vec<u8>>) {
        let alike =
            |set: &&mut ThreadFilters| set.is_strict == is_strict && set.programs == programs;
        match self.sets.iter_mut().find(alike) {
            Some(set) => set.threads += 1,
            None => self.sets.push(ThreadFilters { threads: 1, is_strict, programs }),
        }
    }
}

fn asked(number: u32) -> Result<Vec<Vec<u8>>, String> {
    if !rights::is_own_proc() {
        return Err("/proc is that of another PID namespace, whose numbers are not those of \
                    this one: run straddle where both are the same"
            .to_owned());
    }
    filters::of(number)
}

/// Those with filters first, and of these one of each number of filters before all others.
fn in_order(threads: &[Thread]) -> Vec<Thread> {
    let mut seen = BTreeSet::new();
    let mut ordered: Vec<(u8, Thread)> = threads
        .iter()
        .map(|&thread| {
            let is_new = seen.insert(thread.count);
            let turn = match thread.count {
                None | Some(0) => 2,
                Some(_) => u8::from(!is_new),
            };
            (turn, thread)
        })
        .collect();
    ordered.sort_by_key(|(turn, _)| *turn);
    ordered.into_iter().map(|(_, thread)| thread).collect()
}

fn thread(pid: u32, number: u32) -> Option<Thread> {
    let base = format!("/proc/{pid}/task/{number}");
    let stat = Stat::parse(&read(&format!("{base}/stat")).ok()?)?;
    if stat.has_ended {
        return None;
    }
    let status = read(&format!("{base}/status")).ok()?;
    // 0 none, 1 strict, 2 filters. Kernels before 5.9 do not count them.
    let count = match field(&status, b"Seccomp:") {
        Some(1) => None,
        Some(2) => Some(field(&status, b"Seccomp_filters:").unwrap_or(1)),
        _ => Some(0),
    };
    Some(Thread { count, number })
}

fn numbers(pid: u32) -> Result<Vec<u32>, String> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"));
    let tasks = tasks.map_err(|error| rights::told("the list of its threads", &error))?;
    let names = tasks.flatten().take(COUNT_MAX + 1).map(|task| task.file_name());
    let numbers: Vec<u32> =
        names.filter_map(|name| name.to_str().and_then(|name| name.parse().ok())).collect();
    match numbers.len() > COUNT_MAX {
        true => Err(format!("it has more than {COUNT_MAX} threads")),
        false => Ok(numbers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_each_number_of_filters_is_asked_before_all_others() {
        let thread = |number, count| Thread { count, number };
        let threads = [
            thread(1, Some(0)),
            thread(2, Some(3)),
            thread(3, Some(3)),
            thread(4, None),
            thread(5, Some(1)),
        ];
        let order: Vec<u32> = in_order(&threads).iter().map(|thread| thread.number).collect();
        assert_eq!(order, [2, 5, 3, 1, 4]);
    }
}
