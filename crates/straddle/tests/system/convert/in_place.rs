//! Conversions in place: planned by `convert`, carried out and undone by `apply`.

use report::plan::{Layout, TableChangeDocument};
use testkit::{Loop, need_loops, need_tools, scratch, tool};

use super::kinds::KINDS;
use super::{fat_is_sound, read};

#[test]
fn a_planned_conversion_is_applied_and_undone_to_the_byte() {
    need_tools!("sfdisk", "sgdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel", "fsck.fat");
    for kind in [&KINDS[0], &KINDS[2]] {
        let disk = kind.disk();
        let before = read(&disk.image);
        let ran = disk.run(&["convert", "disk.raw", "--sector", "4096", "--plan", "plan.json"]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(read(&disk.image) == before, "a plan writes nothing");
        let dry = disk.run(&["apply", "plan.json", "--dry-run"]);
        assert!(dry.out.contains("FAT in partition"), "{dry:?}");
        let ran = disk.run(&["apply", "plan.json", "--confirm", "disk.raw"]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(ran.out.contains("new partition table and the FAT of partition"), "{ran:?}");
        let (at, _) = kind.fat;
        let files = disk.files(&disk.image, at << 20);
        assert!(files.len() > 90, "{files:?}");
        fat_is_sound(&disk, &disk.image, kind.fat);
        let again = disk.run(&["convert", "disk.raw", "--sector", "4096", "--dry-run"]);
        assert!(again.out.contains("nothing to do"), "{again:?}");
        let undo = disk.run(&["apply", "--undo", "plan.json.undo", "--confirm", "disk.raw"]);
        assert_eq!(undo.status, Some(0), "{undo:?}");
        assert!(read(&disk.image) == before, "{}", kind.name);
        assert_eq!(disk.files(&disk.image, at << 20), files);
    }
}

#[test]
fn a_plan_that_was_forged_and_sealed_again_writes_no_partition() {
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel");
    let disk = KINDS[0].disk();
    let before = read(&disk.image);
    let plan = |name: &str, words: &[&str]| {
        let ran = disk.run(words);
        assert_eq!(ran.status, Some(0), "{name}: {ran:?}");
        let text = std::fs::read_to_string(disk.file("plan.json")).expect("a plan");
        Layout::parse(&text).expect("it is one")
    };
    let refused = |name: &str, mut forged: Layout| {
        let change = forged.table_change.as_mut().expect("it has writes");
        change.seal_sha256 = change.seal();
        std::fs::write(disk.file("plan.json"), forged.json()).expect("it is written");
        let ran = disk.run(&["apply", "plan.json", "--confirm", "disk.raw"]);
        assert_eq!(ran.status, Some(3), "{name}: {ran:?}");
        assert!(read(&disk.image) == before, "{name}: {ran:?}");
        std::fs::remove_file(disk.file("plan.json")).expect("it is there");
    };
    let words = ["convert", "disk.raw", "--sector", "4096", "--plan", "plan.json"];
    let fat = |change: &TableChangeDocument| {
        change.writes.iter().position(|write| write.what.contains("FAT")).expect("it rebuilds one")
    };
    // Another byte in a file of the FAT, one write less, and a FAT in another partition.
    let mut other = plan("other", &words);
    let change = other.table_change.as_mut().expect("it has writes");
    let at = fat(change);
    let hex = &mut change.writes[at].new_hex;
    let last = hex.pop().expect("it is not empty");
    hex.push(if last == '1' { '2' } else { '1' });
    refused("another byte", other);
    let mut less = plan("less", &words);
    let change = less.table_change.as_mut().expect("it has writes");
    change.writes.remove(fat(change));
    refused("a write less", less);
    let mut moved = plan("moved", &words);
    let change = moved.table_change.as_mut().expect("it has writes");
    let data = moved.partitions.iter().find(|one| !change.rebuilt.contains(&one.number));
    let data = data.expect("another partition");
    let at = fat(change);
    change.rebuilt = vec![data.number];
    change.writes[at].at_bytes = data.old_start_bytes;
    refused("another partition", moved);
}

#[test]
fn a_qcow2_image_is_converted_in_place_as_a_raw_one_and_undone_to_the_byte() {
    need_tools!("sfdisk", "qemu-img", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel");
    let disk = KINDS[0].disk();
    let before = read(&disk.image);
    let (qcow2, copy) = (disk.file("disk.qcow2"), disk.file("copy.raw"));
    let [raw, image, copied] = [&disk.image, &qcow2, &copy].map(|path| scratch::text(path));
    tool::run("qemu-img", &["convert", "-c", "-f", "raw", "-O", "qcow2", raw, image]);
    let guest = || {
        let said = tool::run("qemu-img", &["check", image]);
        assert!(said.contains("No errors were found"), "{said}");
        tool::run("qemu-img", &["convert", "-O", "raw", image, copied]);
        read(&copy)
    };
    for name in ["disk.raw", "disk.qcow2"] {
        let plan = format!("{name}.json");
        let ran = disk.run(&["convert", name, "--sector", "4096", "--plan", &plan]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let ran = disk.run(&["apply", &plan, "--confirm", name]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
    }
    let after = guest();
    assert!(after == read(&disk.image) && after != before);
    let words = ["apply", "--undo", "disk.qcow2.json.undo", "--confirm", "disk.qcow2"];
    let undo = disk.run(&words);
    assert_eq!(undo.status, Some(0), "{undo:?}");
    assert!(guest() == before);
}

#[test]
fn a_plan_whose_fat_changed_since_is_refused() {
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel");
    let disk = KINDS[0].disk();
    let ran = disk.run(&["convert", "disk.raw", "--sector", "4096", "--plan", "plan.json"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let volume = format!("{}@@{}", scratch::text(&disk.image), 4 << 20);
    tool::run("mdel", &["-i", &volume, "::/loader/loader.conf"]);
    let before = read(&disk.image);
    let ran = disk.run(&["apply", "plan.json", "--confirm", "disk.raw"]);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(read(&disk.image) == before);
}

/// Returns whether a write of a plan covers this byte of the disk.
fn is_written(plan: &[u8], at: u64) -> bool {
    let plan: serde_json::Value = serde_json::from_slice(plan).expect("a plan");
    let writes = plan["table_change"]["writes"].as_array().expect("writes");
    writes.iter().any(|write| {
        let [start, length] =
            ["at_bytes", "length_bytes"].map(|key| write[key].as_u64().expect("a number"));
        (start..start + length).contains(&at)
    })
}

#[test]
fn a_plan_whose_file_was_overwritten_in_place_since_is_refused() {
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel");
    let disk = KINDS[0].disk();
    // Behind a gap, so that it is read there and written elsewhere.
    let volume = format!("{}@@{}", scratch::text(&disk.image), 4 << 20);
    let [gap, small] = [("gap", vec![1; 20 << 20]), ("grubenv", b"saved_entry=one\n".to_vec())]
        .map(|(name, bytes)| {
            let path = disk.scratch.file(name, &bytes);
            tool::run("mcopy", &["-i", &volume, scratch::text(&path), "::/"]);
            bytes
        });
    tool::run("mdel", &["-i", &volume, "::/gap"]);
    let ran = disk.run(&["convert", "disk.raw", "--sector", "4096", "--plan", "plan.json"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let mut before = read(&disk.image);
    // As grub-editenv does with its file: neither the tables nor the directories change.
    let at = before.windows(small.len()).position(|bytes| bytes == small).expect("the file");
    assert!(at > gap.len());
    assert!(!is_written(&read(&disk.file("plan.json")), at as u64));
    before[at + 12] = b'9';
    std::fs::write(&disk.image, &before).expect("it is written");
    for way in [&["--dry-run"][..], &["--confirm", "disk.raw"]] {
        let ran = disk.run(&[&["apply", "plan.json"], way].concat());
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(read(&disk.image) == before);
    }
    assert!(!disk.file("plan.json.undo").exists());
}

#[test]
fn a_plan_goes_to_standard_output_as_it_goes_to_a_file() {
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel");
    let disk = KINDS[0].disk();
    let ran = disk.run(&["convert", "disk.raw", "--sector", "4096", "--plan", "-"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    std::fs::write(disk.file("plan.json"), &ran.out).expect("it is written");
    let ran = disk.run(&["apply", "plan.json", "--dry-run"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.out.contains("FAT in partition"), "{ran:?}");
    assert!(!disk.file("-").exists());
}

#[test]
fn an_image_of_512_byte_sectors_on_a_4kn_device_is_converted_there() {
    need_loops!();
    need_tools!("sfdisk", "sgdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel", "fsck.fat", "partx");
    let disk = KINDS[0].disk();
    let before = read(&disk.image);
    let small = Loop::attach(&disk.image, 512);
    let name = scratch::text(small.path()).to_owned();
    let ran = disk.run(&["convert", &name, "--sector", "4096", "--plan", "plan.json"]);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.errors.contains("the disk itself has 512-byte sectors"), "{ran:?}");
    drop(small);
    assert!(read(&disk.image) == before);
    let device = Loop::attach(&disk.image, 4096);
    let name = scratch::text(device.path()).to_owned();
    let ran = disk.run(&["convert", &name, "--sector", "4096", "--plan", "plan.json"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let words = format!("{name}={}", 128 << 20);
    let ran = disk.run(&["apply", "plan.json", "--confirm", &words]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.out.contains("kernel   partition 2 added"), "{ran:?}");
    let verify = tool::run("sgdisk", &["-v", &name]);
    assert!(verify.contains("No problems found"), "{verify}");
    let ran = tool::output("fsck.fat", &["-n", &format!("{name}p2")]);
    assert!(ran.status.success(), "{ran:?}");
}

#[test]
fn a_fat_of_other_sectors_than_its_table_is_made_again_alone() {
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel", "fsck.fat", "dd");
    let disk = KINDS[0].disk();
    let ran = disk.run(&["convert", "disk.raw", "--sector", "4096", "-o", "4k.raw"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    // The old FAT in the new table, as an image builder leaves it.
    let [from, to] = ["disk.raw", "4k.raw"].map(|name| scratch::text(&disk.file(name)).to_owned());
    let words = [format!("if={from}"), format!("of={to}")];
    let place = ["bs=1M", "skip=4", "seek=4", "count=62", "conv=notrunc"];
    tool::run("dd", &[&[&words[0][..], &words[1]], &place[..]].concat());
    let before = read(&disk.file("4k.raw"));
    let ran = disk.run(&["convert", "4k.raw", "--sector", "4096", "--plan", "plan.json"]);
    assert!(ran.out.contains("gpt as it is"), "{ran:?}");
    let ran = disk.run(&["apply", "plan.json", "--confirm", "4k.raw"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    fat_is_sound(&disk, &disk.file("4k.raw"), KINDS[0].fat);
    let undo = disk.run(&["apply", "--undo", "plan.json.undo", "--confirm", "4k.raw"]);
    assert_eq!(undo.status, Some(0), "{undo:?}");
    assert!(read(&disk.file("4k.raw")) == before);
}
