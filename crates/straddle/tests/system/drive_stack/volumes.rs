//! LVM's volumes, as lvm2 itself puts them on images: what they cost follows from where they lie.

use serde_json::Value;
use testkit::scratch::text;
use testkit::{Lvm, need_loops, need_tools};

use super::{MIB, SECTOR, costs, layers, refused, simulated};

/// Words that ask `lvcreate` for a volume that is never active, and that nothing is written to.
const CREATE: [&str; 5] = ["lvcreate", "-y", "-an", "-Zn", "-Wn"];

/// A group `vg` of extents of `extent` on an image for each of `shifts`, on which data begin that
/// far after a multiple of 1 MiB.
fn group(extent: &str, shifts: &[&str]) -> Lvm {
    let lvm = Lvm::on(&vec![128 * MIB; shifts.len()]);
    for (number, shift) in shifts.iter().enumerate() {
        let place = ["--dataalignment", "1m", "--dataalignmentoffset", shift];
        lvm.run(&[&["pvcreate"], &place[..], &[lvm.device(number)]].concat());
    }
    let devices: Vec<&str> = (0..shifts.len()).map(|number| lvm.device(number)).collect();
    lvm.run(&[&["vgcreate", "-s", extent, "vg"], &devices[..]].concat());
    lvm
}

/// A volume `lv` of so many extents, as `words` say.
fn create(lvm: &Lvm, extents: &str, words: &[&str]) {
    lvm.run(&[&CREATE[..], &["-l", extents, "-n", "lv", "vg"], words].concat());
}

/// The byte of each device where its data begin, as the tool says.
fn data_starts(lvm: &Lvm) -> Vec<u64> {
    let units = ["--units", "b", "--nosuffix", "--noheadings"];
    let start = |number| {
        let told =
            lvm.run(&[&["pvs", "-o", "pe_start"], &units[..], &[lvm.device(number)]].concat());
        told.trim().parse().expect("a number of bytes")
    };
    (0..lvm.images().len()).map(start).collect()
}

/// Returns what a workload costs on all images of the group.
fn on_all(lvm: &Lvm, arguments: &[&str]) -> Value {
    simulated(text(lvm.directory()), arguments)
}

/// A number of the drive at `place` under an arm, for each operation of the arm.
fn each(arm: &Value, place: usize, key: &str) -> f64 {
    let leaf = &arm["leaves"][place];
    let number = if leaf[key].is_null() { &leaf["did"][key] } else { &leaf[key] };
    let all = number.as_f64().unwrap_or_else(|| panic!("{key} in {leaf}"));
    all / arm["operations"].as_f64().expect("a number")
}

#[test]
fn a_volume_costs_what_its_first_byte_on_the_drive_says() {
    need_tools!("lvm", "losetup");
    need_loops!();
    for (shift, cost) in [("0", 1.0), ("8s", 1.0), ("1s", 3.0), ("63s", 3.0)] {
        let lvm = group("1m", &[shift]);
        create(&lvm, "32", &[]);
        lvm.run(&[&CREATE[..], &["-l", "16", "-n", "next", "vg"]].concat());
        let start_bytes = data_starts(&lvm)[0];
        let found = layers(&on_all(&lvm, &[]));
        assert_eq!(found.len(), 2, "{found:?}");
        costs(&found[0], "disk0 PV of vg vg/lv", start_bytes, cost);
        costs(&found[1], "disk0 PV of vg vg/next", start_bytes + 32 * MIB, cost);
    }
}

#[test]
fn each_part_of_a_volume_over_two_drives_costs_what_its_own_drive_says() {
    need_tools!("lvm", "losetup");
    need_loops!();
    let lvm = group("1m", &["0", "63s"]);
    // All of the first image, and 73 extents of the second.
    create(&lvm, "200", &[]);
    let starts = data_starts(&lvm);
    assert_eq!(starts, [MIB, MIB + 63 * SECTOR]);
    let document = on_all(&lvm, &["--random"]);
    let [aligned, own] = [0, 1].map(|at| &document["arms"][at]);
    assert_eq!((&own["layer"], &own["failed"]), (&"vg/lv".into(), &0.into()));
    assert_eq!(aligned["did"]["rmw_reads"], 0, "{aligned}");
    let written = [0, 1].map(|place| each(own, place, "written_bytes") / 4096.0);
    assert!((written[0] + written[1] - 1.0).abs() < 1e-9, "{written:?}");
    assert!((written[1] - 73.0 / 200.0).abs() < 0.1, "{written:?}");
    // Two granules are read for each misaligned write, and a flush goes to both drives.
    assert_eq!([0, 1].map(|place| each(own, place, "rmw_reads")), [0.0, 2.0 * written[1]]);
    for (place, written) in written.into_iter().enumerate() {
        assert!((each(own, place, "commands") - 1.0 - written).abs() < 1e-9, "{own}");
    }
    // In order, the first 500 lie on the first drive.
    costs(&layers(&on_all(&lvm, &[]))[0], "vg/lv", 0, 1.0);
}

