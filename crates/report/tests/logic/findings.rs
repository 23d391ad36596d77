//! Lists of findings for code hosts, spreadsheets and metrics.

use report::{FindingForm, Summary, Target};
use serde_json::Value;

use crate::made::sample::{broken, hostile, same, shifted_disk};

/// A whole list, as check prints it.
fn listed(form: FindingForm, targets: &[Target]) -> String {
    let (mut text, mut summary) = (form.head().to_owned(), Summary::default());
    let mut is_first = true;
    for target in targets {
        summary.add(target);
        let own = form.of(target);
        if !own.is_empty() {
            text += form.between(is_first);
            is_first = false;
        }
        text += &own;
    }
    text + &form.tail(&summary, is_first)
}

#[test]
fn github_gets_one_command_for_each_finding_and_each_target_without_a_verdict() {
    same(
        &listed(FindingForm::Github, &[shifted_disk(), broken()]),
        "::error file=/dev/sda,title=straddle ST101::sda1: partition start is not on a physical \
         sector%0Aa 4 KiB write reads 2 and writes 2 sectors instead of writing 1: about 3 turns \
         instead of 1%0AFix: straddle plan /dev/sda%0AFix: empty disk: parted -a none /dev/sda \
         mkpart data 126MiB 50%25\n\
         ::warning file=/dev/sdz,title=straddle unknown::/dev/sdz: cannot open `/dev/sdz`: \
         Permission denied (os error 13)\n",
    );
    let named = Target { target: "a,b:c.img".to_owned(), ..shifted_disk() };
    let text = listed(FindingForm::Github, &[named, hostile()]);
    assert!(text.starts_with("::error file=a%2Cb%3Ac.img,title="), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("::error ")).count(), 2, "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn gitlab_gets_violations_with_every_field_that_it_asks_for() {
    let targets = [shifted_disk(), broken(), hostile()];
    let report: Value = serde_json::from_str(&listed(FindingForm::Gitlab, &targets)).unwrap();
    let report = report.as_array().unwrap();
    assert_eq!(report.len(), 3);
    for violation in report {
        for field in ["description", "check_name", "fingerprint", "severity"] {
            assert!(violation[field].as_str().is_some_and(|text| !text.is_empty()), "{violation}");
        }
        assert!(violation["location"]["path"].is_string(), "{violation}");
        assert_eq!(violation["location"]["lines"]["begin"], 1, "{violation}");
    }
    let is_severity = |violation: &Value| {
        let severity = violation["severity"].as_str().unwrap_or_default();
        ["info", "minor", "major", "critical", "blocker"].contains(&severity)
    };
    assert!(report.iter().all(is_severity), "{report:?}");
    let fingerprints: std::collections::BTreeSet<&str> =
        report.iter().filter_map(|violation| violation["fingerprint"].as_str()).collect();
    assert_eq!(fingerprints.len(), report.len(), "{report:?}");
    assert_eq!(report[0]["severity"], "major");
    assert_eq!(listed(FindingForm::Gitlab, &[]), "[]\n");
}

#[test]
fn markdown_is_a_table_that_no_name_leaves() {
    let text = listed(FindingForm::Markdown, &[shifted_disk(), broken(), hostile()]);
    let rows: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(rows.len(), 2 + 3, "{text}");
    for row in rows {
        assert_eq!(row.replace("\\|", "").matches('|').count(), 7, "{row}");
        assert!(!row.replace("<br>", "").contains(['<', '>']), "{row}");
    }
    assert!(text.ends_with("\nstraddle: 2 errors in 3 targets, 1 without a verdict\n"), "{text}");
}

#[test]
fn csv_quotes_what_would_end_a_value_and_hides_formulas() {
    let named = Target { target: "=1+1,\"x\"".to_owned(), ..shifted_disk() };
    let text = listed(FindingForm::Csv, &[named, broken()]);
    let rows: Vec<&str> = text.split("\r\n").collect();
    assert_eq!(rows.len(), 1 + 2 + 1, "{text}");
    assert!(rows[1].starts_with("\"'=1+1,\"\"x\"\"\",misaligned,sda1,error,ST101,"), "{text}");
    assert!(rows[2].starts_with("/dev/sdz,unknown,,,,cannot open"), "{text}");
}

#[test]
fn prometheus_gets_each_sample_once_under_its_type() {
    let mut twice = shifted_disk();
    twice.findings.push(twice.findings[0].clone());
    let text = listed(FindingForm::Prometheus, &[twice, broken(), hostile()]);
    let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let unique: std::collections::BTreeSet<_> = samples.iter().collect();
    assert_eq!(unique.len(), samples.len(), "{text}");
    let of = |name: &str| samples.iter().filter(|line| line.starts_with(name)).count();
    assert_eq!((of("straddle_finding{"), of("straddle_targets{")), (2, 7), "{text}");
    assert!(samples.contains(&"straddle_targets{verdict=\"misaligned\"} 2"), "{text}");
    for line in samples {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok() && name.starts_with("straddle_"), "{line}");
    }
}
