//! Upper limits on throughput for a given durable write latency, each with its assumption.
//!
//! A client that waits for each answer is bound by 1 / (sync + round trip). A quorum commits when
//! the leader and enough followers have synced: with the leader's own sync beside the followers',
//! that is the greater of the leader's sync and of the k-th smallest of round trip + follower's
//! sync, with k the followers that a majority needs (Ongaro, "Consensus: bridging theory and
//! practice", 2014, section 10.2.1: writing to the leader's disk in parallel). A batch shares one
//! sync.

use units::random::Random;

use crate::Histogram;
use crate::tail_quantile::quantile;
use units::number::{count, real, whole};

/// The nanoseconds of a second.
const SECOND_NS: f64 = 1e9;
/// The syncs that are drawn for a quantile of commits, each node's counted, so that a large group
/// takes no longer than a small one.
const DRAWS: usize = 200_000;
/// The fewest commits, however many nodes each has: at p99 200 of them lie after it, which is off
/// by about 7 % of that number, and of 66 000, those of three nodes, by 4 %.
const COMMITS_MIN: usize = 20_000;

/// A ceiling and what it assumes.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// The bounded quantity, in words.
    pub name: String,
    /// The bound.
    pub bound: Bound,
    /// The assumption, in words.
    pub assumption: String,
}

/// A rate or a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// So many a second at most.
    PerSecond(f64),
    /// So many nanoseconds at least.
    Nanoseconds(u64),
}

/// The order in which a leader syncs and sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Leader {
    /// It syncs while the followers do.
    Parallel,
    /// It syncs first, and sends then.
    Serial,
}

/// A group that commits by majority.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Quorum {
    /// The round trip from the leader to each follower, in nanoseconds: nodes − 1 of them.
    round_trips_ns: Vec<u64>,
    /// The order in which the leader syncs and sends.
    leader: Leader,
}

impl Quorum {
    /// The nodes.
    #[must_use]
    fn nodes(&self) -> usize {
        self.round_trips_ns.len() + 1
    }

    /// The followers that a majority needs beside the leader.
    #[must_use]
    fn followers_needed(&self) -> usize {
        self.nodes().div_euclid(2)
    }

    /// Returns how long a commit takes, in nanoseconds, when the leader's sync takes `leader_ns`
    /// and the followers that are up answer after `answers_ns`, which are put in another order.
    /// `None` when too few are up.
    fn answered_ns(&self, leader_ns: u64, answers_ns: &mut [u64]) -> Option<u64> {
        let quorum_ns = match self.followers_needed() {
            0 => 0,
            needed if needed <= answers_ns.len() => *answers_ns.select_nth_unstable(needed - 1).1,
            _ => return None,
        };
        Some(match self.leader {
            Leader::Parallel => leader_ns.max(quorum_ns),
            Leader::Serial => leader_ns.saturating_add(quorum_ns),
        })
    }

    /// The quantile `share` of a commit's time in nanoseconds, when every node's syncs take as long
    /// as `syncs` were seen to, independently: the values are drawn from the histogram with `seed`.
    /// `None` when it is empty.
    #[must_use]
    fn commit_quantile_ns(&self, syncs: &Histogram, share: f64, seed: u64) -> Option<u64> {
        let drawer = Drawer::new(syncs)?;
        let mut random = Random::new(seed);
        let number = DRAWS.div_euclid(self.nodes()).max(COMMITS_MIN);
        let mut answers_ns = vec![0; self.round_trips_ns.len()];
        let mut commits = Vec::with_capacity(number);
        for _ in 0..number {
            let leader_ns = drawer.draw(&mut random);
            for (answer_ns, trip_ns) in answers_ns.iter_mut().zip(&self.round_trips_ns) {
                *answer_ns = trip_ns.saturating_add(drawer.draw(&mut random));
            }
            commits.push(self.answered_ns(leader_ns, &mut answers_ns)?);
        }
        let rank = whole((share.clamp(0.0, 1.0) * count(number)).ceil());
        let place = usize::try_from(rank.max(1) - 1).ok()?;
        Some(*commits.select_nth_unstable(place.min(number - 1)).1)
    }
}

