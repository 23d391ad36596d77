//! `cargo xtask soak recipe`: what the articles did, with its spread: fio for some seconds aligned,
//! then for some seconds shifted, and the one number divided by the other; beside `straddle bench`
//! at the same moment.
//!
//! The same recipe with identical arms, offset 0 twice, shows how much of its ratio is the drive's
//! change of pace. The order within a recipe is fixed, as it was in the articles; the order of the
//! four parts of a run is drawn.

use super::fio::{Arm, Ground, SHIFT_BYTES};
use super::options::{Options, Place};
use super::spread;
use super::straddle::{self, Run};
use crate::bench;

/// What one part of a run is: fio's recipe or straddle, on shifted or on identical arms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Recipe { offset_bytes: u64 },
    Straddle { is_shifted: bool },
}

/// The parts of a run, in the order of the table's columns.
const PARTS: [Part; 4] = [
    Part::Recipe { offset_bytes: SHIFT_BYTES },
    Part::Recipe { offset_bytes: 0 },
    Part::Straddle { is_shifted: true },
    Part::Straddle { is_shifted: false },
];

/// What one part came to: how many times as long the second arm takes.
struct Outcome {
    ratio: f64,
    /// The same by mean latencies; fio's only.
    by_latency: Option<f64>,
    /// The interval, or what fio's arms were.
    words: String,
}

/// Runs it; always `true`, for nothing is promised of the recipe.
///
/// # Errors
/// When straddle cannot be built, or something cannot be run.
pub(super) fn run(options: &Options) -> anyhow::Result<bool> {
    let place = options.place()?;
    let (runs, seconds) = (options.runs.unwrap_or(10), options.seconds.unwrap_or(5));
    bench::print_load();
    let ground = Ground::new(&place.directory, options.seed())?;
    let mut random = units::random::Random::new(options.seed());
    let mut columns: [Vec<Outcome>; 4] = Default::default();
    print_head(seconds);
    for number in 0..runs {
        let mut outcomes: [Option<Outcome>; 4] = Default::default();
        for column in bench::shuffled(PARTS.len(), |bound| random.below(bound)) {
            let seed = options.seed().wrapping_add(number);
            outcomes[column] = Some(part(&place, &ground, PARTS[column], seconds, seed)?);
        }
        let words: Vec<String> = outcomes.iter().flatten().map(Outcome::cell).collect();
        println!("{:>4} {}", number + 1, words.join(" "));
        for (column, outcome) in columns.iter_mut().zip(outcomes) {
            column.extend(outcome);
        }
    }
    print_spreads(&columns);
    Ok(true)
}

fn part(
    place: &Place,
    ground: &Ground,
    part: Part,
    seconds: u64,
    seed: u64,
) -> anyhow::Result<Outcome> {
    match part {
        Part::Recipe { offset_bytes } => {
            let aligned = ground.arm(0, seconds)?;
            Ok(recipe(&aligned, &ground.arm(offset_bytes, seconds)?))
        }
        Part::Straddle { is_shifted } => {
            let shift = if is_shifted { SHIFT_BYTES } else { 0 };
            Ok(paired(&place.bench(seed, &["--shift", &shift.to_string()])?))
        }
    }
}

/// The recipe's answer: writes a second of the first arm over those of the second.
fn recipe(aligned: &Arm, other: &Arm) -> Outcome {
    Outcome {
        ratio: aligned.iops / other.iops,
        by_latency: Some(other.latency_us / aligned.latency_us),
        words: format!("{:.0} and {:.0} us", aligned.latency_us, other.latency_us),
    }
}

fn paired(run: &Run) -> Outcome {
    let judged = straddle::judged(run.experiment());
    let ratio = judged.map_or(f64::NAN, |comparison| comparison.ratio);
    Outcome { ratio, by_latency: None, words: straddle::interval(judged) }
}

impl Outcome {
    fn cell(&self) -> String {
        format!("{:>6.3} {:<20}", self.ratio, self.words)
    }
}

fn print_head(seconds: u64) {
    println!(
        "4 KiB write + fdatasync, O_DIRECT, sequential, psync; ratio: how many times as long the \
         second arm takes\n\
         fio: {seconds} s aligned, then {seconds} s shifted by {SHIFT_BYTES} bytes or aligned \
         again; by writes a second, and the mean latencies of write + fdatasync\n\
         straddle: straddle bench, with its 95 % interval\n\n\
         {:>4} {:<27} {:<27} {:<27} {:<27}",
        "run", "fio, shifted", "fio, identical", "straddle, shifted", "straddle, identical",
    );
}

fn print_spreads(columns: &[Vec<Outcome>; 4]) {
    let names = ["fio, shifted", "fio, identical", "straddle, shifted", "straddle, identical"];
    println!("\n{:<38} least, median, greatest ratio", "");
    for (name, column) in names.iter().zip(columns) {
        let ratios = column.iter().map(|outcome| outcome.ratio);
        let known = ratios.filter(|ratio| ratio.is_finite()).collect();
        println!("{name:<38} {}", spread::text(known, 3));
        let latencies: Vec<f64> = column.iter().filter_map(|outcome| outcome.by_latency).collect();
        if !latencies.is_empty() {
            println!("{:<38} {}", format!("{name}, by mean latency"), spread::text(latencies, 3));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_arm_with_half_the_writes_a_second_takes_twice_as_long() {
        let arm = |iops, latency_us| Arm { iops, latency_us };
        let outcome = recipe(&arm(1000.0, 990.0), &arm(500.0, 1980.0));
        assert!((outcome.ratio - 2.0).abs() < 1e-9);
        assert!(outcome.by_latency.is_some_and(|ratio| (ratio - 2.0).abs() < 1e-9));
        assert_eq!(outcome.cell(), " 2.000 990 and 1980 us     ");
    }
}
