//! `straddle report FILE...`: result files in, one HTML page out.

mod source;

use std::io::Write as _;

use report::html::{Draft, Odd, Outlier};

use crate::arguments::{Colour, Report};
use crate::destination::{self, Destination};
use crate::exit::Outcome;
use crate::printer;

/// The most hosts that are named on standard error; the page names more.
const NAMED_MAX: usize = 20;

pub(crate) fn run(report: &Report) -> anyhow::Result<Outcome> {
    let destination = Destination::of(destination::PAGE, report.output.as_ref())?;
    let draft = source::read(&report.files)?;
    for unread in draft.missing() {
        printer::error(&format!(
            "cannot show {}: {}\nhint: {}",
            unread.name, unread.reason, unread.hint
        ));
    }
    if draft.is_empty() {
        return Ok(Outcome::Unanswered);
    }
    tell(&draft.outliers());
    let page = draft.page();
    match destination {
        Some(destination) => destination.write(&page)?,
        None => {
            // A page has no colours of a terminal that would have to be taken out.
            let mut output = printer::output(Colour::Always);
            output.write_all(page.as_bytes())?;
            output.flush()?;
        }
    }
    Ok(outcome(&draft))
}

/// A file that is not shown is an answer that is missing.
fn outcome(draft: &Draft) -> Outcome {
    if draft.missing().is_empty() { Outcome::Clean } else { Outcome::Unanswered }
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
        let (times, word) = match outlier.odd {
            Odd::Slower => (outlier.times, "slower"),
            Odd::Faster => (1.0 / outlier.times, "faster"),
        };
        printer::note(&format!(
            "{} stands out among {} hosts: its {} is {times:.1} times {word} than the median ({})",
            outlier.host, outlier.hosts, outlier.measure, outlier.work
        ));
    }
    let more = named.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        printer::note(&format!("{more} more hosts stand out; the page names them"));
    }
}
