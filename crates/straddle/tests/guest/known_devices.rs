//! Devices that were made in the guest, and so are known without any tool.

use crate::answer::{list, text};
use crate::result::Run;

/// A device by its mapped or its kernel name, the verdict on it with all that it holds, and where
/// that is misaligned, by how much of a 4 KiB granule.
const TRUTHS: [(&str, &str, Option<u64>); 14] = [
    ("md0", "aligned", None),
    ("md1", "aligned", None),
    ("md5", "aligned", None),
    ("md6", "misaligned", Some(3584)),
    ("vault", "aligned", None),
    ("chain-top", "aligned", None),
    ("flat-twin", "aligned", None),
    ("stripe", "aligned", None),
    ("linear63", "misaligned", Some(3584)),
    ("plain", "aligned", None),
    ("tagged", "not-expressible", None),
    ("loop0", "misaligned", Some(3584)),
    ("loop0p1", "misaligned", Some(3584)),
    ("loop1", "misaligned", Some(3584)),
];

#[test]
fn devices_that_the_kernel_put_together_are_judged_down_to_the_drives() {
    let Some(run) = Run::named() else { return };
    if list(&run.document("devices/md5")["targets"]).iter().any(|it| it["verdict"] == "unknown") {
        testkit::skip("the guest's straddle does not follow arrays to their members");
        return;
    }
    let mut wrong = Vec::new();
    for (name, verdict, off) in TRUTHS {
        let device = run
            .devices
            .iter()
            .find(|(kernel, device)| *kernel == name || device.mapped.as_deref() == Some(name));
        let (kernel, _) = device.unwrap_or_else(|| panic!("the guest has no {name}"));
        let document = run.document(&format!("devices/{kernel}"));
        let target = &list(&document["targets"])[0];
        let offsets = list(&target["layers"]).iter().filter_map(|layer| {
            let miss = &layer["misalignment"];
            (miss["unit_bytes"] == 4096).then(|| miss["offset_bytes"].as_u64()).flatten()
        });
        let said = (text(&target["verdict"]), offsets.max());
        if said != (verdict, off) {
            wrong.push(format!("{name} ({kernel}): {said:?} instead of {:?}", (verdict, off)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_geometry_of_another_array_is_found_on_raid10() {
    let Some(run) = Run::named() else { return };
    let document = run.document("check");
    let target = list(&document["targets"]).iter().find(|target| {
        let mut layers = list(&target["layers"]).iter();
        layers.any(|layer| {
            let device = layer["name"].as_str().and_then(|name| run.devices.get(name));
            device.is_some_and(|device| device.serial.as_deref() == Some("t0"))
        })
    });
    let findings = list(&target.expect("the array's first disk is a target")["findings"]);
    assert!(findings.iter().any(|finding| finding["code"] == "ST204"), "{findings:#?}");
}
