//! The experiment's rules, on times that are known.

use super::Experiment;
use crate::VerdictLimits;
use crate::cost_verdict::{CostVerdict, PairStep, Stop};
use crate::experiment_plan::{ArmPlan, ExperimentPlan, PlanError, Role};

fn plan(roles: &[Role]) -> ExperimentPlan {
    let arms = roles.iter().enumerate();
    let arms = arms.map(|(place, role)| ArmPlan { name: format!("arm {place}"), role: *role });
    let limits = VerdictLimits::default();
    ExperimentPlan { arms: arms.collect(), alpha: 0.05, pairs_max: 2000, limits, seed: 1 }
}

fn experiment(roles: &[Role]) -> Experiment {
    Experiment::new(plan(roles)).unwrap()
}

/// Records pairs of the times that `times` gives until the experiment wants no more; how many.
fn run(experiment: &mut Experiment, mut times: impl FnMut(u64) -> Vec<u64>) -> u64 {
    let mut pairs = 0;
    while !experiment.standing().is_done {
        experiment.order();
        experiment.record(&times(pairs));
        pairs += 1;
    }
    pairs
}

const THREE: [Role; 3] = [Role::Baseline, Role::Shifted, Role::Control];

#[test]
fn a_plan_has_one_baseline_and_something_to_judge() {
    let of = |roles: &[Role]| Experiment::new(plan(roles)).err();
    assert_eq!(of(&[]), Some(PlanError::Baselines(0)));
    assert_eq!(of(&[Role::Baseline; 2]), Some(PlanError::Baselines(2)));
    assert_eq!(of(&[Role::Baseline, Role::Control]), Some(PlanError::NothingShifted));
    let not = ExperimentPlan { alpha: 1.0, ..plan(&THREE) };
    assert_eq!(Experiment::new(not).err(), Some(PlanError::Alpha(1.0)));
    let not = ExperimentPlan { pairs_max: 0, ..plan(&THREE) };
    assert_eq!(Experiment::new(not).err(), Some(PlanError::NoPairs));
}

#[test]
fn three_turns_instead_of_one_are_a_penalty_after_a_dozen_pairs() {
    let mut experiment = experiment(&THREE);
    let pairs = run(&mut experiment, |_| vec![8_333_333, 25_000_000, 8_333_333]);
    assert!((8..=20).contains(&pairs), "{pairs}");
    let end = experiment.finish(Stop::Rule);
    assert_eq!(end.verdict, CostVerdict::Penalty);
    let expected =
        format!("arm 1 takes 3.00 times as long as arm 0 (3.00, 3.00 to 3.00, {pairs} pairs)");
    assert_eq!(end.reason, expected);
}

#[test]
fn arms_that_take_as_long_are_no_penalty() {
    let mut experiment = experiment(&THREE);
    run(&mut experiment, |pair| vec![1000, 1000 + pair % 3, 1000]);
    assert_eq!(experiment.finish(Stop::Rule).verdict, CostVerdict::NoPenalty);
}

#[test]
fn a_control_that_is_slower_voids_whatever_the_shifted_arm_does() {
    let mut experiment = experiment(&THREE);
    run(&mut experiment, |_| vec![1000, 3000, 1200]);
    let end = experiment.finish(Stop::Rule);
    assert_eq!(end.verdict, CostVerdict::Void);
    assert!(end.reason.starts_with("arm 2 must take as long as arm 0, and takes 1.20"));
}

#[test]
fn a_control_that_is_faster_voids_as_one_that_is_slower() {
    let mut experiment = experiment(&THREE);
    run(&mut experiment, |_| vec![1000, 3000, 800]);
    let end = experiment.finish(Stop::Rule);
    assert_eq!(end.verdict, CostVerdict::Void);
    assert!(end.reason.starts_with("arm 2 must take as long as arm 0, and takes 0.80"));
}

#[test]
fn the_first_reason_for_void_is_kept() {
    let mut experiment = experiment(&THREE);
    experiment.void("a write was short");
    experiment.void("another");
    assert!(experiment.standing().is_done);
    let end = experiment.finish(Stop::Rule);
    assert_eq!((end.verdict, &*end.reason), (CostVerdict::Void, "a write was short"));
}

