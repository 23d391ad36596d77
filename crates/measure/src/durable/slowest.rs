//! Slowest operation of each stretch of a run, in fixed memory: slow ones that come in groups are
//! seen to.

/// The most stretches of a run, which has at least half as many where it is longer than that.
const STRETCHES_MAX: usize = 64;
/// The shortest stretch, in nanoseconds.
const STRETCH_NS: u64 = 1_000_000;

/// The slowest operation of each stretch of time. Where the run outlasts the list, two stretches
/// become one.
#[derive(Clone, Debug)]
pub struct SlowestSeries {
    stretch_ns: u64,
    list: Vec<u64>,
}

impl SlowestSeries {
    /// None so far.
    pub(super) fn new() -> SlowestSeries {
        SlowestSeries { stretch_ns: STRETCH_NS, list: Vec::with_capacity(STRETCHES_MAX) }
    }

    /// Takes an operation that ended `at_ns` after the run began. Allocates nothing.
    pub(super) fn record(&mut self, at_ns: u64, took_ns: u64) {
        let place = |stretch_ns: u64| usize::try_from(at_ns.div_euclid(stretch_ns));
        while !place(self.stretch_ns).is_ok_and(|place| place < STRETCHES_MAX) {
            self.fold();
        }
        let place = place(self.stretch_ns).unwrap_or_default();
        if self.list.len() <= place {
            self.list.resize(place + 1, 0);
        }
        self.list[place] = self.list[place].max(took_ns);
    }

    fn fold(&mut self) {
        self.stretch_ns = self.stretch_ns.saturating_mul(2);
        let folded = self.list.len().div_ceil(2);
        for place in 0..folded {
            let second = self.list.get(2 * place + 1).copied().unwrap_or_default();
            self.list[place] = self.list[2 * place].max(second);
        }
        self.list.truncate(folded);
    }

    /// Length of each stretch, in nanoseconds: 1 ms, or as many times that as a power of two.
    #[must_use]
    pub fn stretch_ns(&self) -> u64 {
        self.stretch_ns
    }

    /// Returns the slowest latency of each stretch from the start of the run, in nanoseconds, at
    /// most 64; `None` where no operation ended in it.
    pub fn list(&self) -> impl Iterator<Item = Option<u64>> + '_ {
        self.list.iter().map(|&slowest_ns| (slowest_ns > 0).then_some(slowest_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_operation_stays_at_its_time_however_long_the_run_becomes() {
        let mut series = SlowestSeries::new();
        let ms = 1_000_000;
        series.record(10 * ms, 7);
        series.record(11 * ms, 9000);
        series.record(63 * ms, 5);
        assert_eq!((series.stretch_ns(), series.list().count()), (ms, 64));
        series.record(500 * ms, 6);
        assert_eq!(series.stretch_ns(), 8 * ms);
        let list: Vec<_> = series.list().collect();
        assert_eq!(
            (list.len(), list[0], list[1], list[2], list[7]),
            (63, None, Some(9000), None, Some(5))
        );
        assert_eq!(list[62], Some(6));
        series.record(u64::MAX, 4);
        assert!(
            series.list().count() <= STRETCHES_MAX && series.list().flatten().max() == Some(9000)
        );
    }
}
