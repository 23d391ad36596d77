//! Sheets, and what is made of them.

use super::keys::keys;
use super::{DataSheet, NOT_CONFIRMED};
use crate::profile::{self, DriveKind, DriveProfile, ValueLabel};

const SHEET: &str = r#"name = "mine"
title = "My drive"
kind = "flash"
source = "its sheet"

[sheet]
capacity = "2000 GB"
interface = "nvme"
plp = "yes"
read_latency = "70 us"
write_latency = "14 us"
read_iops = 700000
write_iops = 90000
read_rate = "5000 MB"
write_rate = "2000 MB"
"#;

fn parsed(text: &str) -> DataSheet {
    DataSheet::parse("mine.toml", text).unwrap()
}

fn fitted(sheet: &DataSheet) -> DriveProfile {
    DriveProfile::parse("fitted.toml", &sheet.profile_text()).unwrap()
}

#[test]
fn a_profile_does_what_each_line_of_its_sheet_says() {
    let sheet = parsed(SHEET);
    let checks = sheet.checks(&fitted(&sheet), 1);
    assert_eq!(checks.len(), 6);
    for check in checks {
        assert!((check.model / check.sheet - 1.0).abs() < 0.1, "{check:?}");
    }
}

#[test]
fn each_value_names_the_line_that_decided_it_and_the_others_are_assumed() {
    let text = parsed(SHEET).profile_text();
    let line = SHEET.lines().position(|line| line.starts_with("read_iops")).unwrap() + 1;
    assert!(text.contains(&format!("# line {line}: read_iops = 700000\nhost = ")), "{text}");
    let drive = fitted(&parsed(SHEET));
    let value = |key: &str| drive.values.iter().find(|value| value.key == key).unwrap();
    assert_eq!(value("link").label, ValueLabel::Known);
    assert_eq!(value("host").label, ValueLabel::Calibrated("read_iops = 700000".to_owned()));
    assert_eq!(value("unit").label, ValueLabel::Assumed);
    // Nothing of the base is claimed for this drive.
    let claims =
        |value: &&profile::Value| value.label != ValueLabel::Assumed && value.source != "its sheet";
    assert_eq!(drive.values.iter().find(claims), None);
}

#[test]
fn a_line_that_is_not_confirmed_gives_no_known_value() {
    let listed = "unconfirmed = [\"read_rate\", \"read_iops\"]\n\n[sheet]";
    let sheet = parsed(&SHEET.replace("\n[sheet]", listed));
    let drive = fitted(&sheet);
    let value = |key: &str| drive.values.iter().find(|value| value.key == key).unwrap();
    assert_eq!(value("link").label, ValueLabel::Unconfirmed);
    assert_eq!(value("capacity").label, ValueLabel::Known);
    for (key, source) in [("link", NOT_CONFIRMED), ("host", NOT_CONFIRMED), ("read", "its sheet")] {
        assert_eq!(value(key).source, source, "{key}");
    }
    let checks = sheet.checks(&drive, 1);
    let unsure = checks.iter().filter(|check| !check.is_confirmed).map(|check| check.key);
    assert_eq!(unsure.collect::<Vec<_>>(), ["read_iops", "read_rate"]);
}

#[test]
fn what_was_measured_counts_more_than_the_sheet() {
    let mut sheet = parsed(SHEET);
    assert!(sheet.measured("unit", 16_384, "probe"));
    assert!(sheet.measured("read_latency", 95_000, "bench"));
    let drive = fitted(&sheet);
    assert_eq!(drive.amount("unit"), Some(16_384));
    let text = sheet.profile_text();
    assert!(text.contains("# read_latency = 95 us (bench)\nread = "), "{text}");
    assert!(!sheet.measured("color", 1, "an eye"));
}

#[test]
fn a_sheet_that_cannot_be_is_refused_with_its_line() {
    for (from, to, said) in [
        ("read_iops =", "reeds =", "mine.toml:12: the sheet of a flash has no `reeds`"),
        ("700000", "0", "expected a whole number, got `read_iops = 0`"),
        ("\"flash\"", "\"memory\"", "expected one of hard-disk"),
        ("kind =", "base = \"ultrastar-7k8\"\nkind =", "expected a built-in flash"),
        ("source = \"its sheet\"\n", "", "missing field `source`"),
        ("\n[sheet]", "unconfirmed = [\"rpm\"]\n[sheet]", "expected names of lines of [sheet]"),
    ] {
        let changed = SHEET.replacen(from, to, 1);
        assert_ne!(changed, SHEET);
        let error = DataSheet::parse("mine.toml", &changed).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn every_built_in_sheet_is_called_as_its_drive_and_gives_one() {
    let sheets: Vec<&DataSheet> = profile::checked_sheets().collect();
    assert!(sheets.len() > 30);
    for sheet in sheets {
        let drive = profile::called(sheet.name()).expect("built in");
        assert_eq!((drive.kind, &drive.title), (sheet.kind(), &sheet.title));
        fitted(sheet).model().unwrap();
    }
}

#[test]
fn a_burst_of_writes_is_quicker_than_reads_where_commands_are() {
    let sheet = profile::checked_sheets().find(|sheet| sheet.name() == "wd-sn850x").unwrap();
    let drive = profile::called("wd-sn850x").unwrap().clone();
    let burst = |drive: &DriveProfile| {
        let checks = sheet.checks(drive, 1);
        let check = checks.into_iter().find(|check| check.key == "burst_iops").unwrap();
        (check.model / check.sheet, check.outside.is_empty())
    };
    let checks = sheet.checks(&drive, 1);
    let predicted: Vec<&str> =
        checks.iter().filter(|check| !check.is_solved).map(|check| check.key).collect();
    assert_eq!(predicted, ["burst_iops"], "the rate of its link is the sheet's own");
    let (ratio, is_unknown) = burst(&drive);
    assert!(ratio < 0.8 && !is_unknown, "{ratio}");
    assert!((burst(&drive.set("host", 1_000_000_000 / 1_100_000)).0 - 1.0).abs() < 0.1);
}

#[test]
fn a_number_of_any_size_gives_a_profile_or_its_error_and_no_panic() {
    for kind in [DriveKind::HardDisk, DriveKind::Flash, DriveKind::Cloud] {
        let sheet = profile::checked_sheets().find(|sheet| sheet.kind() == kind).unwrap();
        for key in keys(kind) {
            for amount in [1, 7, u64::MAX / 2, u64::MAX] {
                let mut sheet = sheet.clone();
                assert!(sheet.measured(key.name, amount, "nobody"));
                let _ = DriveProfile::parse("mine.toml", &sheet.profile_text());
            }
        }
    }
}
