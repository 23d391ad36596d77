//! The lanes, one after the other, with what each took.

use std::sync::Mutex;

use super::executable::TestExecutable;
use super::lane::Lane;
use super::machine::measured;
use super::run_result::{RunResult, TestRunner};
use super::stopwatch::Stopwatch;
use super::test_counts::TestCounts;
use super::test_run::TestRun;

/// Numbers of tests of logic that run at once, one after the other.
pub(super) const THREADS: [usize; 2] = [1, 4];
/// Number of executables of the system lane that run at once.
const SYSTEM_EXECUTABLES: usize = 2;
/// Number of tests that are listed as the slowest.
const SLOWEST: usize = 10;

/// Executables to run, and results so far.
pub(super) struct Suite<'a, Runner> {
    pub(super) runner: &'a Runner,
    pub(super) executables: &'a [TestExecutable],
    pub(super) seed: u64,
    pub(super) processors: usize,
    pub(super) counts: TestCounts,
    /// Tests with the seconds that each took, and their executables.
    times: Vec<(f64, String)>,
}

impl<'a, Runner: TestRunner + Sync> Suite<'a, Runner> {
    pub(super) fn new(
        runner: &'a Runner,
        executables: &'a [TestExecutable],
        seed: u64,
        processors: usize,
    ) -> Suite<'a, Runner> {
        let (counts, times) = (TestCounts::default(), Vec::new());
        Suite { runner, executables, seed, processors, counts, times }
    }

    /// Runs the executables of a lane; returns the line that says what it took.
    ///
    /// # Errors
    /// When one cannot be started.
    pub(super) fn lane(&mut self, lane: Lane) -> anyhow::Result<String> {
        let watch = Stopwatch::start();
        let all = self.executables;
        let own: Vec<&TestExecutable> = all.iter().filter(|one| one.lane() == lane).collect();
        let before = self.counts.tests();
        match lane {
            Lane::Logic => self.logic(&own)?,
            Lane::System => self.system(&own)?,
            Lane::Guest | Lane::Machine => self.serially(&own)?,
        }
        let (seconds, processor_seconds) = watch.seconds();
        Ok(cost(lane, self.counts.tests() - before, seconds, processor_seconds))
    }

    /// Runs tests of logic, each executable once for each number of threads; as many executables at
    /// once as keep to the processors.
    fn logic(&mut self, own: &[&TestExecutable]) -> anyhow::Result<()> {
        println!("logic: order of --seed {}", self.seed);
        let mut results: Vec<Option<RunResult>> = own.iter().map(|_| None).collect();
        for threads in THREADS {
            let workers = (self.processors / threads).max(1);
            let runs = shuffled(self.runner, own, threads, self.seed, workers)?;
            for (result, run) in results.iter_mut().zip(runs) {
                match result {
                    Some(first) => first.repeated(run),
                    None => *result = Some(run),
                }
            }
        }
        for (executable, result) in own.iter().zip(results.into_iter().flatten()) {
            self.add(executable, &result);
        }
        Ok(())
    }

    /// Runs tests of the system, several executables at once: their tests wait for disks and tools
    /// half of the time. Those that start the programs of their package take longest and start
    /// first; the serial ones follow alone.
    fn system(&mut self, own: &[&TestExecutable]) -> anyhow::Result<()> {
        let (serial, mut others): (Vec<_>, Vec<_>) =
            own.iter().copied().partition(|one| one.standing.is_serial);
        others.sort_by_key(|one| one.programs.is_empty());
        let runs: Vec<TestRun> = others.iter().map(|one| TestRun::of(one)).collect();
        let show = |run: &TestRun, _: &RunResult, output: &str| {
            println!("\n== {}\n{output}", run.name());
        };
        let results = at_once(self.runner, &runs, SYSTEM_EXECUTABLES, &show)?;
        others.iter().zip(&results).for_each(|(executable, result)| self.add(executable, result));
        self.serially(&serial)
    }

    /// Runs executables one after the other.
    fn serially(&mut self, own: &[&TestExecutable]) -> anyhow::Result<()> {
        for executable in own {
            let run = TestRun::of(executable);
            println!("\n== {}", executable.name);
            let mut show = |line: &str| println!("{line}");
            let result = match run.is_measuring() {
                true => measured(self.runner, &run, &mut show)?,
                false => RunResult::of(self.runner, &run, &mut show)?,
            };
            result.faults.iter().for_each(|fault| println!("{fault}"));
            self.add(executable, &result);
        }
        Ok(())
    }

    fn add(&mut self, executable: &TestExecutable, result: &RunResult) {
        self.counts.add(result);
        let named =
            |(test, seconds): &(String, f64)| (*seconds, format!("{} {test}", executable.name));
        self.times.extend(result.times.iter().map(named));
    }

    /// Returns the slowest tests, each on a line.
    pub(super) fn slowest(&self) -> String {
        let mut times: Vec<&(f64, String)> = self.times.iter().collect();
        times.sort_by(|one, other| other.0.total_cmp(&one.0));
        let lines = times.into_iter().take(SLOWEST);
        lines.map(|(seconds, name)| format!("slowest: {seconds:7.1} s  {name}\n")).collect()
    }
}

