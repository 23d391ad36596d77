//! A table in Markdown, for summaries of CI runs and comments.
//!
//! Source: GitHub Flavored Markdown 0.29, "Tables".

use super::Listed;
use crate::check_document::Summary;
use crate::nagios::headline;

/// The head of the table.
pub(super) const HEAD: &str =
    "| | rule | where | finding | cost | fix |\n|---|---|---|---|---|---|\n";

/// One row, with its line feed.
pub(super) fn row(listed: &Listed<'_>) -> String {
    let severity = listed.finding.map_or("unknown", |finding| finding.severity.word());
    let fixes: Vec<String> = listed.fixes().iter().map(|fix| harmless(fix)).collect();
    let code = if listed.finding.is_some() { listed.code() } else { "" };
    format!(
        "| {severity} | {code} | {} | {} | {} | {} |\n",
        harmless(listed.place()),
        harmless(&listed.title),
        harmless(&listed.cost()),
        fixes.join("<br>")
    )
}

/// The counts below the table.
pub(super) fn tail(summary: &Summary) -> String {
    format!("\nstraddle: {}\n", harmless(&headline(summary)))
}

/// `text` without what Markdown or HTML would take for markup.
fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '&' => safe += "&amp;",
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' | '~' | '@' | '!' => {
                safe.push('\\');
                safe.push(character);
            }
            _ => safe.push(character),
        }
    }
    safe
}
