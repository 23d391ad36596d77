//! The experiment on model drives whose truth is known: the slice of `cargo xtask soak models`
//! that every test run makes.

use std::collections::BTreeMap;

use super::matrix::ROWS;
use super::{Effect, Failure, Row, Temper, Trial};
use crate::Verdict;

/// Checks the rows that `wanted` picks with seeds 1 to 20: the truth inside 19 of 20 intervals, at
/// most one verdict against arms that do not differ, and of all effects of about one size nine of
/// ten found in time. Size by size and not row by row, since 3 of 20 come late by chance too often.
fn check(wanted: impl Fn(&Row) -> bool) {
    let mut in_time = BTreeMap::new();
    for row in ROWS.iter().filter(|row| wanted(row)) {
        let tally = row.tally(1..=20);
        let (covered, against) = (tally.covered, tally.penalty_or_small());
        assert!(covered >= 19, "{} {:?}: {covered} of 20 hold the truth", row.name, row.temper);
        assert!(!row.is_same() || against <= 1, "{:?}: {against} of 20 differ", row.temper);
        if let Some(within) = row.found_within {
            let (found, trials) = in_time.entry(within).or_insert((0, 0));
            (*found, *trials) = (*found + tally.found_within(within), *trials + tally.trials);
        }
    }
    for (within, (found, trials)) in in_time {
        assert!(found * 10 >= trials * 9, "{found} of {trials} are found within {within} pairs");
    }
}

#[test]
fn arms_that_do_not_differ_are_hardly_ever_found_to_differ() {
    check(Row::is_same);
}

#[test]
fn delays_multiplied_and_added_are_found_in_time_and_measured_right() {
    check(|row| !row.is_same());
}

#[test]
fn a_row_that_misses_its_bound_says_so() {
    let impossible = Row {
        name: "none, to be found",
        temper: Temper::Steady,
        effect: Effect::NONE,
        found_within: Some(20),
    };
    let misses = impossible.misses(&impossible.tally(1..=4));
    assert_eq!(misses, ["0 of 4 are found within 20 pairs, not 3"]);
    // An effect taken for none: every trial ends in penalty.
    let hidden = ROWS.iter().find(|row| row.name == "3x").unwrap();
    let misses = Row { effect: Effect::NONE, ..*hidden }.misses(&hidden.tally(1..=4));
    assert_eq!(misses, ["4 of 4 end in penalty or small, over 0"]);
}

#[test]
fn the_truth_of_a_multiplied_delay_is_its_factor_and_of_an_added_one_lies_near() {
    let truth = |times, plus_ns, temper| {
        let effect = Effect { times, plus_ns };
        Trial { temper, effect, failure: None, seed: 7 }.run().truth
    };
    assert!((truth(3.0, 0.0, Temper::Switching) - 3.0).abs() < 1e-9);
    assert!((truth(1.0, 0.0, Temper::Switching) - 1.0).abs() < 1e-9);
    let added = truth(1.0, 240_000.0, Temper::Steady);
    assert!((2.5..3.5).contains(&added), "{added}");
}

#[test]
fn whatever_fails_in_the_middle_voids_the_experiment_and_is_named() {
    let reason = |failure| {
        let effect = Effect { times: 3.0, plus_ns: 0.0 };
        let trial = Trial { temper: Temper::Steady, effect, failure: Some((40, failure)), seed: 1 };
        let outcome = trial.run();
        assert_eq!((outcome.conclusion.verdict, outcome.pairs), (Verdict::Void, 13));
        outcome.conclusion.reason
    };
    let short = reason(Failure::Short);
    assert!(short.contains("moved 2048 bytes only"), "{short}");
    assert!(reason(Failure::Error(5)).ends_with("failed: Input/output error (os error 5)"));
    assert!(reason(Failure::Stop).contains("a submission to the model failed"));
}
