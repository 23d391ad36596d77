//! Chores of the project, typed as `cargo xtask NAME`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "chores talk to whoever typed them")]

mod bench;
mod cargo;
mod dist;
mod fleet;
mod fuzz;
mod guest;
mod leftovers;
mod mutants;
mod options;
mod packages;
mod record;
mod recording;
mod reproduce;
mod seeds;
mod size;
mod soak;
mod sysroot;
mod test;
mod tidy;
mod torture;
mod trials;
mod wrap;

use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use cargo::root;
use options::number;

const USAGE: &str = "\
usage: cargo xtask CHORE

  test [--no-install] [OPTION...]
                                list the missing tools' packages and install them (Debian, root),
                                run the tests of logic and of the system, count skipped ones, look
                                for leftovers: --all (guests and the machine lane, too), --rest
                                (only those), --lane NAME (logic, system, guest or machine),
                                --slowest (lists ten), --seed N (of the order of logic)
  test --runs N [OPTION...]     repeat tests until each executable ran N times, by a file: --lane
                                NAME, --beside-load (other work at the same time), --ledger FILE
                                (target/test-runs.tsv); --runs 0 prints the sums
  test [--no-install] ARGUMENT...
                                run what cargo test runs with these arguments
  fuzz [--seconds N] [TARGET]   run every fuzz target, or one, for N seconds each (5)
  seeds DIRECTORY               make packed disk heads with the real tools
  pack FILE PACKED [BYTES]      pack the first BYTES (all) of a disk or image
  sysroot DIRECTORY MANIFEST    make a captured machine into the one text that tests keep
  tidy [--wrap]                 check the rules of the house; break long comment lines first
  mutants [--list] [--only NAME]
                                change judging lines, one at a time, in a copy of the checkout: the
                                named test of each must then fail; all, or those of a crate, or one
  size                          count files, lines of code, types and their names for each crate
  dist [OPTION...]              make static binaries, and packages around each, with checksums:
                                --target NAME (x86_64 and aarch64), --program PATH (built now)
  dist rehearse                 install, run and remove what dist made, each in an empty root, in
                                Debian 11 and in a root of busybox; aarch64 in an emulator (root)
  fleet [OPTION...]             rehearse many hosts with Ansible, ssh and Prometheus, and what goes
                                wrong there (root: else some scenes are skipped): --hosts N (1000),
                                --program PATH (this tree, built now)
  bench [OPTION...]             compare straddle with sfdisk and blkid and with only reading:
                                --images N (1000), --pairs N (20), --rounds N (3),
                                --program PATH (this tree, built now)
  bench sysroot [OPTION...]     compare straddle with lsblk on a captured machine: --disks N (1000),
                                --pairs N (10), --program PATH
  bench harness [OPTION...]     compare the measuring loop with fio and with a bare loop:
                                --pairs N (10), --milliseconds N (500)
  bench fsync [DIR] [OPTION...] compare straddle fsync with pg_test_fsync in DIR (beside the build):
                                --rounds N (10), --seconds N (16, of straddle), --program PATH
  bench watch [OPTION...]       what straddle watch costs the load that it watches (root):
                                --rounds N (10), --milliseconds N (1000, of each load),
                                --program PATH
  demo PROGRAM                  write docs/demo.svg: what PROGRAM demo prints, played step by step
  record DIRECTORY [--here] [NAME...]
                                record what ext3, ext4, xfs, btrfs, jfs and reiserfs, or those
                                named, ask of a disk, as traces (root); what this kernel lacks in
                                the guest, but for --here
  reproduce [raid0] [suite] [OPTION...]
                                type two articles' procedures in the guest, on served drives: md
                                RAID0, and JFS and ReiserFS (long), or those named; compare with
                                what was published: --program PATH (this tree, built now)
  bench serve [OPTION...]       served drives without timing, next to nbdkit and a bare passthrough,
                                and one turn of a served disk: --pairs N (7), --seconds N (3, of
                                each run), --program PATH
  bench drive [--commands N]    how many commands a second drive models take, with N (1000000) of
                                each load
  soak models [--seeds N]       run the experiment on times of known ratio with seeds 1 to N (200)
  soak probe [--seeds N] [--drive NAME]
                                probe drives whose geometry is given, with seeds 1 to N (200)
  soak drives [--seeds N] [--drive NAME]
                                bench's experiment and the probe on every built-in drive and on
                                variants of them, with seeds 1 to N (200), against their profiles
  soak tails [--seeds N]        check intervals of quantiles on series of known quantiles, with
                                seeds 1 to N (1000)
  soak plan [DIR] [OPTION...]   type the scripts of plans on copies of made disks: --disks N (1000),
                                --seed N, --program PATH
  soak conservation [DIR] [OPTION...]
                                take copies of made disks, with bytes outside of file systems,
                                through plan, apply, undo and convert, and look for each byte:
                                --disks N (200), --seed N, --program PATH
  soak names [DIR] [OPTION...]  check names of a megabyte, and a directory of N images: --disks N
                                (100000), --program PATH
  soak races [--count N]        race claims and scratch files N times (10000)
  soak bench [DIR] [OPTION...]  run straddle bench on identical arms N times in DIR (beside the
                                build): --runs N (200), --seed N, --program PATH
                                each soak fails when a promise does not hold
  torture [OPTION...]           cut the power under SQLite, PostgreSQL, MariaDB, LMDB and file
                                systems on modeled drives, honest and lying (root): --percent N
                                (100, of the cuts of each scene), --seed N (1), --only WORD (of a
                                program's name), --program PATH (this tree, built now)
  ask MANIFEST                  time reading a manifest and its files; bench sysroot runs this
  loop ARM PATH MILLISECONDS    run one measuring loop; bench harness runs this
  watched PROGRAM ROUNDS MILLISECONDS
                                run loads with and without PROGRAM watching; bench watch runs this
  time DEVICE PLACE NAME...     time the steps of record on a device; reproduce runs this
  simulate N                    give drive models N commands each; bench drive runs this
  passthrough POINT             mount a file of FUSE in memory on POINT; bench serve runs this
  act DIRECTORY PROGRAM HOSTS   act the scenes of fleet in DIRECTORY; fleet runs this
  bare LIST                     read what a list says and nothing else; bench runs this
  install-tools                 install what tests and bench run (Debian, root)";

fn main() -> ExitCode {
    match chore() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {}", format!("{error:#}").replace("; hint: ", "\nhint: "));
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
        ["mutants", rest @ ..] => mutants::run(rest),
        ["size"] => size::run(),
        ["dist", rest @ ..] => dist::run(rest),
        ["fleet", rest @ ..] => fleet::run(rest),
        ["bench", rest @ ..] => bench::run(rest),
        ["demo", program] => recording::run(Path::new(program)),
        ["record", rest @ ..] => record::run(rest),
        ["reproduce", rest @ ..] => reproduce::run(rest),
        ["time", node, place, names @ ..] => record::time(Path::new(node), place, names),
        ["soak", rest @ ..] => soak::run(rest),
        ["torture", rest @ ..] => torture::run(rest),
        ["ask", manifest] => bench::sysroot::ask(Path::new(manifest)),
        ["loop", arm, path, milliseconds] => {
            bench::harness::run_loop(arm, Path::new(path), number(milliseconds)?)
        }
        ["watched", program, rounds, milliseconds] => {
            bench::watch::measure(Path::new(program), number(rounds)?, number(milliseconds)?)
        }
        ["simulate", count] => bench::models::simulate(number(count)?),
        ["passthrough", point] => bench::passthrough::run(Path::new(point)),
        ["act", directory, program, hosts] => {
            Ok(fleet::act(Path::new(directory), Path::new(program), number(hosts)?))
        }
        ["bare", list] => bench::bare_program::run(Path::new(list)),
        ["install-tools"] => {
            packages::install();
            Ok(true)
        }
        _ => bail!("no such chore\n\n{USAGE}"),
    }
}
