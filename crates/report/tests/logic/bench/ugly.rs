//! Views of what nobody hopes for, in every width.

use measure::{CostVerdict, Interval, PairStep, Role};
use report::bench::{
    Arm, Bench, BenchProgress, BenchTarget, Comparison, Experiment, ScratchFacts, Workload,
    dry_run_text, picture, progress, table,
};
use report::compare::compare_table;
use report::{Envelope, Look, Run};
use unicode_width::UnicodeWidthStr as _;

use super::dry_run::{nothing_known, plan};
use crate::made::bench::{disk, penalty, whole, workload};
use crate::made::compare::benches as both;
use crate::made::sample::{plain, same};

/// A result of which nothing is known: no pair, no latency, no drive.
pub(crate) fn unknown() -> Bench {
    let arm = |name: &str, role| Arm {
        name: name.to_owned(),
        role,
        shift_bytes: 0,
        count: 0,
        median_ns: 0,
        p99_ns: None,
        least_ns: 0,
        greatest_ns: 0,
        operations_per_second: None,
        turns: None,
        histogram: Vec::new(),
        drive: None,
    };
    let against = |name: &str| Comparison {
        arm: name.to_owned(),
        against: "aligned".to_owned(),
        interval: Interval { ratio: f64::NAN, ..Interval::UNKNOWN },
        clipped_mean: None,
        pair_ratios: Vec::new(),
    };
    let experiment = Experiment {
        title: String::new(),
        workload: Workload { operation_bytes: None, order: None, ..workload() },
        pairs: 0,
        discarded_pairs: 0,
        elapsed_ns: 0,
        written_bytes: 0,
        arms: vec![
            arm("aligned", Role::Baseline),
            arm("shifted 512 B", Role::Shifted),
            arm("control", Role::Control),
        ],
        comparisons: vec![against("shifted 512 B"), against("control")],
        alpha: f64::NAN,
        verdict: CostVerdict::Inconclusive,
        reason: String::new(),
        predicted: None,
        regimes: Vec::new(),
        narrowing: Vec::new(),
        ..penalty()
    };
    let run = Run { host: disk().envelope.run.host, ..Run::default() };
    Bench {
        target: BenchTarget::default(),
        scratch: None,
        experiments: vec![experiment],
        envelope: Envelope { run, ..disk().envelope },
        ..disk()
    }
}

/// A result of which every text is long, wide and evil.
fn evil() -> Bench {
    let evil = "日本語のとても長い名前\x1b[31m\n\u{202e}and/a/path/that/does/not/end".repeat(3);
    let mut bench = whole();
    bench.target.path.clone_from(&evil);
    bench.target.layers = vec![evil.clone(); 9];
    bench.target.drive = Some(evil.clone());
    bench.scratch = bench.scratch.map(|scratch| ScratchFacts { place: evil.clone(), ..scratch });
    bench.envelope.notes = vec![evil.clone()];
    for experiment in &mut bench.experiments {
        experiment.title.clone_from(&evil);
        experiment.reason.clone_from(&evil);
        for (number, arm) in (0_u64..).zip(&mut experiment.arms) {
            arm.name = format!("{number}{evil}");
            arm.median_ns = u64::MAX - number;
        }
        for (number, comparison) in (1_u64..).zip(&mut experiment.comparisons) {
            comparison.arm = format!("{number}{evil}");
        }
    }
    bench
}

fn benches() -> Vec<Bench> {
    let none = Bench { experiments: Vec::new(), ..unknown() };
    let no_arms = Experiment { arms: Vec::new(), comparisons: Vec::new(), ..penalty() };
    let no_arms = Bench { experiments: vec![no_arms.clone(), no_arms], ..unknown() };
    vec![disk(), whole(), unknown(), none, no_arms, evil()]
}

/// Every view of every result.
fn pages(look: &Look) -> Vec<String> {
    let mut pages = Vec::new();
    for bench in benches() {
        pages.push(table(&bench, look));
        pages.extend(bench.experiments.iter().map(|experiment| picture(experiment, look)));
        for other in benches() {
            pages.push(compare_table(&both(&bench, &other), look));
        }
        for experiment in &bench.experiments {
            let so_far =
                BenchProgress { title: &experiment.title, elapsed_ns: 0, written_bytes: 0 };
            let none =
                PairStep { pairs: 0, median: Interval { ratio: f64::NAN, ..Interval::UNKNOWN } };
            for step in experiment.narrowing.iter().chain([&none]) {
                pages.push(progress(step, &so_far, look));
            }
        }
    }
    pages.extend([dry_run_text(&plan(), look), dry_run_text(&nothing_known(), look)]);
    pages
}

#[test]
fn every_line_of_every_view_fits_its_width_and_holds_nothing_harmful() {
    for columns in (40..=200).step_by(8).chain([41, 79, 80, 81]) {
        for (ascii, explain, bytes) in [(false, false, true), (true, true, false)] {
            let look = Look { width: Some(columns), ascii, bytes, explain };
            for page in pages(&look) {
                let page = plain(&page);
                for line in page.lines() {
                    assert!(line.width() <= columns, "{columns}: {line}\nof\n{page}");
                    assert!(!line.chars().any(char::is_control), "{line:?}");
                    assert!(!line.contains('\u{202e}') && !line.ends_with(' '), "{line:?}");
                    assert!(!ascii || line.is_ascii(), "{line}");
                }
            }
        }
    }
}

/// If a meaning were in colors alone, two results that differ only in it would read the same.
#[test]
fn without_colors_every_verdict_is_still_said() {
    let verdicts = [
        CostVerdict::Penalty,
        CostVerdict::NoPenalty,
        CostVerdict::Small,
        CostVerdict::Inconclusive,
        CostVerdict::Void,
    ];
    for several in [1, 2] {
        let shown = verdicts.map(|verdict| {
            let one = Experiment { verdict, ..penalty() };
            let bench = Bench { experiments: vec![one; several], ..disk() };
            let text = plain(&table(&bench, &Look::default()));
            let word =
                if verdict == CostVerdict::Inconclusive { "no-verdict" } else { verdict.word() };
            assert!(text.to_lowercase().contains(&word.replace('-', " ")), "{text}");
            text
        });
        let different: std::collections::HashSet<&String> = shown.iter().collect();
        assert_eq!(different.len(), verdicts.len());
    }
}

#[test]
fn a_result_of_which_nothing_is_known_says_so() {
    let look = Look { explain: true, ..Look::default() };
    let bench = unknown();
    let found = plain(&table(&bench, &look));
    same(
        &format!("\n{found}"),
        r#"
  drive  granule not known
  run  straddle 0.1.0  kernel not known  host web-3  started not known  took 2.10 s  seed 7
                                                                      0 pairs, 0 ns, nothing written
                 aligned   shifted 512 B
  median         -         -
  pair by pair   ratio -, interval not known yet
  control        ratio -, not known yet
  method  each observation is one operation  0 pairs left out as warm-up
  drive  the drive's counters are not known
No verdict.
"#,
    );
    same(&picture(&bench.experiments[0], &look), "");
}
