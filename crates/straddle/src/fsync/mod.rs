//! `straddle fsync`: how long durable writes take here, with every sync method.
//!
//! | file | what it is |
//! |---|---|
//! | `target` | the directory, and the layers and the drive under it |
//! | `option_conflicts` | options that do not go together, refused before anything is done |
//! | `refusal` | what cannot be done here, or means nothing, with what to do |
//! | `engine`, `honesty` | limits of an engine and their verdict; whether a sync is real |
//! | `plan`, `budget`, `schedule` | which rows, with which files; what they may use |
//! | `forecast` | what that means for the drive and for others |
//! | `session`, `with_progress` | one run: seed, clock, what it noticed; how far it is |
//! | `document` | from what was seen to what is printed |
//! | `measured` | the rows that were measured, with their plan |
//! | `judgment` | the verdict for an engine, and whether a sync is real |
//! | `advice`, `pace` | what to type next where a run was too short, or nothing counts |
//! | `show` | what is printed, and the exit code |

mod advice;
mod budget;
mod document;
mod engine;
mod forecast;
mod honesty;
mod judgment;
mod measured;
mod option_conflicts;
mod pace;
mod plan;
mod refusal;
mod schedule;
mod session;
mod show;
mod target;
mod with_progress;

#[cfg(test)]
mod verdict_tests;

use device::durable::DurableMethod;
use measure::durable;
use report::Refusal;
use report::fsync::{FsyncScratch, Sustained, fsync_json};
use units::prefix::Size;

use crate::arguments::{BenchFormat, Fsync};
use crate::exit::{self, CUT_OFF, CommandOutcome};
use crate::shared::destination::{self, Destination};
use crate::shared::halt::Halt;
use crate::world::{SyncFiles, World};
use durability::Process;
use measured::FsyncMeasured;
use plan::FsyncRunPlan;
use schedule::Schedule;
use session::Session;
use with_progress::WithProgress;

pub(crate) fn run<W: World>(arguments: &Fsync, world: &W) -> anyhow::Result<CommandOutcome> {
    let mut session = Session::new(arguments, world)?;
    let (interrupt, printer) = (session.interrupt.clone(), world.printer());
    let destination = Destination::of_result(destination::FSYNC, &arguments.printed)?;
    let ended = match arguments.start.dry_run {
        true => previewed(&mut session, world)?,
        false => measured(&mut session, world),
    };
    // Nothing else is of use once the file system went down.
    let refusal = ended.err().and_then(Halt::refusal).map(|refusal| match session.fallen() {
        Some(advice) => Refusal { hint: Some(advice), ..refusal },
        None => refusal,
    });
    // Where the user wants no more, what cannot be done is no news.
    let signal = interrupt.signal();
    session.document.envelope.refusal = refusal.filter(|_| signal.is_none());
    if signal.is_some() {
        session.note(CUT_OFF);
    }
    let document = session.ended();
    // What was measured is kept where it cannot be shown, and shown where it cannot be kept.
    let destination = destination.filter(|_| !arguments.start.dry_run);
    let kept = destination.map_or(Ok(()), |file| file.write(&fsync_json(&document)));
    let said = show::result(arguments, &document, signal, &printer)?;
    if let Err(error) = kept {
        return exit::unwritten(error, interrupt.signal(), &printer);
    }
    let is_plugin = arguments.printed.format() == BenchFormat::Nagios;
    if is_plugin && !arguments.start.dry_run && signal.is_none() {
        return Ok(exit::of_plugin(&show::plugin(arguments, &document), &printer)?);
    }
    Ok(show::outcome(arguments, &document, (signal, said), &printer))
}

/// Prints what would be done. What would not be possible is a refusal.
fn previewed<W: World>(session: &mut Session<'_>, world: &W) -> anyhow::Result<Result<(), Halt>> {
    let plan = planned(session);
    let plan = match plan.and_then(|plan| possible(session, world, &plan).map(|()| plan)) {
        Ok(plan) => plan,
        Err(halt) => return Ok(Err(halt)),
    };
    show::preview(session, &plan)?;
    Ok(Ok(()))
}

/// Plans which rows are measured, and where, and forecasts what that means.
fn planned(session: &mut Session<'_>) -> Result<FsyncRunPlan, Halt> {
    option_conflicts::refused(session.arguments)?;
    session.document.target = target::of(&session.inspected, session.directory()?)?;
    let plan = FsyncRunPlan::of(session)?;
    if let Some(note) = plan.shortened() {
        session.note(note);
    }
    session.document.forecast = Some(plan.forecast.clone());
    Ok(plan)
}

/// Refuses what cannot be done here, as far as that can be told without writing, or removing what
/// an earlier run left.
fn possible<W: World>(session: &Session<'_>, world: &W, plan: &FsyncRunPlan) -> Result<(), Halt> {
    refusal::writable(session)?;
    refusal::fits(session, world, plan)?;
    let named = session.arguments.pid.map_or(Ok(String::new()), host::process_name);
    named.map(drop).map_err(|error| Halt::refused(error.to_string(), error.hint()))
}

