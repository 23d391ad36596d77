//! `straddle probe`: what a drive really writes as one, measured; and what to tell tools.
//!
//! | file | what it is |
//! |---|---|
//! | `preflight` | what may be written, known before anything is |
//! | `session` | what was asked, of which machine, with which seed |
//! | `open_target` | the scratch file or the device that is measured, opened |
//! | `drive_identity` | which drive's addresses are used, and of which drive it is what is found |
//! | `preview` | what it would write, for `--dry-run` |
//! | `pauses` | what happens between blocks: rests, the line that says how far it is |
//! | `measuring` | the questions of `measure::probe`, asked there |
//! | `document` | what is printed, and what is kept |
//! | `contribute` | the file for others with the same model, for `--contribute` |

mod contribute;
mod document;
mod drive_identity;
mod measuring;
mod open_target;
mod pauses;
mod preflight;
mod preview;
mod session;

#[cfg(test)]
mod verdict_tests;

use report::Refusal;
use report::probe::{Probe as Document, probe_json, probe_table};

use crate::arguments::Probe;
use crate::exit::{self, CUT_OFF, CommandOutcome};
use crate::shared::destination::{self, Destination};
use crate::shared::measure_target::MeasureTarget;
use crate::world::World;

use open_target::OpenTarget;
use pauses::Pauses;
use session::Session;

pub(crate) fn run<W: World>(probe: &Probe, world: &W) -> anyhow::Result<CommandOutcome> {
    let destination = Destination::of(destination::PROBE, probe.kept.output.as_ref())?;
    let contributed = contribute::destination(probe.contribute.as_deref())?;
    let (started, clock) = (world.started(), world.clock());
    let begun_ns = clock.now_ns();
    let run = Session {
        probe,
        inspected: world.inspected().ignoring_measured(true),
        interrupt: world.interrupt()?,
        seed: probe.start.seed(started),
        clock: &*clock,
        printer: world.printer(),
    };
    let mut document = document::begun(&run, started);
    let text = fill(&run, world, &mut document).unwrap_or_else(|refusal| {
        // Where the user wants no more, what cannot be done is no news.
        document.envelope.refusal = Some(refusal).filter(|_| !run.interrupt.is_raised());
        None
    });
    document.elapsed_ns = clock.now_ns().saturating_sub(begun_ns);
    let shown = show(&run, &document, destination)?;
    match text.zip(contributed) {
        Some((Ok(text), file)) => {
            let name = file.name();
            file.write(&text)?;
            run.printer.note(&format!("wrote {name}; to send it: drives/README.md of the source"));
            Ok(shown)
        }
        Some((Err(reason), file)) => {
            let said = run.printer.error(&format!("cannot contribute {}: {reason}", file.name()));
            Ok(if shown == CommandOutcome::Done { CommandOutcome::NoVerdict(said) } else { shown })
        }
        None => Ok(shown),
    }
}

/// Answers what was asked; the text for `--contribute`, or why there is none, where it ran.
fn fill<W: World>(
    run: &Session<'_>,
    world: &W,
    document: &mut Document,
) -> Result<Option<Result<String, String>>, Refusal> {
    let target = MeasureTarget::of(&run.probe.target, "probe")?;
    if let MeasureTarget::Directory(directory) = &target {
        run.probe.raw.write_device_needs_a_device("probe", directory.given())?;
    }
    contribute::preflight(run, &target)?;
    if run.probe.start.dry_run {
        return preview::run(run, world, &target, document).map(|()| None);
    }
    let most_ns = u64::from(run.probe.seconds).saturating_mul(1_000_000_000);
    let mut watched = Pauses::new(run, most_ns);
    let opened = OpenTarget::opened(run, world, &target, &mut watched, document)?;
    document::describe(&opened, document);
    let found = measuring::run(run, world, &opened, &mut watched, document)?;
    drop(watched);
    document::answer(run, &opened, &found, document);
    if run.interrupt.is_raised() {
        document.envelope.notes.push(CUT_OFF.to_owned());
    }
    Ok(Some(contribute::text(&opened, &found, document)))
}

/// Prints the result; what the process ends with.
fn show(
    run: &Session<'_>,
    document: &Document,
    destination: Option<Destination>,
) -> anyhow::Result<CommandOutcome> {
    let refused = document.envelope.refusal.as_ref().map(|refusal| run.printer.refusal(refusal));
    let signal = run.interrupt.signal();
    let said = signal.map(|_| run.printer.interrupted()).or(refused);
    // What was measured is kept where it cannot be shown, and shown where it cannot be kept.
    let kept = destination.map_or(Ok(()), |file| file.write(&probe_json(document)));
    let text = match (run.probe.prints_document(), &document.envelope.refusal) {
        (true, _) => probe_json(document),
        (false, Some(_)) => String::new(),
        (false, None) => probe_table(document, &run.printer.look(run.probe.explain)),
    };
    let said = run.printer.said_or(run.printer.print(&text)?.or(said), "nothing was measured");
    if let Err(error) = kept {
        return exit::unwritten(error, run.interrupt.signal(), &run.printer);
    }
    Ok(match (&document.envelope.refusal, signal) {
        (_, Some(signal)) => CommandOutcome::Interrupted(signal, said),
        (Some(refusal), None) => CommandOutcome::of_refusal(refusal, said),
        (None, None) if document.dry_run || document.answers.found_any() => CommandOutcome::Done,
        (None, None) => CommandOutcome::NoVerdict(said),
    })
}
