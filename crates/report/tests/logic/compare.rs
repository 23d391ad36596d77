//! Two results of one command beside each other.

use crate::made::bench::{comparison, disk, no_penalty, penalty, void};
use crate::made::compare::{benches, ratio, two, with};
use crate::made::fsync::{tail, whole as fsync};
use crate::made::pages::probe;
use crate::made::sample::{plain, same};
use measure::CostVerdict;
use measure::engine_verdict::Fitness;
use report::bench::Experiment;
use report::compare::{
    CompareAnswer, ComparedRow, Comparing, Measure, Measurement, RunValue, compare, compare_json,
    compare_table,
};
use report::fsync::Fsync;
use report::probe::{FoundTurn, Probe, ProbeAnswer};
use report::{Look, Run};

fn fsyncs(before: &Fsync, after: &Fsync) -> Comparing {
    compare(Measurement::Fsync(before), Measurement::Fsync(after), Run::default())
        .expect("both are of fsync")
}

fn probes(before: &Probe, after: &Probe) -> Comparing {
    compare(Measurement::Probe(before), Measurement::Probe(after), Run::default())
        .expect("both are of probe")
}

fn row<'a>(found: &'a Comparing, name: &str, measure: &str) -> &'a ComparedRow {
    let row = found.rows.iter().find(|row| row.name == name && row.measure.word() == measure);
    row.unwrap_or_else(|| panic!("no {measure} of {name} in {found:#?}"))
}

#[track_caller]
fn check(before: Experiment, after: Experiment, answer: CompareAnswer, said: Result<&str, &str>) {
    let found = benches(&with(vec![before], 1), &with(vec![after], 2));
    let one = row(&found, "shifted 512 B", "ratio");
    assert_eq!((one.answer, found.answer), (answer, answer), "{one:?}");
    match said {
        Ok(words) => assert_eq!((one.words.as_str(), &one.reason), (words, &None)),
        Err(reason) => assert_eq!(one.reason.as_deref(), Some(reason)),
    }
    assert_eq!(found.summary.compared, 1, "latencies without an interval are not judged");
}

#[test]
fn a_ratio_differs_only_where_the_interval_of_its_change_says_so() {
    use CompareAnswer::{CannotTell, Differs, Same};
    check(penalty(), ratio(3.0, 2.98, Some(3.02)), Same, Ok("between 2 % lower and 2 % higher"));
    check(penalty(), ratio(3.1, 3.08, Some(3.2)), Same, Ok("1 to 8 % higher"));
    check(penalty(), ratio(3.4, 3.3, Some(3.5)), Differs, Ok("8 to 18 % higher"));
    check(ratio(1.5, 1.4, Some(1.6)), penalty(), Differs, Ok("1.8 to 2.2 times as high"));
    // An interval that holds everything was called the same once.
    check(
        penalty(),
        ratio(2.0, 0.0, Some(9.0)),
        CannotTell,
        Ok("up to 3.1 times as high or any amount lower"),
    );
    check(penalty(), ratio(4.0, 3.5, None), Differs, Ok("at least 15 % higher"));
    check(penalty(), ratio(4.0, 2.9, None), CannotTell, Ok("up to 5 % lower or any amount higher"));
}

#[test]
fn what_a_result_does_not_hold_is_not_made_up() {
    let told = |after: Experiment, reason: &str| {
        check(penalty(), after, CompareAnswer::CannotTell, Err(reason));
    };
    let verdict = |verdict| Experiment { verdict, ..penalty() };
    told(verdict(CostVerdict::Void), "the later run is void");
    told(ratio(2.0, 0.0, None), "no interval in the later result");
    told(ratio(f64::NAN, f64::NAN, Some(f64::INFINITY)), "no interval in the later result");
    told(
        Experiment { unit: "block".to_owned(), block_operations: 64, ..penalty() },
        "an observation was one operation, and is one block of 64 operations",
    );
    check(
        verdict(CostVerdict::Void),
        penalty(),
        CompareAnswer::CannotTell,
        Err("the earlier run is void"),
    );
    // Latencies of `bench` have no interval in its document.
    let found = benches(&with(vec![penalty()], 1), &with(vec![penalty()], 2));
    let median = row(&found, "aligned", "median");
    assert_eq!(median.reason.as_deref(), Some("no interval in either result"));
    assert_eq!((median.alpha, median.is_judged), (None, false));
}

