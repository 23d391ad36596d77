//! Targets as SARIF 2.1.0, which code hosts show beside the files of a repository: a result for
//! each finding, written as targets are judged, and a notification for each target that could not
//! be judged or whose verdict is unknown.
//!
//! Source: OASIS SARIF 2.1.0, sections 3.19 (tool component), 3.20 (invocation), 3.27 (result),
//! 3.28 to 3.33 (locations), 3.49 (reporting descriptor) and 3.58 (notification). Unknown is no
//! result of kind `open` (3.27.9): that says which rule was not decided, and here none could be.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::check_document::{Finding, LayerReport, Target};
use crate::json::{indented_json, push_json};
use crate::text::one_line;
use crate::text_blocks::Blocks;
use crate::uri::uri;
use crate::worst_targets::unknown;
use stack::{Severity, Verdict};

/// One rule, as the table of rules tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInfo<'a> {
    /// Its stable code: `ST101`.
    pub code: &'a str,
    /// Its claim in one line.
    pub title: &'a str,
    /// Why it matters.
    pub why: &'a str,
    /// Place where it is documented.
    pub help_uri: Option<String>,
}

/// The beginning of a log with one run; [`sarif_results`] of each target and
/// [`Notifications::sarif_tail`] follow.
#[must_use]
pub fn sarif_head(version: &str, rules: &[RuleInfo<'_>]) -> String {
    let tool = json!({
        "driver": {
            "name": "straddle",
            "version": version,
            "rules": rules.iter().map(rule).collect::<Vec<_>>(),
        }
    });
    let tool = indented_json(&tool, "      ");
    format!(
        "{{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n  \
         \"version\": \"2.1.0\",\n  \"runs\": [\n    {{\n      \"tool\": {},\n      \
         \"results\": [",
        tool.trim_start()
    )
}

/// The results of one target, with commas between them; empty where nothing was found. A line feed
/// goes before the first of a log, a comma and a line feed before each other.
#[must_use]
pub fn sarif_results(target: &Target, rules: &[RuleInfo<'_>]) -> Blocks {
    let mut results = Blocks::default();
    for finding in &target.findings {
        if !results.is_empty() {
            results.write_all(b",\n").expect("memory takes all");
        }
        push_json(&mut results, &result(target, finding, rules), "        ");
    }
    results
}

/// The most bytes of notifications that are kept until the log's end.
const NOTIFICATIONS_BYTES: usize = 4 << 20;

/// The targets that could not be judged or are unknown, which a log tells at its end: the first
/// thousands, and how many more.
#[derive(Clone, Debug, Default)]
pub struct Notifications {
    texts: String,
    more: u64,
    /// True once a target was refused; an unknown verdict alone is no failure.
    has_failed: bool,
}

impl Notifications {
    /// True of a target that a log names at its end: refused or unknown.
    #[must_use]
    pub fn wants(target: &Target) -> bool {
        target.refusal.is_some() || target.verdict == Verdict::Unknown
    }

    /// Adds `target` if [it is wanted](Notifications::wants), else nothing.
    pub fn take(&mut self, target: &Target) {
        if !Notifications::wants(target) {
            return;
        }
        self.has_failed |= target.refusal.is_some();
        if self.texts.len() < NOTIFICATIONS_BYTES {
            self.push(&notification(target));
        } else {
            self.more += 1;
        }
    }

    fn push(&mut self, notification: &Value) {
        self.texts += if self.texts.is_empty() { "\n" } else { ",\n" };
        self.texts += &indented_json(notification, "            ");
    }

    /// The end of a log; `is_empty` says that it has no result.
    #[must_use]
    pub fn sarif_tail(mut self, is_empty: bool) -> String {
        if self.more > 0 {
            let more = self.more;
            let text =
                format!("{more} more targets have no verdict; --format jsonl names them all");
            self.push(&json!({ "level": "error", "message": { "text": text } }));
        }
        let close = if is_empty { "]" } else { "\n      ]" };
        let successful = !self.has_failed;
        let end = if self.texts.is_empty() { "" } else { "\n          " };
        format!(
            "{close},\n      \"invocations\": [\n        {{\n          \
             \"executionSuccessful\": {successful},\n          \
             \"toolExecutionNotifications\": [{}{end}]\n        }}\n      ]\n    }}\n  ]\n}}\n",
            self.texts
        )
    }
}

fn rule(rule: &RuleInfo<'_>) -> Value {
    let mut descriptor = json!({
        "id": rule.code,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": rule.why },
        "help": { "text": format!("{}\n\nMore: straddle explain {}", rule.why, rule.code) },
    });
    if let Some(help_uri) = &rule.help_uri {
        descriptor["helpUri"] = json!(help_uri);
    }
    descriptor
}

fn result(target: &Target, finding: &Finding, rules: &[RuleInfo<'_>]) -> Value {
    let layer = target.layers.iter().find(|layer| layer.id == finding.layer);
    let name = layer.map_or_else(String::new, |layer| layer.name.clone());
    let mut result = json!({
        "ruleId": finding.code,
        "level": level(finding.severity),
        "message": { "text": message(finding, layer) },
        "locations": [location(target, layer)],
        // The same problem of the same layer is one alert in every run.
        "partialFingerprints": {
            "straddle/v1": format!("{} {} {name}", finding.code, target.target),
        },
        "properties": {
            "evidence": finding.evidence,
            "cost": finding.cost,
            "remedies": finding.remedies,
        },
    });
    if let Some(index) = rules.iter().position(|rule| rule.code == finding.code) {
        result["ruleIndex"] = json!(index);
    }
    result
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// The rule, where it fired, what that costs and how to put it right.
fn message(finding: &Finding, layer: Option<&LayerReport>) -> String {
    let mut lines = vec![match layer {
        Some(layer) => format!("{}: {}", one_line(&layer.name), one_line(&finding.title)),
        None => one_line(&finding.title),
    }];
    lines.extend(finding.cost.iter().map(|cost| format!("Cost: {}", one_line(&cost.sentence))));
    lines.extend(finding.remedies.iter().map(|remedy| format!("Fix: {}", one_line(remedy))));
    lines.join("\n")
}

fn location(target: &Target, layer: Option<&LayerReport>) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&target.target) },
            // Disks have no lines, but GitHub shows no result without one.
            "region": { "startLine": 1 },
        }
    });
    if let Some(layer) = layer {
        location["logicalLocations"] = json!([{
            "name": layer.name,
            "fullyQualifiedName": format!("{}::{}", target.target, layer.name),
            "kind": layer.kind,
        }]);
    }
    location
}

fn notification(target: &Target) -> Value {
    let mut text = one_line(&unknown(target));
    if let Some(hint) = target.refusal.as_ref().and_then(|refusal| refusal.hint.as_ref()) {
        text += "\nHint: ";
        text += &one_line(hint);
    }
    let level = if target.refusal.is_some() { "error" } else { "warning" };
    json!({
        "level": level,
        "message": { "text": text },
        "locations": [location(target, None)],
    })
}
