//! The recorder on a small ext4, against the bytes and against the kernel's own counts.

use std::os::unix::fs::FileExt as _;
use std::process::Command;
use std::sync::{Arc, Mutex};

use testkit::fuse::FuseRequest;
use workload::trace::TraceAction;

use super::*;
use crate::record::recipe::RECIPES;

const SMALL: Scale = Scale { device_bytes: 320 << 20, files: 60, large_bytes: 3_000_000 };

/// Data of writes, in the order in which they came.
type Written = Arc<Mutex<Vec<Vec<u8>>>>;

/// A disk whose writes' data are kept, unless this machine cannot have one.
fn disk(tape: &Tape, discards: bool) -> Option<(ArticleDisk, std::fs::File, Written)> {
    let (written, tape) = (Written::default(), tape.clone());
    let kept = Arc::clone(&written);
    let watch = Box::new(move |asked: FuseRequest<'_>| {
        if let FuseRequest::Write { data, .. } = &asked {
            kept.lock().unwrap().push(data.to_vec());
        }
        tape.put(&asked);
    });
    match ArticleDisk::new(SMALL.device_bytes, FuseBehavior { watch, discards }) {
        Ok((disk, bytes)) => Some((disk, bytes, written)),
        Err(error) => {
            testkit::skip(&format!("{error:#}"));
            None
        }
    }
}

/// The kernel's counts of the device: reads, sectors read, sectors written, flushes. It counts some
/// writes twice, those with a flush, but not their sectors. Source: Documentation/block/stat.rst.
fn counted(disk: &ArticleDisk) -> [u64; 4] {
    let text = std::fs::read_to_string(disk.file("stat")).unwrap();
    let fields: Vec<u64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    [0, 2, 6, 15].map(|place| fields[place])
}

/// The same, of a tape.
fn taped(entries: &[TraceEntry]) -> [u64; 4] {
    let of = |action: TraceAction| {
        let own = entries.iter().filter(|entry| entry.action == action);
        let sectors = own.clone().map(|entry| u64::from(entry.length_bytes) / 512).sum();
        (u64::try_from(own.count()).unwrap(), sectors)
    };
    let (reads, read) = of(TraceAction::Read);
    let (_, written) = of(TraceAction::Write { fua: false });
    [reads, read, written, of(TraceAction::Fsync).0]
}

/// Writes `data` where `entries` say, each write's after the other.
fn replay(entries: &[TraceEntry], data: &[Vec<u8>], image: &mut [u8]) {
    let writes = entries.iter().filter(|entry| matches!(entry.action, TraceAction::Write { .. }));
    let mut data = data.iter();
    for entry in writes {
        let data = data.next().expect("each write has its data");
        assert_eq!(data.len(), usize::try_from(entry.length_bytes).unwrap());
        let start = usize::try_from(entry.offset_bytes).unwrap();
        image[start..start + data.len()].copy_from_slice(data);
    }
    assert!(data.next().is_none(), "a write is not on the tape");
}

