//! `straddle fsync`: how long a durable write takes here, in every way that there is.
//!
//! | file | what it is |
//! |---|---|
//! | `target` | the directory, and the layers and the drive under it |
//! | `misuse` | options that do not go together, refused before anything is done |
//! | `plan`, `schedule` | which rows, what they may use, what that means for drive and others |
//! | `session`, `watched` | one run: seed, clock, what it noticed; how far it is |
//! | `advice` | what to type next where a run was too short |
//! | `document` | from what was seen to what is printed |
//! | `judged` | what others make of it: the verdict for an engine, and whether a sync is real |
//! | `show` | what is printed, and the exit code |

mod advice;
mod document;
mod judged;
mod misuse;
mod plan;
mod schedule;
mod session;
mod show;
mod target;
mod watched;

use device::durable::Way;
use host::{DurableFiles, Interrupt};
use measure::durable;
use report::fsync::{FsyncScratch, RunRefusal, Sustained, fsync_json};
use units::prefix::Size;

use crate::arguments::Fsync;
use crate::destination::{self, Destination};
use crate::exit::Outcome;
use crate::{honesty, leftover};
use judged::Measured;
use plan::Plan;
use schedule::Schedule;
use session::Session;
use stack::honesty::Process;
use watched::Watched;

/// Why it ended before its time.
pub(crate) enum Halt {
    /// The user wants no more.
    Interrupted,
    /// It cannot be done here, or went wrong.
    Refused(RunRefusal),
}

impl Halt {
    /// It cannot be done here, and `hint` may help.
    pub(crate) fn refused(message: impl Into<String>, hint: Option<String>) -> Halt {
        Halt::Refused(RunRefusal { message: message.into(), hint, safety: false })
    }
}

impl From<host::ScratchError> for Halt {
    fn from(error: host::ScratchError) -> Halt {
        match error {
            host::ScratchError::Stopped { .. } => Halt::Interrupted,
            _ => Halt::refused(error.to_string(), error.hint().map(str::to_owned)),
        }
    }
}

pub(crate) fn run(arguments: &Fsync) -> anyhow::Result<Outcome> {
    let interrupt = Interrupt::install()?;
    let mut session = Session::new(arguments, interrupt.clone());
    let destination = Destination::of(destination::RESULT, arguments.printed.output.as_ref())?;
    let ended = match arguments.dry_run {
        true => previewed(&mut session)?,
        false => measured(&mut session),
    };
    let refusal = match ended {
        Ok(()) | Err(Halt::Interrupted) => None,
        Err(Halt::Refused(refusal)) => Some(refusal),
    };
    // Where the user wants no more, what cannot be done is no news.
    let signal = interrupt.signal();
    session.document.refusal = refusal.filter(|_| signal.is_none());
    let document = session.ended();
    // What was measured is kept where it cannot be shown, and shown where it cannot be kept.
    let destination = destination.filter(|_| !arguments.dry_run);
    let kept = destination.map_or(Ok(()), |file| file.write(&fsync_json(&document)));
    show::result(arguments, &document, signal)?;
    kept?;
    Ok(show::outcome(arguments, &document, signal))
}

/// Prints what would be done. What would not be possible is a refusal.
fn previewed(session: &mut Session<'_>) -> anyhow::Result<Result<(), Halt>> {
    let plan = match planned(session).and_then(|plan| possible(session, &plan).map(|()| plan)) {
        Ok(plan) => plan,
        Err(halt) => return Ok(Err(halt)),
    };
    show::preview(session, &plan)?;
    Ok(Ok(()))
}

/// Which rows, where, and what that means.
fn planned(session: &mut Session<'_>) -> Result<Plan, Halt> {
    misuse::refused(session.arguments)?;
    session.document.target = target::of(&session.scene, &session.arguments.directory)?;
    let plan = Plan::of(session)?;
    if let Some(note) = plan.shortened(session.arguments) {
        session.note(note);
    }
    session.document.forecast = Some(plan.forecast.clone());
    Ok(plan)
}

/// Refuses what cannot be done here, as far as that can be told without writing, or removing what
/// an earlier run left.
fn possible(session: &Session<'_>, plan: &Plan) -> Result<(), Halt> {
    writable(session)?;
    fits(session, plan)?;
    match session.arguments.pid {
        Some(pid) => judged::is_process(pid),
        None => Ok(()),
    }
}

/// Refuses files for which there is no room.
fn fits(session: &Session<'_>, plan: &Plan) -> Result<(), Halt> {
    if plan.is_look() {
        return Ok(());
    }
    Ok(plan.files(session).possible()?)
}

/// Every refusal that can be foreseen comes before the first word of what is going to be written.
fn measured(session: &mut Session<'_>) -> Result<(), Halt> {
    let plan = planned(session)?;
    writable(session)?;
    let process = judged::process(session.arguments)?;
    // Before room is looked for: what was left takes some.
    leftover::clear(&session.arguments.directory);
    fits(session, &plan)?;
    // An empty file, gone at once. Where none can be made a look says so, and measures nothing.
    let takes = host::takes_files(&session.arguments.directory);
    if plan.is_look() {
        if takes.is_ok() {
            show::forecast(session, &plan);
        }
        session.document.honesty = Some(judged::honesty(session, process, honesty::LOOK_NS)?);
        return Ok(());
    }
    takes?;
    show::forecast(session, &plan);
    let begun_ns = session.elapsed_ns();
    let mut files = created(session, &plan)?;
    session.note_name(&files);
    session.document.scratch = Some(FsyncScratch {
        place: files.scratch().directory().to_string(),
        length_bytes: plan.forecast.scratch_bytes,
        written_bytes: 0,
        prepared_ns: session.elapsed_ns().saturating_sub(begun_ns),
    });
    let ended = rounds(session, &plan, &mut files, process);
    if let Some(scratch) = &mut session.document.scratch {
        scratch.written_bytes = device::Durable::written_bytes(&files);
    }
    ended
}

