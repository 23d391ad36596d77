//! Forecast of a run, before it is.

use report::bench::{DryRun, PLAN_SCHEMA, dry_run_json, dry_run_text, wear};
use report::{Envelope, Look, Run};
use units::Source;

use crate::made::sample::{envelope, plain, same};

pub(crate) fn plan() -> DryRun {
    DryRun {
        envelope: Envelope {
            notes: vec!["the size of 10 GiB would be scaled down to 64 MiB".to_owned()],
            ..envelope(PLAN_SCHEMA, Run::default())
        },
        place: "/data".to_owned(),
        layers: vec!["ext4".to_owned(), "sda1".to_owned(), "sda".to_owned()],
        granule_bytes: Some(4096),
        granule_origin_bytes: Some(3584),
        granule_source: Some(Source::Sysfs),
        scratch_bytes: 64 << 20,
        written_bytes_max: 256 << 20,
        seconds_max: 5,
        experiments: vec!["4 KiB write + fdatasync, depth 1".to_owned()],
        wear: wear(256 << 20, Some(6_001_175_126_016)),
        impact: vec![
            "depth 1: others on sda wait for one write at a time".to_owned(),
            "each write is followed by a flush of the drive's whole cache".to_owned(),
        ],
    }
}

/// One of which nothing is known, and that writes nothing.
pub(crate) fn nothing_known() -> DryRun {
    DryRun {
        place: "\x1b[31m日本語/a/path/that/does/not/end".repeat(5),
        layers: Vec::new(),
        granule_bytes: None,
        granule_origin_bytes: None,
        granule_source: None,
        scratch_bytes: 0,
        written_bytes_max: 0,
        seconds_max: 1,
        experiments: vec!["\n".repeat(30); 12],
        wear: wear(0, None),
        impact: vec![String::new()],
        envelope: envelope(PLAN_SCHEMA, Run::default()),
    }
}

#[track_caller]
fn check(plan: &DryRun, look: Look, expected: &str) {
    let found = plain(&dry_run_text(plan, &look));
    same(&found, expected.strip_prefix('\n').expect("starts on its own line"));
}

#[test]
fn a_dry_run_says_bytes_time_wear_and_impact() {
    check(
        &plan(),
        Look::default(),
        r#"
/data  on ext4  on sda1  on sda
  granule  4 KiB from 3.5 KiB on (sysfs)
  scratch  64 MiB
  written  256 MiB at most
  time  5 seconds at most
  wear  writes at most 256 MiB, under 0.1 % of the drive's 5.46 TiB; drive endurance rating unknown
  impact  depth 1: others on sda wait for one write at a time
  impact  each write is followed by a flush of the drive's whole cache
1 experiment:
  1  4 KiB write + fdatasync, depth 1
note: the size of 10 GiB would be scaled down to 64 MiB
dry run: nothing was written, nothing was measured
"#,
    );
}

#[test]
fn a_dry_run_fits_a_narrow_terminal() {
    check(
        &plan(),
        Look { width: Some(40), ascii: true, ..Look::default() },
        r#"
/data  on ext4  on sda1  on sda
  granule  4 KiB from 3.5 KiB on (sysfs)
  scratch  64 MiB
  written  256 MiB at most
  time  5 seconds at most
  wear  writes at most 256 MiB, under
        0.1 % of the drive's 5.46 TiB;
        drive endurance rating unknown
  impact  depth 1: others on sda wait
          for one write at a time
  impact  each write is followed by a
          flush of the drive's whole
          cache
1 experiment:
  1  4 KiB write + fdatasync, depth 1
note: the size of 10 GiB would be
  scaled down to 64 MiB
dry run: nothing was written, nothing
  was measured
"#,
    );
}

#[test]
fn wear_is_a_share_only_where_the_capacity_is_known() {
    assert_eq!(wear(0, Some(1)), "nothing is written");
    let rated = "drive endurance rating unknown";
    assert_eq!(
        wear(1 << 30, Some(1 << 40)),
        format!("writes at most 1 GiB, under 0.1 % of the drive's 1 TiB; {rated}")
    );
    for unknown in [None, Some(0)] {
        let expected = format!("writes at most 1 GiB; drive capacity unknown; {rated}");
        assert_eq!(wear(1 << 30, unknown), expected);
    }
}

#[test]
fn a_plan_for_programs_names_its_schema() {
    let value: serde_json::Value = serde_json::from_str(&dry_run_json(&plan())).expect("JSON");
    assert_eq!(value["schema"], "straddle.bench.plan/1");
    assert_eq!(value["written_bytes_max"], 256 << 20);
}
