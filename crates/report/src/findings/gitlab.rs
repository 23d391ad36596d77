//! A Code Quality report of GitLab: a list of violations.
//!
//! Source: GitLab, "Code Quality", section "Code Quality report format".

use serde_json::json;

use super::Listed;
use crate::json::indented_json;
use stack::Severity;

/// One violation, indented, without a line feed.
pub(super) fn violation(listed: &Listed<'_>) -> String {
    let target = &listed.target;
    let severity = match listed.finding.map(|finding| finding.severity) {
        Some(Severity::Info) => "info",
        Some(Severity::Warning) | None => "minor",
        Some(Severity::Error) => "major",
    };
    let fixes = listed.fixes().into_iter().map(|fix| format!("Fix: {fix}"));
    let cost = Some(listed.cost()).filter(|cost| !cost.is_empty());
    let lines =
        [format!("{}: {}", listed.place(), listed.title)].into_iter().chain(cost).chain(fixes);
    let violation = json!({
        "description": lines.collect::<Vec<_>>().join(". "),
        "check_name": listed.code(),
        // The same problem of the same layer is one violation in every run.
        "fingerprint": format!("{} {target} {}", listed.code(), listed.layer),
        "severity": severity,
        // Disks have no lines, but a violation without one is refused.
        "location": { "path": target.trim_start_matches("./"), "lines": { "begin": 1 } },
    });
    indented_json(&violation, "  ")
}
