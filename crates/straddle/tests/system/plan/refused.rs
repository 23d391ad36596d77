//! Disks of which there is no plan: the reason, what helps, and what check offers of them.

use std::path::Path;

use serde_json::Value;
use testkit::running_program::Ran;
use testkit::{Loop, Mount, Scratch, need_loops, need_tools, scratch, tool};

use super::{GPT, image, scratch_in_memory, straddle, typed};

/// A disk with a table, as sfdisk makes it.
fn disk(scratch: &Scratch, name: &str, table: &str) -> std::path::PathBuf {
    let image = scratch.image(name, 64 << 20);
    tool::run_with_input("sfdisk", &["-q", scratch::text(&image)], table);
    image
}

/// Asserts that there is no plan, and returns what was said.
#[track_caller]
fn refused(image: &Path, more: &[&str], reason: &str) -> Ran {
    let ran = straddle(&[&["plan", scratch::text(image)], more].concat());
    assert_eq!(ran.status, Some(5), "{ran:?}");
    assert!(ran.errors.contains(reason) && ran.errors.contains("hint: "), "{ran:?}");
    ran
}

/// The remedies of ST301 on a disk of 4096-byte sectors, without what makes them alternatives.
fn remedies(image: &Path) -> Vec<String> {
    let ran = straddle(&["check", "--json", "--on", "4Kn", scratch::text(image)]);
    let document = ran.document();
    let findings = document["targets"][0]["findings"].as_array().expect("a list").clone();
    let found = findings.iter().find(|one| one["code"] == "ST301");
    let found = found.unwrap_or_else(|| panic!("{ran:?}"));
    let text = |line: &Value| line.as_str().map(|line| line.trim_start_matches("or: ").to_owned());
    found["remedies"].as_array().expect("a list").iter().filter_map(text).collect()
}

#[test]
fn a_table_for_other_sectors_is_planned_or_check_says_why_it_cannot_be() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let boot = "label: gpt\nfirst-lba: 34\n\
        start=34, size=2014, type=21686148-6449-6E6F-744E-656564454649\nstart=2048, size=20480\n";
    let odd = "label: gpt\nstart=2048, size=20480, type=E3C9E316-0B5C-4DB8-817D-F92DF00215AE\n\
        start=22528, size=20481, type=E3C9E316-0B5C-4DB8-817D-F92DF00215AE\n";
    for (table, reason) in [
        (boot, "takes the place of partition 1, which cannot be moved: boot loader code"),
        (odd, "partition 2 has a length of 10486272 bytes, which is not a multiple of 4096"),
        ("label: gpt\n", "gpt partition table lists no partition"),
        ("label: dos\n", "dos partition table lists no partition"),
    ] {
        let image = disk(&scratch, "disk.raw", table);
        refused(&image, &["--on", "4Kn"], reason);
        // An empty dos table has no sectors in it.
        if !table.starts_with("label: dos") {
            let remedies = remedies(&image);
            assert!(!remedies.iter().any(|line| line.starts_with("straddle plan")), "{remedies:?}");
        }
        std::fs::remove_file(&image).expect("it is removed");
    }
    let image = disk(&scratch, "good.raw", "label: gpt\nstart=2048, size=20480\n");
    assert!(remedies(&image).iter().any(|line| line.starts_with("straddle plan")));
}

#[test]
fn an_empty_table_is_not_called_no_table_and_leads_to_the_advice_for_a_new_disk() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = scratch_in_memory();
    let image = disk(&scratch, "disk.raw", "label: gpt\n");
    let guest = scratch.path().join("guest.qcow2");
    let (from, to) = (scratch::text(&image), scratch::text(&guest));
    tool::run("qemu-img", &["convert", "-f", "raw", "-O", "qcow2", from, to]);
    for target in [&image, &guest] {
        let ran = refused(target, &[], "gpt partition table lists no partition");
        assert!(ran.errors.contains(&format!("plan --new {}", scratch::text(target))), "{ran:?}");
        let ran = straddle(&["plan", "--new", scratch::text(target)]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
    }
    let blank = scratch.path().join("blank.qcow2");
    tool::run("qemu-img", &["create", "-q", "-f", "qcow2", scratch::text(&blank), "64M"]);
    refused(&blank, &[], "nothing was recognized on it");
}

#[test]
fn a_file_that_was_not_placed_yet_has_no_plan_where_check_cannot_tell() {
    need_loops!();
    need_tools!("mkfs.btrfs");
    let scratch = Scratch::new();
    let image = scratch.image("disk.raw", 256 << 20);
    let device = Loop::attach(&image, 512);
    tool::run("mkfs.btrfs", &["-q", scratch::text(device.path())]);
    let point = scratch.path().join("m");
    let mount = Mount::new("btrfs", "", scratch::text(device.path()), &point);
    let check = straddle(&["check", "--json", scratch::text(&point)]);
    let plan = straddle(&["plan", scratch::text(&point)]);
    drop(mount);
    let verdict = check.document()["targets"][0]["verdict"].clone();
    let code = if verdict == "unknown" { Some(5) } else { Some(0) };
    assert_eq!(plan.status, code, "{verdict}: {plan:?}");
}

