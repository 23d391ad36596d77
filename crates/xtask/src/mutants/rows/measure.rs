//! Lines of `measure`: limits, signs and bounds of what is measured.

use crate::mutants::mutation::{KillingTest, Mutation};

pub(super) const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "penalty-limit",
        file: "verdict_limits.rs",
        line: "penalty_above: 1.10,",
        becomes: "penalty_above: 1.11,",
        test: KillingTest::Unit("cost_verdict::tests::each_place_of_the_interval_has_its_verdict"),
    },
    Mutation {
        name: "same-limit",
        file: "verdict_limits.rs",
        line: "same_high: 1.05,",
        becomes: "same_high: 1.06,",
        test: KillingTest::Unit("cost_verdict::tests::each_place_of_the_interval_has_its_verdict"),
    },
    Mutation {
        name: "open-interval-is-no-penalty",
        file: "cost_verdict.rs",
        line: "None if interval.high > limits.penalty_above => CostVerdict::Inconclusive,",
        becomes: "None if interval.low > limits.penalty_above => CostVerdict::Inconclusive,",
        test: KillingTest::Unit("cost_verdict::tests::each_place_of_the_interval_has_its_verdict"),
    },
    Mutation {
        name: "arms-swapped",
        file: "experiment/mod.rs",
        line: "ratios.record(log(comparison.arm) - against);",
        becomes: "ratios.record(against - log(comparison.arm));",
        test: KillingTest::Unit(
            "experiment::tests::three_turns_instead_of_one_are_a_penalty_after_a_dozen_pairs",
        ),
    },
    Mutation {
        name: "faster-control-is-fine",
        file: "experiment/mod.rs",
        line: ".find(|comparison| !comparison.median.contains(1.0));",
        becomes: ".find(|comparison| comparison.median.low > 1.0);",
        test: KillingTest::Unit(
            "experiment::tests::a_control_that_is_faster_voids_as_one_that_is_slower",
        ),
    },
    Mutation {
        name: "warm-up-keeps-the-slow-start",
        file: "warmup.rs",
        line: "self.held.drain(..HALF * self.arms);",
        becomes: "self.held.truncate(HALF * self.arms);",
        test: KillingTest::Unit("warmup::tests::a_slow_start_is_left_out_until_the_pace_settles"),
    },
    Mutation {
        name: "interval-too-narrow",
        file: "statistics/sign.rs",
        line: "(self.pairs - self.upper, self.upper - 1)",
        becomes: "(self.pairs - self.upper + 1, self.upper - 1)",
        test: KillingTest::Unit(
            "statistics::sign::tests::\
             the_places_are_those_of_the_definition_at_every_number_of_pairs",
        ),
    },
    Mutation {
        name: "tail-ends-a-rank-early",
        file: "tail_quantile/binomial.rs",
        line: "let high = reach(1.0 - alpha / 2.0 - 1e-13) + 1;",
        becomes: "let high = reach(1.0 - alpha / 2.0 - 1e-13);",
        test: KillingTest::Unit(
            "tail_quantile::binomial::tests::a_p99_has_an_upper_rank_from_368_values",
        ),
    },
    Mutation {
        name: "alpha-not-shared",
        file: "probe/error_share.rs",
        line: "self.alpha / f64::from(COMPARISONS_MAX)",
        becomes: "self.alpha",
        test: KillingTest::Unit(
            "probe::error_share::tests::all_comparisons_together_are_as_sure_as_was_asked",
        ),
    },
    Mutation {
        name: "pass-without-an-upper-end",
        file: "engine_verdict.rs",
        line: "tail.high_ns.is_some_and(|high_ns| high_ns <= warn_ns)",
        becomes: "tail.high_ns.is_none_or(|high_ns| high_ns <= warn_ns)",
        test: KillingTest::Unit(
            "engine_verdict::tests::without_an_upper_end_it_never_passes_and_may_still_fail",
        ),
    },
    Mutation {
        name: "faster-control-of-a-probe-is-fine",
        file: "probe/panel.rs",
        line: "RatioQuestion::Control if !ratio.contains(1.0) => {",
        becomes: "RatioQuestion::Control if ratio.low > 1.0 => {",
        test: KillingTest::Unit("probe::panel::tests::a_control_that_differs_voids_the_panel"),
    },
    Mutation {
        name: "no-difference-of-a-wide-interval",
        file: "durable/compare.rs",
        line: "near.is_within(limit.recip(), limit)",
        becomes: "near.is_within(0.0, limit)",
        test: KillingTest::Unit(
            "durable::compare::tests::no_difference_is_claimed_only_of_a_narrow_interval",
        ),
    },
];