/// Runs each executable in the order of `seed`, on so many workers; prints a line for each that is
/// good, and the whole output of each other.
pub(super) fn shuffled<Runner: TestRunner + Sync>(
    runner: &Runner,
    own: &[&TestExecutable],
    threads: usize,
    seed: u64,
    workers: usize,
) -> anyhow::Result<Vec<RunResult>> {
    let runs: Vec<TestRun> = own.iter().map(|one| TestRun::shuffled(one, threads, seed)).collect();
    at_once(runner, &runs, workers, &|run, result, output| match result.failures() {
        0 => println!("{}, {threads} at once: {} passed", run.name(), result.passed),
        _ => println!("\n== {}, {threads} at once\n{output}", run.name()),
    })
}

/// Shows a finished run and all that it printed.
type ShowRun<'a> = &'a (dyn Fn(&TestRun, &RunResult, &str) + Sync);

/// Runs each of `runs` on so many workers, in their order; returns the results in the same order.
fn at_once<Runner: TestRunner + Sync>(
    runner: &Runner,
    runs: &[TestRun],
    workers: usize,
    show: ShowRun<'_>,
) -> anyhow::Result<Vec<RunResult>> {
    let next = Mutex::new(0..runs.len());
    let results: Mutex<Vec<(usize, RunResult)>> = Mutex::default();
    let work = || -> anyhow::Result<()> {
        while let Some(place) = { next.lock().expect("no range panics").next() } {
            let run = &runs[place];
            let mut output = String::new();
            let result = RunResult::of(runner, run, &mut |line| output += &format!("{line}\n"))?;
            show(run, &result, &output);
            result.faults.iter().for_each(|fault| println!("{fault}"));
            results.lock().expect("nothing panics while it adds").push((place, result));
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().map(|worker| worker.join().expect("no worker panics"));
        done.collect::<anyhow::Result<Vec<()>>>()
    })?;
    let mut results = results.into_inner().expect("nothing panics while it adds");
    results.sort_by_key(|(place, _)| *place);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Returns the line that says what a lane took.
fn cost(lane: Lane, tests: u64, seconds: f64, processor_seconds: f64) -> String {
    let budget = match lane.budget_seconds() {
        #[expect(clippy::cast_precision_loss, reason = "a budget is a few hundred seconds")]
        Some(budget) if seconds > budget as f64 => format!("; OVER its budget of {budget} s"),
        Some(budget) => format!("; budget {budget} s"),
        None => String::new(),
    };
    let lane = lane.word();
    format!("{lane}: {tests} tests, {seconds:.0} s, {processor_seconds:.0} s of processors{budget}")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::test::lane::Standing;
    use crate::test::planned::{PlannedTests, failing, hang, passing};

    fn executable(lane: Lane) -> TestExecutable {
        TestExecutable {
            name: format!("a {}", lane.word()),
            path: PathBuf::from("/nonexistent"),
            directory: PathBuf::from("/"),
            standing: Standing { lane, is_serial: false },
            programs: Vec::new(),
        }
    }

    /// Returns the last lines after `answers` for an executable of `lane`, and the words of each
    /// run.
    fn result(lane: Lane, answers: Vec<(String, bool)>) -> (String, Vec<String>) {
        let runner = PlannedTests::of(answers);
        let executables = [executable(lane), executable(Lane::Guest)];
        let mut suite = Suite::new(&runner, &executables, 7, 2);
        let cost = suite.lane(lane).unwrap();
        assert!(cost.starts_with(lane.word()), "{cost}");
        (suite.counts.text(), runner.finished())
    }

    #[test]
    fn tests_of_logic_run_with_one_and_with_four_threads_and_count_once() {
        let (text, asked) = result(Lane::Logic, vec![passing(3), passing(3)]);
        assert_eq!(text, "3 passed, 0 failed, 0 skipped");
        assert_eq!(asked, ["--shuffle-seed 7", "--shuffle-seed 7"]);
        let (text, _) = result(Lane::Logic, vec![passing(3), failing(&["a"], "x")]);
        assert_eq!(text, "failed: a\n2 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn no_test_of_logic_or_system_gets_a_second_try() {
        let missed = || failing(&["a"], "missed tolerance: 5 of 6");
        let (text, asked) = result(Lane::System, vec![missed()]);
        assert_eq!(text, "failed: a\n2 passed, 1 failed, 0 skipped");
        assert_eq!(asked, [""]);
        let (text, _) = result(Lane::Logic, vec![missed(), missed()]);
        assert_eq!(text, "failed: a\n2 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn a_test_of_the_machine_is_flaky_where_it_missed_a_tolerance() {
        let missed = failing(&["a"], "missed tolerance: 5 of 6");
        let (text, _) = result(Lane::Machine, vec![missed, passing(1)]);
        assert_eq!(text, "flaky: a: 5 of 6\n3 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn serial_executables_of_the_system_follow_the_others_and_each_counts() {
        let runner = PlannedTests::of(vec![passing(1), passing(2), failing(&["a"], "x")]);
        let serial = Standing { lane: Lane::System, is_serial: true };
        let mut executables = [Lane::System, Lane::System, Lane::System].map(executable);
        executables[0].standing = serial;
        let mut suite = Suite::new(&runner, &executables, 7, 2);
        suite.lane(Lane::System).unwrap();
        assert_eq!(suite.counts.text(), "failed: a\n5 passed, 1 failed, 0 skipped");
        let asked = runner.asked();
        let serials: Vec<bool> = asked.iter().map(|run| run.threads == Some(1)).collect();
        assert_eq!(serials, [false, false, true]);
    }

    #[test]
    fn a_hang_fails_at_once_in_every_lane() {
        let (text, _) = result(Lane::System, vec![hang("a::b")]);
        assert_eq!(text, "failed: HANG a::b (a system)\n0 passed, 1 failed, 0 skipped");
        let (text, _) = result(Lane::Machine, vec![hang("a::b")]);
        assert_eq!(text, "failed: HANG a::b (a machine)\n0 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn a_lane_that_took_too_long_says_so() {
        assert_eq!(
            cost(Lane::Logic, 9, 60.4, 99.6),
            "logic: 9 tests, 60 s, 100 s of processors; OVER its budget of 60 s"
        );
        assert_eq!(
            cost(Lane::System, 9, 299.0, 7.0),
            "system: 9 tests, 299 s, 7 s of processors; budget 300 s"
        );
        assert_eq!(cost(Lane::Machine, 9, 7.0, 7.0), "machine: 9 tests, 7 s, 7 s of processors");
    }
}
