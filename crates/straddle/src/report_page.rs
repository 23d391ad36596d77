//! `straddle report FILE...`: result files in, one HTML page out.

use std::io::IsTerminal as _;

use report::Refusal;
use report::html::{Draft, Odd, Outlier, SharedCause};

use crate::arguments::Report;
use crate::exit::CommandOutcome;
use crate::shared::destination::{self, Destination};
use crate::shared::printer::{self, PrintedKind};
use crate::shared::result_files::{self, ReadFile};

/// The most hosts that are named on standard error; the page names more.
const NAMED_MAX: usize = 20;

pub(crate) fn run(report: &Report) -> anyhow::Result<CommandOutcome> {
    if report.output.is_none() && std::io::stdout().is_terminal() {
        let refusal = Refusal::hinted(
            "cannot show a page of HTML on a terminal",
            "name a file for it: -o page.html; to see its text here: -o -",
        );
        return Ok(CommandOutcome::of_refusal(&refusal, printer::refusal(&refusal)));
    }
    let destination = Destination::of(destination::PAGE, report.output.as_ref())?;
    let mut draft = Draft::default();
    result_files::each(&report.files, |file| match file {
        ReadFile::Result(result) => draft.add(&result),
        ReadFile::Copy(copy) => draft.copy(copy),
        ReadFile::Unread(unread) => draft.unread(unread),
    })?;
    let mut outcome = CommandOutcome::Done;
    for unread in draft.missing() {
        outcome = result_files::unread_outcome("show", unread);
    }
    if draft.is_empty() {
        return Ok(outcome);
    }
    tell_causes(&draft.causes());
    tell(&draft.outliers());
    let page = draft.page();
    match destination {
        Some(destination) => destination.write(&page)?,
        None => {
            // A page has no colors of a terminal that would have to be taken out.
            printer::print_bytes(PrintedKind::Data, page.as_bytes())?;
        }
    }
    Ok(outcome)
}

/// Names what slow hosts share.
fn tell_causes(causes: &[SharedCause]) {
    for cause in causes.iter().take(NAMED_MAX) {
        printer::note(&format!(
            "all {} hosts with {} are slow: their {} is {:.1} times that of the {} others ({})",
            cause.hosts, cause.what, cause.measure, cause.times, cause.others, cause.work
        ));
    }
}

/// Names the hosts that stand out.
fn tell(outliers: &[Outlier]) {
    let mut named: Vec<&Outlier> = Vec::new();
    for outlier in outliers {
        if named.iter().all(|other| other.host != outlier.host) {
            named.push(outlier);
        }
    }
    for outlier in named.iter().take(NAMED_MAX) {
        let (times, sign) = match outlier.odd {
            Odd::Slower => (outlier.times, ""),
            Odd::Faster => (1.0 / outlier.times, "1/"),
        };
        let busier = outlier.busier.map_or("", |_| "; its drive was also far busier than theirs");
        printer::note(&format!(
            "{} stands out among {} hosts: its {} is {sign}{times:.1} times the group's \
             ({}){busier}",
            outlier.host, outlier.hosts, outlier.measure, outlier.work
        ));
    }
    let more = named.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        printer::note(&format!("{more} more hosts stand out; the page names them"));
    }
}
