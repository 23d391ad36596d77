//! The measurements themselves: straddle against the bare program, against the tools, and its
//! memory.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use units::random::Random;

use super::goals::{BARE_TARGET, TOOLS_TARGET};
use super::images::Images;
use super::memory::{self, Peak};
use super::ratio::{self, Ratios};
use super::{bare_program, tools, trace};

/// Longest time of a round of the tools; if all images take longer, fewer are looked at.
const ROUND_SECONDS_MAX: f64 = 60.0;
/// Number of images that tell how long a round takes.
const TRIED: usize = 50;

const FORMATS: [&str; 3] = ["jsonl", "table", "json"];
const TARGETS: [u64; 3] = [100, 1000, 4000];

/// Runs of straddle beside the tools: the format, whether each image is named, whether on one
/// processor.
const AGAINST_TOOLS: [(&str, bool, bool); 6] = [
    ("jsonl", false, false),
    ("jsonl", true, false),
    ("jsonl", false, true),
    ("jsonl", true, true),
    ("table", false, false),
    ("table", true, false),
];

/// The programs that run, and the images.
pub(super) struct Contest<'a> {
    pub(super) program: PathBuf,
    /// These chores, built for release: their `bare` is the bare program.
    pub(super) bare: PathBuf,
    /// A directory for what comes and goes.
    pub(super) room: &'a Path,
    /// The directory that holds the images and nothing else.
    pub(super) directory: PathBuf,
    pub(super) images: Images,
}