#[test]
fn a_striped_volume_splits_at_its_stripes_and_costs_where_they_are_misaligned() {
    need_tools!("lvm", "losetup");
    need_loops!();
    // The size of an operation, and on how many drives each write goes.
    let sizes = [("4K", 1.0), ("64K", 1.0), ("128K", 2.0), ("256K", 2.0)];
    for (shifts, misaligned) in [(["0", "0"], [0.0; 2]), (["0", "63s"], [0.0, 1.0])] {
        let lvm = group("1m", &shifts);
        create(&lvm, "64", &["-i", "2", "-I", "64k"]);
        for (size, drives) in sizes {
            let document = on_all(&lvm, &["--size", size]);
            let [aligned, own] = [0, 1].map(|at| &document["arms"][at]);
            assert_eq!((&own["layer"], &own["failed"]), (&"vg/lv".into(), &0.into()));
            assert_eq!(aligned["did"]["rmw_reads"], 0, "{size}: {aligned}");
            // Commands beside the flush.
            let writes = [0, 1].map(|place| each(own, place, "commands") - 1.0);
            assert!((writes[0] + writes[1] - drives).abs() < 1e-9, "{size}: {own}");
            let reads = [0, 1].map(|place| each(own, place, "rmw_reads"));
            let wanted = [0, 1].map(|place| 2.0 * misaligned[place] * writes[place]);
            assert_eq!(reads, wanted, "{size} {shifts:?}: {own}");
            let ratio = own["ratio"].as_f64().expect("a number");
            assert_eq!(ratio > 1.5, misaligned[1] > 0.0, "{size} {shifts:?}: {ratio}");
        }
    }
}

#[test]
fn the_aligned_place_of_parts_that_meet_within_a_granule_is_aligned_on_each_drive() {
    need_tools!("lvm", "losetup");
    need_loops!();
    // Extents of a sector: the second part begins at an odd one.
    let lvm = group("512b", &["0", "0"]);
    create(&lvm, "20001", &[lvm.device(0)]);
    lvm.run(&["lvextend", "-l", "+20000", "vg/lv", lvm.device(1)]);
    let document = on_all(&lvm, &["--random"]);
    let [aligned, own] = [0, 1].map(|at| &document["arms"][at]);
    // At most the one operation that crosses from one drive to the other.
    assert!(aligned["did"]["rmw_reads"].as_u64() < Some(3), "{aligned}");
    assert_eq!(each(own, 0, "rmw_reads"), 0.0, "{own}");
    let written = each(own, 1, "written_bytes") / 4096.0;
    assert!((each(own, 1, "rmw_reads") - 2.0 * written).abs() < 0.01, "{own}");
}

#[test]
fn a_volume_of_which_a_part_was_not_given_asks_for_the_rest() {
    need_tools!("lvm", "losetup");
    need_loops!();
    let lvm = group("1m", &["0", "0"]);
    create(&lvm, "200", &[]);
    let [first, second] = [0, 1].map(|number| text(&lvm.images()[number]));
    let hint = "hint: name every device or file that it is on: --stack A B C";
    for (image, arguments) in [(first, &["--random"][..]), (second, &[])] {
        let said = refused(image, arguments);
        assert!(said.contains("was not given") && said.contains(hint), "{said}");
    }
    let document = simulated(first, &[]);
    costs(&layers(&document)[0], "disk0 PV of vg vg/lv", MIB, 1.0);
    let notes = document["notes"].to_string();
    assert!(notes.contains("not all devices"), "its first part is here: {notes}");
}
