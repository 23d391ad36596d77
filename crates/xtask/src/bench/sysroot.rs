//! `cargo xtask bench sysroot`: how fast a captured machine with many disks is judged, from its
//! directory and from its manifest, beside `lsblk` on the same directory.
//!
//! `lsblk` prints the topology of each device and judges nothing; it is what people run today.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::Context as _;
use device::{KernelTree, TextTree};

use super::ratio::{self, Ratios};
use super::{machine, tools};
use crate::cargo;
use crate::options::Options;

/// Columns of `lsblk`: all that it knows of what `straddle check` reads.
const COLUMNS: &str = "NAME,KNAME,MAJ:MIN,TYPE,SIZE,RO,ROTA,ALIGNMENT,MIN-IO,OPT-IO,PHY-SEC,\
                       LOG-SEC,DISC-ALN,DISC-GRAN,DISC-MAX,ZONED";

/// Runs it as `words` say; always `true`.
///
/// # Errors
/// When something cannot be built, made or run.
pub(super) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let options = Options::parse(words, &["--disks", "--pairs", "--program"])?;
    let disks = usize::try_from(options.count("--disks", 1000)?)?;
    let pairs = options.count("--pairs", 10)?;
    let program = cargo::program(&options)?;
    let built = cargo::released(&["xtask"])?;
    let room = tempfile::Builder::new().prefix("bench-").tempdir_in(&built)?;
    let (directory, text) = (room.path().join("machine"), room.path().join("machine.sysroot"));
    let mut random = testkit::random(1);
    let manifest = machine::made(disks, &mut random)?;
    let count = machine::spread(&manifest, &directory)?;
    std::fs::write(&text, manifest.to_text())?;
    let length_bytes = std::fs::metadata(&text)?.len();
    println!(
        "machine: {disks} disks, {} partitions, {count} files and links; as one text {} KiB",
        disks * machine::PARTITIONS,
        length_bytes >> 10
    );
    tools::print_load();
    // These chores are built for release there, which this run may not be.
    let said = tools::answer(Command::new(built.join("xtask")).arg("ask").arg(&text))?;
    print!("{said}");
    let mut lsblk = lsblk(&directory)?;
    let mut lsblk = || tools::timed(&mut lsblk);
    println!("lsblk, all devices with their topology, beside straddle check, which judges them");
    for (what, root) in [("the directory", &directory), ("the text", &text)] {
        for format in ["jsonl", "table"] {
            let mut check = check(&program, root, format);
            let ratios = ratio::pairs(pairs, &mut random, &mut lsblk, || tools::timed(&mut check))?;
            print(&format!("{what}, {format}: straddle is N times faster"), &ratios);
        }
    }
    let mut of_text = check(&program, &text, "jsonl");
    let mut of_directory = check(&program, &directory, "jsonl");
    let ratios = ratio::pairs(
        pairs,
        &mut random,
        || tools::timed(&mut of_directory),
        || tools::timed(&mut of_text),
    )?;
    print("straddle check: the text is N times faster than the directory", &ratios);
    Ok(true)
}

fn lsblk(directory: &Path) -> anyhow::Result<Command> {
    let mut command = Command::new(tools::find("lsblk")?);
    command.arg("--sysroot").arg(directory).args(["--all", "--pairs", "--bytes"]);
    command.args(["--output", COLUMNS]);
    let printed = tools::answer(&mut command)?;
    anyhow::ensure!(
        printed.lines().any(|line| line.contains("TYPE=\"part\"")),
        "lsblk does not see the partitions of the machine"
    );
    println!("lsblk prints {} lines", printed.lines().count());
    Ok(command)
}

fn check(program: &Path, root: &Path, format: &str) -> Command {
    let mut command = Command::new(program);
    // What cannot be judged without bytes is no failure of the run.
    command.args(["check", "--fail-on", "never", "--format", format, "--sysroot"]).arg(root);
    command
}

fn print(what: &str, ratios: &Ratios) {
    let [first, second] = ratios.medians.map(|time| time.as_secs_f64() * 1e3);
    let what = what.replace("N times", &ratios.to_string());
    println!("  {what}; {first:.1} ms and {second:.1} ms");
}

/// Number of times the text is read, and the files of it.
const ROUNDS: u32 = 10;

/// Reads the manifest at `path` and asks it for what `check` asks, many times, and prints how long
/// each takes.
///
/// # Errors
/// When there is no manifest.
pub(crate) fn ask(path: &Path) -> anyhow::Result<bool> {
    let text = std::fs::read_to_string(path)?;
    let mut parses = Vec::new();
    for _ in 0..ROUNDS {
        let copy = text.clone();
        let begun = Instant::now();
        let tree = TextTree::parse(copy)?;
        parses.push(begun.elapsed().as_secs_f64());
        drop(tree);
    }
    parses.sort_by(f64::total_cmp);
    let tree = TextTree::parse(text)?;
    let mut paths = Vec::new();
    for disk in tree.list("/sys/block")? {
        for file in ["size", "queue/physical_block_size", "device/model"] {
            paths.push(format!("/sys/block/{disk}/{file}"));
        }
        for number in 1..=machine::PARTITIONS {
            paths.push(format!("/sys/block/{disk}/{disk}{number}/start"));
        }
    }
    let begun = Instant::now();
    for _ in 0..ROUNDS {
        for path in &paths {
            std::hint::black_box(tree.read(path)?);
        }
    }
    let reads = u32::try_from(paths.len()).context("too many paths")? * ROUNDS;
    println!(
        "  reading the text takes {:.1} ms (median of {ROUNDS}); a file of it {:.0} ns (of \
            {reads})",
        ratio::median(&parses) * 1e3,
        begun.elapsed().as_secs_f64() / f64::from(reads) * 1e9,
    );
    Ok(true)
}
