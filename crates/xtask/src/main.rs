//! Chores of the project, typed as `cargo xtask NAME`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "chores talk to whoever typed them")]

mod bench;
mod fuzz;
mod guest;
mod leftovers;
mod packages;
mod recipes;
mod seeds;
mod sysroot;
mod test;
mod tidy;
mod wrap;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};

const USAGE: &str = "\
usage: cargo xtask CHORE

  test [ARGUMENT...]            run every test, count the skipped ones, look for leftovers;
                                arguments go to cargo test
  fuzz [--seconds N] [TARGET]   run every fuzz target, or one, for N seconds each (5)
  seeds DIRECTORY               make packed disk heads with the real tools
  pack FILE PACKED [BYTES]      pack the first BYTES (all) of a disk or image
  sysroot DIRECTORY MANIFEST    make a captured machine into the one text that tests keep
  tidy [--wrap]                 check the rules of the house; break long comment lines first
  bench [OPTION...]             compare straddle with sfdisk and blkid and with only reading:
                                --images N (1000), --pairs N (20), --rounds N (3),
                                --program PATH (this tree, built now)
  bench sysroot [OPTION...]     compare straddle with lsblk on a captured machine: --disks N (1000),
                                --pairs N (10), --program PATH
  ask MANIFEST                  time reading a manifest and its files; bench sysroot runs this
  bare LIST                     read what a list says and nothing else; bench runs this
  install-tools                 install what tests and bench run (Debian, root)";

fn main() -> ExitCode {
    match chore() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Does what the command line says; whether all was well.
fn chore() -> anyhow::Result<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["test", rest @ ..] => test::run(rest),
        ["fuzz"] => fuzz::run(5, None),
        ["fuzz", "--seconds", seconds] => fuzz::run(number(seconds)?, None),
        ["fuzz", "--seconds", seconds, target] => fuzz::run(number(seconds)?, Some(target)),
        ["fuzz", target] if !target.starts_with('-') => fuzz::run(5, Some(target)),
        ["seeds", directory] => seeds::make(Path::new(directory)),
        ["pack", file, packed] => seeds::pack_file(file, packed, u64::MAX),
        ["pack", file, packed, bytes] => seeds::pack_file(file, packed, number(bytes)?),
        ["sysroot", directory, manifest] => {
            sysroot::convert(Path::new(directory), Path::new(manifest))
        }
        ["tidy"] => tidy::run(),
        ["tidy", "--wrap"] => tidy::wrap().and_then(|()| tidy::run()),
        ["bench", rest @ ..] => bench::run(rest),
        ["ask", manifest] => bench::sysroot::ask(Path::new(manifest)),
        ["bare", list] => bench::bare::run(Path::new(list)),
        ["install-tools"] => packages::install(),
        _ => bail!("what is asked is not known\n\n{USAGE}"),
    }
}

fn number(text: &str) -> anyhow::Result<u64> {
    text.parse().with_context(|| format!("{text} is not a number"))
}

/// The project's root directory.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("xtask is two directories below the root").to_owned()
}
