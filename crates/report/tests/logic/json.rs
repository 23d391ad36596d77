//! JSON and JSON lines.

use report::{SUMMARY_SCHEMA, TARGET_SCHEMA};
use serde_json::Value;

use crate::made::sample::{array, broken, document, hostile, shifted_disk};
use crate::made::whole::{json, jsonl};

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("valid JSON")
}

#[test]
fn the_document_holds_numbers_unknowns_and_refusals() {
    let value = parse(&json(&document(vec![shifted_disk(), array(), broken(), hostile()])));
    assert_eq!(value["schema"], "straddle.check/1");
    assert_eq!(value["targets"][0]["layers"][1]["start_bytes"], 131_073_536);
    assert_eq!(value["targets"][0]["layers"][2]["facts"][1]["value"], Value::Null);
    assert_eq!(
        value["targets"][2]["refusal"]["message"].as_str(),
        Some("cannot open `/dev/sdz`: Permission denied (os error 13)")
    );
}

#[test]
fn a_line_holds_one_target_and_the_last_one_the_summary() {
    let document = document(vec![shifted_disk(), hostile(), broken()]);
    let text = jsonl(&document);
    let lines: Vec<Value> = text.lines().map(parse).collect();
    let whole = parse(&json(&document));
    assert_eq!(lines.len(), 4);
    for (line, target) in lines.iter().zip(whole["targets"].as_array().unwrap()) {
        assert_eq!(line["schema"], TARGET_SCHEMA);
        for (key, value) in target.as_object().unwrap() {
            assert_eq!(&line[key], value);
        }
    }
    assert_eq!(lines[3]["schema"], SUMMARY_SCHEMA);
    assert_eq!(lines[3]["version"], "0.1.0");
    assert_eq!(lines[3]["broken_targets"], 1);
}

#[test]
fn a_document_written_as_it_grows_is_the_same_document() {
    for targets in [vec![], vec![shifted_disk()], vec![broken(), hostile(), shifted_disk()]] {
        let document = document(targets);
        let grown = json(&document);
        let value: Value = serde_json::from_str(&grown).expect("JSON");
        assert_eq!(value, serde_json::to_value(&document).expect("JSON"));
        assert_eq!(grown, serde_json::to_string_pretty(&value).expect("JSON") + "\n");
    }
}
