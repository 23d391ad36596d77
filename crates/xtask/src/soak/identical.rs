//! `cargo xtask soak bench`: `straddle bench` on identical arms of this machine's disk, many times:
//! whatever it finds is not there.
//!
//! It fails when more than 2 % of the runs end in penalty or small, or when fewer than 75 % end in
//! no penalty and the drive was not too noisy for the rest; [`super::noise`] holds the criterion.

use report::bench::Experiment;

use super::options::{Options, Place};
use super::straddle::{self, Run};
use super::tally::{Tally, VERDICTS};
use super::{noise, spread};
use crate::bench;

/// The least number of runs of which the shares mean what they say.
const RUNS_FULL: u64 = 200;

/// Runs it; whether the promises hold.
///
/// # Errors
/// When straddle cannot be built or run.
pub(super) fn run(options: &Options) -> anyhow::Result<bool> {
    let place = options.place()?;
    let count = options.runs.unwrap_or(RUNS_FULL);
    bench::print_load();
    let runs = runs(&place, options.seed(), count)?;
    let mut tally = Tally::default();
    for run in &runs {
        let experiment = run.experiment();
        tally.add(&experiment.verdict, noise::is_too_noisy(experiment));
    }
    print_tally(&tally);
    print_spreads(&runs);
    let finding = tally.finding();
    for miss in &finding.misses {
        println!("MISSED: {miss}");
    }
    if let Some(excuse) = &finding.excuse {
        println!("the drive is too noisy: {excuse}");
    }
    if count < RUNS_FULL && !finding.misses.is_empty() {
        println!("with fewer than {RUNS_FULL} runs a bound may be missed by chance alone");
    }
    println!("soak bench: {count} runs, {} bounds missed", finding.misses.len());
    Ok(finding.misses.is_empty())
}

/// All runs, each printed when it ends.
fn runs(place: &Place, seed: u64, count: u64) -> anyhow::Result<Vec<Run>> {
    let mut runs = Vec::new();
    for number in 0..count {
        let seed = seed.wrapping_add(number);
        let run = place.bench(seed, &["--shift", "0"])?;
        if number == 0 {
            print_head(&run);
        }
        print_run(seed, &run);
        runs.push(run);
    }
    Ok(runs)
}

fn print_head(run: &Run) {
    println!("{}", run.title());
    println!(
        "identical arms, {}\n\
         control: half of its interval's width, aligned again against aligned\n\
         spread: the interquartile range of aligned over its median, of the pair in the middle\n\n\
         {:>6} {:<12} {:>6} {:<16} {:>6} {:>6} {:>7} {:>7}   aligned, regime by regime",
        run.experiment().title,
        "seed",
        "verdict",
        "ratio",
        "95 % interval",
        "pairs",
        "s",
        "control",
        "spread",
    );
}

fn print_run(seed: u64, run: &Run) {
    let experiment = run.experiment();
    let judged = straddle::judged(experiment);
    let control = noise::control_half_width(experiment);
    println!(
        "{seed:>6} {:<12} {:>6} {:<16} {:>6} {:>6.2} {:>7} {:>7}   {}",
        experiment.verdict,
        straddle::ratio(judged),
        straddle::interval(judged),
        experiment.pairs,
        run.seconds,
        control.map_or("-".to_owned(), |width| format!("{:.1} %", width * 100.0)),
        format!("{:.0} %", spread_of(experiment) * 100.0),
        run.regimes(),
    );
    if experiment.verdict != "no-penalty" {
        let noisy =
            if noise::is_too_noisy(experiment) { " (too noisy by its own spread)" } else { "" };
        println!("       {}{noisy}", experiment.reason);
    }
}

fn spread_of(experiment: &Experiment) -> f64 {
    noise::spread(&experiment.regimes, experiment.pairs)
}

fn print_tally(tally: &Tally) {
    let counts: Vec<String> =
        VERDICTS.iter().map(|verdict| format!("{verdict} {}", tally.count(verdict))).collect();
    println!("\nof {} runs: {}", tally.runs, counts.join(", "));
    println!("inconclusive and too noisy by their own spread: {}", tally.noisy);
}

fn print_spreads(runs: &[Run]) {
    let all = |value: &dyn Fn(&Run) -> Option<f64>| runs.iter().filter_map(value).collect();
    let count = |count: u64| u32::try_from(count).ok().map(f64::from);
    let control = |run: &Run| noise::control_half_width(run.experiment());
    let rows: [(&str, usize, Vec<f64>); 7] = [
        ("aligned median, us", 1, all(&|run| run.aligned_ns().map(us))),
        ("spread within a run, %", 0, all(&|run| Some(spread_of(run.experiment()) * 100.0))),
        ("control's half width, %", 1, all(&|run| control(run).map(|width| width * 100.0))),
        ("ratio", 3, all(&|run| Some(straddle::judged(run.experiment())?.ratio))),
        ("pairs", 0, all(&|run| count(run.experiment().pairs))),
        ("seconds", 2, all(&|run| Some(run.seconds))),
        ("MiB written", 1, all(&|run| count(run.written_bytes >> 10).map(|kib| kib / 1024.0))),
    ];
    println!("\n{:<24} least, median, greatest over runs", "");
    for (name, digits, values) in rows {
        let known = values.into_iter().filter(|value| value.is_finite()).collect();
        println!("{name:<24} {}", spread::text(known, digits));
    }
    let regimes = || runs.iter().map(|run| &run.experiment().regimes);
    let medians: Vec<f64> = regimes().flatten().map(|regime| us(regime.median_ns)).collect();
    println!("{:<24} {}", "regimes, us", spread::text(medians, 1));
    println!(
        "{:<24} {} in {} runs; {} runs have more than one",
        "regimes seen",
        regimes().map(Vec::len).sum::<usize>(),
        runs.len(),
        regimes().filter(|regimes| regimes.len() > 1).count(),
    );
}

fn us(nanoseconds: u64) -> f64 {
    std::time::Duration::from_nanos(nanoseconds).as_secs_f64() * 1e6
}
