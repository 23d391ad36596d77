//! `cargo xtask bench watch`: the cost of `straddle watch` for the load that it watches.
//!
//! In each round the same loads run unwatched, unwatched again, watched, watched without pauses,
//! and watched for a process that does nothing, in an order that is drawn. Differences and ratios
//! are taken within a round.
//! `docs/benchmark.md` says what is compared.

mod load;
mod memory_disk;
mod paired_change;
mod running_watch;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use units::random::Random;

use self::load::LoadFigures;
use self::memory_disk::MemoryDisk;
use self::paired_change::PairedChange;
use self::running_watch::{RunningWatch, WatchAnswer};
use super::goals::WATCH_NS_MOST;
use super::ratio::Spread;
use super::rounds::rounds;
use super::tools;
use crate::cargo;
use crate::options::Options;

/// The granule that the watch is given, and what the load's writes of 4 KiB then are.
const CASES: [(&str, &str); 2] = [
    ("granule=4K", "granule 4 KiB: every write fits"),
    ("granule=16K", "granule 16 KiB: every write is off it"),
];

/// Those who take part: names, and the arguments of the watch.
const ARMS: [(&str, Option<&[&str]>); 5] = [
    ("unwatched", None),
    ("unwatched again", None),
    ("watch", Some(&[])),
    ("watch --exact", Some(&["--exact"])),
    ("watch --pid 1", Some(&["--pid", "1"])),
];

/// Runs the benchmark as `words` say, by these chores built for release. Always `true`: a missed
/// target is said, and is no failure.
///
/// # Errors
/// When something cannot be built or run.
pub(super) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let options = Options::parse(words, &["--rounds", "--milliseconds", "--program"])?;
    let rounds = options.count("--rounds", 10)?;
    let milliseconds = options.count("--milliseconds", 1000)?;
    let program = cargo::program(&options)?;
    let mut contest = Command::new(cargo::released(&["xtask"])?.join("xtask"));
    contest.arg("watched").arg(program).args([rounds, milliseconds].map(|it| it.to_string()));
    Ok(contest.status().context("cannot start what was built")?.success())
}

/// Measures `program` in so many rounds, with `milliseconds` for each load, and prints what it
/// finds. Always `true`.
///
/// # Errors
/// When a disk cannot be made, or a load or a watch fails.
pub(crate) fn measure(program: &Path, rounds: u64, milliseconds: u64) -> anyhow::Result<bool> {
    anyhow::ensure!(host::is_root(), "cannot make disks and count the kernel's events: not root");
    tools::print_load();
    println!(
        "{rounds} rounds; random direct writes of 4 KiB of zeros, {milliseconds} ms one by one, \
         then {milliseconds} ms with 32 in flight (io_uring)"
    );
    let mut random = testkit::random(1);
    let time = Duration::from_millis(milliseconds);
    for disk in MemoryDisk::all()? {
        // A place that was never written costs more.
        load::fill(disk.node())?;
        for (granule, title) in CASES {
            println!("\n{}, {title}", disk.kind());
            let contest = WatchContest { program, node: disk.node(), granule, time };
            contest.run(rounds, &mut random)?;
        }
    }
    Ok(true)
}

/// One load on one disk, and those who watch it.
struct WatchContest<'a> {
    program: &'a Path,
    node: &'a Path,
    granule: &'a str,
    time: Duration,
}

/// Figures of an arm in one round.
#[derive(Clone, Copy, Debug, Default)]
struct ArmFigures {
    load: LoadFigures,
    answer: Option<WatchAnswer>,
}

impl WatchContest<'_> {
    fn run(&self, count: u64, random: &mut Random) -> anyhow::Result<()> {
        let mut places = Random::new(random.next_u64());
        let arms: [Vec<ArmFigures>; ARMS.len()] =
            rounds(count, random, |place| self.once(ARMS[place].1, &mut places))?;
        println!(
            "  {:<16} {:>22}  {:<27} {:>10}  ratio of IOPS (95 %)",
            "", "ns of CPU an I/O", "more than unwatched (95 %)", "IOPS"
        );
        for ((name, _), figures) in ARMS.iter().zip(&arms) {
            println!("  {}", row(name, &arms[0], figures));
        }
        for ((name, _), figures) in ARMS.iter().zip(&arms).filter(|((_, watch), _)| watch.is_some())
        {
            println!("  {name}: {}", answers(figures));
        }
        let added = added_ns(&arms[0], &arms[2]);
        println!("  watch, at most {WATCH_NS_MOST} ns of CPU an I/O: {}", verdict(&added));
        let (ratio, control) = (iops_ratio(&arms[0], &arms[2]), iops_ratio(&arms[0], &arms[1]));
        println!("  watch, no fewer IOPS beyond noise: {}", loss(&ratio, &control));
        Ok(())
    }

    fn once(&self, arguments: Option<&[&str]>, random: &mut Random) -> anyhow::Result<ArmFigures> {
        let watch = match arguments {
            None => None,
            Some(more) => {
                let arguments = [&["--on", self.granule][..], more].concat();
                Some(RunningWatch::start(self.program, self.node, &arguments)?)
            }
        };
        let load = load::run(self.node, self.time, random)?;
        let answer = watch.map(RunningWatch::end).transpose()?;
        Ok(ArmFigures { load, answer })
    }
}

