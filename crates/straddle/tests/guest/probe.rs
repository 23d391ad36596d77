//! `straddle probe` on raw disks: what it refuses, where it cannot tell, a granule that is known,
//! and what `straddle check` makes of it.

use serde_json::Value;

use crate::answer::list;
use crate::answers::Answers;

/// Returns what the scenario `sync` asked of probes.
fn run() -> Option<Answers> {
    Answers::named("STRADDLE_GUEST_SYNC", "sync")
}

/// The granule that a check judges by, as its bytes and who says them.
fn granule(run: &Answers, name: &str) -> (u64, String) {
    let (document, status) = run.answer(name);
    assert_eq!(status, "0");
    let layers = list(&list(&document["targets"])[0]["layers"]);
    let mut units = layers.iter().flat_map(|layer| list(&layer["units"]));
    let used = units.find(|unit| unit["unit"] == "granule" && unit["used"] == true);
    let used = used.expect("a drive has a granule");
    (used["bytes"].as_u64().expect("bytes"), used["source"].as_str().expect("text").to_owned())
}

/// Returns what a probe said of the disk with a granule; `None`, and the test counted as skipped, where the
/// machine was too busy for an interval. Anything else is an answer, and a test judges it.
fn found(run: &Answers) -> Option<Value> {
    let (document, status) = run.answer("probe-coarse");
    let alignment = &document["answers"]["alignment"];
    if alignment["value"].is_null() && alignment["why"] == "noise" {
        assert_eq!(status, "5", "{document:#}");
        assert!(document["kept"]["file"].is_null(), "{document:#}");
        testkit::skip("the machine was too busy for the guest to measure 2 ms");
        return None;
    }
    assert_eq!(status, "0", "{document:#}");
    Some(document)
}

#[track_caller]
fn is_refused(run: &Answers, name: &str, part: &str) {
    let (document, status) = run.answer(name);
    let refusal = &document["refusal"];
    let message = refusal["message"].as_str().expect("it is refused");
    assert!(message.contains(part), "{name}: {message}");
    assert_eq!((refusal["kind"].as_str(), status.as_str()), (Some("safety"), "3"), "{name}");
    assert_eq!(document["spent"]["written_bytes"], 0, "{name}");
}

#[test]
fn a_disk_in_use_or_with_data_is_never_probed_by_writes() {
    let Some(run) = run() else { return };
    is_refused(&run, "probe-mounted", "is mounted on /mnt/well");
    is_refused(&run, "probe-held", "is mounted on /mnt/chain");
    is_refused(&run, "probe-data", "ext4");
}

#[test]
fn a_disk_that_is_not_confirmed_is_read_at_most() {
    let Some(run) = run() else { return };
    assert_eq!(run.status("probe-unconfirmed"), "3");
    assert!(run.written("probe-unconfirmed.err").contains("--confirm"));
    is_refused(&run, "probe-stranger", "--confirm does not name");
    let (dry, status) = run.answer("probe-dry");
    assert!(dry["refusal"].is_null(), "{}", dry["refusal"]);
    assert_eq!((dry["dry_run"].as_bool(), status.as_str()), (Some(true), "0"));
    assert_eq!(
        (&dry["target"]["writes"], &dry["spent"]["written_bytes"]),
        (&true.into(), &0.into())
    );
    let (reads, _) = run.answer("probe-reads");
    assert_eq!(reads["target"]["writes"], false);
    assert!(reads["spent"]["operations"].as_u64() > Some(0), "it did read");
    assert_eq!(run.written("untouched.before"), run.written("untouched.behind"));
}

#[test]
fn a_disk_without_a_penalty_gives_no_granule_and_leaves_nothing() {
    let Some(run) = run() else { return };
    let (document, status) = run.answer("probe-plain");
    assert_eq!(status, "5", "{document}");
    let said = &document["answers"]["alignment"];
    assert!(said["value"].is_null() && document["answers"]["size"]["value"].is_null(), "{said}");
    let why = said["why"].as_str().expect("a reason");
    assert!(["no-signal", "noise"].contains(&why), "{said}");
    assert!(document["spent"]["written_bytes"].as_u64() > Some(0), "it did write");
    assert_eq!(run.written("kept-plain"), "");
}

#[test]
fn a_granule_that_the_disk_hides_is_found_and_kept_with_its_wwn_and_firmware() {
    let Some(run) = run() else { return };
    let Some(document) = found(&run) else { return };
    let answers = &document["answers"];
    let value = &answers["alignment"]["value"];
    assert_eq!((&value["bytes"], &value["origin_bytes"]), (&16384.into(), &0.into()));
    assert_eq!(answers["size"]["value"]["bytes"], 16384);
    assert_eq!(document["reported"]["physical_sector_bytes"], 512);
    assert_eq!(document["reported"]["physical_sector_lies"], true);
    let text = run.written("state/measured-wwid-naa.5000c500a1b2c3d4.json");
    let saved: Value = serde_json::from_str(&text).expect("it is JSON");
    let own = &saved["identity"];
    assert_eq!((&own["name"], &own["firmware"]), (&"naa.5000c500a1b2c3d4".into(), &"FW01".into()));
    assert_eq!(saved["granule"]["alignment_bytes"], 16384);
    // What a part costs is imposed: a read at each end before the write, and a flush after it.
    let low = saved["granule"]["slower_low"].as_f64().expect("a ratio");
    assert!((1.2..2.6).contains(&low), "{low}");
}

#[test]
fn check_judges_by_what_was_found_until_the_firmware_is_another() {
    let Some(run) = run() else { return };
    if found(&run).is_none() {
        return;
    }
    assert_eq!(granule(&run, "check"), (16384, "measured".to_owned()));
    assert!(run.written("check.err").contains("granule of 16384 bytes from byte 0, as measured"));
    assert_eq!(granule(&run, "check-ignored"), (4096, "assumed".to_owned()));
    assert_eq!(granule(&run, "check-firmware"), (4096, "assumed".to_owned()));
    assert!(run.written("check-firmware.err").contains("the firmware was FW00 and is now FW01"));
}

#[test]
fn what_waits_in_the_kernel_makes_no_depth() {
    let Some(run) = run() else { return };
    for scheduler in ["none", "mq-deadline"] {
        let (document, _) = run.answer(&format!("probe-tags-{scheduler}"));
        let depth = &document["answers"]["depth"];
        assert!(document["spent"]["operations"].as_u64() > Some(1000), "{scheduler}: it did read");
        // The kernel was told to send eight at once, so that eight would be right.
        let reads = depth["value"]["reads"].as_u64();
        assert!(reads.is_none_or(|reads| reads == 8), "{scheduler}: {depth}");
    }
}