#[test]
fn the_probability_of_a_wrong_interval_is_the_sum_of_both() {
    let found = benches(&with(vec![penalty()], 1), &with(vec![penalty()], 2));
    let alpha = row(&found, "shifted 512 B", "ratio").alpha.expect("it is known");
    assert!((alpha - 2.0 * penalty().alpha).abs() < 1e-12, "{alpha}");
}

#[test]
fn an_experiment_goes_with_the_one_of_the_same_workload_and_title() {
    let mut deeper = penalty();
    deeper.workload.depth = 2;
    let renamed = Experiment { title: "x\x1b".to_owned(), ..penalty() };
    let found = benches(
        &with(vec![penalty(), ratio(1.0, 0.99, Some(1.01)), no_penalty()], 1),
        &with(vec![deeper, renamed, penalty(), ratio(1.0, 0.99, Some(1.01))], 2),
    );
    // Twins go in their order: each with its like.
    let ratios = found.rows.iter().filter(|row| row.measure == Measure::Ratio);
    let answers: Vec<CompareAnswer> = ratios.map(|row| row.answer).collect();
    assert_eq!(answers, [CompareAnswer::Same; 2]);
    assert_eq!(found.only_before, ["64 KiB read, depth 32"]);
    assert_eq!(found.only_after.last().map(String::as_str), Some("x\\u{1b}"));
}

#[test]
fn an_arm_that_only_one_run_has_is_named_and_controls_are_not_judged() {
    let mut more = penalty();
    more.arms[1].name = "shifted 2 KiB".to_owned();
    more.comparisons[0] = comparison("shifted 2 KiB", 9.0, 8.9, 9.1);
    more.comparisons[1] = comparison("control", 2.0, 1.9, 2.1);
    let found = benches(&with(vec![penalty()], 1), &with(vec![more], 2));
    assert_eq!((found.answer, found.summary.compared), (CompareAnswer::CannotTell, 0));
    assert!(found.only_after.iter().any(|name| name.ends_with("shifted 2 KiB")), "{found:#?}");
    assert!(found.sentence.starts_with("cannot tell: "), "{}", found.sentence);
}

#[test]
fn medians_that_all_changed_are_said_before_the_ratio_that_did_not() {
    let (before, mut after) = (with(vec![ratio(3.0, 2.97, Some(3.03))], 1), disk());
    after.experiments = before.experiments.clone();
    after.experiments[0].arms.iter_mut().for_each(|arm| arm.median_ns *= 8);
    let found = benches(&before, &after);
    assert_eq!(found.answer, CompareAnswer::CannotTell, "latencies have no interval");
    let said = found.sentence;
    let wanted = "all medians 8.0 times as long (no interval); their ratio: no difference above";
    assert!(said.starts_with(wanted), "{said}");
    after.experiments[0].arms[0].median_ns = before.experiments[0].arms[0].median_ns;
    let said = benches(&before, &after).sentence;
    assert!(said.starts_with("no difference above 10 % in 1 value: ratio of"), "{said}");
}

#[test]
fn an_interval_whose_ends_say_nothing_is_called_too_wide() {
    let wide = with(vec![ratio(3.0, 0.9, Some(4817.0))], 2);
    let found = benches(&with(vec![ratio(3.0, 2.97, Some(3.03))], 1), &wide);
    assert!(found.sentence.ends_with("depth 1): interval too wide"), "{}", found.sentence);
    let shown = plain(&compare_table(&found, &Look::default()));
    assert!(shown.contains("1.00 (interval too wide)") && !shown.contains("1622"), "{shown}");
}

#[test]
fn one_run_twice_is_the_same() {
    let found = benches(&with(vec![void()], 1), &with(vec![void()], 1));
    assert_eq!(found.answer, CompareAnswer::Same);
    assert_eq!(found.sentence, "same: both files hold the same run");
}

