//! Time for which something was counted that is not always counted, and the operations in it.

use device::Counters as _;
use host::DiskStats;
use host::engine::now_ns;

/// Time for which counters are on, and the operations in that time. Each look brings the number of
/// writes and of reads so far.
pub(super) struct ListenedTime {
    /// When they were switched on, and the numbers then; `None` while they are off.
    since: Option<(u64, [u64; 2])>,
    taken_ns: u64,
    /// Writes and reads in that time.
    all: [u64; 2],
    /// True once they were off.
    was_off: bool,
}

impl ListenedTime {
    /// Starts now, on, before any operation.
    pub(super) fn begun() -> ListenedTime {
        ListenedTime { since: Some((now_ns(), [0; 2])), taken_ns: 0, all: [0; 2], was_off: false }
    }

    /// Returns whether they are on.
    pub(super) fn is_on(&self) -> bool {
        self.since.is_some()
    }

    /// Notes that they were switched on or off just now.
    pub(super) fn switch(&mut self, is_on: bool, now: [u64; 2]) {
        self.was_off = true;
        (self.all, self.taken_ns) = self.sums(now);
        self.since = is_on.then(|| (now_ns(), now));
    }

    /// Writes and reads while they were on, and the time in nanoseconds; no time if that was
    /// always.
    pub(super) fn now(&self, now: [u64; 2]) -> ([u64; 2], Option<u64>) {
        let (all, taken_ns) = self.sums(now);
        (all, self.was_off.then_some(taken_ns))
    }

    fn sums(&self, now: [u64; 2]) -> ([u64; 2], u64) {
        let Some((since_ns, before)) = self.since else { return (self.all, self.taken_ns) };
        let all = [0, 1].map(|way| self.all[way] + now[way].saturating_sub(before[way]));
        (all, self.taken_ns + (now_ns() - since_ns))
    }
}

/// Operations of one device in this second.
pub(super) struct SecondBudget {
    stats: Option<DiskStats>,
    before: u64,
}

impl SecondBudget {
    /// Operations of a device in a second after which only the granule is counted until the next:
    /// less than 1 % of a processor goes into the rest.
    pub(super) const ALL_SIZES: u64 = 5_000;
    /// Operations after which nothing is counted until the next second: a few percent of a
    /// processor go into the granule.
    pub(super) const GRANULE: u64 = 25_000;

    /// The budget of the device with this number.
    pub(super) fn of(number: (u32, u32)) -> SecondBudget {
        let mut budget = SecondBudget { stats: DiskStats::open(number).ok(), before: 0 };
        budget.begin_second();
        budget
    }

    /// Begins a second.
    pub(super) fn begin_second(&mut self) {
        self.before = self.operations();
    }

    /// Returns the number of operations since this second began.
    pub(super) fn spent(&mut self) -> u64 {
        self.operations().saturating_sub(self.before)
    }

    fn operations(&mut self) -> u64 {
        let counts = self.stats.as_mut().and_then(|stats| stats.counts().ok());
        counts.map_or(0, |counts| counts.writes + counts.reads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No device has this number.
    const NONE: (u32, u32) = (0, 0);

    #[test]
    fn time_and_operations_while_off_do_not_count() {
        let mut listened = ListenedTime::begun();
        assert_eq!(listened.now([3, 4]), ([3, 4], None));
        listened.switch(false, [5, 6]);
        let (all, off_ns) = listened.now([70, 80]);
        assert_eq!((all, listened.now([70, 80]).1), ([5, 6], off_ns));
        assert!(!listened.is_on());
        listened.switch(true, [100, 100]);
        std::thread::sleep(std::time::Duration::from_millis(2));
        let (all, now_ns) = listened.now([101, 102]);
        assert_eq!(all, [6, 8]);
        assert!(now_ns.unwrap() >= off_ns.unwrap() + 2_000_000, "{now_ns:?} {off_ns:?}");
    }

    #[test]
    fn a_device_that_does_not_count_spends_nothing() {
        let mut budget = SecondBudget::of(NONE);
        budget.begin_second();
        assert_eq!(budget.spent(), 0);
    }
}
