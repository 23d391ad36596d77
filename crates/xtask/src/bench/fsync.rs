//! `cargo xtask bench fsync`: the rows of `straddle fsync` beside those of the real
//! `pg_test_fsync`, in the same directory.
//!
//! Each round runs both, in an order that chance decides. For each row it takes the ratio of the
//! mean times, straddle's over the other's; over the rounds that gives a geometric mean with
//! Student's interval. A row whose interval is wider than [`NOISY`] says nothing and is listed.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use serde_json::Value;

use super::rounds::rounds;
use super::tools;
use crate::cargo;
use crate::options::{DIRECTORY, Options};

/// Between which bounds the ratio of means should be.
const WANTED: (f64, f64) = (0.9, 1.1);
/// A row is too noisy whose interval's ends are more than this far apart, as a ratio.
const NOISY: f64 = 1.5;
/// Student's t for 95 % of both sides, by degrees of freedom from 1 on; beyond them that of 30.
/// Source: any table of it, such as NIST/SEMATECH e-Handbook 1.3.6.7.2.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// A row of either program: its label, and the mean time of an operation in microseconds.
type Row = (String, Option<f64>);

/// Runs the benchmark as `words` say and prints what it finds. Always `true`: a missed target is
/// said, and is no failure.
///
/// # Errors
/// When something cannot be built or run.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let options = Options::parse(words, &[DIRECTORY, "--rounds", "--seconds", "--program"])?;
    // An interval needs two rounds.
    let count = options.count("--rounds", 10)?.max(2);
    let seconds = options.count("--seconds", 16)?;
    let program = cargo::program(&options)?;
    let here = std::env::current_exe()?;
    let beside = here.parent().context("this program lies in a directory")?;
    let directory = options.path(DIRECTORY)?.unwrap_or_else(|| beside.to_owned());
    let room = tempfile::Builder::new().prefix("bench-").tempdir_in(directory);
    let room = room.context("cannot make a directory to measure in")?;
    tools::print_load();
    let mut ran = 0;
    let [ours, theirs] = rounds(count, &mut testkit::random(1), |place| {
        ran += 1;
        if ran % 2 == 1 {
            println!("round {} of {count}", ran / 2 + 1);
        }
        match place {
            0 => straddles(&program, room.path(), seconds),
            _ => postgresqls(room.path()),
        }
    })?;
    print(&compared(&ours, &theirs)?, count);
    Ok(true)
}

/// Returns what `straddle fsync` says.
fn straddles(program: &Path, room: &Path, seconds: u64) -> anyhow::Result<Vec<Row>> {
    let mut command = Command::new(program);
    command.args(["fsync", "--rows", "pg", "--bytes-max", "64G", "--json", "--seconds"]);
    command.arg(seconds.to_string()).arg(room);
    let document: Value = serde_json::from_str(&tools::answer(&mut command)?)?;
    let rows = document["rows"].as_array().context("it has no rows")?;
    let row = |row: &Value| {
        let label = row["label"].as_str().unwrap_or_default();
        (squeezed(label), row["mean_ns"].as_f64().map(|ns| ns / 1e3))
    };
    Ok(rows.iter().map(row).collect())
}

/// Returns what `pg_test_fsync` says, a second for each row.
fn postgresqls(room: &Path) -> anyhow::Result<Vec<Row>> {
    let mut command = Command::new(tools::find("pg_test_fsync")?);
    command.args(["-s", "1", "-f"]).arg(room.join("pg_test_fsync.out"));
    Ok(rows_of(&tools::answer(command.env("LC_ALL", "C"))?))
}

/// The rows of its answer: eight blanks, a label of 30 columns, then figures or `n/a`.
fn rows_of(answer: &str) -> Vec<Row> {
    let row = |line: &str| {
        let rest = line.strip_prefix("        ").filter(|rest| rest.len() > 30)?;
        let (label, figures) = rest.split_at_checked(30)?;
        let words: Vec<&str> = figures.split_whitespace().collect();
        match words[..] {
            ["n/a" | "n/a*"] => Some((squeezed(label), None)),
            [rate, "ops/sec", _, "usecs/op"] => {
                let rate: f64 = rate.parse().ok()?;
                Some((squeezed(label), (rate > 0.0).then(|| 1e6 / rate)))
            }
            _ => None,
        }
    };
    answer.lines().filter_map(row).collect()
}