/// Draws values as they were counted: a bucket by its share, and evenly within it.
struct Drawer {
    /// The least value and the width of each bucket, and the values up to its end.
    buckets: Vec<(u64, u64, u64)>,
    total: u64,
    ends: (u64, u64),
}

impl Drawer {
    fn new(histogram: &Histogram) -> Option<Drawer> {
        let mut buckets = Vec::new();
        let mut total = 0_u64;
        for (low, number) in histogram.buckets() {
            total = total.saturating_add(number);
            // A bucket is a 64th of its power of two wide: see the head of `histogram`.
            let width = 1 << (u64::BITS - (low | 64).leading_zeros()).saturating_sub(7);
            buckets.push((low, width, total));
        }
        let ends = (histogram.min(), histogram.max());
        (total > 0).then_some(Drawer { buckets, total, ends })
    }

    fn draw(&self, random: &mut Random) -> u64 {
        let at = random.below(self.total);
        let place = self.buckets.partition_point(|(_, _, until)| *until <= at);
        let (low, width, _) = self.buckets[place.min(self.buckets.len() - 1)];
        low.saturating_add(random.below(width)).clamp(self.ends.0, self.ends.1)
    }
}

/// The commits a second of one client that waits for each, with a sync of `sync_ns` and a round
/// trip of `round_trip_ns`; infinite when both are 0.
#[must_use]
fn single_client_per_second(sync_ns: u64, round_trip_ns: u64) -> f64 {
    SECOND_NS / real(sync_ns.saturating_add(round_trip_ns))
}

/// The commits a second when `batch` of them share one sync of `sync_ns`, one sync after the
/// other; infinite when it takes no time.
#[must_use]
fn batched_per_second(batch: u64, sync_ns: u64) -> f64 {
    real(batch) * SECOND_NS / real(sync_ns)
}

/// Load and replication around the syncs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Around {
    /// The round trip to a client, in nanoseconds.
    pub client_ns: u64,
    /// The commits that share a sync.
    pub batch: u64,
    /// The groups: of each the round trips from the leader to its followers, in nanoseconds.
    pub groups: Vec<Vec<u64>>,
}

/// The ceilings that a verdict shows: of one client, of a batch, and of a commit in each group;
/// `series_ns` are the durable writes that were measured here, `share` the quantile that is asked.
/// Rates go by the mean, since a client waits for the slow ones too. None where nothing was
/// measured.
#[must_use]
pub fn ceilings(series_ns: &[u64], share: f64, around: &Around, seed: u64) -> Vec<Ceiling> {
    let mut syncs = Histogram::new();
    series_ns.iter().for_each(|ns| syncs.record(*ns));
    let sum: u128 = series_ns.iter().copied().map(u128::from).sum();
    let mean = sum.checked_div(series_ns.len() as u128).and_then(|mean| u64::try_from(mean).ok());
    let Some(mean_ns) = mean else { return Vec::new() };
    // No commit is answered before the leader's own sync, whatever the draws say.
    let mut sorted = series_ns.to_vec();
    sorted.sort_unstable();
    let least_ns = quantile(&sorted, share).unwrap_or(0);
    let batch = around.batch;
    let mut all = vec![
        Ceiling {
            name: format!("one client that waits for each commit{}", answered(around.client_ns)),
            bound: Bound::PerSecond(single_client_per_second(mean_ns, around.client_ns)),
            assumption: format!(
                "1 / (mean sync of {} + round trip of {}), nothing batched",
                microseconds(mean_ns),
                microseconds(around.client_ns)
            ),
        },
        Ceiling {
            name: format!("{batch} commits per sync (--batch)"),
            bound: Bound::PerSecond(batched_per_second(batch, mean_ns)),
            assumption: format!(
                "batch / mean sync of {}, one sync after another",
                microseconds(mean_ns)
            ),
        },
    ];
    for trips_ns in around.groups.iter().filter(|trips_ns| !trips_ns.is_empty()) {
        for leader in [Leader::Parallel, Leader::Serial] {
            let quorum = Quorum { round_trips_ns: trips_ns.clone(), leader };
            all.extend(commit(&quorum, &syncs, share, seed, least_ns));
        }
    }
    all
}

