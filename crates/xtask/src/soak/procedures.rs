//! `cargo xtask soak procedures`: what three articles did, on this machine, with nothing wiped: all
//! of it runs on devices that lie in a scratch file, one of them shifted. The results are printed
//! as Markdown.
//!
//! | article | here |
//! |---|---|
//! | advanced format disks | `docs/examples/fsync-log.fio` on the raw device and on ext4 |
//! | SSD alignment | `docs/examples/eight-jobs.fio` on XFS, reading and writing |
//! | Linux on 4 KB sector disks | `bench --suite`: ext4, XFS and btrfs, from sectors 40 and 34 |

use anyhow::ensure;
use report::bench::Experiment;

use super::options::Options;
use super::straddle::{self, Run};
use crate::bench;

/// A procedure: what it is, a job file of ours where it has one, and the other options.
struct Procedure {
    title: &'static str,
    job: Option<&'static str>,
    options: &'static [&'static str],
}

/// Where our job files are, below the project's root.
const EXAMPLES: &str = "docs/examples";
/// How long one file system of the suite may take where its rounds were named.
const SUITE_SECONDS_MAX: u32 = 3600;

const PROCEDURES: [Procedure; 5] = [
    Procedure {
        title: "A log on the raw device",
        job: Some("fsync-log.fio"),
        options: &["--shift", "512"],
    },
    Procedure {
        title: "A log on ext4",
        job: Some("fsync-log.fio"),
        options: &["--shift", "512", "--fs", "ext4"],
    },
    Procedure {
        title: "Eight jobs on XFS, reading",
        job: Some("eight-jobs.fio"),
        options: &["--shift", "512", "--fs", "xfs", "--set", "rw=read"],
    },
    Procedure {
        title: "Eight jobs on XFS, writing",
        job: Some("eight-jobs.fio"),
        options: &["--shift", "512", "--fs", "xfs", "--set", "rw=write"],
    },
    Procedure { title: "The suite", job: None, options: &["--suite"] },
];

/// Runs them all; always `true`, for a penalty is a finding and no failure.
///
/// # Errors
/// When this is not root, or something cannot be built or run.
pub(super) fn run(options: &Options) -> anyhow::Result<bool> {
    ensure!(testkit::loops::available(), "shifted devices need root and loop devices");
    let place = options.place()?;
    bench::print_load();
    for procedure in &PROCEDURES {
        let words = words(procedure, options);
        let told: Vec<&str> = words.iter().map(String::as_str).collect();
        let run = place.bench(options.seed(), &told)?;
        print(procedure, &words, &run);
    }
    Ok(true)
}

/// What stands behind `straddle bench DIR`; a job file as its path below the project's root.
fn words(procedure: &Procedure, options: &Options) -> Vec<String> {
    let mut words: Vec<String> = procedure.options.iter().map(ToString::to_string).collect();
    let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
    match (procedure.job, options.pairs, options.rounds) {
        (Some(job), pairs, _) => {
            add("--job", format!("{EXAMPLES}/{job}"));
            if let Some(pairs) = pairs {
                add("--pairs", pairs.to_string());
            }
        }
        (None, _, Some(rounds)) => {
            add("--pairs", rounds.to_string());
            // So many rounds end it, and not its seconds.
            add("--seconds", SUITE_SECONDS_MAX.to_string());
        }
        (None, _, None) => {}
    }
    words
}

fn print(procedure: &Procedure, words: &[String], run: &Run) {
    println!("\n## {}\n", procedure.title);
    println!("    straddle bench DIR {} --seed {}\n", words.join(" "), run.document.seed);
    println!("{}.\n", run.title());
    println!("{}", table(&run.document.experiments));
    for note in run.document.notes.iter().chain(&remarks(&run.document.experiments)) {
        println!("- {note}");
    }
    println!(
        "- {:.1} s; the process itself wrote {} MiB",
        run.seconds,
        run.written_bytes.div_ceil(1 << 20)
    );
}

