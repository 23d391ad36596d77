//! `cargo xtask bench`: how fast `straddle` looks at many images, beside the tools that are run for
//! that today and beside a program that only reads the same bytes; and what memory it takes.
//!
//! Everything printed comes from this one run. Ratios are the point; no time is asserted, since a
//! time says more of the machine. `docs/benchmark.md` says what is compared.

pub(crate) mod bare;
mod contest;
pub(crate) mod drive;
mod fsync;
pub(crate) mod harness;
mod images;
mod machine;
mod memory;
pub(crate) mod ratio;
mod sfdisk;
pub(crate) mod sysroot;
pub(crate) mod tools;
mod trace;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use self::contest::Contest;
use self::images::Images;

/// What was asked for.
struct Options {
    images: usize,
    /// Pairs of straddle and the bare program.
    pairs: usize,
    /// Pairs of straddle and the tools, which take longer.
    rounds: usize,
    /// What is measured in place of straddle as it is now, such as an older build of it.
    program: Option<PathBuf>,
}

impl Options {
    fn parse(mut words: &[&str]) -> anyhow::Result<Options> {
        let mut options = Options { images: 1000, pairs: 20, rounds: 3, program: None };
        while let [word, rest @ ..] = words {
            let [value, rest @ ..] = rest else { bail!("{word} needs a value") };
            let count = || anyhow::Ok(usize::try_from(crate::number(value)?)?.max(1));
            match *word {
                "--images" => options.images = count()?,
                "--pairs" => options.pairs = count()?,
                "--rounds" => options.rounds = count()?,
                "--program" => options.program = Some(std::path::absolute(value)?),
                _ => bail!("{word} is not known; known are --images, --pairs, --rounds, --program"),
            }
            words = rest;
        }
        Ok(options)
    }
}

/// Runs the whole benchmark as `words` say and prints what it finds. Always `true`: a missed target
/// is said, and is no failure.
///
/// # Errors
/// When something cannot be built, made or run.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    if let ["sysroot", rest @ ..] = words {
        return sysroot::run(rest);
    }
    if let ["harness", rest @ ..] = words {
        return harness::run(rest);
    }
    if let ["drive", rest @ ..] = words {
        return drive::run(rest);
    }
    if let ["fsync", rest @ ..] = words {
        return fsync::run(rest);
    }
    let options = Options::parse(words)?;
    let built = build()?;
    let program = options.program.clone().unwrap_or_else(|| built.join("straddle"));
    // Beside the build, for that is on a disk, where the usual place may be in memory.
    let room = tempfile::Builder::new().prefix("bench-").tempdir_in(&built);
    let room = room.context("a directory for the images cannot be made")?;
    let directory = room.path().join("images");
    std::fs::create_dir(&directory)?;
    let mut random = testkit::random(1);
    let images =
        images::make(&directory, room.path(), options.images, |bound| random.below(bound))?;
    print_images(&images);
    print_load();

    let sample = shuffled(options.images, |bound| random.below(bound));
    let mut coin = || random.below(2) == 0;
    let contest =
        Contest { program, bare: built.join("xtask"), room: room.path(), directory, images };
    contest.against_bare(options.pairs, &mut coin)?;
    contest.against_tools(options.rounds, &sample, &mut coin)?;
    contest.memory()?;
    Ok(true)
}

/// Builds straddle and these chores for release; the directory that holds both.
///
/// # Errors
/// When cargo cannot be started, or the build fails.
pub(crate) fn build() -> anyhow::Result<PathBuf> {
    build_of(&["straddle", "xtask"])
}

/// Builds packages for release; the directory that holds their programs.
fn build_of(packages: &[&str]) -> anyhow::Result<PathBuf> {
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--release"])
        .args(packages.iter().flat_map(|package| ["--package", package]))
        .current_dir(crate::root())
        .stdin(Stdio::null())
        .status()
        .context("cargo cannot be started")?;
    anyhow::ensure!(status.success(), "{} cannot be built", packages.join(" and "));
    let here = std::env::current_exe()?;
    let target = here.ancestors().nth(2).context("this program lies in cargo's directory")?;
    Ok(target.join("release"))
}

fn print_images(images: &Images) {
    let partitions: usize = images.partitions.iter().map(Vec::len).sum();
    println!(
        "images: {}, with {partitions} partitions; copies of {} templates; {} MiB long in all, \
         {} MiB of that not holes",
        images.paths.len(),
        images::template_count(),
        images.length_bytes >> 20,
        images.occupied_bytes >> 20,
    );
}

/// Says how busy the machine is with other work, which the times include.
pub(crate) fn print_load() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    println!("machine: {processors} processors; load before the first run: {load}");
}

/// The numbers below `count`, shuffled by `choose`, which picks a number below its argument
/// (Fisher and Yates).
pub(crate) fn shuffled(count: usize, mut choose: impl FnMut(u64) -> u64) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    for end in (1..count).rev() {
        let bound = u64::try_from(end + 1).unwrap_or(u64::MAX);
        numbers.swap(end, usize::try_from(choose(bound)).unwrap_or(end));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_keeps_every_number_once() {
        let mut state = 7_u64;
        let mut numbers = shuffled(100, |bound| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        });
        assert_ne!(numbers, (0..100).collect::<Vec<_>>());
        numbers.sort_unstable();
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn options_are_read_and_what_is_not_known_is_refused() {
        let options = Options::parse(&["--images", "5", "--pairs", "0"]).unwrap();
        assert_eq!((options.images, options.pairs, options.rounds), (5, 1, 3));
        for wrong in [&["--images"][..], &["--images", "x"], &["--fast", "1"]] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
