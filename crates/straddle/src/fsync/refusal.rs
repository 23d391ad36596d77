//! Refusals of what cannot be done here, and of what was measured and means nothing; each with what
//! to do.

use device::durable::DurableMethod;
use host::ScratchError;
use measure::durable::{DurableSeen, RowSeen};
use units::prefix::Size;

use super::pace::SECONDS_MAX;
use super::plan::FsyncRunPlan;
use super::schedule::{SECOND_NS, Schedule};
use super::session::Session;
use crate::arguments::{Fsync, FsyncRows};
use crate::shared::halt::{self, Halt};
use crate::world::World;

/// Refuses a mount that cannot be written to: without a sync nothing is known, and what the layers
/// below declare is about reads.
pub(super) fn writable(session: &Session<'_>) -> Result<(), Halt> {
    let target = &session.document.target;
    if !target.mount_options.iter().any(|option| option == "ro") {
        return Ok(());
    }
    Err(Halt::refused(
        format!("cannot try a sync in {}: it is mounted read-only", target.path),
        Some("mount it for writing, or name another directory on the drive".to_owned()),
    ))
}

/// Refuses files for which there is no room.
pub(super) fn fits<W: World>(
    session: &Session<'_>,
    world: &W,
    plan: &FsyncRunPlan,
) -> Result<(), Halt> {
    let possible = match plan.is_look() {
        // A file system that is nearly full takes the few bytes; one on a full layer goes down.
        true => world.room_below(session.directory()?, plan.forecast.scratch_bytes),
        false => world.files_possible(&plan.files(session)),
    };
    possible.map_err(|error| no_files(session, plan, &error))
}

/// That there are no scratch files, with what would take as much room as there is.
pub(super) fn no_files(session: &Session<'_>, plan: &FsyncRunPlan, error: &ScratchError) -> Halt {
    match error {
        ScratchError::Stopped { .. } => Halt::Interrupted,
        _ => {
            let smaller = smaller(session.arguments, plan, error);
            halt::no_file_but(error, smaller.as_deref()).into()
        }
    }
}

/// The option with which all files fit into the room that there is: those of an engine follow the
/// bytes that may be written, and other rows need the files that they are about.
fn smaller(arguments: &Fsync, plan: &FsyncRunPlan, error: &ScratchError) -> Option<String> {
    let room_bytes = error.room_bytes()?;
    if plan.profile.is_some() {
        let mebibytes = Some(room_bytes >> 20).filter(|number| *number > 0);
        return mebibytes.map(|number| format!("--bytes-max {number}M"));
    }
    let has_fewer = matches!(arguments.rows, FsyncRows::Usual | FsyncRows::All);
    (has_fewer && room_bytes >= super::plan::FILE_BYTES).then(|| "--rows pg".to_owned())
}

/// That making the files took all the time that it may; the first is made up to `written_bytes`.
pub(super) fn given_up(session: &Session<'_>, plan: &FsyncRunPlan, written_bytes: u64) -> Halt {
    let seconds = session.arguments.seconds;
    let ready_ns = Schedule::of(seconds).ready_ns();
    let all_ns = u128::from(ready_ns) * u128::from(plan.files(session).made_bytes());
    let all_ns = all_ns.checked_div(written_bytes.into()).unwrap_or(0);
    let all_ns = u64::try_from(all_ns).unwrap_or(u64::MAX);
    let least = longer(session, all_ns.saturating_add(all_ns.div_ceil(4)).saturating_mul(2));
    Halt::undecided(
        format!(
            "making the scratch files in {} was given up: it took half of {seconds} s, the most \
             that it may",
            session.document.target.path
        ),
        Some(format!("give it longer: --seconds {least}")),
    )
}

/// The seconds to type where `needed_ns` are likely to be enough: four times as many as were typed
/// at least, and a day at most.
fn longer(session: &Session<'_>, needed_ns: u64) -> u64 {
    let four_times = u64::from(session.arguments.seconds).saturating_mul(4);
    needed_ns.div_ceil(SECOND_NS).max(four_times).min(SECONDS_MAX)
}

