//! Loop devices over real files, and what is left of them.

use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use testkit::running_program::until;
use testkit::{Loop, Scratch, need_loops};

use super::*;
use crate::test_child::{self, Child};

/// A file with data in all of its `mebibytes`, open for reading and writing.
fn filled(scratch: &Scratch, mebibytes: usize) -> File {
    let path = scratch.file("disk", &vec![0xaa; mebibytes << 20]);
    File::options().read(true).write(true).open(path).unwrap()
}

fn plan(file: &File, offset_bytes: u64, length_bytes: u64) -> LoopPlan<'_> {
    LoopPlan {
        file: file.as_fd(),
        offset_bytes,
        length_bytes,
        sector_bytes: None,
        direct: true,
        read_only: false,
        partitions: false,
    }
}

/// A device as planned; `None`, counted as skipped, where the scratch file system has no direct
/// I/O in 512 bytes.
fn attach(plan: LoopPlan<'_>) -> Option<LoopDevice> {
    match LoopDevice::attach(plan) {
        Err(LoopError::NotDirect { .. }) => {
            testkit::skip("no direct I/O in 512 bytes below the scratch directory");
            None
        }
        device => Some(device.unwrap()),
    }
}

/// Numbers of the loop devices that show this file.
fn attached(file: &File) -> Vec<u32> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let facts = crate::file_facts(Path::new(&path)).unwrap();
    let sought = LoopFile { device: facts.device, inode: facts.inode };
    let names = std::fs::read_dir("/sys/block").unwrap().flatten();
    let numbers = names
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("loop")?.parse::<u32>().ok());
    let mut numbers: Vec<u32> = numbers
        .filter(|number| {
            loop_file(Path::new(&format!("/dev/loop{number}"))).is_ok_and(|file| file == sought)
        })
        .collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn opcodes_are_the_numbers_of_the_header() {
    // Their structures' sizes are checked where they stand.
    assert_eq!(attach::OPCODES, [0x4c01, 0x4c0a, 0x4c80, 0x4c81, 0x4c82]);
}

#[test]
fn the_file_behind_a_loop_device_is_the_one_that_statx_describes() {
    need_loops!();
    let scratch = Scratch::new();
    let path = scratch.image("disk", 1 << 20);
    let device = Loop::attach(&path, 512);
    let facts = crate::file_facts(&path).unwrap();
    let found = loop_file(device.path()).unwrap();
    assert_eq!(found, LoopFile { device: facts.device, inode: facts.inode });
    assert!(loop_file(Path::new("/dev/null")).is_err());
}

#[test]
fn what_is_written_through_a_shifted_loop_lies_at_the_shift_in_the_file() {
    need_loops!();
    let scratch = Scratch::new();
    let file = filled(&scratch, 2);
    let Some(device) = attach(plan(&file, 4096 + 512, 1 << 20)) else { return };
    let written = File::options().write(true).open(device.node()).unwrap();
    written.write_all_at(&[0x55; 1024], 8192).unwrap();
    written.sync_all().unwrap();
    drop(written);
    device.detach().unwrap();
    let mut found = [0; 2048];
    file.read_exact_at(&mut found, 4096 + 512 + 8192 - 512).unwrap();
    assert_eq!(found[..512], [0xaa; 512]);
    assert_eq!(found[512..1536], [0x55; 1024]);
    assert_eq!(found[1536..], [0xaa; 512]);
    assert!(attached(&file).is_empty());
}

#[test]
fn two_loops_with_different_offsets_share_one_file() {
    need_loops!();
    let scratch = Scratch::new();
    let file = filled(&scratch, 2);
    file.write_all_at(b"here", 4608).unwrap();
    file.sync_all().unwrap();
    let Some(aligned) = attach(plan(&file, 4096, 1 << 20)) else { return };
    let Some(shifted) = attach(plan(&file, 4608, 1 << 20)) else { return };
    assert_ne!(aligned.number(), shifted.number());
    let at = |device: &LoopDevice, offset_bytes| {
        let mut found = [0; 4];
        File::open(device.node()).unwrap().read_exact_at(&mut found, offset_bytes).unwrap();
        found
    };
    assert_eq!(at(&aligned, 512), *b"here");
    assert_eq!(at(&shifted, 0), *b"here");
    let mut both = [aligned.number(), shifted.number()];
    both.sort_unstable();
    assert_eq!(attached(&file), both);
}

#[test]
fn a_file_without_a_name_can_be_attached() {
    need_loops!();
    let scratch = Scratch::new();
    let flags = OFlags::TMPFILE | OFlags::RDWR;
    let Ok(file) = rustix::fs::open(scratch.path(), flags, Mode::RUSR | Mode::WUSR) else {
        return testkit::skip("no O_TMPFILE below the scratch directory");
    };
    let file = File::from(file);
    file.write_all_at(&[7; 1 << 20], 0).unwrap();
    file.sync_all().unwrap();
    let Some(device) = attach(plan(&file, 512, 4096)) else { return };
    let mut found = [0; 4096];
    File::open(device.node()).unwrap().read_exact_at(&mut found, 0).unwrap();
    assert_eq!(found, [7; 4096]);
    drop(device);
    assert!(attached(&file).is_empty());
}