#[test]
fn a_tape_of_ext4_replayed_gives_the_disk_byte_for_byte_and_the_kernel_counts_the_same() {
    testkit::need_loops!();
    testkit::need_tools!("mkfs.ext4", "blockdev", "mount", "umount");
    let tape = Tape::new();
    let mounts = PrivateMounts::enter().unwrap();
    let Some((disk, bytes, written)) = disk(&tape, false) else { return };
    let (load, interrupt) = (SMALL.load(), Interrupt::none());
    let recipe = RECIPES.iter().find(|recipe| recipe.name == "ext4").unwrap();
    let steps = Steps { recipe, load: &load, mounts: &mounts, interrupt: &interrupt };
    let length = usize::try_from(SMALL.device_bytes).unwrap();
    let (mut image, mut found) = (vec![0; length], vec![0; length]);
    // Attaching a loop device syncs its file.
    drop(tape.take());
    let mut before = counted(&disk);
    for steps_of_mount in std::iter::once(&[][..]).chain(MOUNTS) {
        // Mounting is on this tape too, so that nothing between is lost.
        let name = steps_of_mount.last().map_or(MAKE, |(name, _)| name);
        match steps_of_mount {
            [] => steps.make(disk.node()).unwrap(),
            named => steps.mount(disk.node(), named, |_| ()).unwrap(),
        }
        let (entries, after) = (tape.take(), counted(&disk));
        let told: Vec<u64> =
            after.iter().zip(before).map(|(after, before)| after - before).collect();
        let mut taped = taped(&entries);
        if name == MAKE {
            // The kernel counts as writes what the disk refused: to make holes of zeros.
            assert!(taped[2] < told[2], "{name}: {taped:?}, {told:?}");
            taped[2] = told[2];
        }
        assert_eq!(taped[..], told, "{name}: the kernel counts");
        replay(&entries, &std::mem::take(&mut *written.lock().unwrap()), &mut image);
        bytes.read_exact_at(&mut found, 0).unwrap();
        assert!(image == found, "{name}: the replayed disk differs from the real one");
        assert!(taped[3] > 0, "{name}: nothing was flushed");
        before = after;
    }
    assert!(image.iter().any(|byte| *byte != 0));
}

#[test]
fn a_step_begins_behind_its_mount_and_no_disk_stays_behind() {
    testkit::need_loops!();
    testkit::need_tools!("mkfs.ext4", "blockdev", "mount", "umount");
    let mounts = PrivateMounts::enter().unwrap();
    let (load, interrupt) = (SMALL.load(), Interrupt::none());
    let recipe = RECIPES.iter().find(|recipe| recipe.name == "ext4").unwrap();
    let steps = Steps { recipe, load: &load, mounts: &mounts, interrupt: &interrupt };
    let taped = match steps.run(SMALL) {
        Ok(taped) => taped,
        Err(error) => return testkit::skip(&format!("no step can be recorded here: {error:#}")),
    };
    let names: Vec<&str> = taped.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["mkfs", "unpack", "write", "read", "delete"]);
    // A mount reads the superblock first, which lies in the first sectors.
    let (_, unpacked) = &taped[1];
    let reads_head =
        |entry: &TraceEntry| entry.action == TraceAction::Read && entry.offset_bytes < 4096;
    assert!(!unpacked.iter().any(reads_head), "the mount is on the tape");
    let rest = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!rest.contains("straddle-record-"), "{rest}");
}

#[test]
fn a_discard_is_on_the_tape_where_the_disk_takes_it_and_nothing_is_where_not() {
    testkit::need_loops!();
    testkit::need_tools!("blkdiscard", "mount", "umount");
    let _mounts = PrivateMounts::enter().unwrap();
    for takes in [true, false] {
        let tape = Tape::new();
        let Some((disk, ..)) = disk(&tape, takes) else { return };
        let most = std::fs::read_to_string(disk.file("queue/discard_max_bytes")).unwrap();
        if takes && most.trim() == "0" {
            testkit::skip("discards are switched off on the loop device that is free");
            continue;
        }
        let mut command = Command::new(testkit::tool::find("blkdiscard").unwrap());
        command.args(["--offset", "1048576", "--length", "2097152"]).arg(disk.node());
        let output = command.output().unwrap();
        // Where not, some kernels tell whoever asked and some do not: a discard is a hint.
        assert!(output.status.success() || !takes, "{output:?}");
        let of = |entry: &TraceEntry| (entry.action, entry.offset_bytes, entry.length_bytes);
        let entries: Vec<_> = tape.take().iter().map(of).collect();
        let discards = entries.iter().filter(|(action, ..)| *action == TraceAction::Discard);
        let wanted = (TraceAction::Discard, 1 << 20, 2 << 20);
        assert_eq!(discards.collect::<Vec<_>>(), [&wanted][..usize::from(takes)]);
    }
}
