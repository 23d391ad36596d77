//! Two results beside each other.

use report::Look;
use report::bench::{Bench, CompareAnswer, Experiment, compare, compare_json, compare_table};

use super::sample::{comparison, disk, no_penalty, penalty, void};
use super::ugly::unknown;
use crate::sample::{plain, same};

fn with(experiments: Vec<Experiment>) -> Bench {
    Bench { experiments, ..disk() }
}

/// The penalty with another ratio.
fn ratio(ratio: f64, low: f64, high: Option<f64>) -> Experiment {
    let mut experiment = penalty();
    experiment.comparisons[0].ratio = ratio;
    experiment.comparisons[0].low = low;
    experiment.comparisons[0].high = high;
    experiment
}

#[track_caller]
fn check(before: Experiment, after: Experiment, answer: CompareAnswer, reason: Option<&str>) {
    let found = compare(&with(vec![before]), &with(vec![after]));
    let one = &found.experiments[0];
    assert_eq!((one.answer, one.ratios.len()), (answer, 1), "{one:?}");
    assert_eq!(one.ratios[0].reason.as_deref(), reason);
    assert_eq!(found.differs(), answer == CompareAnswer::Differs);
}

#[test]
fn intervals_that_overlap_are_the_same_and_others_differ() {
    use CompareAnswer::{Differs, Same};
    check(penalty(), penalty(), Same, None);
    check(penalty(), ratio(3.1, 3.03, Some(3.2)), Same, None);
    check(penalty(), ratio(3.1, 3.031, Some(3.2)), Differs, None);
    check(ratio(1.5, 1.4, Some(1.6)), penalty(), Differs, None);
    check(penalty(), ratio(2.0, 0.0, Some(9.0)), Same, None);
}

#[test]
fn what_one_run_does_not_say_cannot_be_told() {
    let told = |answer: Experiment, reason: &str| {
        check(penalty(), answer, CompareAnswer::CannotTell, Some(reason));
    };
    let verdict = |verdict: &str| Experiment { verdict: verdict.to_owned(), ..penalty() };
    told(verdict("void"), "the later run is void");
    told(verdict("inconclusive"), "the later run is inconclusive");
    told(ratio(2.0, 0.0, None), "an interval is not known");
    told(ratio(2.0, 1.5, None), "an interval is not known");
    told(ratio(f64::NAN, f64::NAN, Some(f64::INFINITY)), "an interval is not known");
    told(
        Experiment { unit: "block".to_owned(), block_operations: 64, ..penalty() },
        "an observation was one operation, and is one block of 64 operations",
    );
    let void = verdict("void");
    check(void, penalty(), CompareAnswer::CannotTell, Some("the earlier run is void"));
}

#[test]
fn an_experiment_goes_with_the_one_of_the_same_workload_and_title() {
    let mut deeper = penalty();
    deeper.workload.depth = 2;
    let renamed = Experiment { title: "x\x1b".to_owned(), ..penalty() };
    let found = compare(
        &with(vec![penalty(), ratio(1.0, 0.9, Some(1.1)), no_penalty()]),
        &with(vec![deeper, renamed, penalty(), ratio(1.0, 0.9, Some(1.1))]),
    );
    // Twins go in their order: each with its like.
    let answers: Vec<CompareAnswer> = found.experiments.iter().map(|one| one.answer).collect();
    assert_eq!(answers, [CompareAnswer::Same; 2]);
    assert_eq!(found.only_before, ["64 KiB read, depth 32"]);
    assert_eq!(found.only_after, ["4 KiB write + fdatasync, depth 1", "x\\u{1b}"]);
    assert!(!found.differs());
}

#[test]
fn an_arm_that_only_one_run_has_is_shown_and_not_judged() {
    let mut more = penalty();
    more.arms[1].name = "shifted 2 KiB".to_owned();
    more.comparisons[0] = comparison("shifted 2 KiB", 9.0, 8.9, 9.1);
    let found = compare(&with(vec![penalty()]), &with(vec![more]));
    let one = &found.experiments[0];
    assert_eq!(one.answer, CompareAnswer::CannotTell);
    assert_eq!(one.ratios[0].reason.as_deref(), Some("only one of the runs compared it"));
    let sides = |arm: &report::bench::ComparedArm| (arm.before.is_some(), arm.after.is_some());
    let sides: Vec<(bool, bool)> = one.arms.iter().map(sides).collect();
    assert_eq!(sides, [(true, true), (false, true), (true, true), (true, false)]);
}

#[test]
fn controls_are_not_judged() {
    let mut other = penalty();
    other.comparisons[1] = comparison("control", 2.0, 1.9, 2.1);
    check(penalty(), other, CompareAnswer::Same, None);
}

#[test]
fn all_that_differs_of_the_setting_is_listed() {
    let mut other = disk();
    other.run.kernel = Some("6.13.0".to_owned());
    other.version = "0.2.0".to_owned();
    other.seed = 8;
    other.run.command.push("--seed=8".to_owned());
    other.target.drive = None;
    other.target.granule_bytes = Some(512);
    let found = compare(&disk(), &other);
    let keys: Vec<&str> = found.setting.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["drive", "granule-bytes", "kernel", "version", "command", "seed"]);
    assert_eq!(found.setting[0].after, None);
    assert_eq!(compare(&disk(), &disk()).setting, []);
}

