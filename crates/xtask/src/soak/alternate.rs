//! `cargo xtask soak alternate`: runs of the default alternated with runs on identical arms, in
//! couples of which a coin decides which is first.
//!
//! Runs of one kind must agree: two of their intervals that do not overlap are explained by a
//! change of regime that the runs printed ([`super::apart`]), or count as a failure. Every run must
//! take less than 5 s and write at most 256 MiB, and every shifted one must end in a verdict.

use super::apart::{Apart, Said, apart};
use super::options::Options;
use super::straddle::{self, Run};
use crate::bench;

/// What one run may take.
const SECONDS_BELOW: f64 = 5.0;
const BYTES_MAX: u64 = 256 << 20;
/// Words that are no verdict.
const NO_VERDICT: [&str; 2] = ["inconclusive", "void"];

/// The two kinds of runs: the options that make them, and how they are called.
const SHIFTED: Kind = Kind { name: "shifted", options: &[] };
const SAME: Kind = Kind { name: "identical", options: &["--shift", "0"] };

struct Kind {
    name: &'static str,
    options: &'static [&'static str],
}

/// Runs it; whether all agree and keep to their bounds.
///
/// # Errors
/// When straddle cannot be built or run.
pub(super) fn run(options: &Options) -> anyhow::Result<bool> {
    let place = options.place()?;
    let couples = options.runs.unwrap_or(10);
    bench::print_load();
    let mut coin = units::random::Random::new(options.seed());
    let (mut shifted, mut same, mut misses) = (Vec::new(), Vec::new(), Vec::new());
    for couple in 0..couples {
        let kinds = if coin.below(2) == 0 { [&SHIFTED, &SAME] } else { [&SAME, &SHIFTED] };
        for (kind, place_in_couple) in kinds.into_iter().zip(0..) {
            let number = couple * 2 + place_in_couple + 1;
            let seed = options.seed().wrapping_add(number - 1);
            let run = place.bench(seed, kind.options)?;
            if number == 1 {
                print_head(&run);
            }
            print_run(number, kind, seed, &run);
            misses.extend(broken(number, kind, &run));
            let all = if kind.name == SAME.name { &mut same } else { &mut shifted };
            all.extend(run.said(number));
        }
    }
    let unexplained = print_apart(SHIFTED.name, &shifted) + print_apart(SAME.name, &same);
    for miss in &misses {
        println!("MISSED: {miss}");
    }
    println!(
        "soak alternate: {couples} runs of each kind, {} bounds missed, {unexplained} pairs of \
         intervals apart without a change of regime",
        misses.len()
    );
    Ok(misses.is_empty() && unexplained == 0)
}

/// What a run took or left open that it must not.
fn broken(number: u64, kind: &Kind, run: &Run) -> Vec<String> {
    let verdict = &run.experiment().verdict;
    let open = kind.name == SHIFTED.name && NO_VERDICT.contains(&verdict.as_str());
    let mut misses = over(number, run.seconds, run.written_bytes);
    if open {
        misses.push(format!("run {number} ends {verdict}: {}", run.experiment().reason));
    }
    misses
}

/// Which bounds a run of so many seconds and bytes is over.
fn over(number: u64, seconds: f64, written_bytes: u64) -> Vec<String> {
    let mut misses = Vec::new();
    if seconds >= SECONDS_BELOW {
        misses.push(format!("run {number} took {seconds:.2} s, not less than {SECONDS_BELOW} s"));
    }
    if written_bytes > BYTES_MAX {
        misses.push(format!("run {number} wrote {written_bytes} bytes, more than {BYTES_MAX}"));
    }
    misses
}

fn print_head(run: &Run) {
    println!("{}", run.title());
    println!(
        "{}; MiB: what the kernel counted, the scratch file included\n\n{:>4} {:<10} {:>5} {:<12} \
         {:>6} {:<16} {:>6} {:>6} {:>7}   aligned, regime by regime",
        run.experiment().title,
        "run",
        "arms",
        "seed",
        "verdict",
        "ratio",
        "95 % interval",
        "pairs",
        "s",
        "MiB",
    );
}

fn print_run(number: u64, kind: &Kind, seed: u64, run: &Run) {
    let experiment = run.experiment();
    let judged = straddle::judged(experiment);
    println!(
        "{number:>4} {:<10} {seed:>5} {:<12} {:>6} {:<16} {:>6} {:>6.2} {:>7}   {}",
        kind.name,
        experiment.verdict,
        straddle::ratio(judged),
        straddle::interval(judged),
        experiment.pairs,
        run.seconds,
        run.written_bytes.div_ceil(1 << 20),
        run.regimes(),
    );
}

/// Prints the pairs of one kind that are apart; how many of them nothing explains.
fn print_apart(kind: &str, said: &[Said]) -> usize {
    let found = apart(said);
    println!(
        "\n{kind}: of {} pairs of intervals {} do not overlap",
        (said.len() * said.len().saturating_sub(1)).div_euclid(2),
        found.len()
    );
    for Apart { runs: (one, other), change } in &found {
        let change = change.as_deref().unwrap_or("UNEXPLAINED: no change of regime was printed");
        println!("  runs {one} and {other}: {change}");
    }
    found.iter().filter(|apart| apart.change.is_none()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_seconds_are_too_many_and_256_mib_are_not() {
        assert!(over(1, 4.99, BYTES_MAX).is_empty());
        assert_eq!(over(7, 5.0, 0), ["run 7 took 5.00 s, not less than 5 s"]);
        assert_eq!(over(7, 1.0, BYTES_MAX + 1).len(), 1);
    }

    #[test]
    fn only_what_no_change_of_regime_explains_counts() {
        let said = |run, low, median_ns| Said {
            run,
            low,
            high: low + 0.1,
            median_ns,
            regimes_ns: vec![median_ns],
        };
        let all = [said(1, 1.0, 100), said(2, 2.0, 100), said(3, 3.0, 300)];
        assert_eq!(print_apart("shifted", &all), 1);
    }
}
