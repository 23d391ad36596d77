//! The closing line of the human views: what was found, in what, in what time.

use crate::bench::figure_rounding::time;
use crate::check_document::Summary;
use crate::quantity_words::{ViewWords, count, severities};
use crate::target_outcome::OUTCOMES;
use crate::text::wrap;

/// `1 warning. 1 disk, 1 partition, 1 file system in 3.14 ms; nothing was written.`
pub(crate) fn of_trees(
    summary: &Summary,
    shown: u64,
    off: &[&str],
    words: ViewWords<'_>,
) -> String {
    let parts: Vec<String> = [
        (summary.disks, "disk"),
        (summary.partitions, "partition"),
        (summary.file_systems, "file system"),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, noun)| count(number, noun))
    .collect();
    let mut sentences: Vec<String> = findings(summary, off).into_iter().collect();
    if summary.broken_targets > 0 {
        let targets = count(summary.broken_targets, "target");
        sentences.push(format!("{targets} could not be opened."));
    }
    let hidden = summary.targets.saturating_sub(shown);
    if hidden > 0 {
        let targets = count(hidden, "target");
        sentences.push(format!("{targets} not shown."));
    }
    let scope = if parts.is_empty() { "Done".to_owned() } else { parts.join(", ") };
    sentences.push(ending(&scope, summary, words));
    wrapped(&sentences.join(" "), words)
}

/// `1000 targets: 990 aligned, 8 misaligned, 2 could not be opened.` and the findings.
pub(crate) fn of_lines(
    summary: &Summary,
    shown: u64,
    off: &[&str],
    words: ViewWords<'_>,
) -> String {
    let outcomes: Vec<String> = OUTCOMES
        .iter()
        .map(|outcome| (outcome.count(summary), outcome))
        .filter(|(number, _)| *number > 0)
        .map(|(number, outcome)| format!("{number} {}", outcome.words()))
        .collect();
    let mut line = count(summary.targets, "target");
    if shown < summary.targets {
        line += &format!(" ({shown} shown)");
    }
    if !outcomes.is_empty() {
        line += ": ";
        line += &outcomes.join(", ");
    }
    let closing: Vec<String> =
        findings(summary, off).into_iter().chain([ending("Done", summary, words)]).collect();
    wrapped(&line, words) + &wrapped(&closing.join(" "), words)
}

fn ending(scope: &str, summary: &Summary, words: ViewWords<'_>) -> String {
    format!("{scope} in {}; nothing was written.", time(summary.elapsed_ns, words))
}

fn wrapped(text: &str, words: ViewWords<'_>) -> String {
    wrap(text, words.look.columns()).join("\n") + "\n"
}

/// `2 findings: 1 error, 1 warning.` or `1 warning.` Where there are none, what is unknown is not
/// passed over, nor are the rules that are `off`; nothing is said where no target was judged.
fn findings(summary: &Summary, off: &[&str]) -> Option<String> {
    if summary.targets > 0 && summary.broken_targets == summary.targets {
        return None;
    }
    let total = summary.errors + summary.warnings + summary.infos;
    let kinds = severities(summary.errors, summary.warnings, summary.infos);
    Some(match (total, summary.unknown_layers) {
        (0, 0) if summary.verdicts.misaligned > 0 => {
            let targets = are(summary.verdicts.misaligned, "target");
            let verb = if off.len() == 1 { "is" } else { "are" };
            let why = match off {
                [] => String::new(),
                off => format!(": {} {verb} off", off.join(", ")),
            };
            format!("No findings, but {targets} misaligned{why}.")
        }
        (0, 0) => "No findings.".to_owned(),
        (0, unknown) => format!("No findings, but {} unknown.", are(unknown, "layer")),
        _ if kinds.len() == 1 => format!("{}.", kinds.join("")),
        _ => format!("{}: {}.", count(total, "finding"), kinds.join(", ")),
    })
}

fn are(number: u64, noun: &str) -> String {
    let verb = if number == 1 { "is" } else { "are" };
    format!("{} {verb}", count(number, noun))
}