#[test]
fn a_loop_without_direct_io_is_refused_and_gone() {
    need_loops!();
    let scratch = Scratch::new();
    let file = filled(&scratch, 1);
    // No drive has sectors of 100 bytes, so the kernel has to use the page cache.
    let refused = LoopDevice::attach(plan(&file, 100, 65536)).unwrap_err();
    assert!(matches!(refused, LoopError::NotDirect { offset_bytes: 100, .. }), "{refused}");
    assert!(refused.hint().is_some());
    assert!(attached(&file).is_empty());
    // Asked for, the page cache is all right.
    let device = LoopDevice::attach(LoopPlan { direct: false, ..plan(&file, 100, 65536) });
    drop(device.unwrap());
}

#[test]
fn a_loop_longer_than_its_file_is_refused_and_gone() {
    need_loops!();
    let scratch = Scratch::new();
    let file = filled(&scratch, 1);
    let refused = LoopDevice::attach(plan(&file, 512, 2 << 20)).unwrap_err();
    let what = "size in bytes";
    let (asked, found) = (2 << 20, (1 << 20) - 512);
    match refused {
        LoopError::NotDirect { .. } => testkit::skip("no direct I/O in 512 bytes"),
        LoopError::Differs { what: w, asked: a, found: f, .. } => {
            assert_eq!((w, a, f), (what, asked, found));
        }
        other => panic!("{other}"),
    }
    assert!(attached(&file).is_empty());
}

#[test]
fn a_read_only_loop_takes_no_write_and_has_the_sectors_asked_for() {
    need_loops!();
    let scratch = Scratch::new();
    let file = filled(&scratch, 1);
    let wanted = LoopPlan { read_only: true, sector_bytes: Some(4096), ..plan(&file, 4096, 65536) };
    let Some(device) = attach(wanted) else { return };
    // The kernel lets it be opened for writing, and refuses the write.
    let refused = File::options().write(true).open(device.node());
    let refused = refused.and_then(|file| file.write_all_at(&[0; 4096], 0));
    assert_eq!(refused.unwrap_err().raw_os_error(), Some(1));
    let inquiry = crate::FileDisk::open(device.node()).unwrap().inquiry().unwrap();
    assert_eq!(inquiry.logical_sector_bytes.value(), Some(&4096));
}

#[test]
fn a_device_that_somebody_holds_is_said_to_be_still_there() {
    need_loops!();
    let scratch = Scratch::new();
    let file = filled(&scratch, 1);
    let Some(mut device) = attach(plan(&file, 0, 65536)) else { return };
    let held = File::open(device.node()).unwrap();
    let soon = std::time::Duration::from_millis(1);
    assert!(matches!(device.let_go(soon), Err(LoopError::StillThere { .. })));
    drop(held);
    until("the loop is gone", || attached(&file).is_empty());
}

/// Also the child's side of it: see [`test_child`](crate::test_child).
#[test]
fn sigkill_leaves_no_loop_device() {
    need_loops!();
    if let Some(path) = test_child::argument() {
        let file = File::options().read(true).write(true).open(path).unwrap();
        let device = LoopDevice::attach(LoopPlan { direct: false, ..plan(&file, 512, 65536) });
        test_child::ready(&device.unwrap().number().to_string());
    }
    let scratch = Scratch::new();
    let file = filled(&scratch, 1);
    let path = scratch.path().join("disk");
    let child = Child::start("loops::tests::sigkill_leaves_no_loop_device", path.as_os_str());
    let number: u32 = child.told().parse().unwrap();
    assert_eq!(attached(&file), [number]);
    child.kill();
    until("the loop is gone", || attached(&file).is_empty());
}

#[test]
fn a_number_that_refuses_discards_goes_with_its_device() {
    need_loops!();
    let scratch = Scratch::new();
    let file = filled(&scratch, 2);
    let device = match LoopDevice::attach_without_discards(plan(&file, 0, 2 << 20)) {
        Err(LoopError::NotDirect { .. }) => {
            testkit::skip("no direct I/O in 512 bytes below the scratch directory");
            return;
        }
        device => device.unwrap(),
    };
    let directory = format!("/sys/block/loop{}", device.number());
    let limit = std::fs::read_to_string(format!("{directory}/queue/discard_max_bytes"));
    assert_eq!(limit.unwrap().trim(), "0");
    let sequence = device.sequence.clone();
    device.detach().unwrap();
    // Another may have been given the number since.
    let now = std::fs::read_to_string(format!("{directory}/diskseq")).ok();
    assert!(now.is_none() || now != sequence, "{directory} is still there");
}
