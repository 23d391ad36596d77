//! `--on` with loop devices: the same bytes get the same answer as an image, as a loop device, on
//! its partition, and where they are mounted.

use std::path::Path;

use serde_json::{Value, json};
use testkit::{Loop, Lvm, Mount, Scratch, need_loops, need_tools, tool};

use super::run::{check, partitioned, straddle, text};

const MIB: u64 = 1 << 20;

/// Disks to judge on, one of each property.
const DISKS: [&str; 6] =
    ["granule=16K", "512e,origin=3584", "stripe=64Kx3+1", "512n", "512e", "4Kn"];

/// The verdict on `target` on the disk `on`, its findings, and how each layer lies; without names,
/// and without the kind of the disk itself, in which an image and a device differ.
fn answer(target: &Path, on: &str) -> Value {
    let checked = check(&[text(target), "--on", on]);
    let rows = |list: &str, keys: &[&str]| -> Vec<Value> {
        let list = checked.target[list].as_array().expect("a list");
        list.iter().map(|it| keys.iter().map(|key| it[key].clone()).collect()).collect()
    };
    let layers = rows("layers", &["kind", "below", "start_bytes", "verdict", "misalignment"]);
    json!({
        "status": checked.status,
        "verdict": checked.target["verdict"],
        "findings": rows("findings", &["code", "severity", "layer", "cost"]),
        "disk": checked.target["layers"][0]["verdict"],
        "layers": &layers[1..],
    })
}

/// Every one of `targets` gets the answer that `image` gets, on each of the disks.
fn agree(image: &Path, targets: &[&Path]) {
    for on in DISKS {
        let expected = answer(image, on);
        for target in targets {
            assert_eq!(answer(target, on), expected, "{} on {on}", text(target));
        }
    }
}

#[test]
fn a_loop_device_its_partition_and_a_mount_of_that_are_judged_like_the_image() {
    need_tools!("sfdisk", "partx", "mkfs.ext4", "mount");
    need_loops!();
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: dos\nstart=40,type=83\n");
    tool::run("mkfs.ext4", &["-q", "-F", "-E", "offset=20480", text(&image), "60M"]);
    let device = Loop::attach(&image, 512);
    let partition = device.partition(1);
    let mount = Mount::new("ext4", "", text(&partition), &scratch.path().join("mount"));
    agree(&image, &[device.path(), &partition, mount.path()]);
    let checked = check(&[text(mount.path()), "--on", "granule=16K"]);
    assert_eq!(checked.verdict("partition", "p1"), "misaligned");
    assert!(checked.has("ST101", "warning"), "{:?}", checked.findings());
    // An image in the mount is a disk of its own, too, and so is a loop device over it.
    let inner = mount.path().join("inner.raw");
    let room = std::fs::File::create(&inner).expect("it is made");
    room.set_len(16 * MIB).expect("it grows");
    tool::run_with_input("sfdisk", &["-q", text(&inner)], "label: dos\nstart=40,type=83\n");
    let nested = Loop::attach(&inner, 512);
    agree(&inner, &[nested.path()]);
}

#[test]
fn a_mount_directly_on_a_loop_device_is_judged_like_the_image() {
    need_tools!("mkfs.ext4", "mount");
    need_loops!();
    let scratch = Scratch::new();
    let image = scratch.image("fs.raw", 64 * MIB);
    tool::run("mkfs.ext4", &["-q", "-F", text(&image)]);
    let device = Loop::attach(&image, 512);
    let mount = Mount::new("ext4", "", text(device.path()), &scratch.path().join("mount"));
    agree(&image, &[device.path(), mount.path()]);
}

