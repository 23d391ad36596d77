//! Workflow commands of GitHub Actions, which become annotations of a run.
//!
//! Source: GitHub, "Workflow commands for GitHub Actions"; what is escaped, and how, by
//! `packages/core/src/command.ts` of actions/toolkit.

use super::Listed;
use stack::Severity;

/// One command, with its line feed.
pub(super) fn command(listed: &Listed<'_>) -> String {
    let kind = match listed.finding.map(|finding| finding.severity) {
        Some(Severity::Info) => "notice",
        Some(Severity::Warning) | None => "warning",
        Some(Severity::Error) => "error",
    };
    let mut lines = vec![format!("{}: {}", listed.place(), listed.title)];
    lines.extend(Some(listed.cost()).filter(|cost| !cost.is_empty()));
    lines.extend(listed.fixes().into_iter().map(|fix| format!("Fix: {fix}")));
    let title = format!("straddle {}", listed.code());
    format!(
        "::{kind} file={},title={}::{}\n",
        property(&listed.target),
        property(&title),
        data(&lines)
    )
}

/// The message of a command.
fn data(lines: &[String]) -> String {
    lines.iter().map(|line| escaped(line)).collect::<Vec<_>>().join("%0A")
}

fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
