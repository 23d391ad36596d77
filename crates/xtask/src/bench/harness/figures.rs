//! Figures from the contestants' rounds, as they are printed.

use super::measuring_loop::LoopResult;
use crate::bench::ratio::Spread;

/// Operations a second.
pub(super) fn rates(done: &[LoopResult]) -> Vec<f64> {
    done.iter().map(|done| done.operations as f64 * 1e9 / done.wall_ns as f64).collect()
}

/// Nanoseconds of the thread's time an operation.
pub(super) fn costs(done: &[LoopResult]) -> Vec<f64> {
    done.iter().map(|done| done.busy_ns as f64 / done.operations as f64).collect()
}

/// Nanoseconds of the thread's time in the program an operation.
pub(super) fn users(done: &[LoopResult]) -> Vec<f64> {
    done.iter().map(|done| done.user_ns as f64 / done.operations as f64).collect()
}

/// The first over the second, round by round.
pub(super) fn over(first: &[f64], second: &[f64]) -> Vec<f64> {
    first.iter().zip(second).map(|(first, second)| first / second.max(f64::MIN_POSITIVE)).collect()
}

/// Returns the better of two by `pick`, round by round.
pub(super) fn better(first: &[f64], second: &[f64], pick: fn(f64, f64) -> f64) -> Vec<f64> {
    first.iter().zip(second).map(|(first, second)| pick(*first, *second)).collect()
}

/// Prints the middle, the least and the greatest.
pub(super) fn print(what: &str, values: &[f64], unit: &str) {
    let spread = Spread::of(values).to_string();
    println!("  {what}: {}", [spread.as_str(), unit].join(" ").trim_end());
}

/// Prints the same, with a bound that the middle should not stay below.
pub(super) fn least(what: &str, values: &[f64], bound: f64) {
    let spread = Spread::of(values);
    let met = if spread.median() >= bound { "met" } else { "MISSED" };
    println!("  {what}: {spread}; target: at least {bound}: {met}");
}

/// Prints the same, with a bound that the middle should not exceed.
pub(super) fn most(what: &str, values: &[f64], bound: f64) {
    let spread = Spread::of(values);
    let met = if spread.median() <= bound { "met" } else { "MISSED" };
    println!("  {what}: {spread}; target: at most {bound}: {met}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_taken_within_a_round_against_the_better_of_two() {
        let done =
            |operations| LoopResult { operations, wall_ns: 1_000_000_000, user_ns: 0, busy_ns: 0 };
        let own = rates(&[done(30), done(10)]);
        let better = better(&rates(&[done(10), done(1)]), &rates(&[done(15), done(0)]), f64::max);
        assert_eq!(over(&own, &better), [2.0, 10.0]);
    }
}
