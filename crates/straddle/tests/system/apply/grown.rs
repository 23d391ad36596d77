//! Contents that changed after the plan was made: no end is moved into them.

use testkit::{need_tools, scratch, tool};

use super::{Disk, put, read};

/// Start of the partition, in bytes.
const START: u64 = 1 << 20;

/// A disk with one partition of 41003 sectors, whose end is off every granule.
fn disk() -> Disk {
    let disk = Disk::new("");
    let table = "label: dos\nstart=2048, size=41003, type=83\n";
    tool::run_with_input("sfdisk", &["-q", scratch::text(&disk.image)], table);
    disk
}

/// Makes an ext4 of this many KiB in the partition; a larger one than before, as if it had grown.
fn ext4(disk: &Disk, kib: u64) {
    let (offset, size) = (format!("offset={START}"), format!("{kib}k"));
    let image = scratch::text(&disk.image);
    tool::run("mkfs.ext4", &["-q", "-F", "-b", "1024", "-E", &offset, image, &size]);
}

/// Expects that nothing is written, for `reason`, by a dry run either.
fn refused(disk: &Disk, words: &[&str], image: &str, reason: &str) {
    let now = read(&disk.file(image));
    for way in [&["--dry-run"][..], &["--confirm", image]] {
        let ran = disk.run(&[&["apply"], words, way].concat());
        assert_eq!(ran.status, Some(3), "{reason}: {ran:?}");
        assert!(ran.errors.contains(reason) && ran.out.is_empty(), "{reason}: {ran:?}");
    }
    assert!(read(&disk.file(image)) == now, "{reason}");
}

#[test]
fn a_file_system_that_grew_after_the_plan_is_not_cut() {
    need_tools!("sfdisk", "mkfs.ext4", "qemu-img");
    let disk = disk();
    let qcow2 = disk.file("disk.qcow2");
    let convert = || {
        let names = [scratch::text(&disk.image), scratch::text(&qcow2)];
        let words = ["convert", "-f", "raw", "-O", "qcow2"];
        tool::run("qemu-img", &[&words[..], &names].concat());
    };
    ext4(&disk, 18 << 10);
    convert();
    let document = disk.plan(&["--on", "granule=1M"]);
    assert_eq!(document["partitions"][0]["new_length_bytes"], 20 << 20, "{document:#}");
    let ran = disk.run(&["plan", "disk.qcow2", "--on", "granule=1M", "-o", "qcow2.json"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    ext4(&disk, 20_500);
    convert();
    let reason = "partition 1: ext4 needs 20500 KiB, and would have 20480 KiB";
    refused(&disk, &["plan.json"], "disk.raw", reason);
    refused(&disk, &["qcow2.json"], "disk.qcow2", reason);
    ext4(&disk, 20 << 10);
    let ran = disk.apply(&["plan.json"]);
    assert_eq!(ran.status, Some(0), "it fits to the byte: {ran:?}");
}

#[test]
fn a_file_system_that_uses_the_new_space_is_not_cut_by_undo() {
    need_tools!("sfdisk", "mkfs.ext4");
    let disk = disk();
    ext4(&disk, 20_501);
    let before = read(&disk.image);
    let document = disk.plan(&["--on", "granule=1M"]);
    assert_eq!(document["partitions"][0]["new_length_bytes"], 21 << 20, "{document:#}");
    assert_eq!(disk.apply(&["plan.json"]).status, Some(0));
    assert_eq!(disk.apply(&["--undo", "plan.json.undo"]).status, Some(0));
    assert!(read(&disk.image) == before);
    assert_eq!(disk.apply(&["plan.json"]).status, Some(0));
    let undo = ["--undo", "plan.json.undo"];
    ext4(&disk, 20_900);
    refused(&disk, &undo, "disk.raw", "partition 1: ext4 needs 20900 KiB, and would have ");
    ext4(&disk, 21 << 10);
    refused(&disk, &undo, "disk.raw", "partition 1: ext4 may need all of its 21504 KiB, and ");
}

#[test]
fn the_length_of_content_that_is_not_recognized_stays_in_apply_and_undo() {
    need_tools!("sfdisk");
    let reason = "partition 1: its length would change, and its content is not recognized";
    let disk = disk();
    disk.plan(&["--on", "granule=1M"]);
    put(&disk.image, START + 4096, b"data");
    refused(&disk, &["plan.json"], "disk.raw", reason);
    put(&disk.image, START + 4096, &[0; 4]);
    assert_eq!(disk.apply(&["plan.json"]).status, Some(0));
    put(&disk.image, START + 4096, b"data");
    refused(&disk, &["--undo", "plan.json.undo"], "disk.raw", reason);
}

#[test]
fn the_length_of_content_that_is_found_from_its_end_stays() {
    need_tools!("sfdisk", "mkfs.ntfs");
    let disk = disk();
    disk.plan(&["--on", "granule=1M"]);
    let volume = disk.scratch.image("volume.raw", 41_003 * 512);
    tool::run("mkfs.ntfs", &["-q", "-F", "-p", "2048", scratch::text(&volume)]);
    put(&disk.image, START, &read(&volume));
    let reason = "partition 1: its length would change, and a superblock is found from its end";
    refused(&disk, &["plan.json"], "disk.raw", reason);
}