#[test]
fn another_host_or_drive_is_a_warning_and_other_settings_are_listed() {
    let mut other = disk();
    other.envelope.run.kernel = Some("6.13.0".to_owned());
    other.envelope.run.host = Some("db2".to_owned());
    other.seed = 8;
    other.target.drive = None;
    other.target.model = Some("X\x1b".to_owned());
    other.target.granule_bytes = Some(512);
    let mut first = disk();
    first.envelope.run.host = Some("db1".to_owned());
    let found = benches(&first, &other);
    let keys: Vec<&str> = found.setting.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["granule-bytes", "kernel", "seed"]);
    assert_eq!(
        found.warnings,
        [
            "the host differs: db1 before, db2 after",
            "the drive model differs: WDC WD60EFRX before, X\\u{1b} after",
            "the drive of the later result is not known",
        ]
    );
    assert!(!benches(&first, &first).warnings.iter().any(|said| said.contains("differs")));
}

/// A result of `fsync` whose first row has another median and p99.
fn slower(median: [u64; 3], p99: [u64; 3]) -> Fsync {
    let mut after = fsync();
    after.seed += 1;
    after.rows[0].tails = vec![tail(50.0, median), tail(99.0, p99)];
    after.rows[0].median_ns = Some(median[0]);
    after
}

#[test]
fn rows_of_fsync_are_compared_by_their_intervals() {
    let name = format!("one 8kB write, {}", fsync().rows[0].label);
    let calm = [400_000, 300_000, 800_000];
    for (median, p99, answers) in [
        ([161_000, 160_000, 165_000], calm, [CompareAnswer::Same, CompareAnswer::CannotTell]),
        ([320_000, 310_000, 330_000], calm, [CompareAnswer::Differs, CompareAnswer::CannotTell]),
        (
            [161_000, 160_000, 165_000],
            [9_000_000, 5_000_000, 12_000_000],
            [CompareAnswer::Same, CompareAnswer::Differs],
        ),
    ] {
        let found = fsyncs(&fsync(), &slower(median, p99));
        assert_eq!(["median", "p99"].map(|of| row(&found, &name, of).answer), answers);
        assert_eq!(
            found.answer == CompareAnswer::Differs,
            answers.contains(&CompareAnswer::Differs)
        );
    }
}

#[test]
fn the_same_durability_of_runs_without_a_common_latency_is_no_verdict() {
    let other = Fsync { rows: Vec::new(), comparisons: Vec::new(), seed: 99, ..fsync() };
    let found = fsyncs(&Fsync { verdict: None, ..fsync() }, &Fsync { verdict: None, ..other });
    assert_eq!(found.answer, CompareAnswer::CannotTell);
    assert!(found.sentence.contains("different rows"), "{}", found.sentence);
}

#[test]
fn a_result_of_fsync_without_intervals_tells_nothing_of_its_medians() {
    let mut old = fsync();
    old.rows.iter_mut().for_each(|row| row.tails.clear());
    let found = fsyncs(&old, &slower([320_000, 310_000, 330_000], [1, 1, 1]));
    let medians = found.rows.iter().filter(|row| row.measure == Measure::Median && row.is_judged);
    for row in medians.filter(|row| row.group == "latency") {
        assert_eq!(row.answer, CompareAnswer::CannotTell, "{row:?}");
    }
}

#[test]
fn a_p99_that_is_not_judged_says_why_and_one_run_twice_is_the_same_in_every_row() {
    let shown = |found: &Comparing| {
        let look = Look { width: Some(120), ..Look::default() };
        plain(&compare_table(found, &look))
    };
    let mut run = fsync();
    run.envelope.run.started = "2026-03-01T12:00:00Z".to_owned();
    let twice = shown(&fsyncs(&run, &run));
    assert!(!twice.contains("not counted"), "{twice}");
    let calm = [400_000, 300_000, 800_000];
    let found = shown(&fsyncs(&fsync(), &slower([161_000, 160_000, 165_000], calm)));
    let rows: Vec<&str> = found.lines().filter(|line| line.contains(" p99 ")).collect();
    assert!(rows.iter().any(|row| row.ends_with("not counted")), "{found}");
}

