//! Comma-separated values: a row for each finding.
//!
//! Source: RFC 4180. A spreadsheet takes what begins with `=`, `+`, `-` or `@` for a formula, and
//! names come from disks: such a value begins with an apostrophe (OWASP, "CSV Injection").

use super::Listed;

/// The names of the columns.
pub(super) const HEAD: &str = "target,verdict,layer,severity,rule,finding,cost,fix\r\n";

/// One row.
pub(super) fn row(listed: &Listed<'_>) -> String {
    let severity = listed.finding.map_or("", |finding| finding.severity.word());
    let code = if listed.finding.is_some() { listed.code() } else { "" };
    let values = [
        &listed.target,
        listed.verdict.word(),
        &listed.layer,
        severity,
        code,
        &listed.title,
        &listed.cost(),
        &listed.fixes().join("; "),
    ];
    values.map(value).join(",") + "\r\n"
}

fn value(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    match text.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}