/// A label with single blanks.
fn squeezed(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A row over all rounds.
struct BenchedRow {
    label: String,
    /// The last means, to give an idea: straddle's and the other's, in microseconds.
    means: (f64, f64),
    /// The ratio with its interval; `None` where either has no figure.
    ratio: Option<(f64, f64, f64)>,
}

fn compared(ours: &[Vec<Row>], theirs: &[Vec<Row>]) -> anyhow::Result<Vec<BenchedRow>> {
    let count = ours.first().map_or(0, Vec::len);
    let mut all = Vec::new();
    for number in 0..count {
        let (mut logs, mut means, mut label) = (Vec::new(), (f64::NAN, f64::NAN), String::new());
        for (one, other) in ours.iter().zip(theirs) {
            let pair = one.get(number).zip(other.get(number));
            let ((own, took), (named, took_there)) = pair.context("the rows are not the same")?;
            anyhow::ensure!(own == named, "{own} is not {named}");
            label.clone_from(own);
            if let (Some(one), Some(other)) = (took, took_there) {
                logs.push((one / other).ln());
                means = (*one, *other);
            }
        }
        all.push(BenchedRow { label, means, ratio: interval(&logs) });
    }
    Ok(all)
}

/// The geometric mean of ratios, given by their logarithms, with Student's interval of 95 %.
fn interval(logs: &[f64]) -> Option<(f64, f64, f64)> {
    if logs.len() < 2 {
        return None;
    }
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let squares: f64 = logs.iter().map(|log| (log - mean) * (log - mean)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    let half = STUDENT[(logs.len() - 2).min(STUDENT.len() - 1)] * error;
    Some((mean.exp(), (mean - half).exp(), (mean + half).exp()))
}

fn print(rows: &[BenchedRow], rounds: u64) {
    println!("mean time of an operation, straddle's over pg_test_fsync's, {rounds} rounds");
    println!("{:<28} {:>10} {:>10}   ratio   95 % interval", "row", "usecs/op", "usecs/op");
    let (mut missed, mut noisy) = (Vec::new(), Vec::new());
    for BenchedRow { label, means, ratio } in rows {
        let Some((ratio, low, high)) = *ratio else {
            println!("{label:<28} {:>10} {:>10}", "n/a", "n/a");
            continue;
        };
        let (one, other) = means;
        let word = match () {
            () if high / low > NOISY => {
                noisy.push(label.as_str());
                "too noisy"
            }
            () if high < WANTED.0 || low > WANTED.1 => {
                missed.push(label.as_str());
                "differs"
            }
            () => "overlaps",
        };
        println!(
            "{label:<28} {one:>10.1} {other:>10.1}   {ratio:.3}   {low:.3} to {high:.3}  {word}"
        );
    }
    println!("outside {} to {}: {}", WANTED.0, WANTED.1, listed(&missed));
    println!("too noisy (ends more than {NOISY} times apart): {}", listed(&noisy));
}

fn listed(labels: &[&str]) -> String {
    if labels.is_empty() { "none".to_owned() } else { labels.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_an_answer_are_read_by_label_and_figures() {
        let answer = "1 second per test\n\
            \x20       open_datasync                      8268.066 ops/sec     121 usecs/op\n\
            \x20       fsync_writethrough                              n/a\n\
            \x20        2 *  8kB open_sync writes         4000.000 ops/sec     250 usecs/op\n";
        let rows = rows_of(answer);
        assert_eq!(rows[1], ("fsync_writethrough".to_owned(), None));
        assert_eq!(rows[2], ("2 * 8kB open_sync writes".to_owned(), Some(250.0)));
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn the_interval_is_students() {
        // Logarithms 0 and ln 4: mean ln 2, standard error ln 2, t = 12.706.
        let (ratio, low, high) = interval(&[0.0, 4.0_f64.ln()]).unwrap();
        assert!((ratio - 2.0).abs() < 1e-9);
        let half = 12.706 * 2.0_f64.ln();
        assert!((high.ln() - (2.0_f64.ln() + half)).abs() < 1e-9 && low < 1.0);
        assert_eq!(interval(&[0.0]), None);
    }
}
