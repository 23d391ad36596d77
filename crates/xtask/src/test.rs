//! Every test, in the lane that says what can make it fail, with the skipped ones counted and
//! nothing left behind.
//!
//! Only the runner has a clock: it kills what hangs. Only a test that measures runs again, where it
//! missed its tolerance.

mod asked;
mod executable;
mod hang_watch;
mod harness_output;
mod isolation;
mod lane;
mod ledger;
mod load;
mod machine;
#[cfg(test)]
mod planned;
mod processes;
mod repeat;
mod run_result;
mod stopwatch;
mod suite;
mod test_counts;
mod test_run;
mod watched_process;

use std::time::{SystemTime, UNIX_EPOCH};

use self::asked::Asked;
use self::executable::TestExecutable;
use self::isolation::Isolation;
use self::lane::Lane;
use self::ledger::Ledger;
use self::processes::Processes;
use self::run_result::RunResult;
use self::suite::Suite;
use self::test_counts::TestCounts;
use self::test_run::TestRun;
use crate::packages;
use crate::trials::processors;

/// Runs the tests that `arguments` ask for, after missing tools were installed, and prints as the
/// last line `N passed, N failed, N skipped`. True if all was well.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<bool> {
    let asked = Asked::read(arguments)?;
    if asked.runs == Some(0) {
        print!("{}", Ledger::open(&asked.ledger)?.sums());
        return Ok(true);
    }
    match asked.is_installing {
        true => packages::install(),
        false => packages::name_missing(),
    }
    if asked.is_cargo() {
        return of_cargo(&asked);
    }
    let executables = TestExecutable::built()?;
    let seed = asked.seed.unwrap_or_else(some_seed);
    let mut processes = Processes::default();
    if asked.lanes.contains(&Lane::Logic) {
        processes.isolation = isolation(&executables);
    }
    match asked.runs {
        Some(_) => repeat::repeat(&processes, &executables, &asked, seed),
        None => of_lanes(&processes, &executables, &asked, seed),
    }
}

/// Runs each lane that was asked for.
fn of_lanes(
    processes: &Processes,
    executables: &[TestExecutable],
    asked: &Asked,
    seed: u64,
) -> anyhow::Result<bool> {
    let mut suite = Suite::new(processes, executables, seed, processors());
    let mut costs = Vec::new();
    for lane in &asked.lanes {
        costs.push(suite.lane(*lane)?);
    }
    println!();
    costs.iter().for_each(|cost| println!("{cost}"));
    if asked.is_slowest {
        print!("{}", suite.slowest());
    }
    println!("{}", suite.counts.text());
    Ok(suite.counts.failed == 0)
}

/// Runs the tests that words to cargo ask for.
fn of_cargo(asked: &Asked) -> anyhow::Result<bool> {
    let run = TestRun::asked(&asked.cargo, &asked.harness);
    let mut counts = TestCounts::default();
    let result = RunResult::of(&Processes::default(), &run, &mut |line| println!("{line}"))?;
    result.faults.iter().for_each(|fault| println!("{fault}"));
    counts.add(&result);
    println!("\n{}", counts.text());
    Ok(counts.failed == 0)
}

/// Returns how tests of logic are isolated; says why, where they are not.
fn isolation(executables: &[TestExecutable]) -> Option<Isolation> {
    match Isolation::of(&crate::root(), executables) {
        Ok(isolation) => Some(isolation),
        Err(why) => {
            println!(
                "logic is not isolated: tests run as this user, and see its files, devices, \
                 network and processes: {why}"
            );
            None
        }
    }
}

/// A seed that differs from run to run.
fn some_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |time| u64::from(time.subsec_nanos()))
}
