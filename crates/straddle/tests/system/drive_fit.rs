//! `straddle drive fit`, and the data sheets of built-in drives, as typed.

use std::process::{Command, Stdio};

use testkit::running_program::Ran;
use testkit::{Scratch, scratch::text};

fn drive(arguments: &[&str]) -> Ran {
    let mut straddle = Command::new(env!("CARGO_BIN_EXE_straddle"));
    straddle.arg("drive").args(arguments).stdin(Stdio::null());
    Ran::of(straddle.env("LC_ALL", "C.UTF-8").env("COLUMNS", "140"))
}

#[test]
fn a_sheet_becomes_a_profile_that_is_simulated_and_says_where_its_values_are_from() {
    let scratch = Scratch::new();
    let sheet = drive(&["show", "micron-9300-pro", "--sheet"]);
    assert_eq!(sheet.status, Some(0), "{sheet:?}");
    let file = scratch.file("sheet.toml", sheet.out.as_bytes());
    let fitted = drive(&["fit", text(&file)]);
    assert_eq!(fitted.status, Some(0), "{fitted:?}");
    for said in ["read_latency = 86 us\nread = ", "label = \"calibrated\", by = \"read_iops"] {
        assert!(fitted.out.contains(said), "{}", fitted.out);
    }
    let checks = fitted.out.lines().filter(|line| line.contains(": sheet "));
    assert_eq!(checks.count(), 6, "{}", fitted.out);
    // The built-in drive is the same.
    let built_in = drive(&["show", "micron-9300-pro", "--toml"]).out;
    assert!(fitted.out.starts_with(&built_in), "{}", fitted.out);
    let own = scratch.file("own.toml", fitted.out.as_bytes());
    let read = ["--read", "--random", "--operations", "500", "--json"];
    let always = ["simulate", "--profile", text(&own)];
    let ran = drive(&[&always[..], &read].concat()).document();
    assert_eq!(ran["arms"][0]["mean_ns"].as_u64().map(|ns| ns / 1000), Some(86), "{ran}");
}

#[test]
fn what_is_no_sheet_or_no_measurement_of_it_is_refused_with_what_to_do() {
    let scratch = Scratch::new();
    let sheet = drive(&["show", "exos-x18", "--sheet"]).out;
    let sheet = scratch.file("sheet.toml", sheet.as_bytes());
    let bad = scratch.file("bad.toml", b"name = \"mine\"\n");
    let other = scratch.file("other.json", b"{\"schema\": \"straddle.check/1\"}");
    for (arguments, said, hint) in [
        (
            vec!["fit", text(&bad)],
            "bad.toml:1: missing field",
            "drive show samsung-990-pro --sheet",
        ),
        (vec!["fit", "/nowhere.toml"], "cannot read /nowhere.toml", "drive fit --help"),
        (
            vec!["fit", text(&sheet), "--measured", text(&other)],
            "expected a result of a check or a measurement, found schema",
            "name a file",
        ),
        (vec!["show", "m4-256", "--sheet"], "its profile is not made of one", "samsung-990-pro"),
    ] {
        let ran = drive(&arguments);
        assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{arguments:?}: {ran:?}");
        assert!(ran.errors.contains(said) && ran.errors.contains(hint), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn data_sheets_and_measured_drives_are_within_their_bounds_or_say_why_not() {
    let ran = drive(&["simulate", "--validate", "--json"]);
    assert_eq!(ran.status, Some(0), "{}", ran.errors);
    let document = ran.document();
    let lines = document["lines"].as_array().expect("a list");
    assert!(lines.len() > 120, "{}", lines.len());
    for line in lines {
        assert!(line["within"] == true || line["note"].is_string(), "{line}");
        assert!(line["drive"].is_string(), "{line}");
    }
}
