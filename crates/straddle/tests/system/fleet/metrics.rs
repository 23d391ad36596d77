//! Rules of Prometheus, and the panels of Grafana.

use serde_json::Value;
use testkit::scratch::text;
use testkit::{Scratch, need_tools, tool};

use super::file;

/// The words in `text` that name a metric or a recorded series of straddle.
fn series(text: &str) -> Vec<&str> {
    let is_of_name = |one: char| one.is_ascii_alphanumeric() || one == '_' || one == ':';
    let words = text.split(|one: char| !is_of_name(one));
    words.filter(|word| word.starts_with("straddle_") || word.starts_with("straddle:")).collect()
}

/// All queries of the dashboard: those of panels, and of variables.
fn queries() -> Vec<String> {
    let text = std::fs::read_to_string(file("grafana/straddle.json")).expect("it is there");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().expect("targets"));
    targets.map(|target| target["expr"].as_str().expect("a query").to_owned()).collect()
}

#[test]
fn alerts_fire_for_the_hosts_with_a_fault_and_for_no_other() {
    need_tools!("promtool");
    let tests = file("prometheus/straddle.test.yml");
    tool::run("promtool", &["test", "rules", text(&tests)]);
}

#[test]
fn every_query_of_the_dashboard_and_of_the_rules_is_one_of_series_that_are_written() {
    need_tools!("promtool");
    let rules = std::fs::read_to_string(file("prometheus/straddle.rules.yml")).expect("there");
    let queries = queries();
    assert!(queries.len() >= 10, "{queries:?}");
    let docs = ["monitoring.md", "watch.md"].map(|page| {
        std::fs::read_to_string(file("../docs").join(page)).expect("the page is there")
    });
    for name in series(&rules).into_iter().chain(queries.iter().flat_map(|one| series(one))) {
        let plain = ["_bucket", "_count", "_sum"].iter().find_map(|end| name.strip_suffix(end));
        let is_written = docs.iter().any(|page| page.contains(plain.unwrap_or(name)));
        let is_recorded = rules.contains(&format!("record: {name}"));
        assert!(is_written || is_recorded, "{name}");
    }
    let scratch = Scratch::new();
    let rule = |(number, query): (usize, &String)| {
        format!("      - record: 'panel:{number}'\n        expr: {}\n", Value::from(query.as_str()))
    };
    let all: String = queries.iter().enumerate().map(rule).collect();
    let all = format!("groups:\n  - name: panels\n    rules:\n{all}");
    let path = scratch.file("panels.yml", all.as_bytes());
    tool::run("promtool", &["check", "rules", text(&path)]);
}