/// The ceiling of a commit in a group, `least_ns` or more.
fn commit(
    quorum: &Quorum,
    syncs: &Histogram,
    share: f64,
    seed: u64,
    least_ns: u64,
) -> Option<Ceiling> {
    let ns = quorum.commit_quantile_ns(syncs, share, seed)?.max(least_ns);
    let order = match quorum.leader {
        Leader::Parallel => "leader syncs while sending",
        Leader::Serial => "leader syncs, then sends",
    };
    let trips_ns = &quorum.round_trips_ns;
    let trips = match trips_ns.iter().min().zip(trips_ns.iter().max()) {
        Some((least, most)) if least < most => {
            format!("round trips of {} to {}", microseconds(*least), microseconds(*most))
        }
        Some((least, _)) => format!("round trips of {}", microseconds(*least)),
        None => String::new(),
    };
    Some(Ceiling {
        name: format!(
            "p{} of a commit by {} of {} nodes, {order}",
            share * 100.0,
            quorum.followers_needed() + 1,
            quorum.nodes()
        ),
        bound: Bound::Nanoseconds(ns),
        assumption: format!(
            "waits for {} of {} followers; {trips}; equal, independent drives",
            quorum.followers_needed(),
            trips_ns.len(),
        ),
    })
}

/// The round trip to a client, which lowers its rate below that of the syncs alone.
fn answered(client_ns: u64) -> String {
    match client_ns {
        0 => String::new(),
        ns => format!(", with a round trip of {}", microseconds(ns)),
    }
}

