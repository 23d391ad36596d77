//! Time for which something was counted that is not always counted, and the operations in it.

use device::{Counters as _, DiskCounts};
use host::DiskStats;
use host::engine::now_ns;

/// Time for which counters of one device are on, and the device's operations in that time.
pub(super) struct ListenedTime {
    stats: Option<DiskStats>,
    /// When they were switched on, and the device's counts then; `None` while they are off.
    since: Option<(u64, [u64; 2])>,
    taken_ns: u64,
    /// Writes and reads in that time, as far as they are over.
    all: [u64; 2],
    /// True once they were off.
    was_off: bool,
}

impl ListenedTime {
    /// Starts now, on, for the device with this number.
    pub(super) fn begun(number: (u32, u32)) -> ListenedTime {
        let mut stats = DiskStats::open(number).ok();
        let since = Some((now_ns(), counts(&mut stats)));
        ListenedTime { stats, since, taken_ns: 0, all: [0; 2], was_off: false }
    }

    /// Returns whether they are on.
    pub(super) fn is_on(&self) -> bool {
        self.since.is_some()
    }

    /// Notes that they were switched on or off just now.
    pub(super) fn switch(&mut self, is_on: bool) {
        self.was_off = true;
        let (all, taken_ns) = self.sums();
        (self.all, self.taken_ns) = (all, taken_ns);
        self.since = is_on.then(|| (now_ns(), counts(&mut self.stats)));
    }

    /// The device's writes and reads while they were on, and the time in nanoseconds; `None` if
    /// that was always.
    pub(super) fn now(&mut self) -> (Option<[u64; 2]>, Option<u64>) {
        let (all, taken_ns) = self.sums();
        (self.was_off.then_some(all), self.was_off.then_some(taken_ns))
    }

    fn sums(&mut self) -> ([u64; 2], u64) {
        let Some((since_ns, before)) = self.since else { return (self.all, self.taken_ns) };
        let now = counts(&mut self.stats);
        let all = [0, 1].map(|way| self.all[way] + now[way].saturating_sub(before[way]));
        (all, self.taken_ns + (now_ns() - since_ns))
    }
}

/// Writes and reads that the device has completed; none where it does not say.
fn counts(stats: &mut Option<DiskStats>) -> [u64; 2] {
    let counts = stats.as_mut().and_then(|stats| stats.counts().ok());
    let DiskCounts { writes, reads, .. } = counts.unwrap_or_default();
    [writes, reads]
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
        counts(&mut self.stats).iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No device has this number.
    const NONE: (u32, u32) = (0, 0);

    #[test]
    fn time_that_was_never_off_is_all_of_it_and_what_was_off_does_not_count() {
        let mut listened = ListenedTime::begun(NONE);
        assert_eq!(listened.now(), (None, None));
        listened.switch(false);
        let (all, off_ns) = listened.now();
        assert_eq!((all, listened.now().1), (Some([0; 2]), off_ns));
        assert!(!listened.is_on());
        listened.switch(true);
        std::thread::sleep(std::time::Duration::from_millis(2));
        let now_ns = listened.now().1.unwrap();
        assert!(now_ns >= off_ns.unwrap() + 2_000_000, "{now_ns} {off_ns:?}");
    }

    #[test]
    fn a_device_that_does_not_count_spends_nothing() {
        let mut budget = SecondBudget::of(NONE);
        budget.begin_second();
        assert_eq!(budget.spent(), 0);
    }
}