#[test]
fn every_answer_in_words_on_the_screen_is_counted_and_a_verdict_s_quantile_stands_once() {
    let of_engine = |fsync: Fsync| {
        let mut fsync = fsync;
        fsync.rows.truncate(1);
        fsync.rows[0].id = "engine.etcd".to_owned();
        fsync
            .verdict
            .as_mut()
            .and_then(|it| it.quantile.as_mut())
            .expect("sample")
            .quantile_percent = 99.0;
        fsync
    };
    let calm = [400_000, 300_000, 800_000];
    let after = slower([161_000, 160_000, 165_000], calm);
    let of_engine = fsyncs(&of_engine(fsync()), &of_engine(after.clone()));
    let p99s = of_engine.rows.iter().filter(|row| row.measure == Measure::P99);
    assert_eq!(p99s.map(|row| row.name.as_str()).collect::<Vec<_>>(), ["etcd"]);
    for found in [fsyncs(&fsync(), &after), of_engine] {
        let page = plain(&compare_table(&found, &Look { width: Some(200), ..Look::default() }));
        let words = ["  same", "  cannot tell", "  differs"];
        let shown = page.lines().skip(1).filter(|line| words.iter().any(|it| line.contains(it)));
        assert_eq!(shown.count() as u64, found.summary.compared, "{page}");
    }
}

#[test]
fn measuring_longer_names_the_seconds_that_are_twice_what_was_taken() {
    let mut after = slower([320_000, 150_000, 330_000], [400_000, 300_000, 800_000]);
    after.elapsed_ns = 40_500_000_000;
    let found = fsyncs(&fsync(), &after);
    assert_eq!(found.answer, CompareAnswer::CannotTell, "{}", found.sentence);
    assert!(
        found.envelope.notes.iter().any(|note| note.ends_with("for longer: --seconds 81")),
        "{found:?}"
    );
}

#[test]
fn a_verdict_and_a_grade_that_changed_differ() {
    let mut after = fsync();
    after.seed += 1;
    let verdict = after.verdict.as_mut().expect("the sample has one");
    verdict.verdict = Fitness::Fail;
    let engine = verdict.engine.clone();
    let found = fsyncs(&fsync(), &after);
    assert_eq!(row(&found, &engine, "answer").answer, CompareAnswer::Differs);
    assert_eq!(found.answer, CompareAnswer::Differs);
}

#[test]
fn a_verdict_that_was_left_open_does_not_differ_from_one_that_was_reached() {
    let with = |fitness: Fitness| {
        let mut fsync = fsync();
        fsync.seed += 1 + fitness as u64;
        fsync.verdict.as_mut().expect("the sample has one").verdict = fitness;
        fsync
    };
    let engine = fsync().verdict.expect("the sample has one").engine;
    let answer = |before, after| {
        let found = fsyncs(&with(before), &with(after));
        let found = row(&found, &engine, "answer");
        (found.answer, found.reason.clone().unwrap_or_default())
    };
    let open = Fitness::NotEnough;
    let (found, reason) = answer(open, Fitness::Pass);
    assert_eq!(found, CompareAnswer::CannotTell);
    assert_eq!(reason, "the earlier run did not settle it: not enough evidence");
    let (found, reason) = answer(Fitness::Fail, open);
    assert_eq!(found, CompareAnswer::CannotTell);
    assert!(reason.starts_with("the later run"), "{reason}");
    assert_eq!(answer(open, open).0, CompareAnswer::Same);
    assert_eq!(answer(Fitness::Warn, Fitness::Pass).0, CompareAnswer::Differs);
}