fn microseconds(ns: u64) -> String {
    format!("{} \u{b5}s", ns.div_euclid(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(trips_ns: &[u64], leader: Leader) -> Quorum {
        Quorum { round_trips_ns: trips_ns.to_vec(), leader }
    }

    #[test]
    fn one_client_and_a_batch_are_bound_by_hand() {
        // 200 us and a round trip of 300 us: 2000 a second.
        assert!((single_client_per_second(200_000, 300_000) - 2000.0).abs() < 1e-9);
        assert!((batched_per_second(100, 4_000_000) - 25_000.0).abs() < 1e-9);
        assert!(single_client_per_second(0, 0).is_infinite());
    }

    #[test]
    fn a_majority_is_the_kth_smallest_answer() {
        let five = [100, 200, 300, 9000];
        let check = |leader_ns, followers_ns: &[u64], leader, expected: Option<u64>| {
            let answers = five.iter().zip(followers_ns).map(|(trip_ns, sync_ns)| trip_ns + sync_ns);
            let mut answers: Vec<u64> = answers.collect();
            assert_eq!(group(&five, leader).answered_ns(leader_ns, &mut answers), expected);
        };
        // Of 5 nodes 2 followers must answer: at 110 and 210.
        check(50, &[10, 10, 10, 10], Leader::Parallel, Some(210));
        check(50, &[10, 10, 10, 10], Leader::Serial, Some(260));
        check(700, &[10, 10, 10, 10], Leader::Parallel, Some(700));
        // One slow follower is not waited for.
        check(50, &[99_999, 10, 10, 10], Leader::Parallel, Some(310));
        check(50, &[10], Leader::Parallel, None);
        assert_eq!(group(&[], Leader::Serial).answered_ns(7, &mut []), Some(7));
        let needed = |nodes: usize| group(&vec![0; nodes - 1], Leader::Serial).followers_needed();
        assert_eq!([1, 2, 3, 4, 5, 7].map(needed), [0, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn a_constant_sync_gives_a_constant_commit() {
        let mut syncs = Histogram::new();
        (0..100).for_each(|_| syncs.record(64_000));
        let quorum = group(&[1000, 1000], Leader::Parallel);
        assert_eq!(quorum.commit_quantile_ns(&syncs, 0.99, 1), Some(65_000));
        assert_eq!(quorum.commit_quantile_ns(&Histogram::new(), 0.99, 1), None);
    }

    #[test]
    fn a_group_of_a_hundred_is_reckoned_as_one_of_three_is() {
        let mut syncs = Histogram::new();
        (0..100).for_each(|_| syncs.record(64_000));
        let trips = vec![1000; 99];
        let many = group(&trips, Leader::Serial).commit_quantile_ns(&syncs, 0.99, 1);
        assert_eq!(many, Some(129_000));
    }

    #[test]
    fn quantiles_of_commits_are_those_of_the_order_statistics() {
        // Even times from 0 to 1 ms. With F(x) = x, three nodes and no round trip a parallel
        // commit is at or below x with x (1 - (1 - x)^2); that is 0.99 at x = 0.990194...; a
        // serial one is the sum of x and of the least of two.
        let mut syncs = Histogram::new();
        (0..1_000_000_u64).step_by(7).for_each(|ns| syncs.record(ns));
        let seen = |leader, share| {
            let ns = group(&[0, 0], leader).commit_quantile_ns(&syncs, share, 3).unwrap();
            real(ns) / 1e6
        };
        let exact = |share: f64| {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let x = f64::midpoint(low, high);
                let reached: f64 = x * (1.0 - (1.0 - x) * (1.0 - x));
                if reached < share { low = x } else { high = x }
            }
            low
        };
        for share in [0.5, 0.9, 0.99] {
            assert!((seen(Leader::Parallel, share) - exact(share)).abs() < 0.005, "{share}");
        }
        // P(x + m <= t) for t <= 1, with density 2 (1 - m) of the least of two: t^2 - t^3 / 3.
        let median = seen(Leader::Serial, 0.5);
        assert!((median * median - median.powi(3) / 3.0 - 0.5).abs() < 0.005, "{median}");
    }

    #[test]
    fn no_client_is_faster_than_the_ceiling_where_a_few_syncs_are_fast() {
        // 99 of 100 syncs take 100 us and one takes none: 10 101 a second were measured.
        let mut syncs = vec![100_000; 99];
        syncs.push(0);
        let around = Around { client_ns: 0, batch: 1, groups: Vec::new() };
        for ceiling in ceilings(&syncs, 0.99, &around, 1) {
            let Bound::PerSecond(rate) = ceiling.bound else { panic!("{ceiling:?}") };
            assert!(rate >= 100.0 / 9.9e-3 - 1e-6, "{ceiling:?}");
        }
    }

    #[test]
    fn no_commit_is_faster_than_the_leaders_own_sync_at_the_same_quantile() {
        // A few slow syncs: draws from so few miss the 99th percentile to either side.
        let syncs: Vec<u64> = (0..150_u64).map(|at| 1_000_000 + at * at * at * 10).collect();
        let mut sorted = syncs.clone();
        sorted.sort_unstable();
        let own_ns = quantile(&sorted, 0.99).unwrap();
        let around = Around { client_ns: 0, batch: 1, groups: vec![vec![0; 2], vec![0; 4]] };
        let commits: Vec<u64> = (0..20)
            .flat_map(|seed| ceilings(&syncs, 0.99, &around, seed))
            .filter_map(|ceiling| match ceiling.bound {
                Bound::Nanoseconds(ns) => Some(ns),
                Bound::PerSecond(_) => None,
            })
            .collect();
        assert!(commits.len() == 80 && commits.iter().all(|ns| *ns >= own_ns), "{commits:?}");
    }

    #[test]
    fn what_is_shown_says_what_it_assumes() {
        let syncs = [100_000; 1000];
        let groups = vec![vec![500_000; 2], vec![500_000; 4], vec![200_000, 30_000_000]];
        let around = Around { client_ns: 500_000, batch: 100, groups };
        let all = ceilings(&syncs, 0.99, &around, 1);
        assert_eq!(all.len(), 8);
        assert!(all.iter().all(|ceiling| !ceiling.assumption.is_empty()));
        assert!(all[2].assumption.contains("1 of 2 followers"), "{all:?}");
        assert!(all[4].assumption.contains("2 of 4 followers"));
        assert!(matches!(all[2].bound, Bound::Nanoseconds(599_000..=601_000)), "{all:?}");
        assert!(matches!(all[3].bound, Bound::Nanoseconds(698_000..=702_000)), "{all:?}");
        assert!(
            all[6].assumption.contains("round trips of 200 \u{b5}s to 30000 \u{b5}s"),
            "{all:?}"
        );
        assert!(matches!(all[6].bound, Bound::Nanoseconds(299_000..=301_000)), "{all:?}");
        assert_eq!(ceilings(&[], 0.99, &around, 1), []);
    }
}