/// Returns how long a run is likely to take in which each row has two rounds that count, at the
/// pace of
/// `seen`, in nanoseconds.
fn two_rounds_ns(session: &Session<'_>, plan: &FsyncRunPlan, seen: &DurableSeen) -> u64 {
    let rows = || plan.in_turns().iter().zip(&seen.rows);
    let done = |(way, row): (&DurableMethod, &RowSeen)| {
        way.syncs().saturating_mul(row.discarded.saturating_add(row.latencies.count()))
    };
    let each_ns = seen.elapsed_ns.div_ceil(rows().map(done).sum::<u64>().max(1));
    // One operation to warm up, and in each round two.
    let syncs = rows().map(|(way, _)| way.syncs()).sum::<u64>().saturating_mul(5);
    let rows_ns = each_ns.saturating_mul(syncs);
    let made_ns = session.document.scratch.as_ref().map_or(0, |scratch| scratch.prepared_ns);
    let all_ns = rows_ns.saturating_add(made_ns);
    // The look takes a quarter at most, and the pace may fall by a quarter.
    all_ns.saturating_add(all_ns.div_ceil(3)).saturating_add(all_ns.div_ceil(3))
}

/// Refuses to go on where an operation failed that may have lost what was written.
pub(super) fn stopped(session: &Session<'_>, seen: &DurableSeen) -> Result<(), Halt> {
    let Some(reason) = &seen.stopped else { return Ok(()) };
    let full = full_below(session).map_or(String::new(), |store| format!("{store} is full; "));
    Err(Halt::fault(
        format!("stopped, and not tried again: {reason}"),
        Some(format!("{full}look into the kernel's log (dmesg): what was written may be lost")),
    ))
}

/// The layer below the file system that has no room left, if one is known.
fn full_below(session: &Session<'_>) -> Option<host::StoreBelow> {
    host::full_below(session.directory().ok()?)
}

/// Refuses to go on where rows failed since the file system went down: no sync of it tells
/// anything.
pub(super) fn standing(session: &Session<'_>, seen: &DurableSeen) -> Result<(), Halt> {
    let first = seen.rows.iter().find_map(|row| row.errors.first());
    match first.filter(|_| session.fallen().is_some()) {
        Some(error) => Err(Halt::fault(
            format!(
                "stopped: the file system of {} went down while rows were measured: {error}",
                session.document.target.path
            ),
            None,
        )),
        None => Ok(()),
    }
}

/// Refuses a run that ended before a row counted, though none failed.
pub(super) fn whole(
    session: &Session<'_>,
    plan: &FsyncRunPlan,
    seen: &DurableSeen,
) -> Result<(), Halt> {
    let is_empty = |row: &RowSeen| row.latencies.count() == 0 && row.errors.is_empty();
    if session.document.verdict.is_some() || !seen.rows.iter().all(is_empty) {
        return Ok(());
    }
    let Fsync { seconds, bytes_max, .. } = session.arguments;
    Err(Halt::undecided(
        format!(
            "{seconds} s and {} end before a second round of the rows, the first that counts",
            { Size(*bytes_max) }
        ),
        Some(format!(
            "give more time: --seconds {}; more bytes with --bytes-max, or fewer rows with --rows",
            longer(session, two_rounds_ns(session, plan, seen))
        )),
    ))
}

/// Refuses to call a run whole in which rows met a full file system: those are void, and the others
/// were measured while it filled.
pub(super) fn no_room(session: &Session<'_>, seen: &DurableSeen) -> Result<(), Halt> {
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
    let (full, place) = match full_below(session) {
        Some(store) => (format!("{store}, below {path},"), store.place()),
        None => (path.clone(), "there, or ask for a larger quota,".to_owned()),
    };
    Err(Halt::undecided(
        format!(
            "{full} had no room while rows were measured, so what was measured of {} means \
             nothing: {reason}",
            void.join(", ")
        ),
        Some(format!(
            "free {} {place} and measure again",
            Size(session.document.forecast.as_ref().map_or(0, |forecast| forecast.scratch_bytes))
        )),
    ))
}