fn row(name: &str, unwatched: &[ArmFigures], figures: &[ArmFigures]) -> String {
    let cpu = Spread::of(&all(figures, |load| load.cpu_ns));
    let iops = Spread::of(&all(figures, |load| load.iops)).median();
    let head = format!("{name:<16} {:>22}", cpu.to_string());
    if std::ptr::eq(unwatched, figures) {
        return format!("{head}  {:<27} {iops:>10.0}", "");
    }
    let (added, ratio) = (added_ns(unwatched, figures), iops_ratio(unwatched, figures));
    let PairedChange { median, low, high } = added;
    let added = format!("{median:+.0} ({low:+.0} to {high:+.0})");
    let PairedChange { median, low, high } = ratio;
    format!("{head}  {added:<27} {iops:>10.0}  {median:.3} ({low:.3} to {high:.3})")
}

/// Sums of the watch's answers over all rounds, in a sentence.
fn answers(figures: &[ArmFigures]) -> String {
    let sum = |value: fn(WatchAnswer) -> u64| -> u64 {
        figures.iter().filter_map(|one| one.answer).map(value).sum()
    };
    let writes: u64 = figures.iter().map(|one| one.load.writes).sum();
    let memory = figures.iter().filter_map(|one| one.answer).map(|answer| answer.memory_kib).max();
    format!(
        "{} of {} counted writes are off the granule, of {writes} that were made; lost {}; {} \
         sampled, {} more found no room; {:.1} MiB of memory at most",
        sum(|answer| answer.off_writes),
        sum(|answer| answer.counted_writes),
        sum(|answer| answer.counts_lost),
        sum(|answer| answer.sampled),
        sum(|answer| answer.sample_lost),
        memory.unwrap_or(0) as f64 / 1024.0,
    )
}

fn added_ns(unwatched: &[ArmFigures], figures: &[ArmFigures]) -> PairedChange {
    let [before, after] = [unwatched, figures].map(|figures| all(figures, |load| load.cpu_ns));
    PairedChange::of(&before, &after, |before, after| after - before)
}

fn iops_ratio(unwatched: &[ArmFigures], figures: &[ArmFigures]) -> PairedChange {
    let [before, after] = [unwatched, figures].map(|figures| all(figures, |load| load.iops));
    PairedChange::of(&before, &after, |before, after| after / before)
}

fn all(figures: &[ArmFigures], value: fn(&LoadFigures) -> f64) -> Vec<f64> {
    figures.iter().map(|one| value(&one.load)).collect()
}

/// The verdict on the processor's time, in a word or two.
fn verdict(added: &PairedChange) -> &'static str {
    match () {
        () if added.high <= WATCH_NS_MOST => "met",
        () if added.low > WATCH_NS_MOST => "missed",
        () => "cannot tell yet: the interval includes the limit",
    }
}

/// The verdict on IOPS: what two unwatched runs differ by is noise.
fn loss(ratio: &PairedChange, control: &PairedChange) -> String {
    let noise = control.low.min(1.0);
    let percent = |ratio: f64| (1.0 - ratio) * 100.0;
    match () {
        () if ratio.high >= 1.0 => "met: no loss detected".to_owned(),
        () if ratio.high >= noise => {
            "cannot tell: fewer, but unwatched runs differ as much".to_owned()
        }
        () => format!(
            "missed: {:.1} % fewer ({:.1} to {:.1} %)",
            percent(ratio.median),
            percent(ratio.high),
            percent(ratio.low)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(low: f64, median: f64, high: f64) -> PairedChange {
        PairedChange { median, low, high }
    }

    #[test]
    fn the_limit_is_met_or_missed_only_by_the_whole_interval() {
        assert_eq!(verdict(&change(100.0, 150.0, 200.0)), "met");
        assert_eq!(verdict(&change(201.0, 250.0, 300.0)), "missed");
        assert!(verdict(&change(100.0, 150.0, 300.0)).starts_with("cannot tell"));
        assert!(verdict(&change(f64::NEG_INFINITY, 0.0, f64::INFINITY)).starts_with("cannot"));
    }

    #[test]
    fn fewer_iops_count_only_beyond_what_two_unwatched_runs_differ_by() {
        let control = change(0.97, 1.0, 1.02);
        assert!(loss(&change(0.9, 0.98, 1.01), &control).starts_with("met"));
        assert!(loss(&change(0.9, 0.95, 0.98), &control).starts_with("cannot tell"));
        let missed = loss(&change(0.8, 0.9, 0.95), &control);
        assert_eq!(missed, "missed: 10.0 % fewer (5.0 to 20.0 %)");
        assert!(loss(&change(0.9, 0.95, 0.995), &change(1.01, 1.02, 1.03)).starts_with("missed"));
    }

    #[test]
    fn answers_are_added_up_over_rounds() {
        let answer = WatchAnswer {
            off_writes: 10,
            counted_writes: 11,
            sampled: 4,
            sample_lost: 2,
            memory_kib: 5120,
            ..WatchAnswer::default()
        };
        let load = LoadFigures { writes: 12, ..LoadFigures::default() };
        let both = [ArmFigures { load, answer: Some(answer) }; 2];
        let expected = "20 of 22 counted writes are off the granule, of 24 that were made; lost \
                        0; 8 sampled, 4 more found no room; 5.0 MiB of memory at most";
        assert_eq!(answers(&both), expected);
    }
}
