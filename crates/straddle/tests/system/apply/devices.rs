//! Devices: claimed, and the kernel told.

use std::path::{Path, PathBuf};

use testkit::running_program::Ran;
use testkit::{Loop, need_loops, need_tools, scratch, tool};

use super::{Disk, GPT, accepted, kept, read};

/// Places of the partitions that the kernel shows, in sectors of 512 bytes.
fn shown(device: &Path) -> Vec<(u64, u64)> {
    let name = device.file_name().and_then(|name| name.to_str()).expect("a device's name");
    let number =
        |path: String| -> Option<u64> { std::fs::read_to_string(path).ok()?.trim().parse().ok() };
    (1..=16)
        .filter_map(|index| {
            let base = format!("/sys/block/{name}/{name}p{index}");
            Some((number(format!("{base}/start"))?, number(format!("{base}/size"))?))
        })
        .collect()
}

fn planned(disk: &Disk, device: &Loop, more: &[&str]) -> Ran {
    let path = scratch::text(device.path());
    let ran = disk.run(&[&["plan", path, "-o", "plan.json"], more].concat());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    ran
}

/// Words that name a device without a serial number.
fn words(device: &Loop) -> String {
    format!("{}={}", scratch::text(device.path()), 32 << 20)
}

#[test]
fn a_claimed_device_gets_the_table_and_the_kernel_shows_it_at_once() {
    need_loops!();
    need_tools!("sfdisk", "sgdisk", "parted", "partx");
    let disk = Disk::new(GPT);
    let device = Loop::attach(&disk.image, 512);
    tool::run("partx", &["-u", scratch::text(device.path())]);
    let before = (shown(device.path()), kept(device.path()));
    planned(&disk, &device, &[]);
    let dry = disk.run(&["apply", "plan.json", "--dry-run"]);
    assert_eq!(dry.status, Some(0), "{dry:?}");
    assert!(dry.out.contains(&words(&device)), "{dry:?}");
    for confirm in [&[][..], &["--confirm", "SERIAL"]] {
        let ran = disk.run(&[&["apply", "plan.json"], confirm].concat());
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(disk.is_unchanged());
    }
    let confirm = words(&device);
    let ran = disk.run(&["apply", "plan.json", "--confirm", &confirm]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.out.contains("kernel   partition 1 removed"), "{ran:?}");
    assert!(ran.out.contains("kernel   partition 1 added"), "{ran:?}");
    assert!(!ran.out.contains("partition 3"), "what stays is left alone: {ran:?}");
    accepted(device.path());
    let text = tool::run("sfdisk", &["--dump", scratch::text(device.path())]);
    for (start, size) in shown(device.path()) {
        assert!(text.contains(&format!("start={start:>12}, size={size:>12}")), "{text}");
    }
    let undo = disk.run(&["apply", "--undo", "plan.json.undo", "--confirm", &confirm]);
    assert_eq!(undo.status, Some(0), "{undo:?}");
    assert_eq!((shown(device.path()), kept(device.path())), before);
    drop(device);
    assert!(disk.is_unchanged());
}

#[test]
fn a_device_with_sectors_of_4096_bytes_gets_its_first_table() {
    need_loops!();
    need_tools!("sfdisk", "sgdisk", "parted");
    let disk = Disk::new("");
    let device = Loop::attach(&disk.image, 4096);
    planned(&disk, &device, &["--new"]);
    let confirm = words(&device);
    let ran = disk.run(&["apply", "plan.json", "--confirm", &confirm]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.out.contains("kernel   partition 1 added"), "{ran:?}");
    accepted(device.path());
    assert_eq!(shown(device.path()).len(), 1);
    let undo = disk.run(&["apply", "--undo", "plan.json.undo", "--confirm", &confirm]);
    assert_eq!(undo.status, Some(0), "{undo:?}");
    assert_eq!(shown(device.path()), []);
    drop(device);
    assert!(disk.is_unchanged());
}

#[test]
fn a_first_table_and_its_undo_read_all_of_a_device() {
    need_loops!();
    let disk = Disk::new("");
    let file = std::fs::OpenOptions::new().write(true).open(&disk.image).expect("it opens");
    file.set_len(256 << 20).expect("it is made longer");
    drop(file);
    let device = Loop::attach(&disk.image, 512);
    planned(&disk, &device, &["--new"]);
    let confirm = format!("{}={}", scratch::text(device.path()), 256 << 20);
    // Between all places that a sample of it would read.
    let at = (100 << 20) + 5 * 4096;
    let refused = |words: &[&str], reason: &str| {
        for way in [&["--confirm", &confirm][..], &["--dry-run"]] {
            let ran = disk.run(&[&["apply"], words, way].concat());
            assert_eq!(ran.status, Some(3), "{ran:?}");
            assert!(ran.errors.contains(reason), "{ran:?}");
        }
    };
    let write = |bytes: &[u8]| {
        super::put(device.path(), at, bytes);
        tool::run("sync", &[scratch::text(device.path())]);
    };
    for bytes in [b"data", &[0xff; 4]] {
        write(bytes);
        refused(&["plan.json"], "the plan is for a blank disk, and it holds data");
    }
    write(&[0; 4]);
    let ran = disk.run(&["apply", "plan.json", "--confirm", &confirm]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    write(b"data");
    refused(&["--undo", "plan.json.undo"], "partition 1 would be removed, and it holds data");
    write(&[0; 4]);
    let ran = disk.run(&["apply", "--undo", "plan.json.undo", "--confirm", &confirm]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
}

#[test]
fn a_device_that_somebody_uses_or_changed_is_refused_and_not_written() {
    need_loops!();
    need_tools!("sfdisk", "sgdisk", "partx", "mkswap");
    let disk = Disk::new(GPT);
    let device = Loop::attach(&disk.image, 512);
    let path = scratch::text(device.path()).to_owned();
    tool::run("partx", &["-u", &path]);
    planned(&disk, &device, &[]);
    let confirm = words(&device);
    let refused = |reason: &str| {
        let before = read(&disk.image);
        let ran = disk.run(&["apply", "plan.json", "--confirm", &confirm]);
        assert_eq!(ran.status, Some(3), "{reason}: {ran:?}");
        assert!(ran.errors.contains(reason), "{reason}: {ran:?}");
        assert!(read(&disk.image) == before && !disk.file("plan.json.undo").exists());
    };
    let partition = PathBuf::from(format!("{path}p3"));
    let writer = std::fs::OpenOptions::new().write(true).open(&partition).expect("it opens");
    refused("open");
    drop(writer);
    tool::run("mkswap", &[scratch::text(&partition)]);
    let over = Loop::attach(&partition, 512);
    refused("loop");
    drop(over);
    tool::run("sgdisk", &["-c", "1:other", &path]);
    refused("not the one that was planned");
}
