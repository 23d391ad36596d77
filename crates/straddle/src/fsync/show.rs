//! Printed output, and the code that the process ends with.

use std::io;

use measure::engine_verdict::Fitness;
use report::fsync::{self, FSYNC_PLAN_SCHEMA, Fsync as Document, FsyncPlan};
use report::{Envelope, PluginAnswer, RefusalKind};
use stack::Severity;

use super::plan::FsyncRunPlan;
use super::session::Session;
use crate::arguments::{BenchFormat, Fsync, FsyncFailOn, FsyncRows};
use crate::exit::CommandOutcome;
use crate::shared::printer::{Printer, Said};

/// Says on standard error what is going to be written, before it is.
pub(super) fn forecast(session: &Session<'_>, plan: &FsyncRunPlan) {
    let (forecast, printer) = (&plan.forecast, &session.printer);
    printer.note(&format!(
        "in {}, for at most {} s: {}",
        session.document.target.path, forecast.seconds_max, forecast.wear
    ));
    for sentence in &forecast.impact {
        printer.note(sentence);
    }
}

/// Prints what would be done.
pub(super) fn preview(session: &Session<'_>, plan: &FsyncRunPlan) -> io::Result<()> {
    let row = |row: &measure::durable::RowPlan| {
        let path = if row.way.is_direct { "direct" } else { "buffered" };
        format!("{}: {}, {path}", row.id, row.label.trim())
    };
    let document = FsyncPlan {
        envelope: Envelope {
            schema: FSYNC_PLAN_SCHEMA.to_owned(),
            ..session.document.envelope.clone()
        },
        target: session.document.target.clone(),
        forecast: plan.forecast.clone(),
        rows: plan.rows.iter().map(row).collect(),
    };
    let text = match session.arguments.printed.format() {
        BenchFormat::Table | BenchFormat::Nagios => {
            fsync::fsync_plan_text(&document, &session.printer.look(false))
        }
        BenchFormat::Json | BenchFormat::FioJson => fsync::fsync_plan_json(&document),
    };
    session.printer.print(&text).map(|_| ())
}

/// Prints the result, and on standard error why there is none, or not all; whether anything was
/// said.
pub(super) fn result(
    arguments: &Fsync,
    document: &Document,
    signal: Option<i32>,
    printer: &Printer,
) -> io::Result<Option<Said>> {
    let refused = document.envelope.refusal.as_ref().map(|refusal| printer.refusal(refusal));
    let said = signal.map(|_| printer.interrupted()).or(refused);
    let is_empty = document.rows.is_empty();
    let text = match arguments.printed.format() {
        _ if arguments.start.dry_run => String::new(),
        BenchFormat::Json => fsync::fsync_json(document),
        BenchFormat::Nagios => String::new(),
        // Without rows it would be a success with nothing in it.
        BenchFormat::FioJson if is_empty => String::new(),
        BenchFormat::FioJson => fsync::fsync_fio_json(document),
        BenchFormat::Table if is_empty && document.honesty.is_none() => String::new(),
        BenchFormat::Table => {
            // Standard error has said it.
            let mut shown = document.clone();
            shown.envelope.refusal = None;
            fsync::fsync_table(&shown, &printer.look(arguments.explain))
        }
    };
    Ok(printer.print(&text)?.or(said))
}

/// Returns what a plugin says of `document`: a warning is one, unless nothing is to fail.
pub(super) fn plugin(arguments: &Fsync, document: &Document) -> PluginAnswer {
    let least = (arguments.fail_on != FsyncFailOn::Never).then_some(Severity::Warning);
    fsync::fsync_plugin(document, least).allowing_unknown(arguments.unknown.is_allowed)
}

/// Returns what the process ends with, for the reason that was `said`. What was found outranks a
/// missing verdict.
pub(super) fn outcome(
    arguments: &Fsync,
    document: &Document,
    (signal, said): (Option<i32>, Option<Said>),
    printer: &Printer,
) -> CommandOutcome {
    if arguments.start.dry_run && document.envelope.refusal.is_none() && signal.is_none() {
        return CommandOutcome::Done;
    }
    let said = printer.said_or(said, "nothing was measured");
    let verdict = document.verdict.as_ref().map(|verdict| verdict.verdict);
    let found = fsync::fsync_severity(document);
    let fails = match arguments.fail_on {
        FsyncFailOn::Never => false,
        FsyncFailOn::Warning => found.is_some(),
        FsyncFailOn::Failure => found == Some(Severity::Error),
    };
    let wanted = arguments.rows != FsyncRows::None;
    match (signal, &document.envelope.refusal) {
        (Some(signal), _) => CommandOutcome::Interrupted(signal, said),
        (None, Some(refusal)) if !fails || refusal.kind != RefusalKind::NoVerdict => {
            CommandOutcome::of_refusal(refusal, said)
        }
        _ if fails => CommandOutcome::Found(said),
        _ if wanted && document.rows.iter().all(|row| row.operations == 0) => {
            CommandOutcome::NoVerdict(said)
        }
        _ if verdict == Some(Fitness::NotEnough) => CommandOutcome::NoVerdict(said),
        _ => CommandOutcome::Done,
    }
}
