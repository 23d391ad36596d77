//! Conversions in place: planned by `convert`, carried out and undone by `apply`.

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
    assert!(ran.errors.contains("it is a disk of 512-byte sectors"), "{ran:?}");
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