#[test]
fn an_inside_arm_is_compared_and_judges_nothing() {
    let mut experiment = experiment(&[Role::Baseline, Role::Inside, Role::Shifted]);
    run(&mut experiment, |_| vec![1000, 3000, 1000]);
    assert_eq!(experiment.finish(Stop::Rule).verdict, CostVerdict::NoPenalty);
    assert!((experiment.standing().comparisons[0].median.ratio - 3.0).abs() < 1e-9);
}

#[test]
fn a_certain_penalty_goes_on_for_a_few_times_its_pairs_when_it_stays_wide() {
    let mut experiment = experiment(&[Role::Baseline, Role::Shifted]);
    let mut random = testkit::random(8);
    let pairs = run(&mut experiment, |_| vec![1000, 2000 + random.below(6000)]);
    let since = experiment.penalty_since.unwrap();
    assert!((4 * since..=4 * since + since.div_ceil(8)).contains(&pairs), "{since} {pairs}");
    assert_eq!(experiment.finish(Stop::Rule).verdict, CostVerdict::Penalty);
}

#[test]
fn too_few_pairs_are_inconclusive_and_said_so() {
    let mut experiment = experiment(&THREE);
    (0..3).for_each(|_| experiment.record(&[1000, 3000, 1000]));
    let end = experiment.finish(Stop::Budget);
    assert_eq!(end.verdict, CostVerdict::Inconclusive);
    assert!(end.reason.starts_with("3 pairs are too few"), "{}", end.reason);
    assert_eq!(experiment.standing().pairs, 3);
}

#[test]
fn a_small_penalty_is_small_only_at_the_end_or_when_it_can_be_nothing_else() {
    let mut experiment = experiment(&[Role::Baseline, Role::Shifted]);
    run(&mut experiment, |pair| vec![1000, 1070 + pair % 10]);
    assert_eq!(experiment.finish(Stop::Rule).verdict, CostVerdict::Small);
}

#[test]
fn every_order_comes_about_as_often() {
    let mut experiment = experiment(&THREE);
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..6000 {
        *seen.entry(experiment.order().to_vec()).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 6);
    // Each of 6 counts has a standard deviation of 29.
    assert!(seen.values().all(|count| (850..1150).contains(count)), "{seen:?}");
}

#[test]
fn a_time_of_zero_counts_as_one_and_is_noted() {
    let mut experiment = experiment(&THREE);
    (0..20).for_each(|_| experiment.record(&[0, 3, 1]));
    assert!((experiment.standing().comparisons[0].median.ratio - 3.0).abs() < 1e-9);
    assert_eq!(experiment.standing().clamped, experiment.standing().pairs);
}

#[test]
fn the_narrowing_grows_apart_is_bounded_and_ends_with_the_last_look() {
    let mut experiment = experiment(&[Role::Baseline, Role::Shifted]);
    let mut random = testkit::random(9);
    for _ in 0..2000 {
        experiment.record(&[1000, 500 + random.below(1200)]);
    }
    let steps = experiment.narrowing();
    assert!(steps.len() <= 64 && steps.len() > 10, "{}", steps.len());
    assert!(steps.is_sorted_by(|one, next| one.pairs < next.pairs));
    assert_eq!(steps.last().unwrap().pairs, 2000);
    let width = |step: &PairStep| step.median.half_width();
    assert!(width(steps.last().unwrap()) < width(&steps[steps.len() - 8]));
}

#[test]
fn looks_grow_apart_behind_the_first_64_pairs() {
    let mut experiment = experiment(&[Role::Baseline, Role::Shifted]);
    let mut looks = Vec::new();
    for pair in 1..=2000 {
        experiment.record(&[1000, 500 + (pair * 7919) % 1200]);
        if experiment.is_due() {
            looks.push(pair);
        }
    }
    assert_eq!(looks[0], 10);
    assert!(looks.windows(2).all(|look| look[1] <= 64 || look[1] * 100 <= look[0] * 104));
    assert!(looks.len() < 200, "{}", looks.len());
}