#[test]
fn where_nothing_can_move_the_plan_and_its_script_say_that_there_is_no_room() {
    need_tools!("sfdisk", "mkfs.ntfs");
    let scratch = scratch_in_memory();
    let image = scratch.image("nr.raw", 16 << 20);
    // From sector 35 to the end: not one sector is free after it, nor eight before it.
    let table = "label: dos\nstart=1, size=34\nstart=35, size=32733, type=7\n";
    tool::run_with_input("sfdisk", &["-q", scratch::text(&image)], table);
    let fs = scratch.image("fs", 32_733 * 512);
    tool::run("mkfs.ntfs", &["-qQF", "-s", "512", "-p", "35", scratch::text(&fs)]);
    let how = ["bs=512", "seek=35", "conv=notrunc", "status=none"];
    let (input, output) =
        (format!("if={}", scratch::text(&fs)), format!("of={}", scratch::text(&image)));
    tool::run("dd", &[&[&*input, &*output][..], &how].concat());
    let ran = straddle(&["plan", scratch::text(&image)]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.out.contains("no room to move what is misaligned"), "{ran:?}");
    assert!(ran.out.contains("granule 4 KiB (assumed)"), "{ran:?}");
    let left = "recreate it smaller, at sector 40";
    let check = straddle(&["check", scratch::text(&image)]);
    assert!(check.out.contains(left) && !check.out.contains("straddle plan"), "{check:?}");
    let printed = straddle(&["plan", "--script", scratch::text(&image)]);
    let one_line = |text: &str| text.replace("\n           ", " ");
    assert!(one_line(&ran.out).contains(left), "{ran:?}");
    assert!(printed.out.contains("# left: ") && printed.out.contains(left), "{printed:?}");
    let file = scratch.path().join("plan.sh");
    let words = ["plan", "--script", "-o", scratch::text(&file), scratch::text(&image)];
    let written = straddle(&words);
    assert!(written.errors.contains(left), "{written:?}");
    let text = std::fs::read_to_string(&file).expect("it is written");
    assert!(text.contains(left), "{text}");
}

#[test]
fn a_damaged_table_is_refused_with_a_command_that_names_it_and_says_what_to_do() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let table = "label: dos\nstart=2048, size=20480\nstart=40960, size=20480\n";
    let image = disk(&scratch, "over lap.raw", table);
    // The second one starts within the first.
    let file = std::fs::OpenOptions::new().write(true).open(&image).expect("it opens");
    std::os::unix::fs::FileExt::write_all_at(&file, &4096_u32.to_le_bytes(), 446 + 16 + 8)
        .expect("it is written");
    let ran = refused(&image, &[], "but partition 1 ends at");
    let hint = format!("to see how: straddle check '{}'", scratch::text(&image));
    assert!(ran.errors.contains(&hint), "{ran:?}");
    let check = straddle(&["check", scratch::text(&image)]);
    assert!(check.out.contains("ST404") && check.out.contains("back that up"), "{check:?}");
}

#[test]
fn an_empty_table_in_a_volume_is_not_the_table_of_the_disk_under_it() {
    need_loops!();
    need_tools!("lvm", "sfdisk");
    let scratch = Scratch::new();
    let lvm = testkit::Lvm::on(&[64 << 20]);
    lvm.run(&["pvcreate", lvm.device(0)]);
    lvm.run(&["vgcreate", "vgempty", lvm.device(0)]);
    lvm.run(&["lvcreate", "-an", "-Zn", "-Wn", "-L16M", "-ndata", "vgempty"]);
    let table = disk(&scratch, "table.raw", "label: dos\n");
    let bytes = std::fs::read(&table).expect("it is a file");
    let image = &lvm.images()[0];
    let file = std::fs::OpenOptions::new().write(true).open(image).expect("it is a file");
    // The first extent of the group, where LVM puts it by default (lvm.conf, data_alignment).
    std::os::unix::fs::FileExt::write_all_at(&file, &bytes[..512], 1 << 20).expect("it has room");
    let ran = straddle(&["plan", scratch::text(image)]);
    let said = format!("{}{}", ran.out, ran.errors);
    assert!(!said.contains("lists no partition"), "{ran:?}");
    assert!(said.contains("no partition table; its lvm "), "{ran:?}");
    let checked = straddle(&["check", "--json", scratch::text(image)]).document();
    let layers = checked["targets"][0]["layers"].as_array().expect("a list").clone();
    assert!(layers.iter().any(|layer| layer["name"] == "vgempty/data"), "{checked:#}");
}

#[test]
fn the_script_of_a_raw_copy_refuses_the_image_and_names_the_conversion() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = scratch_in_memory();
    let raw = image(&scratch, GPT);
    let qcow2 = scratch.path().join("disk.qcow2");
    let [from, to] = [&raw, &qcow2].map(|path| scratch::text(path));
    tool::run("qemu-img", &["convert", "-f", "raw", "-O", "qcow2", from, to]);
    let ran = typed(&qcow2, &qcow2, &scratch, &[]);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.errors.contains("make that copy and name it: test ! -e"), "{ran:?}");
}
