//! Time of the arm over so many cylinders: a root and a straight line, and a table that mostly
//! spares it.

use units::number::{real, whole};

use super::HardDiskPlan;

/// The seeks of a disk.
#[derive(Clone, Debug)]
pub(super) struct Seeks {
    settle_ns: u64,
    /// Parts of the full stroke that go with the root of the way, and with the way.
    root_ns: i64,
    straight_ns: i64,
    /// Number of cylinders, at least 1.
    cylinders: u64,
    /// The shortest seek of each step, and behind the last a longer one.
    shortest_ns: Vec<u64>,
}

impl Seeks {
    /// The seeks of `plan`, which was checked, over so many cylinders.
    pub(super) fn new(plan: &HardDiskPlan, cylinders: u64) -> Seeks {
        let whole = |ns: u64| i64::try_from(ns).expect("10 s at most");
        let stroke_ns = whole(plan.full_stroke_ns - plan.settle_ns);
        // Over two places anywhere the mean of the root is 8/15, and of the way 1/3.
        let root_ns = match plan.average_seek_ns {
            0 => stroke_ns,
            mean_ns => 5 * (whole(mean_ns) - whole(plan.settle_ns)) - 5 * stroke_ns / 3,
        };
        let mut seeks = Seeks {
            settle_ns: plan.settle_ns,
            root_ns,
            straight_ns: stroke_ns - root_ns,
            cylinders: cylinders.max(1),
            shortest_ns: Vec::new(),
        };
        let steps = step(seeks.cylinders) + 2;
        seeks.shortest_ns = (0..steps).map(|step| seeks.seek_ns(first(step))).collect();
        seeks
    }

    /// Returns how long the arm takes over so many cylinders; 0 for another track of the same.
    pub(super) fn seek_ns(&self, cylinders: u64) -> u64 {
        // Whole numbers, which are the same on every machine. Cylinders are below 2^48, a stroke is
        // below 2^34.
        let share = (u128::from(cylinders) << (2 * ROOT_BITS)) / u128::from(self.cylinders);
        let share = u64::try_from(share).unwrap_or(u64::MAX);
        let scaled = |ns: i64, share: u64| {
            let share = i64::try_from(share).unwrap_or(i64::MAX);
            (ns * share) >> ROOT_BITS
        };
        // Below 2^52 the root of a real number is exact to its last place, on every machine.
        let root = whole(real(share).sqrt());
        let way_ns = scaled(self.root_ns, root) + scaled(self.straight_ns, share >> ROOT_BITS);
        self.settle_ns + u64::try_from(way_ns).unwrap_or(0)
    }

    /// The shortest of all, which leads to another track of the same cylinder.
    pub(super) fn shortest_ns(&self) -> u64 {
        self.shortest_ns[0]
    }

    /// Between which times that is, without a root: they are a fiftieth apart at most.
    pub(super) fn bounds_ns(&self, cylinders: u64) -> (u64, u64) {
        let step = step(cylinders);
        (self.shortest_ns[step], self.shortest_ns[step + 1])
    }
}

/// Binary places of a share's square root.
const ROOT_BITS: u32 = 24;
/// Steps from a power of two to the next.
const STEPS: u64 = 32;

/// The step of so many cylinders: as many steps from each power of two to the next, and one for
/// each number below.
fn step(cylinders: u64) -> usize {
    let shift = (cylinders / STEPS).checked_ilog2().unwrap_or(0);
    let step = u64::from(shift) * STEPS + (cylinders >> shift);
    usize::try_from(step).expect("some thousands at most")
}

/// The fewest cylinders of a step.
fn first(step: usize) -> u64 {
    let step = u64::try_from(step).expect("some thousands at most");
    let shift = (step / STEPS).saturating_sub(1);
    (step - shift * STEPS) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_hold_every_seek_and_are_a_fiftieth_apart_at_most() {
        for all in [1, 7, 31, 32, 33, 5000, 1 << 20, (1 << 48) - 1] {
            let (settle_ns, full_stroke_ns) = (1_500_000, 14_000_000);
            let plan = HardDiskPlan { settle_ns, full_stroke_ns, ..HardDiskPlan::default() };
            let seeks = Seeks::new(&plan, all);
            let powers = (0..48).flat_map(|power| [(1 << power) - 1, 1 << power, 3 << power]);
            for cylinders in powers.chain(0..1000).filter(|cylinders| *cylinders <= all) {
                let (shortest_ns, longest_ns) = seeks.bounds_ns(cylinders);
                let seek_ns = seeks.seek_ns(cylinders);
                assert!((shortest_ns..=longest_ns).contains(&seek_ns), "{cylinders} of {all}");
                let is_near = (longest_ns - shortest_ns) * 50 <= seek_ns;
                assert!(is_near || cylinders < STEPS, "{cylinders} of {all}");
            }
        }
    }

    #[test]
    fn the_mean_over_places_anywhere_is_that_of_the_sheet() {
        let (settle_ns, full_stroke_ns) = (230_000, 16_000_000);
        for average_seek_ns in [6_000_000, 8_000_000, 10_000_000] {
            let plan = HardDiskPlan {
                settle_ns,
                average_seek_ns,
                full_stroke_ns,
                ..HardDiskPlan::default()
            };
            let seeks = Seeks::new(&plan, 1000);
            let of = |from: u64| (0..1000).map(|to| seeks.seek_ns(from.abs_diff(to))).sum::<u64>();
            let mean_ns = (0..1000).map(of).sum::<u64>() / 1_000_000;
            assert!(mean_ns.abs_diff(average_seek_ns) * 200 < average_seek_ns, "{mean_ns}");
        }
    }

    #[test]
    fn every_step_begins_with_its_first() {
        for number in 0..1400 {
            assert_eq!(step(first(number)), number);
            assert_eq!(step(first(number + 1) - 1), number);
        }
    }
}
