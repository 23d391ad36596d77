//! `cargo xtask bench`: how fast `straddle` looks at many images, beside the tools that are run for
//! that today and beside a program that only reads the same bytes; and what memory it takes.
//!
//! Everything printed comes from this one run. Ratios are the point; no time is asserted, since a
//! time says more of the machine. `docs/benchmark.md` says what is compared.

pub(crate) mod bare_program;
mod check_contest;
mod fsync;
mod goals;
pub(crate) mod harness;
mod images;
mod machine;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod passthrough;
pub(crate) mod ratio;
mod rounds;
mod serve;
mod sfdisk;
pub(crate) mod sysroot;
pub(crate) mod tools;
mod trace;
pub(crate) mod watch;

use anyhow::Context as _;

use self::check_contest::Contest;
use self::images::Images;
use crate::cargo;
use crate::options::Options;

/// Runs the whole benchmark as `words` say and prints what it finds. Always `true`: a missed target
/// is said, and is no failure.
///
/// # Errors
/// When something cannot be built, made or run.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    match words {
        ["sysroot", rest @ ..] => return sysroot::run(rest),
        ["harness", rest @ ..] => return harness::run(rest),
        ["drive", rest @ ..] => return models::run(rest),
        ["fsync", rest @ ..] => return fsync::run(rest),
        ["serve", rest @ ..] => return serve::run(rest),
        ["watch", rest @ ..] => return watch::run(rest),
        _ => {}
    }
    let options = Options::parse(words, &["--images", "--pairs", "--rounds", "--program"])?;
    let count = usize::try_from(options.count("--images", 1000)?)?;
    let (pairs, rounds) = (options.count("--pairs", 20)?, options.count("--rounds", 3)?);
    let program = cargo::program(&options)?;
    let built = cargo::released(&["xtask"])?;
    // Beside the build, for that is on a disk, where the usual place may be in memory.
    let room = tempfile::Builder::new().prefix("bench-").tempdir_in(&built);
    let room = room.context("cannot make a directory for the images")?;
    let directory = room.path().join("images");
    std::fs::create_dir(&directory)?;
    let mut random = testkit::random(1);
    let images = images::make(&directory, room.path(), count, &mut random)?;
    print_images(&images);
    tools::print_load();

    let sample = rounds::shuffled(count, &mut random);
    let contest =
        Contest { program, bare: built.join("xtask"), room: room.path(), directory, images };
    contest.against_bare(pairs, &mut random)?;
    contest.against_tools(rounds, &sample, &mut random)?;
    contest.memory()?;
    Ok(true)
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