impl Contest<'_> {
    /// Records what straddle reads, and prints how much longer it takes than reading only that.
    ///
    /// # Errors
    /// When something cannot be run.
    pub(super) fn against_bare(&self, pairs: u64, random: &mut Random) -> anyhow::Result<()> {
        let list = self.record()?;
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        println!("A / C: straddle's time over the bare program's, which is single-threaded");
        for pinned in [false, true] {
            if pinned && !self.can_pin() {
                println!("  on one processor: not measured, taskset is missing or not allowed");
                continue;
            }
            let on = if pinned { "on one processor".to_owned() } else { format!("on {cpus}") };
            for format in FORMATS {
                let ratios = ratio::pairs(
                    pairs,
                    random,
                    || tools::timed(&mut self.straddle(format, pinned)?),
                    || tools::timed(&mut self.bare(&list, pinned)?),
                )?;
                print_ratio(&format!("{on}, {format}: N times the bare program"), &ratios);
                // The target is for the program as it runs, on all processors.
                if format == FORMATS[0] && !pinned {
                    let goal = format!("target: at most {BARE_TARGET}");
                    print_target(&goal, ratios.median() <= f64::from(BARE_TARGET));
                }
            }
        }
        let output = tools::output(&mut self.bare(&list, false)?)?;
        let list_ns: u64 = String::from_utf8(output.stdout)?.trim().parse()?;
        println!(
            "  reading its own list took the bare program {}",
            ms(Duration::from_nanos(list_ns))
        );
        Ok(())
    }

    /// Writes down which bytes straddle reads; the file that says so.
    fn record(&self) -> anyhow::Result<PathBuf> {
        let arguments = ["check", "--format", FORMATS[0], tools::text(&self.directory)?];
        let spare = self.room.join("trace");
        let plans = trace::reads(&self.program, &arguments, &self.directory, &spare)?;
        std::fs::remove_dir_all(&spare)?;
        anyhow::ensure!(
            plans.len() == self.images.paths.len(),
            "the trace shows {} opened files instead of {}",
            plans.len(),
            self.images.paths.len()
        );
        let ranges = || plans.iter().flat_map(|plan| &plan.ranges);
        let bytes: usize = ranges().map(|range| range.length_bytes).sum();
        println!(
            "straddle opens {} files and reads {} times, {} KiB in all; C, the bare program, opens \
             the same files and reads the same bytes, and B runs sfdisk and blkid",
            plans.len(),
            ranges().count(),
            bytes >> 10
        );
        let list = self.room.join("list");
        std::fs::write(&list, bare_program::list(&plans))?;
        Ok(list)
    }

    /// Prints how much longer than straddle the tools take, which are run once for each image and
    /// once for each partition. `order` are the images' numbers; a sample takes the first of them.
    ///
    /// # Errors
    /// When something cannot be run.
    pub(super) fn against_tools(
        &self,
        rounds: u64,
        order: &[usize],
        random: &mut Random,
    ) -> anyhow::Result<()> {
        println!("B / A: the tools' time over straddle's");
        let tried = &order[..order.len().min(TRIED)];
        // The second time is that of a warm cache.
        self.images.look(tried)?;
        let seconds = self.images.look(tried)?.as_secs_f64();
        let sample = &order[..sample(tried.len(), seconds, order.len())];
        let scale = order.len() as f64 / sample.len() as f64;
        if sample.len() < order.len() {
            let (some, all) = (sample.len(), order.len());
            println!("  the tools look at {some} images of {all}, and their time is scaled to all");
        }
        self.images.look(sample)?;
        for (format, named, pinned) in AGAINST_TOOLS {
            if pinned && !self.can_pin() {
                continue;
            }
            let ratios = ratio::pairs(
                rounds,
                random,
                || Ok(self.images.look(sample)?.mul_f64(scale)),
                || match named {
                    true => tools::timed(&mut self.straddle_named(format, pinned)?),
                    false => tools::timed(&mut self.straddle(format, pinned)?),
                },
            )?;
            let of = if named { "images named" } else { "directory" };
            let on = if pinned { ", straddle on one processor" } else { "" };
            print_ratio(&format!("{of}, {format}{on}: straddle is N times faster"), &ratios);
            println!("    pair by pair: {}", ratios.each());
            if format == FORMATS[0] {
                let goal = format!("target: at least {TOOLS_TARGET}");
                print_target(&goal, ratios.median() >= f64::from(TOOLS_TARGET));
            }
        }
        Ok(())
    }

    /// Prints straddle's peak of memory for some numbers of targets.
    ///
    /// # Errors
    /// When something cannot be run.
    pub(super) fn memory(&self) -> anyhow::Result<()> {
        println!("peak of resident memory");
        let mut directories = Vec::new();
        for targets in TARGETS {
            let directory = memory::links(self.room, &self.images.paths, targets)?;
            directories.push((targets, directory));
        }
        for format in FORMATS {
            let mut peaks = Vec::new();
            for (targets, directory) in &directories {
                let arguments = ["check", "--format", format, tools::text(directory)?];
                let peak_bytes = memory::peak_bytes(&self.program, &arguments, self.room)?;
                peaks.push(Peak { targets: *targets, peak_bytes });
            }
            let said: Vec<String> = peaks
                .iter()
                .map(|peak| format!("{} KiB for {} targets", peak.peak_bytes >> 10, peak.targets))
                .collect();
            let (early, late) =
                (memory::growth_bytes(&peaks[..2]), memory::growth_bytes(&peaks[1..]));
            println!("  {format}: {}", said.join(", "));
            println!("    each target more: {early:.0} bytes, then {late:.0} bytes");
        }
        Ok(())
    }

    fn straddle(&self, format: &str, pinned: bool) -> anyhow::Result<Command> {
        let mut command = command(&self.program, pinned)?;
        command.args(["check", "--format", format]).arg(&self.directory);
        Ok(command)
    }

    /// The same with each image named: where its own file lies is then looked at.
    fn straddle_named(&self, format: &str, pinned: bool) -> anyhow::Result<Command> {
        let mut command = command(&self.program, pinned)?;
        command.current_dir(&self.directory).args(["check", "--format", format, "--"]);
        command.args(self.images.paths.iter().filter_map(|path| path.file_name()));
        Ok(command)
    }

    fn bare(&self, list: &Path, pinned: bool) -> anyhow::Result<Command> {
        let mut command = command(&self.bare, pinned)?;
        command.arg("bare").arg(list);
        Ok(command)
    }

    /// Returns whether a program can be kept to one processor.
    fn can_pin(&self) -> bool {
        let run = || tools::output(command(&self.program, true)?.arg("--version"));
        run().is_ok_and(|output| output.status.success())
    }
}

/// The program at `path`, kept to the first processor where `pinned`.
fn command(path: &Path, pinned: bool) -> anyhow::Result<Command> {
    if !pinned {
        return Ok(Command::new(path));
    }
    let mut command = Command::new(tools::find("taskset")?);
    command.args(["--cpu-list", "0"]).arg(path);
    Ok(command)
}

/// Returns how many of `all` images can be looked at in a round, when `tried` of them take
/// `seconds`.
fn sample(tried: usize, seconds: f64, all: usize) -> usize {
    let fits = |count: &usize| *count as f64 * seconds <= ROUND_SECONDS_MAX * tried.max(1) as f64;
    (1..=all).rev().find(fits).unwrap_or(1)
}

fn print_ratio(what: &str, ratios: &Ratios) {
    let [first, second] = ratios.medians.map(ms);
    println!("  {}; {first} and {second}", what.replace("N times", &ratios.to_string()));
}

fn print_target(goal: &str, met: bool) {
    println!("    {goal}: {}", if met { "met" } else { "MISSED" });
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_would_take_too_long_looks_at_fewer_images() {
        assert_eq!(sample(50, 1.0, 1000), 1000);
        assert_eq!(sample(50, 6.0, 1000), 500);
        assert_eq!(sample(50, 1e6, 1000), 1);
    }
}
