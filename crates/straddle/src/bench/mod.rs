//! `straddle bench`: what misalignment costs here, measured.
//!
//! | file | what it is |
//! |---|---|
//! | `target`, `place`, `ground` | where: a directory or device, the way down, the scratch file |
//! | `plan`, `session`, `contest` | what is compared, what it may use, the loop over pairs |
//! | `way` | which of the ways of measuring was asked for |
//! | `inside`, `raw`, `live` | direct I/O in the scratch file or on a device |
//! | `requests`, `replay` | given requests, in the scratch file too |
//! | `shifted`, `stage`, `made` | whole devices that are shifted, file systems on them |
//! | `command`, `job`, `suite` | what runs on shifted devices |
//! | `quiet` | whether others use the drive |
//! | `preview`, `document`, `progress`, `show` | what is printed |

mod command;
mod contest;
mod document;
mod found;
mod ground;
mod inside;
mod job;
mod live;
mod made;
mod plan;
mod preview;
mod progress;
mod quiet;
mod raw;
mod replay;
mod requests;
mod session;
mod shifted;
mod show;
mod stage;
mod suite;
mod way;

use host::{Interrupt, Pinned, PrivateMounts};
use report::bench::bench_json;

use crate::arguments::Bench;
use crate::exit::{CUT_OFF, Outcome};
use crate::shared::destination::{self, Destination};
use crate::shared::halt::Halt;
use crate::shared::measured_place::MeasuredPlace;
use crate::shared::printer::shown;
use found::Found;
use ground::Ground;
use session::Session;
use way::Way;

pub(crate) fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let interrupt = Interrupt::install()?;
    let mut session = Session::new(bench, interrupt.clone());
    let destination = Destination::of_result(destination::BENCH, &bench.printed)?;
    if bench.start.dry_run {
        return preview::run(&mut session);
    }
    let mut found = Found::default();
    found.target.path = shown(&bench.target);
    let refusal = measure(&mut session, &mut found).err().and_then(Halt::refusal);
    // Where the user wants no more, what cannot be done is no news.
    let signal = interrupt.signal();
    let refusal = refusal.filter(|_| signal.is_none());
    if signal.is_some() {
        session.note(CUT_OFF);
    }
    let Found { target, scratch, experiments } = found;
    let document = session.document(target, scratch, experiments, refusal);
    // What was measured is kept where it cannot be shown, and shown where it cannot be kept.
    let kept = destination.map_or(Ok(()), |file| file.write(&bench_json(&document)));
    let said = show::result(bench, &document, signal)?;
    kept?;
    Ok(show::outcome(&document, signal, said))
}

fn measure(session: &mut Session<'_>, found: &mut Found) -> Result<(), Halt> {
    match asked(session.bench)? {
        MeasuredPlace::Directory(directory) => in_directory(session, &directory, found),
        MeasuredPlace::Device { node, number } => raw::run(session, &node, number, found),
    }
}

/// Returns what was named, where it goes together with what else was typed.
fn asked(bench: &Bench) -> Result<MeasuredPlace, Halt> {
    plan::addressable(&bench.shift, bench.size)?;
    let target = MeasuredPlace::of(&bench.target, "bench")?;
    if let MeasuredPlace::Directory(directory) = &target {
        bench.raw.write_device_needs_a_device("bench", directory.given())?;
    }
    Ok(target)
}

fn in_directory(
    session: &mut Session<'_>,
    directory: &Pinned,
    found: &mut Found,
) -> Result<(), Halt> {
    let way = Way::of(session)?;
    session.grant(way.budget(session.bench));
    let mounts = private_mounts(&way, session.bench)?;
    preview::announce(session, &way, directory)?;
    let ground = prepare(session, directory, found)?;
    session.measures(&ground.place);
    quiet::settle(session, &ground.place);
    match way {
        Way::Inside => inside::run(session, &ground, found),
        Way::Job(file) => job::run(session, &ground, mounts.as_ref(), &file, found),
        Way::Requests(path) => requests::run(session, &ground, &path, found),
        Way::Suite(lines) => match &mounts {
            Some(mounts) => suite::run(session, &ground, mounts, &lines, found),
            None => Ok(()),
        },
        Way::Command => {
            for asked in plan::questions(&command::arms(session, &ground)?) {
                let experiment = command::run(session, &ground, mounts.as_ref(), &asked)?;
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
fn private_mounts(way: &Way, bench: &Bench) -> Result<Option<PrivateMounts>, Halt> {
    if !way.mounts(bench) {
        return Ok(None);
    }
    PrivateMounts::enter().map(Some).map_err(Halt::from)
}

/// The scratch file, with what it says of the target.
fn prepare(
    session: &mut Session<'_>,
    directory: &Pinned,
    found: &mut Found,
) -> Result<Ground, Halt> {
    let wanted = plan::unit_kind(session.bench.unit);
    let ground = Ground::prepare(session, directory, session.scratch_bytes(), wanted);
    let ground = ground?;
    found.target = document::target(shown(directory.given()), Some(&ground.place));
    found.scratch = Some(ground.document());
    Ok(ground)
}