pub(crate) fn two() -> (Bench, Bench) {
    let mut after = with(vec![ratio(1.5, 1.4, Some(1.6)), no_penalty()]);
    after.experiments[0].arms[1].median_ns = 12_500_000;
    after.experiments[0].arms[1].p99_ns = None;
    after.experiments[0].verdict = "small".to_owned();
    after.run.kernel = Some("6.13.0".to_owned());
    after.target.granule_bytes = Some(512);
    after.target.model = None;
    (with(vec![penalty(), void()]), after)
}

#[track_caller]
fn view(before: &Bench, after: &Bench, look: Look, expected: &str) {
    let found = plain(&compare_table(&compare(before, after), &look));
    same(&found, expected.strip_prefix('\n').expect("starts on its own line"));
}

#[test]
fn people_see_ratios_medians_and_what_else_differs() {
    let (before, after) = two();
    view(
        &before,
        &after,
        Look::default(),
        r#"
  before   /data  started 2026-03-01T12:00:00Z  straddle 0.1.0
  after    /data  started 2026-03-01T12:00:00Z  straddle 0.1.0
  changed  model WDC WD60EFRX -> not known
  changed  granule 4 KiB -> 512 B
  changed  kernel 6.12.0 -> 6.13.0
4 KiB write + fdatasync, depth 1  differs  penalty -> small difference
  ratio           before, 95 % interval   after, 95 % interval
  shifted 512 B   3.00   2.97 to 3.03     1.50   1.40 to 1.60    differs: at least 46 % lower
  not paired      median before   after     ratio   p99 before   after     ratio
  aligned         8.35 ms         8.35 ms   1.00    8.41 ms      8.41 ms   1.00
  shifted 512 B   25.0 ms         12.5 ms   0.50    33.4 ms      -         -
  control         8.35 ms         8.35 ms   1.00    8.42 ms      8.42 ms   1.00
only before: 4 KiB write, depth 8
only after: 64 KiB read, depth 32
note: the two runs are not paired: what changed in between is in the ratios of medians and p99
  too, so these have no interval; only ratios within a run have one
1 experiment compared: 1 differs
"#,
    );
}

#[test]
fn a_narrow_terminal_gets_the_same_in_sentences() {
    let (before, after) = two();
    let look = Look { width: Some(60), ascii: true, ..Look::default() };
    view(
        &before,
        &after,
        look,
        r#"
  before   /data  started 2026-03-01T12:00:00Z
           straddle 0.1.0
  after    /data  started 2026-03-01T12:00:00Z
           straddle 0.1.0
  changed  model WDC WD60EFRX -> not known
  changed  granule 4 KiB -> 512 B
  changed  kernel 6.12.0 -> 6.13.0
4 KiB write + fdatasync, depth 1  differs
  penalty -> small difference
  ratio of shifted 512 B  before 3.00
                          95 % interval: 2.97 to 3.03
                          after 1.50
                          95 % interval: 1.40 to 1.60
                          differs: at least 46 % lower
  aligned  median 8.35 ms -> 8.35 ms, ratio 1.00
           p99 8.41 ms -> 8.41 ms, ratio 1.00  (not paired)
  shifted 512 B  median 25.0 ms -> 12.5 ms, ratio 0.50
                 p99 33.4 ms -> -, ratio -  (not paired)
  control  median 8.35 ms -> 8.35 ms, ratio 1.00
           p99 8.42 ms -> 8.42 ms, ratio 1.00  (not paired)
only before: 4 KiB write, depth 8
only after: 64 KiB read, depth 32
note: the two runs are not paired: what changed in between
  is in the ratios of medians and p99 too, so these have no
  interval; only ratios within a run have one
1 experiment compared: 1 differs
"#,
    );
}

#[test]
fn two_runs_of_which_nothing_is_known_have_nothing_to_say() {
    view(
        &unknown(),
        &unknown(),
        Look::default(),
        r#"
  before   start not known  straddle 0.1.0
  after    start not known  straddle 0.1.0
cannot tell  no verdict in both
  ratio of shifted 512 B  before -  interval: not known yet  after -  interval: not known yet
                          cannot tell: the earlier run is inconclusive
  not paired      median before   after   ratio   p99 before   after   ratio
  aligned         -               -       -       -            -       -
  shifted 512 B   -               -       -       -            -       -
  control         -               -       -       -            -       -
note: the two runs are not paired: what changed in between is in the ratios of medians and p99
  too, so these have no interval; only ratios within a run have one
1 experiment compared: 1 cannot tell
"#,
    );
    let refused = Bench { refusal: super::sample::whole().refusal, ..with(Vec::new()) };
    view(
        &refused,
        &disk(),
        Look::default(),
        r#"
  before   /data  started 2026-03-01T12:00:00Z  straddle 0.1.0  nothing was measured: stopped
  after    /data  started 2026-03-01T12:00:00Z  straddle 0.1.0
only after: 4 KiB write + fdatasync, depth 1
nothing to compare: no experiment is in both
"#,
    );
}

#[test]
fn a_comparison_for_programs_holds_its_counts() {
    let (before, after) = two();
    let text = compare_json(&compare(&before, &after));
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["schema"], "straddle.bench.compare/1");
    assert_eq!(value["summary"]["differs"], 1);
    assert_eq!(value["experiments"][0]["arms"][1]["median_ratio"], 0.5);
    assert_eq!(value["experiments"][0]["ratios"][0]["answer"], "differs");
}
