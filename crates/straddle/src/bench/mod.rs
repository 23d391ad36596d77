//! `straddle bench`: what misalignment costs here, measured.
//!
//! | file | what it is |
//! |---|---|
//! | `scratch_file` | the scratch file, and where it lies |
//! | `plan`, `session`, `paired_loop` | what is compared, what it may use, the loop over pairs |
//! | `method_budget` | what each way may write, and how long it may take |
//! | `directory_method` | which of the ways of measuring was asked for |
//! | `in_scratch_file`, `raw` | direct I/O in the scratch file, or on a device |
//! | `work`, `timed_arms` | what each arm does, and arms that are timed on open files |
//! | `raidtest`, `replay` | given requests, in the scratch file too |
//! | `shifted`, `ready_device` | whole devices that are shifted |
//! | `file_system` | file systems on them |
//! | `command`, `job`, `suite` | what runs on shifted devices |
//! | `announcement` | what is said before anything is written |
//! | `preview`, `document`, `progress`, `show` | what is printed |

mod announcement;
mod command;
mod directory_method;
mod document;
mod file_system;
mod in_scratch_file;
mod job;
mod method_budget;
mod paired_loop;
mod plan;
mod preview;
mod progress;
mod raidtest;
mod raw;
mod ready_device;
mod replay;
mod scratch_file;
mod session;
mod shifted;
mod show;
mod suite;
mod timed_arms;
mod work;

#[cfg(test)]
mod verdict_tests;

pub(crate) use file_system::installed;

use host::{Pinned, PrivateMounts};
use report::bench::{bench_json, bench_plugin};

use crate::arguments::{BenchFormat, SuiteSteps};
use crate::exit::{self, CUT_OFF, CommandOutcome};
use crate::shared::destination::{self, Destination};
use crate::shared::halt::Halt;
use crate::shared::measure_target::MeasureTarget;
use crate::shared::printer::shown;
use crate::world::World;
use directory_method::DirectoryMethod;
use scratch_file::ScratchFile;
use session::{Results, Session};

pub(crate) fn run<W: World>(bench: &SuiteSteps, world: &W) -> anyhow::Result<CommandOutcome> {
    let mut session = Session::new(bench, world)?;
    let (interrupt, printer) = (session.interrupt.clone(), world.printer());
    let destination = Destination::of_result(destination::BENCH, &bench.printed)?;
    if bench.start.dry_run {
        return preview::run(&mut session, world);
    }
    let mut found = Results::default();
    found.target.path = shown(&bench.target);
    let refusal = measure(&mut session, world, &mut found).err().and_then(Halt::refusal);
    // Where the user wants no more, what cannot be done is no news.
    let signal = interrupt.signal();
    let refusal = refusal.filter(|_| signal.is_none());
    if signal.is_some() {
        session.note(CUT_OFF);
    }
    let Results { target, scratch, experiments } = found;
    let document = session.document(target, scratch, experiments, refusal);
    // What was measured is kept where it cannot be shown, and shown where it cannot be kept.
    let kept = destination.map_or(Ok(()), |file| file.write(&bench_json(&document)));
    let said = show::result(bench, &document, signal, &printer)?;
    if let Err(error) = kept {
        return exit::unwritten(error, interrupt.signal(), &printer);
    }
    if bench.printed.format() == BenchFormat::Nagios && signal.is_none() {
        let plugin = bench_plugin(&document).allowing_unknown(bench.unknown.is_allowed);
        return Ok(exit::of_plugin(&plugin, &printer)?);
    }
    let said = printer.said_or(said, "nothing was measured");
    Ok(show::outcome(&document, signal, said))
}

fn measure<W: World>(
    session: &mut Session<'_>,
    world: &W,
    found: &mut Results,
) -> Result<(), Halt> {
    match directory_method::target(session.bench)? {
        MeasureTarget::Directory(directory) => in_directory(session, world, &directory, found),
        MeasureTarget::Device { node, number } => raw::run(session, world, (&node, number), found),
    }
}

fn in_directory<W: World>(
    session: &mut Session<'_>,
    world: &W,
    directory: &Pinned,
    found: &mut Results,
) -> Result<(), Halt> {
    let way = DirectoryMethod::of(session)?;
    session.grant(way.budget(session.bench));
    let mounts = private_mounts(&way, session.bench)?;
    announcement::announce(session, world, &way, directory)?;
    let ground = prepare(session, world, directory, found)?;
    session.measures(&ground.place);
    found.target.others_bytes_per_second = session.yield_to_others(world, &ground.place);
    match way {
        DirectoryMethod::Inside => in_scratch_file::run(session, world, &ground, found),
        DirectoryMethod::Job(file) => {
            job::run(session, world, &ground, mounts.as_ref(), &file, found)
        }
        DirectoryMethod::Requests(path) => raidtest::run(session, world, &ground, &path, found),
        DirectoryMethod::Suite(lines) => match &mounts {
            Some(mounts) => suite::run(session, shifted::file_of(&ground)?, mounts, &lines, found),
            None => Ok(()),
        },
        DirectoryMethod::Command => {
            let file = shifted::file_of(&ground)?;
            for asked in plan::questions(&command::arms(session, file)?) {
                let experiment = command::run(session, file, mounts.as_ref(), &asked)?;
                found.experiments.push(experiment);
                if session.interrupt.is_raised() {
                    return Err(Halt::Interrupted);
                }
            }
            Ok(())
        }
    }
}

/// Returns where file systems are mounted for this run alone, if any is.
fn private_mounts(
    way: &DirectoryMethod,
    bench: &SuiteSteps,
) -> Result<Option<PrivateMounts>, Halt> {
    if !way.mounts(bench) {
        return Ok(None);
    }
    PrivateMounts::enter().map(Some).map_err(Halt::from)
}

/// The scratch file, with what it says of the target.
fn prepare<W: World>(
    session: &mut Session<'_>,
    world: &W,
    directory: &Pinned,
    found: &mut Results,
) -> Result<ScratchFile<W::Scratch>, Halt> {
    let wanted = plan::unit_kind(session.bench.unit);
    let ground = ScratchFile::prepare(session, world, directory, wanted)?;
    found.target = document::target(shown(directory.given()), Some(&ground.place));
    found.scratch = Some(ground.document());
    Ok(ground)
}
