//! The document as SARIF 2.1.0, which code hosts show beside the files of a repository.
//!
//! Source: OASIS SARIF 2.1.0, sections 3.19 (tool component), 3.20 (invocation), 3.27 (result),
//! 3.28 to 3.33 (locations) and 3.49 (reporting descriptor).

use serde::Serialize;
use serde_json::{Value, json};

use crate::document::{Document, Finding, Layer, Severity, Target};
use crate::json::ended;
use crate::text::one_line;
use crate::uri::uri;

/// One rule, as the table of rules tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInfo<'a> {
    /// Its stable code: `ST101`.
    pub code: &'a str,
    /// What it says, in one line.
    pub title: &'a str,
    /// Why it matters.
    pub why: &'a str,
    /// Where it is documented.
    pub help_uri: Option<&'a str>,
}

/// One run with a result for each finding and a notification for each target that could not be
/// judged.
#[must_use]
pub fn sarif(document: &Document, rules: &[RuleInfo<'_>]) -> String {
    let refusals: Vec<Value> = document.targets.iter().filter_map(notification).collect();
    let results = document.targets.iter().flat_map(|target| {
        target.findings.iter().map(move |finding| result(target, finding, rules))
    });
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [json!({
            "tool": {
                "driver": {
                    "name": "straddle",
                    "version": document.version,
                    "rules": rules.iter().map(rule).collect::<Vec<_>>(),
                }
            },
            "invocations": [{
                "executionSuccessful": refusals.is_empty(),
                "toolExecutionNotifications": refusals,
            }],
            "results": results.collect::<Vec<_>>(),
        })],
    };
    ended(serde_json::to_string_pretty(&log))
}

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Value; 1],
}

fn rule(rule: &RuleInfo<'_>) -> Value {
    let mut descriptor = json!({
        "id": rule.code,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": rule.why },
        "help": { "text": format!("{}\n\nMore: straddle explain {}", rule.why, rule.code) },
    });
    if let Some(help_uri) = rule.help_uri {
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
fn message(finding: &Finding, layer: Option<&Layer>) -> String {
    let mut lines = vec![match layer {
        Some(layer) => format!("{}: {}", one_line(&layer.name), one_line(&finding.title)),
        None => one_line(&finding.title),
    }];
    lines.extend(finding.cost.iter().map(|cost| format!("Cost: {}", one_line(&cost.sentence))));
    lines.extend(finding.remedies.iter().map(|remedy| format!("Fix: {}", one_line(remedy))));
    lines.join("\n")
}

fn location(target: &Target, layer: Option<&Layer>) -> Value {
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

fn notification(target: &Target) -> Option<Value> {
    let refusal = target.refusal.as_ref()?;
    let mut text = one_line(&refusal.message);
    if let Some(hint) = &refusal.hint {
        text += "\nHint: ";
        text += &one_line(hint);
    }
    Some(json!({
        "level": "error",
        "message": { "text": text },
        "locations": [location(target, None)],
    }))
}
