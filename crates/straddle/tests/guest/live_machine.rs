//! The whole machine: alive, captured, as images, and device by device.

use crate::answer::{Answer, list, text};
use crate::images;
use crate::result::{Run, argument, straddle, straddle_json};

#[test]
fn the_live_machine_and_its_disks_as_images_agree() {
    let Some(run) = Run::named() else { return };
    let live = run.answer("check");
    let images = images::answer(&run);
    agree("live", &live, "images", &images, 60);
    let missing = images.beyond(&live, "");
    assert!(missing.is_empty(), "only the images tell of\n{}", missing.join("\n"));
}

#[test]
fn the_live_machine_and_its_capture_agree() {
    let Some(run) = Run::named() else { return };
    let Some(captured) = captured(&run) else { return };
    let live = run.answer("check");
    agree("live", &live, "captured", &captured, 50);
    let missing = live.beyond(&captured, " partition at ");
    assert!(missing.is_empty(), "the capture lacks\n{}", missing.join("\n"));
}

#[test]
fn the_capture_and_the_disks_as_images_agree() {
    let Some(run) = Run::named() else { return };
    let Some(captured) = captured(&run) else { return };
    // The captured disks themselves are unknown: nobody read their bytes.
    agree("captured", &captured, "images", &images::answer(&run), 40);
}

#[test]
fn each_device_alone_is_judged_as_within_the_machine() {
    let Some(run) = Run::named() else { return };
    let live = run.answer("check");
    let mut count = 0;
    for name in run.devices.keys() {
        let alone = run.answer(&format!("devices/{name}"));
        count += agree("the machine", &live, name, &alone, 0);
    }
    assert!(count > 60, "only {count} layers could be compared");
}

/// The kernel's own arithmetic: a partition's `alignment_offset` is the way from its start to the
/// next boundary. It counts in the larger of the physical sector and `minimum_io_size`, so disks
/// with a larger one are left out.
#[test]
fn partitions_are_off_by_what_the_kernel_says() {
    let Some(run) = Run::named() else { return };
    let document = run.document("check");
    let mut count = 0;
    for layer in list(&document["targets"]).iter().flat_map(|target| list(&target["layers"])) {
        let Some(device) = run.devices.get(text(&layer["name"])) else { continue };
        let granule = device.physical_bytes.expect("a partition's disk has a physical sector");
        let plain = device.minimum_bytes == Some(granule) && granule > 512;
        if layer["kind"] != "partition" || !plain {
            continue;
        }
        let ahead = device.alignment_offset.and_then(|bytes| u64::try_from(bytes).ok());
        let off = (granule - ahead.expect("nothing is stacked here")) % granule;
        let said = &layer["misalignment"];
        assert_eq!(said["offset_bytes"].as_u64().unwrap_or(0), off, "{layer:#}");
        assert_eq!(said.is_null(), off == 0, "{layer:#}");
        count += 1;
    }
    assert!(count >= 10, "only {count} partitions were judged");
}

/// Returns what the captured machine says; `None`, and the test counted as skipped, where the run or the
/// binary knows no captures.
fn captured(run: &Run) -> Option<Answer> {
    if run.status("sysroot", "txt") != "0" {
        testkit::skip("the guest's straddle has no `generate sysroot`");
        return None;
    }
    let help = straddle(&["check", "--help"]).stdout;
    if !String::from_utf8_lossy(&help).contains("--sysroot") {
        testkit::skip("this straddle has no `check --sysroot`");
        return None;
    }
    let path = run.path("sysroot.txt");
    let document = straddle_json(&["check", "--json", "--sysroot", argument(&path)]);
    Some(run.answer_of(&document))
}

/// Holds that both say the same of what both know, which is at least so many places; how many.
fn agree(name: &str, one: &Answer, another_name: &str, another: &Answer, least: usize) -> usize {
    let (count, diff) = one.compare(another);
    assert!(diff.is_empty(), "--- {name}\n+++ {another_name}\n{diff}");
    let (has, other) = (one.count(), another.count());
    assert!(
        count >= least,
        "{name} knows {has} places, {another_name} {other}: only {count} in common"
    );
    count
}