/// The scratch files, made in the part of the time that is theirs.
fn created(session: &Session<'_>, plan: &Plan) -> Result<DurableFiles, Halt> {
    let mut line = session.progress(0);
    line.announce(|look| {
        let what = format!("making scratch files, {}", Size(plan.forecast.scratch_bytes));
        report::fsync::doing(&what, look)
    });
    let files = DurableFiles::create(&plan.files(session));
    line.clear();
    files.map_err(|error| match error {
        host::ScratchError::Stopped { .. } if !session.interrupt.is_raised() => {
            let seconds = session.arguments.seconds;
            Halt::refused(
                format!(
                    "making the scratch files in {} was given up: it took half of {seconds} s, the \
                     most that it may",
                    session.document.target.path
                ),
                Some(format!("give it longer: --seconds {}", u64::from(seconds).saturating_mul(4))),
            )
        }
        error => error.into(),
    })
}

/// Refuses a mount that cannot be written to: without a sync nothing is known, and what the layers
/// below declare is about reads.
fn writable(session: &Session<'_>) -> Result<(), Halt> {
    let target = &session.document.target;
    if !target.mount_options.iter().any(|option| option == "ro") {
        return Ok(());
    }
    Err(Halt::refused(
        format!("cannot try a sync in {}: it is mounted read-only", target.path),
        Some("mount it for writing, or name another directory on the drive".to_owned()),
    ))
}

/// All rounds, and what comes after them.
fn rounds(
    session: &mut Session<'_>,
    plan: &Plan,
    files: &mut DurableFiles,
    process: Option<Process>,
) -> Result<(), Halt> {
    let limits = plan.limits(session, session.elapsed_ns());
    let beside_ns = session.elapsed_ns().saturating_add(honesty::LOOK_NS);
    let mut watched = Watched::new(session, files, limits.elapsed_ns);
    let seen = durable::run(&mut watched, plan.in_turns(), limits, session.document.seed);
    drop(watched);
    document::fill(session, plan, &seen, limits.slice_ns);
    if let Some(reason) = &seen.stopped {
        return Err(Halt::refused(
            format!("stopped, and not tried again: {reason}"),
            Some("look into the kernel's log (dmesg): what was written may be lost".to_owned()),
        ));
    }
    if session.interrupt.is_raised() {
        return Err(Halt::Interrupted);
    }
    let measured = Measured { plan, seen: &seen, beside_ns };
    let look_ns = Schedule::of(session.arguments.seconds).look_ns();
    session.document.honesty = Some(judged::honesty(session, process, look_ns)?);
    session.document.verdict = judged::verdict(session, &measured);
    no_room(session, &seen)?;
    whole(session, &seen)?;
    match plan.sustained() {
        Some(way) => sustained(session, plan, way, files),
        None => Ok(()),
    }
}

/// Refuses a run that ended before a row counted, though none failed.
fn whole(session: &Session<'_>, seen: &durable::DurableSeen) -> Result<(), Halt> {
    let is_empty = |row: &durable::RowSeen| row.latencies.count() == 0 && row.errors.is_empty();
    if session.document.verdict.is_some() || !seen.rows.iter().all(is_empty) {
        return Ok(());
    }
    let Fsync { seconds, bytes_max, .. } = session.arguments;
    Err(Halt::refused(
        format!(
            "{seconds} s and {} end before a second round of the rows, the first that counts",
            { Size(*bytes_max) }
        ),
        Some(format!(
            "give more time: --seconds {}; more bytes with --bytes-max, or fewer rows with --rows",
            u64::from(*seconds).saturating_mul(4)
        )),
    ))
}

/// Refuses to call a run whole in which rows met a full file system: those are void, and the others
/// were measured while it filled.
fn no_room(session: &Session<'_>, seen: &durable::DurableSeen) -> Result<(), Halt> {
    let void: Vec<&str> = (session.document.rows.iter().zip(&seen.rows))
        .filter(|(_, seen)| seen.has_no_room)
        .map(|(row, _)| row.id.as_str())
        .collect();
    let Some(reason) =
        seen.rows.iter().find(|row| row.has_no_room).and_then(|row| row.errors.first())
    else {
        return Ok(());
    };
    let path = &session.document.target.path;
    Err(Halt::refused(
        format!("{path} had no room while rows were measured, so {} mean nothing: {reason}", {
            void.join(", ")
        }),
        Some(format!(
            "free {} there, or ask for a larger quota, and measure again",
            Size(session.document.forecast.as_ref().map_or(0, |forecast| forecast.scratch_bytes))
        )),
    ))
}

/// Writes on until the drive's buffer is full, or the limits are reached.
fn sustained(
    session: &mut Session<'_>,
    plan: &Plan,
    (number, way): (usize, &Way),
    files: &mut DurableFiles,
) -> Result<(), Halt> {
    let span = plan.span(session, device::Durable::written_bytes(files));
    let begun_ns = session.elapsed_ns();
    let mut watched = Watched::new(session, files, span.elapsed_ns);
    let points = durable::sustained(&mut watched, number, way, span);
    drop(watched);
    let elapsed_ns = session.elapsed_ns().saturating_sub(begun_ns);
    let points = points.map_err(|fault| document::halt(plan::SUSTAINED_TITLE, fault))?;
    let (knee, reason) = judged::knee(&points, session.document.seed);
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