#[test]
fn a_loop_device_that_starts_inside_its_file_is_counted_from_the_start_of_the_file() {
    need_tools!("sfdisk", "mkfs.ext4", "mount");
    need_loops!();
    let scratch = Scratch::new();
    for (sector, bytes) in [(40, "20480"), (32, "16384")] {
        let table = format!("label: dos\nstart={sector},type=83\n");
        let image = partitioned(&scratch, "disk.raw", 64 * MIB, &table);
        let offset = format!("offset={bytes}");
        tool::run("mkfs.ext4", &["-q", "-F", "-b", "4096", "-E", &offset, text(&image), "60M"]);
        let path = tool::run("losetup", &["--find", "--show", "-o", bytes, text(&image)]);
        let device = Loop::taken(path.trim());
        let mount = Mount::new("ext4", "", text(device.path()), &scratch.path().join("mount"));
        for on in ["granule=16K", "granule=16K,origin=4096", "granule=64K", "stripe=16Kx3+1"] {
            let verdict = |target: &Path| {
                check(&[text(target), "--on", on]).target["verdict"].as_str().map(str::to_owned)
            };
            for target in [device.path(), mount.path()] {
                assert_eq!(verdict(target), verdict(&image), "{} {sector} on {on}", text(target));
            }
        }
        drop(mount);
        drop(device);
        std::fs::remove_file(&image).expect("it is removed");
    }
}

#[test]
fn a_volume_group_on_a_loop_device_is_judged_like_the_image() {
    need_tools!("lvm");
    need_loops!();
    let lvm = Lvm::on(&[64 * MIB]);
    lvm.run(&["pvcreate", "-q", "--dataalignment", "68k", lvm.device(0)]);
    lvm.run(&["vgcreate", "-q", "straddle", lvm.device(0)]);
    lvm.run(&["lvcreate", "-q", "-an", "-Zn", "-Wn", "-L8M", "-nvolume", "straddle"]);
    agree(&lvm.images()[0], &[Path::new(lvm.device(0))]);
}

#[test]
fn a_loop_device_on_a_partition_of_another_is_the_disk_that_is_specified() {
    need_tools!("sfdisk", "partx", "mkfs.ext4", "dd");
    need_loops!();
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: dos\nstart=40,type=83\n");
    tool::run("mkfs.ext4", &["-q", "-F", "-E", "offset=20480", text(&image), "60M"]);
    let device = Loop::attach(&image, 512);
    let partition = device.partition(1);
    let content = scratch.path().join("content.raw");
    let (source, copy) = (format!("if={}", text(&partition)), format!("of={}", text(&content)));
    tool::run("dd", &[&source, &copy, "bs=1M", "status=none"]);
    let nested = Loop::attach_read_only(&partition);
    agree(&content, &[nested.path()]);
    agree(&image, &[device.path(), &partition]);
}

#[test]
fn a_loop_device_with_sectors_of_4096_bytes_is_judged_like_the_image() {
    need_tools!("sfdisk", "mkfs.ext4");
    need_loops!();
    let scratch = Scratch::new();
    let image = scratch.image("disk.raw", 64 * MIB);
    let device = Loop::attach(&image, 4096);
    tool::run_with_input(
        "sfdisk",
        &["-q", "--no-tell-kernel", text(device.path())],
        "label: gpt\nfirst-lba: 6\nstart=37,size=1000\n",
    );
    // Where `--on` leaves the sector out, the device's own counts.
    for on in ["4Kn", "512e", "4Kn,granule=16K", "512e,origin=3584", "4Kn,stripe=64Kx3"] {
        assert_eq!(answer(device.path(), on), answer(&image, on), "{on}");
    }
}

#[test]
fn a_plan_and_a_drawing_of_a_loop_device_are_those_of_the_image() {
    need_tools!("sfdisk", "partx");
    need_loops!();
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: dos\nstart=40,type=83\n");
    let device = Loop::attach(&image, 512);
    let partition = device.partition(1);
    for on in DISKS {
        let planned = |target: &Path| -> Value {
            let output = straddle(&["plan", "--json", text(target), "--on", on]);
            let mut plan: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
            let document = plan.as_object_mut().expect("a document");
            document.retain(|key, _| !["command", "started", "target"].contains(&key.as_str()));
            let change = document.remove("table_change").unwrap_or_default();
            json!([plan, change["writes"]])
        };
        let expected = planned(&image);
        assert_eq!(planned(device.path()), expected, "{on}");
        assert_eq!(planned(&partition), expected, "{on}");
    }
    let drawn = straddle(&["draw", text(&partition), "--on", "granule=16K"]).stdout;
    let drawn = String::from_utf8_lossy(&drawn);
    assert!(drawn.contains("16 KiB granule (specified"), "{drawn}");
    assert!(drawn.contains("misaligned by 4 KiB"), "{drawn}");
}
