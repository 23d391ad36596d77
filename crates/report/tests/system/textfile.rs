//! Kept results as metrics: every sample that they hold, in a form that Prometheus takes.

use report::html::{FileContent, ResultFile, read};
use report::probe::Probe;
use report::watch::textfile;
use report::{FindingForm, Run, Summary, results_textfile};
use testkit::{need_tools, tool};

use crate::made::sample::{array, broken, document, hostile, shifted_disk};
use crate::made::{bench, fsync, plugins, probe};

fn file(content: FileContent) -> ResultFile {
    ResultFile { name: "result.json".to_owned(), content }
}

fn run(started: &str) -> Run {
    Run { started: started.to_owned(), host: Some("db1".to_owned()), ..Run::default() }
}

fn checked() -> ResultFile {
    let mut document = document(vec![shifted_disk(), array(), broken(), hostile()]);
    document.envelope.run = run("2026-11-26T02:00:00Z");
    file(FileContent::Check(Box::new(document)))
}

fn synced() -> ResultFile {
    let mut document = fsync::plain();
    document.envelope.run = run("2026-11-26T01:00:00Z");
    document.target.drive = Some("sda".to_owned());
    file(FileContent::Fsync(Box::new(document)))
}

fn probed() -> ResultFile {
    let mut document: Probe = probe::platter();
    document.target.drive = Some("sda".to_owned());
    file(FileContent::Probe(Box::new(document)))
}

fn all() -> Vec<ResultFile> {
    let measured = file(FileContent::Bench(Box::new(bench::whole())));
    vec![checked(), synced(), probed(), measured]
}

#[test]
fn each_result_gives_the_samples_that_it_holds() {
    let text = results_textfile(&all());
    for line in [
        "straddle_check_status{check=\"check\",target=\"/dev/sda\"} 2",
        "straddle_check_status{check=\"fsync\",target=\"/data\"} 0",
        "straddle_last_run_timestamp_seconds{check=\"check\",target=\"/dev/sda\"} 1795658400",
        "straddle_last_run_timestamp_seconds{check=\"fsync\",target=\"/data\"} 1795654800",
        "straddle_fsync_duration_seconds_bucket{device=\"sda\",path=\"/data\",\
         row=\"pg.one.fdatasync\",le=\"0.00025\"} 998",
        "straddle_fsync_duration_seconds_bucket{device=\"sda\",path=\"/data\",\
         row=\"pg.one.fdatasync\",le=\"+Inf\"} 1000",
        "straddle_fsync_duration_seconds_sum{device=\"sda\",path=\"/data\",\
         row=\"pg.one.fdatasync\"} 0.164",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    for start in ["straddle_layer_misaligned{", "straddle_layer_misalignment_bytes{"] {
        assert!(text.lines().any(|found| found.starts_with(start)), "{start}\n{text}");
    }
    let measured = "straddle_device_write_unit_bytes{device=\"sda\",source=\"measured\"} ";
    assert!(text.contains(measured), "{text}");
    assert!(!text.contains("fsync_writethrough"), "a row without figures has no sample");
}

#[test]
fn of_results_of_one_thing_the_newest_is_shown() {
    let mut older = fsync::whole();
    older.envelope.run = run("2026-11-25T00:00:00Z");
    older.envelope.refusal = None;
    let older = file(FileContent::Fsync(Box::new(older)));
    for files in [[older.clone(), synced()], [synced(), older]] {
        let text = results_textfile(&files);
        let status = "straddle_check_status{check=\"fsync\",target=\"/data\"} 0";
        assert!(text.contains(status), "{text}");
        assert_eq!(text.matches("straddle_check_status{").count(), 1, "{text}");
    }
}

#[test]
fn prometheus_takes_all_metrics_of_all_commands() {
    need_tools!("promtool");
    let targets = [shifted_disk(), hostile()];
    let findings = FindingForm::Prometheus;
    let listed: String = targets.iter().map(|target| findings.of(target)).collect();
    let mut summary = Summary::default();
    targets.iter().for_each(|target| summary.add(target));
    let check = format!("{}{listed}{}", findings.head(), findings.tail(&summary, false));
    for text in [results_textfile(&all()), check, textfile(&plugins::busy())] {
        assert!(text.lines().count() > 6, "{text}");
        // Ends with 1 on what cannot be parsed, and with 3 on names and types against the rules.
        let said = tool::run_with_input("promtool", &["check", "metrics"], &text);
        assert_eq!(said, "", "{text}");
    }
}

#[test]
fn what_holds_no_metric_is_passed_over() {
    let simulated = r#"{"schema":"straddle.fsync/2"}"#;
    assert!(read("x", simulated).is_err());
    assert_eq!(results_textfile(&[]), "");
    let nothing = file(FileContent::Fsync(Box::default()));
    let text = results_textfile(&[nothing]);
    assert!(text.contains("straddle_check_status{check=\"fsync\",target=\"\"} 3"), "{text}");
    assert!(!text.contains("_bucket"), "{text}");
}