/// Every refusal that can be foreseen comes before the first word of what is going to be written.
fn measured<W: World>(session: &mut Session<'_>, world: &W) -> Result<(), Halt> {
    let plan = planned(session)?;
    refusal::writable(session)?;
    let process = session.arguments.pid.map(honesty::asked).transpose()?;
    // Before room is looked for: what was left takes some.
    world.clear_leftovers(session.directory()?);
    refusal::fits(session, world, &plan)?;
    // An empty file, gone at once. Where none can be made a look says so, and measures nothing.
    let takes = world.takes_files(session.directory()?);
    if plan.is_look() {
        if takes.is_ok() {
            show::forecast(session, &plan);
        }
        session.document.honesty =
            Some(judgment::honesty(session, world, process, honesty::LOOK_NS)?);
        return Ok(());
    }
    takes.map_err(|error| refusal::no_files(session, &plan, &error))?;
    show::forecast(session, &plan);
    session.document.target.others_bytes_per_second = target::others(session, world);
    let begun_ns = session.elapsed_ns();
    let mut files = created(session, world, &plan)?;
    session.note_name(&files);
    session.document.scratch = Some(FsyncScratch {
        place: files.directory().to_string(),
        length_bytes: plan.forecast.scratch_bytes,
        written_bytes: 0,
        prepared_ns: session.elapsed_ns().saturating_sub(begun_ns),
    });
    let ended = rounds(session, world, (&plan, &mut files), process);
    if let Some(scratch) = &mut session.document.scratch {
        scratch.written_bytes = device::Durable::written_bytes(&files);
    }
    ended
}

/// The scratch files, made in the part of the time that is theirs.
fn created<W: World>(
    session: &Session<'_>,
    world: &W,
    plan: &FsyncRunPlan,
) -> Result<W::SyncFiles, Halt> {
    let mut line = session.progress(0);
    line.announce(|look| {
        let what = format!("making scratch files, {}", Size(plan.forecast.scratch_bytes));
        report::fsync::doing(&what, look)
    });
    let files = world.sync_files(&plan.files(session));
    line.clear();
    files.map_err(|error| match error {
        host::ScratchError::Stopped { written_bytes, .. } if !session.interrupt.is_raised() => {
            refusal::given_up(session, plan, written_bytes)
        }
        error => refusal::no_files(session, plan, &error),
    })
}

/// All rounds, and what comes after them.
fn rounds<W: World>(
    session: &mut Session<'_>,
    world: &W,
    (plan, files): (&FsyncRunPlan, &mut W::SyncFiles),
    process: Option<Process>,
) -> Result<(), Halt> {
    let limits = plan.limits(session, session.elapsed_ns());
    let beside_ns = session.elapsed_ns().saturating_add(honesty::LOOK_NS);
    let mut watched = WithProgress::new(session, files, limits.elapsed_ns);
    let seen = durable::run(&mut watched, plan.in_turns(), limits, session.document.seed);
    drop(watched);
    document::fill(session, plan, &seen, limits.slice_ns);
    refusal::stopped(session, &seen)?;
    refusal::standing(session, &seen)?;
    if session.interrupt.is_raised() {
        return Err(Halt::Interrupted);
    }
    let measured = FsyncMeasured { plan, seen: &seen, beside_ns };
    let look_ns = Schedule::of(session.arguments.seconds).look_ns();
    session.document.honesty = Some(judgment::honesty(session, world, process, look_ns)?);
    session.document.verdict = judgment::verdict(session, &measured);
    refusal::no_room(session, &seen)?;
    refusal::whole(session, plan, &seen)?;
    match plan.sustained() {
        Some(way) => sustained(session, plan, way, files),
        None => Ok(()),
    }
}

/// Writes on until the drive's buffer is full, or the limits are reached.
fn sustained(
    session: &mut Session<'_>,
    plan: &FsyncRunPlan,
    (number, way): (usize, &DurableMethod),
    files: &mut impl SyncFiles,
) -> Result<(), Halt> {
    let span = plan.budget.span(way, device::Durable::written_bytes(files));
    let begun_ns = session.elapsed_ns();
    let mut watched = WithProgress::new(session, files, span.elapsed_ns);
    let points = durable::sustained(&mut watched, number, way, span);
    drop(watched);
    let elapsed_ns = session.elapsed_ns().saturating_sub(begun_ns);
    let points = points.map_err(|fault| document::halt(plan::SUSTAINED_TITLE, fault))?;
    let (knee, reason) = engine::knee(&points, session.document.seed);
    session.document.sustained = Some(Sustained {
        title: plan::SUSTAINED_TITLE.to_owned(),
        write_bytes: way.operation_bytes(),
        written_bytes: points.last().map_or(0, |point| point.at_bytes),
        elapsed_ns,
        points: points.iter().map(document::point).collect(),
        knee,
        reason,
    });
    Ok(())
}
