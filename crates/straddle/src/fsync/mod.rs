//! `straddle fsync`: how long a durable write takes here, in every way that there is.
//!
//! | file | what it is |
//! |---|---|
//! | `target` | the directory, and the layers and the drive under it |
//! | `plan` | which rows, what they may use, what that means for the drive and for others |
//! | `session` | one run: seed, clock, what it noticed |
//! | `document` | from what was seen to what is printed |
//! | `judged` | what others make of it: the verdict for an engine, and whether a sync is real |
//! | `show` | what is printed, and the exit code |

mod document;
mod judged;
mod plan;
mod session;
mod show;
mod target;

use device::durable::Way;
use host::{DurableFiles, Interrupt};
use measure::durable;
use report::fsync::{FsyncRefusal, FsyncScratch, Sustained, fsync_json};

use crate::arguments::{Fsync, FsyncRows};
use crate::destination::{self, Destination};
use crate::exit::Outcome;
use crate::leftover;
use judged::Measured;
use plan::Plan;
use session::Session;

/// Why it ended before its time.
pub(crate) enum Halt {
    /// The user wants no more.
    Interrupted,
    /// It cannot be done here, or went wrong.
    Refused(FsyncRefusal),
}

impl Halt {
    /// It cannot be done here, and `hint` may help.
    pub(crate) fn refused(message: impl Into<String>, hint: Option<String>) -> Halt {
        Halt::Refused(FsyncRefusal { message: message.into(), hint, safety: false })
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
    let plan = match planned(session) {
        Ok(plan) => plan,
        Err(halt) => return Ok(Err(halt)),
    };
    if let Err(error) = plan.files(session).possible() {
        return Ok(Err(error.into()));
    }
    show::preview(session, &plan)?;
    Ok(Ok(()))
}

/// Which rows, where, and what that means.
fn planned(session: &mut Session<'_>) -> Result<Plan, Halt> {
    session.document.target = target::of(&session.scene, &session.arguments.directory)?;
    let plan = Plan::of(session)?;
    // Where no row is measured, only what is tried to look at syncs is written.
    let measures = session.arguments.rows != FsyncRows::None;
    session.document.forecast = measures.then(|| plan.forecast.clone());
    Ok(plan)
}

fn measured(session: &mut Session<'_>) -> Result<(), Halt> {
    let plan = planned(session)?;
    if session.arguments.rows == FsyncRows::None {
        writable(session)?;
        leftover::clear(&session.arguments.directory);
        show::look_only(session);
        session.document.honesty = Some(judged::honesty(session)?);
        return Ok(());
    }
    // Before: what was left takes space.
    leftover::clear(&session.arguments.directory);
    plan.files(session).possible()?;
    show::forecast(session, &plan);
    let begun_ns = session.elapsed_ns();
    let mut files = DurableFiles::create(&plan.files(session))?;
    session.note_name(&files);
    session.document.scratch = Some(FsyncScratch {
        place: files.scratch().directory().to_string(),
        length_bytes: plan.forecast.scratch_bytes,
        written_bytes: 0,
        prepared_ns: session.elapsed_ns().saturating_sub(begun_ns),
    });
    let ended = rounds(session, &plan, &mut files);
    if let Some(scratch) = &mut session.document.scratch {
        scratch.written_bytes = device::Durable::written_bytes(&files);
    }
    ended
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
fn rounds(session: &mut Session<'_>, plan: &Plan, files: &mut DurableFiles) -> Result<(), Halt> {
    let limits = plan.limits(session);
    let seen = durable::run(files, plan.in_turns(), limits, session.document.seed);
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
    let measured = Measured { plan, seen: &seen };
    session.document.honesty = Some(judged::honesty(session)?);
    session.document.verdict = judged::verdict(session, &measured);
    match plan.sustained() {
        Some(way) => sustained(session, plan, way, files),
        None => Ok(()),
    }
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
    let points = durable::sustained(files, number, way, span);
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
