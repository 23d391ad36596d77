//! The committed schema describes what is written.

use serde_json::Value;
use testkit::schema;

use crate::made::sample::{array, broken, document, hostile, old_image, shifted_disk, unknowns};
use crate::made::whole::json;

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
fn every_committed_schema_is_what_the_types_give() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/schema");
    for schema in report::SCHEMAS {
        let file = schema.file();
        let committed = std::fs::read_to_string(format!("{directory}/{file}")).unwrap_or_default();
        assert!(
            schema.text() == committed,
            "schema/{file} is stale; write all anew with `cargo run -p report --features schema \
             --example schema -- crates/report/schema`"
        );
    }
    let files = std::fs::read_dir(directory).expect("the directory is there").count();
    assert_eq!(files, report::SCHEMAS.len(), "no file is left over");
}

#[test]
fn changes_are_valid_and_wholly_described() {
    let schema: Value = serde_json::from_str(CHANGES).expect("the schema is JSON");
    let changes = report::changes_json(&crate::changes::all(), true);
    let changes: Value = serde_json::from_str(&changes).expect("valid JSON");
    let faults = schema::faults(&schema, &changes);
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn sample_documents_are_valid_and_wholly_described() {
    let schema = committed();
    let faults = schema::faults(&schema, &documents());
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
        let faults = schema::faults(&schema, &document);
        assert_eq!(faults.len(), 1, "break {number}: {faults:?}");
    }
}

#[test]
fn every_part_of_the_schema_is_explained() {
    let (bench, drive) = (crate::bench::schema::ALL, crate::drive::ALL);
    for schema in
        [COMMITTED, CHANGES].into_iter().chain(bench).chain(drive).chain([crate::torture::SCHEMA])
    {
        let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
        let parts = schema["$defs"].as_object().into_iter().flatten();
        let root = &String::from("the document");
        for (name, part) in parts.chain([(root, &schema)]) {
            assert!(part["description"].is_string(), "{name}");
            for (key, property) in part["properties"].as_object().into_iter().flatten() {
                assert!(property["description"].is_string(), "{name}.{key}");
            }
        }
    }
}