#[test]
fn probes_are_compared_by_what_they_found_and_what_said_it() {
    let granule = |found: &Comparing| {
        let row = row(found, "granule", "answer");
        (row.answer, row.reason.clone())
    };
    let (before, mut after) = (probe(), probe());
    after.seed += 1;
    let found = probes(&before, &after);
    assert_eq!(granule(&found), (CompareAnswer::Same, None));
    let RunValue::Said { said, because } = &row(&found, "granule", "answer").after else {
        panic!("{found:#?}");
    };
    assert_eq!(said.as_deref(), Some("16 KiB (16384 B), first at 4 KiB (4096 B)"));
    let because = because.as_deref().expect("it is said");
    assert!(because.ends_with("wrong with a probability of at most 1.0e-2"), "{because}");

    after.answers.alignment.value.as_mut().expect("found").bytes = 4096;
    assert_eq!(granule(&probes(&before, &after)).0, CompareAnswer::Differs);

    after.answers.alignment =
        ProbeAnswer { reason: Some("noise\x1b".to_owned()), ..ProbeAnswer::not_tried("") };
    let (answer, reason) = granule(&probes(&before, &after));
    assert_eq!(answer, CompareAnswer::CannotTell);
    assert_eq!(reason.as_deref(), Some("the later run did not find it: noise\\u{1b}"));

    let turn = |low_ns, high_ns| ProbeAnswer {
        value: Some(FoundTurn { turn_ns: low_ns + 1, low_ns, high_ns }),
        ..ProbeAnswer::not_tried("")
    };
    let (mut before, mut after) = (probe(), probe());
    (before.answers.turn, after.answers.turn) =
        (turn(8_300_000, 8_350_000), turn(11_000_000, 11_200_000));
    let found = probes(&before, &after);
    assert_eq!(row(&found, "turn of the platter", "median").words, "31 to 35 % longer");

    after.dry_run = true;
    let found = probes(&before, &after);
    assert_eq!((found.answer, found.rows.len()), (CompareAnswer::CannotTell, 0));
    assert_eq!(found.after.refusal.as_deref(), Some("a dry run"));
}

#[test]
fn results_of_two_commands_are_not_compared() {
    let (bench, probe) = (disk(), probe());
    let found = compare(Measurement::Bench(&bench), Measurement::Probe(&probe), Run::default());
    assert_eq!(found, None);
}

#[track_caller]
fn view(found: &Comparing, look: Look, expected: &str) {
    let found = plain(&compare_table(found, &look));
    same(&found, expected.strip_prefix('\n').expect("starts on its own line"));
}

#[test]
fn people_see_the_verdict_the_runs_and_every_figure() {
    let (before, after) = two();
    view(
        &benches(&before, &after),
        Look { width: Some(80), ..Look::default() },
        r#"
differs (1 of 1 value): ratio of shifted 512 B (4 KiB write + fdatasync, depth
  1): 46 to 54 % lower
  before  web-3  2026-03-01T12:00:00Z  sda WDC WD60EFRX 82.00A82  /data
  after   web-3  2026-03-01T12:00:00Z  sda 82.00A82  /data
warning: the drive model of the later result is not known
  changed  granule 4 KiB -> 512 B
  changed  kernel 6.12.0 -> 6.13.0
  changed  seed 7 -> 8
           before    after     after / before
  4 KiB write + fdatasync, depth 1: aligned
  median   8.35 ms   8.35 ms   1.00 (no interval)    not counted
  p99      8.41 ms   8.41 ms   1.00 (no interval)    not counted
  4 KiB write + fdatasync, depth 1: shifted 512 B
  ratio    3.00      1.50      0.50 (0.46 to 0.54)   differs
  median   25.0 ms   12.5 ms   0.50 (no interval)    not counted
  p99      33.4 ms   -         -                     not counted
  4 KiB write + fdatasync, depth 1: control
  median   8.35 ms   8.35 ms   1.00 (no interval)    not counted
  p99      8.42 ms   8.42 ms   1.00 (no interval)    not counted
not counted: bench saves no interval for a latency; only the ratio of shifted
  to aligned counts
only before: 4 KiB write, depth 8
only after: 64 KiB read, depth 32
note: the two runs are not paired: anything that changed in between can be the
  cause of a difference
"#,
    );
}

#[test]
fn a_narrow_terminal_loses_columns_and_no_row() {
    let (before, after) = two();
    let look = Look { width: Some(60), ascii: true, ..Look::default() };
    view(
        &benches(&before, &after),
        look,
        r#"
differs (1 of 1 value): ratio of shifted 512 B (4 KiB
  write + fdatasync, depth 1): 46 to 54 % lower
  before  web-3  2026-03-01T12:00:00Z
          sda WDC WD60EFRX 82.00A82  /data
  after   web-3  2026-03-01T12:00:00Z  sda 82.00A82  /data
warning: the drive model of the later result is not known
  changed  granule 4 KiB -> 512 B
  changed  kernel 6.12.0 -> 6.13.0
  changed  seed 7 -> 8
           after     after / before
  4 KiB write + fdatasync, depth 1: aligned
  median   8.35 ms   1.00 (no interval)    not counted
  p99      8.41 ms   1.00 (no interval)    not counted
  4 KiB write + fdatasync, depth 1: shifted 512 B
  ratio    1.50      0.50 (0.46 to 0.54)   differs
  median   12.5 ms   0.50 (no interval)    not counted
  p99      -         -                     not counted
  4 KiB write + fdatasync, depth 1: control
  median   8.35 ms   1.00 (no interval)    not counted
  p99      8.42 ms   1.00 (no interval)    not counted
not counted: bench saves no interval for a latency; only
  the ratio of shifted to aligned counts
only before: 4 KiB write, depth 8
only after: 64 KiB read, depth 32
note: the two runs are not paired: anything that changed
  in between can be the cause of a difference
"#,
    );
}

