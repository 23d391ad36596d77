//! `straddle check`: opens targets, assembles and judges each, and hands results on in order.
//!
//! Targets are looked at on all processors, a bounded number ahead of the one that is printed next,
//! so memory does not grow with their number. Members of one array or volume group wait until all
//! targets were seen, and are then judged together.

mod baseline;
mod cached;
mod document;
mod groups;
mod round;
mod show;
mod tally;
mod target_stack;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::anyhow;
use host::Interrupt;
use jiff::Timestamp;
use report::check_document::SCHEMA;
use report::{Baseline, Envelope, MonitorAnswer, Refusal};

use crate::arguments::{Check, Format};
use crate::exit::{self, CommandOutcome};
use crate::shared::destination::Destination;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::kept_results;
use crate::shared::not_an_image;
use crate::shared::printer::{self, PrintedKind, Said};
use crate::shared::run;
use crate::shared::target::{self, CheckTarget, What};
use baseline::Save;
use groups::groups;
use round::{Rest, Round};
use show::{Pieces, Press};
use tally::{CheckTally, Shown};

pub(crate) fn run(check: &Check) -> anyhow::Result<CommandOutcome> {
    if check.is_cached {
        return cached::run(check);
    }
    run_to(check, None)
}

/// Checks as [`run()`] does; what would be printed goes to `destination`, where there is one.
pub(crate) fn run_to(
    check: &Check,
    destination: Option<Destination>,
) -> anyhow::Result<CommandOutcome> {
    let (started, begun) = (Timestamp::now(), Instant::now());
    let kept = check.keep.then(|| keeping(check)).transpose()?;
    let check = kept.as_ref().unwrap_or(check);
    let baseline = check.watch.as_deref().map(baseline::read).transpose()?;
    let again = baseline.as_ref().filter(|_| check.subject.targets.is_empty());
    let again = again.and_then(|baseline| baseline::again(check, baseline));
    let check = again.as_ref().unwrap_or(check);
    let inspected = InspectedMachine::at(check.subject.sysroot.tree.as_deref())?;
    let inspected = inspected.ignoring_measured(check.subject.measured.is_ignored);
    let inspected = inspected.specified(check.subject.on.as_ref());
    let targets = targets(check, &inspected, baseline.as_ref().filter(|_| again.is_some()));
    // Formats for machines hold no colors that would have to be taken out again.
    let people = matches!(check.chosen(), Format::Table | Format::Picture);
    let mut output = printer::output(if people { PrintedKind::Text } else { PrintedKind::Data });
    let mut own = run::run(started, &inspected);
    if again.is_some() {
        own.command = baseline::command(check);
    }
    let asked = if again.is_some() { &[][..] } else { &check.subject.targets[..] };
    let envelope = Envelope { notes: repeated(&targets), ..Envelope::new(SCHEMA, own) };
    let press = Press::new(check, baseline, envelope, asked, targets.len() > 1)?;
    // A document is ended properly; what people look at just stops.
    let interrupt = if people { Interrupt::none() } else { Interrupt::install()? };
    // Monitors read what is kept, as other users.
    let mode = if check.keep { 0o644 } else { 0o666 };
    let save = check.save.as_deref();
    let save = save.map(|path| Save::begin(path, &press.envelope, mode)).transpose()?;
    let mut held = Vec::new();
    let page: &mut dyn Write = if destination.is_some() { &mut held } else { &mut output };
    let mut page = Pieces::begin(&press, page)?;
    let mut tally = CheckTally::of(check, save);
    let round = Round {
        check,
        targets: &targets,
        shared: round::shared(&targets),
        inspected: &inspected,
        press: &press,
        interrupt: &interrupt,
    };
    let rest = judged(&round, &mut tally, &mut page)?;
    if let Some(signal) = interrupt.signal() {
        let judged = tally.summary.targets;
        let message = format!("interrupted after {judged} of {} targets", targets.len());
        let refusal = Refusal::new(message, None);
        page.envelope.refusal = Some(refusal.clone());
        let shown =
            Shown::of(check, &press, target_stack::refused("straddle check".to_owned(), refusal));
        tally.take(&mut page, shown)?;
        tally.save = None;
        page.end(&tally.summary, tally.answer(), false)?;
        let said = Said::or(output.end()?, "interrupted");
        return Ok(CommandOutcome::Interrupted(signal, said));
    }
    tally.summary.elapsed_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    tally.answer.merge(page.take_vanished());
    let answer = check.allowed(tally.answer());
    let left_out = rest.left_out.iter().map(|(_, name)| name.as_str());
    let left_out = not_an_image::note(left_out);
    let of_disks = tally.unread_note().into_iter().chain(tally.mixed_note());
    let notes: Vec<String> = left_out.into_iter().chain(of_disks).collect();
    page.envelope.notes.extend(notes.iter().cloned());
    let is_saved = tally.save.is_some() && tally.has_opened;
    match tally.save.take() {
        Some(save) if is_saved => save.end(&page.envelope, &tally.summary)?,
        Some(save) => save.leave(),
        None => {}
    }
    page.end(&tally.summary, answer, is_saved)?;
    let said = match destination.filter(|_| tally.has_opened) {
        Some(destination) => {
            let note = format!("the picture is in {}", destination.name());
            destination.write(&String::from_utf8_lossy(&held))?;
            Some(printer::note(&note))
        }
        None => output.end()?,
    };
    let outcome = ended(check, answer, said);
    for note in notes {
        printer::note(&note);
    }
    // The process ends here: it is quicker not to give back a large machine piece by piece.
    std::mem::forget((inspected, targets));
    Ok(outcome)
}