/// What the table leaves open: why a run is void, and of what its ratios are.
fn remarks(experiments: &[Experiment]) -> Vec<String> {
    let mut remarks = Vec::new();
    for experiment in experiments {
        if experiment.unit == "block" {
            remarks.push(format!(
                "{}: the ratio is that of blocks of {} operations, and the medians are those of \
                 one operation",
                experiment.title, experiment.block_operations
            ));
        }
        if experiment.verdict == "void" {
            remarks.push(format!("{}: {}", experiment.title, experiment.reason));
        }
    }
    remarks
}

/// The experiments as a Markdown table.
fn table(experiments: &[Experiment]) -> String {
    let mut text =
        "| what | shift | ratio | 95 % interval | verdict | pairs | aligned | shifted | \
                    aligned again |\n|---|---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for experiment in experiments {
        let judged = straddle::judged(experiment);
        let shifted = straddle::arm(experiment, "shifted");
        let shift = shifted.map_or("-".to_owned(), |arm| format!("{} B", arm.shift_bytes));
        let median = |role| {
            let arm = straddle::arm(experiment, role);
            arm.map_or("-".to_owned(), |arm| time(arm.median_ns))
        };
        text += &format!(
            "| {} | {shift} | {} | {} | {} | {} | {} | {} | {} |\n",
            experiment.title.replace('|', "\\|"),
            straddle::ratio(judged),
            straddle::interval(judged),
            experiment.verdict,
            experiment.pairs,
            median("baseline"),
            median("shifted"),
            median("control"),
        );
    }
    text
}

/// A time in the unit that suits it.
fn time(nanoseconds: u64) -> String {
    let us = std::time::Duration::from_nanos(nanoseconds).as_secs_f64() * 1e6;
    if us < 1000.0 { format!("{us:.0} us") } else { format!("{:.2} ms", us / 1000.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::JobFile;
    use workload::job::Action;

    fn jobs(name: &str, set: &[(String, String)]) -> JobFile {
        let text = std::fs::read_to_string(crate::root().join(EXAMPLES).join(name)).unwrap();
        JobFile::parse(&text, set).unwrap()
    }

    #[test]
    fn the_log_is_the_articles_buffered_4_kib_with_an_fsync_each() {
        let file = jobs("fsync-log.fio", &[]);
        assert!(file.remarks.is_empty(), "{:?}", file.remarks);
        let job = &file.jobs[0];
        assert_eq!((file.jobs.len(), job.action, job.operation_bytes), (1, Action::Write, 4096));
        assert!(!job.direct && job.is_durable() && job.total_depth() == 1);
        assert_eq!((&job.filename, &job.directory), (&None, &None));
    }

    #[test]
    fn the_eight_jobs_keep_32_direct_operations_in_flight_reading_or_writing() {
        for (word, action) in [("read", Action::Read), ("write", Action::Write)] {
            let file = jobs("eight-jobs.fio", &[("rw".to_owned(), word.to_owned())]);
            assert!(file.remarks.is_empty(), "{:?}", file.remarks);
            let job = &file.jobs[0];
            assert_eq!((job.action, job.total_depth(), job.direct), (action, 32, true));
        }
    }

    #[test]
    fn a_procedure_names_only_job_files_that_are_there() {
        for name in PROCEDURES.iter().filter_map(|procedure| procedure.job) {
            assert!(crate::root().join(EXAMPLES).join(name).is_file(), "{name}");
        }
    }

    #[test]
    fn pairs_are_for_jobs_and_rounds_for_the_suite() {
        let options = Options::parse(&["--pairs", "9", "--rounds", "7"], &["--pairs", "--rounds"]);
        let options = options.unwrap();
        let said = |number: usize| words(&PROCEDURES[number], &options).join(" ");
        assert_eq!(said(0), "--shift 512 --job docs/examples/fsync-log.fio --pairs 9");
        assert_eq!(said(4), "--suite --pairs 7 --seconds 3600");
    }

    #[test]
    fn a_time_is_said_in_the_unit_that_suits_it() {
        assert_eq!((time(999_400), time(1_234_000)), ("999 us".to_owned(), "1.23 ms".to_owned()));
    }
}