#[test]
fn answers_of_a_probe_stand_with_what_said_them() {
    let (before, mut after) = (probe(), probe());
    after.answers.alignment.value.as_mut().expect("found").bytes = 4096;
    view(
        &probes(&before, &after),
        Look { width: Some(80), ..Look::default() },
        r#"
differs (1 of 1 value): granule: 16 KiB (16384 B), first at 4 KiB (4096 B)
  before, 4 KiB (4096 B), first at 4 KiB (4096 B) after
  before  web-3  2026-03-01T12:00:00Z  nvme0n1 SSD 960 2B6Q  /data
  after   web-3  2026-03-01T12:00:00Z  nvme0n1 SSD 960 2B6Q  /data
  granule  16 KiB (16384 B), first at 4 KiB (4096 B) -> 4 KiB (4096 B), first at
           4 KiB (4096 B)  differs
           before: writes at 8 KiB take longer than those at 16 KiB; wrong with
           a probability of at most 1.0e-2
           after: writes at 8 KiB take longer than those at 16 KiB; wrong with a
           probability of at most 1.0e-2
note: the two runs are not paired: anything that changed in between can be the
  cause of a difference
"#,
    );
}

#[test]
fn every_line_fits_its_width_and_holds_nothing_harmful() {
    let (mut before, after) = two();
    before.envelope.run.host = Some("h\x1b[2J\u{202e}".repeat(50));
    before.experiments[0].arms[0].name = "an arm with a name that goes on and on ".repeat(9);
    let found = [
        benches(&before, &after),
        fsyncs(&fsync(), &slower([1, 1, 9], [1, 1, 9])),
        probes(&probe(), &probe()),
    ];
    for columns in [40, 60, 79, 80, 81, 120] {
        for found in &found {
            let page =
                plain(&compare_table(found, &Look { width: Some(columns), ..Look::default() }));
            for line in page.lines() {
                assert!(
                    unicode_width::UnicodeWidthStr::width(line) <= columns,
                    "{columns}: {line}\n{page}"
                );
                assert!(
                    !line.chars().any(char::is_control) && !line.contains('\u{202e}'),
                    "{line:?}"
                );
            }
        }
    }
}

#[test]
fn a_comparison_for_programs_holds_its_counts() {
    let (before, after) = two();
    let text = compare_json(&benches(&before, &after));
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["schema"], "straddle.compare/2");
    assert_eq!((&value["answer"], &value["summary"]["differs"]), (&"differs".into(), &1.into()));
    assert_eq!(value["rows"][2]["before"]["kind"], "ratio");
    let again: Comparing = serde_json::from_str(&text).expect("it is read as it was written");
    assert_eq!(compare_json(&again), text);
}

#[test]
fn a_verdict_that_cannot_be_told_names_what_each_run_measured() {
    let mut more = penalty();
    more.arms[1].name = "shifted 2 KiB".to_owned();
    more.comparisons[0] = comparison("shifted 2 KiB", 3.0, 2.9, 3.1);
    let found = benches(&with(vec![penalty()], 1), &with(vec![more], 2));
    assert_eq!(
        found.sentence,
        "cannot tell: the runs measured different things: 4 KiB write + fdatasync, depth 1: shifted \
         512 B (before), 4 KiB write + fdatasync, depth 1: shifted 2 KiB (after)"
    );
    let found = benches(&with(vec![penalty()], 1), &with(vec![], 2));
    let only = "cannot tell: only the earlier run measured 4 KiB write + fdatasync, depth 1";
    assert_eq!(found.sentence, only);
}
