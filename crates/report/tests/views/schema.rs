//! The committed schema describes what is written.

use serde_json::Value;

use crate::sample::{array, broken, document, hostile, old_image, shifted_disk, unknowns};
use crate::whole::json;

const COMMITTED: &str = include_str!("../../schema/straddle.check.1.schema.json");
const CHANGES: &str = include_str!("../../schema/straddle.check.changes.1.schema.json");

fn committed() -> Value {
    serde_json::from_str(COMMITTED).expect("the schema is JSON")
}

fn documents() -> Value {
    let targets =
        vec![shifted_disk(), array(), unknowns(), broken(), old_image("b.raw"), hostile()];
    serde_json::from_str(&json(&document(targets))).expect("valid JSON")
}

#[cfg(feature = "schema")]
#[test]
fn the_committed_schema_is_what_the_types_give() {
    let fresh = serde_json::to_string_pretty(&report::schema()).expect("JSON") + "\n";
    assert!(
        fresh == COMMITTED,
        "schema/straddle.check.1.schema.json is stale; write it anew with `cargo run -p report \
         --features schema --example schema`"
    );
}

#[cfg(feature = "schema")]
#[test]
fn the_committed_schema_of_changes_is_what_the_types_give() {
    let fresh = serde_json::to_string_pretty(&report::changes_schema()).expect("JSON") + "\n";
    assert!(
        fresh == CHANGES,
        "schema/straddle.check.changes.1.schema.json is stale; write it anew with `cargo run -p \
         report --features schema --example schema -- changes`"
    );
}

#[test]
fn changes_are_valid_and_wholly_described() {
    let schema: Value = serde_json::from_str(CHANGES).expect("the schema is JSON");
    let changes = report::changes_json(&crate::changes::all(), true);
    let changes: Value = serde_json::from_str(&changes).expect("valid JSON");
    let mut faults = Vec::new();
    Check { root: &schema, faults: &mut faults }.value(&schema, &changes, "");
    assert!(faults.is_empty(), "{faults:#?}");
}

#[cfg(feature = "schema")]
#[test]
fn the_committed_schema_of_traces_is_what_the_types_give() {
    let fresh = serde_json::to_string_pretty(&report::trace_schema()).expect("JSON") + "\n";
    assert!(
        fresh == crate::trace::COMMITTED,
        "schema/straddle.trace.1.schema.json is stale; write it anew with `cargo run -p report \
         --features schema --example schema -- trace`"
    );
}

#[test]
fn sample_documents_are_valid_and_wholly_described() {
    let schema = committed();
    let mut faults = Vec::new();
    Check { root: &schema, faults: &mut faults }.value(&schema, &documents(), "");
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A check that accepts everything would prove nothing.
#[test]
fn documents_that_break_the_schema_are_found() {
    let schema = committed();
    let breaks: [fn(&mut Value); 7] = [
        |document| document["schema"] = Value::Null,
        |document| document["summary"]["disks"] = Value::from(-1),
        |document| document["summary"]["disks"] = Value::from("1"),
        |document| document["targets"][0]["verdict"] = Value::from("fine"),
        |document| document["targets"][0]["layers"][0]["id"] = Value::from(1.5),
        |document| document["targets"][0]["surprise"] = Value::from(1),
        |document| {
            let target = document["targets"][0].as_object_mut().expect("an object");
            target.remove("refusal");
        },
    ];
    for (number, break_it) in breaks.iter().enumerate() {
        let mut document = documents();
        break_it(&mut document);
        let mut faults = Vec::new();
        Check { root: &schema, faults: &mut faults }.value(&schema, &document, "");
        assert_eq!(faults.len(), 1, "break {number}: {faults:?}");
    }
}

#[test]
fn every_part_of_the_schema_is_explained() {
    for schema in [COMMITTED, CHANGES] {
        let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
        for (name, part) in schema["$defs"].as_object().expect("definitions") {
            assert!(part["description"].is_string(), "{name}");
            for (key, property) in part["properties"].as_object().into_iter().flatten() {
                assert!(property["description"].is_string(), "{name}.{key}");
            }
        }
    }
}

/// As much of JSON Schema as ours uses; any other keyword is a fault, so that none goes unchecked.
/// Stricter in one thing: keys that the schema does not name are faults.
pub(crate) struct Check<'a> {
    pub(crate) root: &'a Value,
    pub(crate) faults: &'a mut Vec<String>,
}

impl Check<'_> {
    pub(crate) fn value(&mut self, schema: &Value, value: &Value, path: &str) {
        for (keyword, rule) in schema.as_object().expect("a schema is an object") {
            let good = match keyword.as_str() {
                "$ref" => {
                    let name = rule.as_str().expect("text").trim_start_matches("#/$defs/");
                    self.value(&self.root["$defs"][name], value, path);
                    true
                }
                "type" => has_type(rule, value),
                "const" => rule == value,
                "enum" => rule.as_array().expect("a list").contains(value),
                "anyOf" | "oneOf" => rule.as_array().expect("a list").iter().any(|choice| {
                    let mut faults = Vec::new();
                    Check { root: self.root, faults: &mut faults }.value(choice, value, path);
                    faults.is_empty()
                }),
                "minimum" => value.as_f64().is_none_or(|number| Some(number) >= rule.as_f64()),
                "maximum" => value.as_f64().is_none_or(|number| Some(number) <= rule.as_f64()),
                "required" => rule
                    .as_array()
                    .expect("a list")
                    .iter()
                    .all(|key| value.get(key.as_str().expect("text")).is_some()),
                "properties" => {
                    for (key, part) in value.as_object().into_iter().flatten() {
                        match rule.get(key) {
                            Some(rule) => self.value(rule, part, &format!("{path}/{key}")),
                            None => self.faults.push(format!("{path}/{key} is not described")),
                        }
                    }
                    true
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.value(rule, item, &format!("{path}/{index}"));
                    }
                    true
                }
                "$schema" | "$defs" | "title" | "description" | "format" => true,
                _ => false,
            };
            if !good {
                self.faults.push(format!("{path}: {keyword} {rule} against {value}"));
            }
        }
    }
}

fn has_type(rule: &Value, value: &Value) -> bool {
    let one = |name: &Value| match name.as_str().expect("text") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        _ => false,
    };
    rule.as_array().map_or_else(|| one(rule), |names| names.iter().any(one))
}
