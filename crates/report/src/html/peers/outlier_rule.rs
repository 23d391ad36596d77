//! Outliers among peers.
//!
//! The measure is that of Iglewicz and Hoaglin ("How to Detect and Handle Outliers", 1993; see
//! <https://www.itl.nist.gov/div898/handbook/eda/section3/eda35h.htm>): how many robust standard
//! deviations (1.4826 times the median absolute deviation) a value is away from the median. They
//! take 3.5 for one look; a fleet is looked at in dozens of ways, so it takes 5 here. Latencies are
//! compared by their logarithms, since they differ by factors. So that hosts that are as good as
//! equal do not accuse each other, a deviation below a tenth counts as a tenth, and what is less
//! than twice or more than half the median never stands out. Neither a group of which all are slow
//! nor one that falls into two halves has an outlier.

use units::durable_ratio::DURABLE_APART;

/// The fewest hosts among which one can stand out: it and four others.
pub(super) const HOSTS_MIN: usize = 5;
/// The robust standard deviations that an outlier is away.
pub(super) const DEVIATIONS: f64 = 5.0;
/// A standard deviation of normal values in median absolute deviations.
const NORMAL: f64 = 1.4826;
/// The least factor that counts as a deviation.
const TENTH: f64 = 1.1;
/// The least factor by which an outlier differs from the median.
pub(super) const FACTOR_MIN: f64 = 2.0;
/// Of so many hosts at most one may stand out: with more there are two kinds of hosts.
const SHARE: usize = 4;

/// Returns whether `times` of the median is too little to believe of durable writes: more than the
/// limit below it, and not by a rounding of logarithms.
pub(super) fn is_implausible(times: f64) -> bool {
    times > 0.0 && times * f64::from(DURABLE_APART) < 1.0 - 1e-6
}

/// Returns whether `count` of the hosts with a time among `times` are few enough to be exceptions.
pub(super) fn is_few(count: usize, times: &[Option<f64>]) -> bool {
    count * SHARE <= times.iter().flatten().count()
}

/// Findings of the rule for a group.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum GroupAnswer {
    /// There are too few to tell.
    TooFew,
    /// Nobody stands out.
    Nobody,
    /// So many differ that none of them is an exception: the places of those, in order.
    Mixed(Vec<usize>),
    /// The places of those that stand out, in order.
    Some(Vec<usize>),
}

/// Returns who among `logarithms` of latencies stands out, and the one in the middle.
pub(super) fn answer(logarithms: &[f64]) -> (GroupAnswer, f64) {
    let middle = median(logarithms);
    if logarithms.len() < HOSTS_MIN {
        return (GroupAnswer::TooFew, middle);
    }
    let away: Vec<f64> = logarithms.iter().map(|value| (value - middle).abs()).collect();
    let deviation = (NORMAL * median(&away)).max(TENTH.ln());
    let limit = (DEVIATIONS * deviation).max(FACTOR_MIN.ln());
    let odd: Vec<usize> = (0..away.len()).filter(|&place| away[place] > limit).collect();
    let answer = match odd.len() {
        0 => GroupAnswer::Nobody,
        count if count * SHARE > logarithms.len() => GroupAnswer::Mixed(odd),
        _ => GroupAnswer::Some(odd),
    };
    (answer, middle)
}

/// The value in the middle; of two in the middle their mean; 0 of none.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len().div_euclid(2);
    match sorted.len() {
        0 => 0.0,
        count if count.is_multiple_of(2) => f64::midpoint(sorted[half - 1], sorted[half]),
        _ => sorted[half],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Random;

    /// Returns who stands out among these latencies.
    fn odd(latencies: &[f64]) -> GroupAnswer {
        answer(&latencies.iter().map(|it| it.ln()).collect::<Vec<f64>>()).0
    }

    #[test]
    fn one_slow_host_among_twenty_is_named() {
        let mut values = vec![2e6; 20];
        values[7] = 200e6;
        assert_eq!(odd(&values), GroupAnswer::Some(vec![7]));
        values[3] = 2.2e6;
        assert_eq!(odd(&values), GroupAnswer::Some(vec![7]));
    }

    #[test]
    fn nobody_is_named_where_all_are_slow_or_two_kinds_meet_or_few_are_there() {
        assert_eq!(odd(&[200e6; 20]), GroupAnswer::Nobody);
        let halves: Vec<f64> = (0..20).map(|at| if at < 9 { 200e6 } else { 2e6 }).collect();
        assert_eq!(odd(&halves), GroupAnswer::Mixed((0..9).collect()));
        assert_eq!(odd(&[2e6, 2e6, 2e6, 200e6]), GroupAnswer::TooFew);
        assert_eq!(answer(&[]), (GroupAnswer::TooFew, 0.0));
    }

    #[test]
    fn hosts_that_scatter_accuse_nobody() {
        let mut random = Random::new(5);
        let mut named = 0;
        for _ in 0..500 {
            // A sum of uniform values is close to normal; a standard deviation of about 30 %.
            let one = |random: &mut Random| {
                let sum: u64 = (0..12).map(|_| random.below(1_000)).sum();
                #[expect(clippy::cast_precision_loss, reason = "below 12000")]
                let normal = (sum as f64) / 1_000.0 - 6.0;
                2e6 * (0.3 * normal).exp()
            };
            let values: Vec<f64> = (0..20).map(|_| one(&mut random)).collect();
            named += usize::from(odd(&values) != GroupAnswer::Nobody);
        }
        // The estimate of the deviation is noisy among twenty: one or two in a hundred, not none.
        assert!(named <= 10, "{named} of 500 groups");
    }
}