/// Returns how a check with this `answer` ends that `said` something.
fn ended(check: &Check, answer: MonitorAnswer, said: Option<Said>) -> CommandOutcome {
    // A list of findings is empty where there are none.
    if said.is_none() && answer == MonitorAnswer::default() {
        return CommandOutcome::Done;
    }
    exit::of_check(check.chosen(), answer, Said::or(said, "there is nothing to judge"))
}

/// Returns the same with the place of the kept result to save to.
fn keeping(check: &Check) -> anyhow::Result<Check> {
    let place = kept_results::place(kept_results::CHECK).map_err(|reason| {
        anyhow!(
            "cannot keep the result: {reason}\n\
             hint: STATE_DIRECTORY=DIR names another directory; or: --save FILE"
        )
    })?;
    Ok(Check { save: Some(place), ..check.clone() })
}

/// The targets to check: those that were named, without those that a `baseline` has and that are
/// not there any more. These cannot be opened, but they vanished.
fn targets(
    check: &Check,
    inspected: &InspectedMachine,
    baseline: Option<&Baseline>,
) -> Vec<CheckTarget> {
    let mut targets = target::expand(&check.subject.targets, inspected);
    if let Some(baseline) = baseline {
        let gone = gone(check, inspected);
        targets.retain(|target| !(gone.contains(&target.name) && baseline.knows(&target.name)));
    }
    targets
}

/// Notes the targets that are another name of an earlier one, and says so.
fn repeated(targets: &[CheckTarget]) -> Vec<String> {
    let note = |target: &CheckTarget| {
        let What::Again { first, .. } = &target.what else { return None };
        let note = format!("{} is the same file as {first}", target.name);
        printer::note(&note);
        Some(note)
    };
    targets.iter().filter_map(note).collect()
}

/// Judges every target, then those that belong together, and says of directories that hold none.
fn judged(
    round: &Round<'_>,
    tally: &mut CheckTally,
    page: &mut Pieces<'_>,
) -> anyhow::Result<Rest> {
    let Round { check, targets, inspected, press, .. } = round;
    let rest = round.each(|shown| tally.take(page, shown))?;
    let groups = groups(&rest.waiting);
    if tally.summary.targets == 0 && groups.len() == 1 {
        press.show_as_one();
    }
    for group in groups {
        if round.interrupt.is_raised() {
            break;
        }
        let members: Vec<&CheckTarget> = group.iter().map(|&index| &targets[index]).collect();
        let judged = target_stack::together(check, &members, inspected);
        tally.take(page, Shown::of(check, press, judged))?;
    }
    for directory in rest.empty() {
        let name = printer::shown(&check.subject.targets[directory]);
        let judged = target_stack::refused(name.clone(), target::holds_none(&name));
        tally.take(page, Shown::of(check, press, judged))?;
    }
    Ok(rest)
}

/// The names of targets that are not there.
fn gone(check: &Check, inspected: &InspectedMachine) -> BTreeSet<String> {
    let is_gone = |path: &&PathBuf| {
        let found = std::fs::symlink_metadata(path);
        found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    };
    let named = check.subject.targets.iter().filter(|_| !inspected.is_captured);
    named.filter(is_gone).map(|path| printer::shown(&target::plain(path))).collect()
}
