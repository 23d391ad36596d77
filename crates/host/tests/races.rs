//! Paths, loop devices' numbers and directories that lead elsewhere from one moment to the next,
//! while they are claimed, written and measured in: no byte is written that was not asked for.
//!
//! `STRADDLE_RACES` says how many of each kind are run; `cargo xtask soak races` runs thousands.

#![expect(clippy::unwrap_used, reason = "in a test, unwrap is an assertion")]

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use host::claim::identity_words;
use host::{Claim, ClaimPlan, Contents, FileDisk, Pinned, Scratch, ScratchPlan};
use testkit::running_program::until;
use testkit::{Loop, need_loops, tool};

/// Number of races of a kind run where nothing else is said.
const USUAL: u64 = 40;
const BYTES: usize = 1 << 20;
const PAUSE: std::time::Duration = std::time::Duration::from_micros(50);
/// Byte on the device that must stay as it is.
const KEPT: u8 = 0xa5;
const WRITTEN: u8 = 0x3c;

fn count() -> u64 {
    std::env::var("STRADDLE_RACES").map_or(USUAL, |count| count.parse().unwrap())
}

/// Held while loop devices are used: a number that is free for a moment must not be given to the
/// other test of this file.
static LOOPS: Mutex<()> = Mutex::new(());

/// Outcome of a series of races.
#[derive(Debug, Default)]
struct Tally {
    written: u64,
    refused: u64,
    moved: u64,
}

/// Something that goes on changing until this is dropped.
struct Mover {
    is_over: std::sync::Arc<AtomicBool>,
    moved: std::sync::Arc<AtomicU64>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Mover {
    fn start(step: impl Fn(u64) + Send + 'static) -> Mover {
        let (is_over, moved) = <(std::sync::Arc<AtomicBool>, std::sync::Arc<AtomicU64>)>::default();
        let (over, count) = (is_over.clone(), moved.clone());
        let thread = std::thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                step(count.fetch_add(1, Ordering::SeqCst));
                // Often within a claim, and not all that a processor can do.
                std::thread::sleep(PAUSE);
            }
        });
        Mover { is_over, moved, thread: Some(thread) }
    }

    fn moved(&self) -> u64 {
        self.moved.load(Ordering::SeqCst)
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let ended = self.thread.take().map(std::thread::JoinHandle::join);
        assert!(ended.is_none_or(|ended| ended.is_ok()), "what moves has failed");
    }
}

/// A link that goes to and fro between two places.
fn flipping(link: PathBuf, places: [PathBuf; 2]) -> Mover {
    let next = link.with_extension("next");
    symlink(&places[0], &link).unwrap();
    Mover::start(move |step| {
        symlink(&places[usize::from(step % 2 == 0)], &next).unwrap();
        fs::rename(&next, &link).unwrap();
    })
}

/// Returns the contents of a device, as somebody sees it who knows one signature.
fn contents(disk: &FileDisk) -> Contents {
    let bytes = device::disk::read_vec(disk, 0, 4096);
    let is_blank = bytes.is_ok_and(|bytes| bytes.iter().all(|&byte| byte == 0));
    let signatures = if is_blank { Vec::new() } else { vec!["kept data".to_owned()] };
    Contents { signatures, data: None }
}

/// Claims what `path` leads to, and writes to it where that is allowed and it `is_ours`: a device
/// of another test may be blank, too.
fn write_through(path: &Path, tally: &mut Tally, is_ours: &dyn Fn() -> bool) {
    let node = Pinned::at(path).unwrap();
    let Ok(words) = identity_words(&node) else {
        tally.refused += 1;
        return;
    };
    let confirm = words.to_string();
    let plan = ClaimPlan {
        node: &node,
        confirm: Some(&confirm),
        overwrites_data: false,
        contents: &|disk| match is_ours() {
            true => contents(&disk),
            false => Contents { signatures: vec!["another test's".to_owned()], data: None },
        },
    };
    match Claim::take(plan) {
        Ok(claim) => {
            let file = claim.try_clone().unwrap();
            let flags = rustix::fs::fcntl_getfl(&file).unwrap();
            rustix::fs::fcntl_setfl(&file, flags - rustix::fs::OFlags::DIRECT).unwrap();
            let file = File::from(file);
            file.write_all_at(&[WRITTEN; 4096], 0).unwrap();
            file.sync_all().unwrap();
            tally.written += 1;
        }
        Err(_) => tally.refused += 1,
    }
}

/// A blank file, and one that must stay as it is.
fn files(scratch: &testkit::Scratch) -> [PathBuf; 2] {
    [scratch.file("blank", &[0; BYTES]), scratch.file("kept", &[KEPT; BYTES])]
}

fn is_kept(file: &Path) -> bool {
    fs::read(file).unwrap().iter().all(|&byte| byte == KEPT)
}

fn blank_again(file: &Path) {
    let file = File::options().write(true).open(file).unwrap();
    file.write_all_at(&[0; 4096], 0).unwrap();
}

#[test]
fn a_link_that_flips_between_a_blank_and_another_device_never_lets_the_other_be_written() {
    need_loops!();
    let _alone = LOOPS.lock().unwrap_or_else(PoisonError::into_inner);
    let scratch = testkit::Scratch::new();
    let [blank, kept] = files(&scratch);
    let devices = [Loop::attach(&blank, 512), Loop::attach(&kept, 512)];
    let link = scratch.path().join("link");
    let mover = flipping(link.clone(), [0, 1].map(|one| devices[one].path().to_owned()));
    let mut tally = Tally::default();
    let mut races = 0..;
    until("both were met, often enough", || {
        let race = races.next();
        write_through(&link, &mut tally, &|| true);
        assert!(is_kept(&kept), "race {race:?}: {tally:?}");
        blank_again(&blank);
        tally.moved = mover.moved();
        tally.refused > 0 && tally.written > 0 && tally.moved > count() && races.start >= count()
    });
    drop(mover);
    println!("path: {} races, {tally:?}, 0 bytes written that were not asked for", races.start);
}

#[test]
fn a_number_that_is_given_from_file_to_file_never_lets_the_other_file_be_written() {
    need_loops!();
    let _alone = LOOPS.lock().unwrap_or_else(PoisonError::into_inner);
    let scratch = testkit::Scratch::new();
    let files = files(&scratch);
    let device = Loop::attach(&files[0], 512);
    let node = device.path().to_str().unwrap().to_owned();
    let name = device.path().file_name().unwrap().to_str().unwrap();
    let backing = PathBuf::from(format!("/sys/block/{name}/loop/backing_file"));
    // Somebody else may have got the number while it was free.
    let is_ours = {
        let files = files.clone();
        move || {
            let held = fs::read_to_string(&backing).unwrap_or_default();
            files.iter().any(|file| Path::new(held.trim_end()) == file)
        }
    };
    let mover = {
        let (node, files, is_ours) = (node.clone(), files.clone(), is_ours.clone());
        Mover::start(move |step| {
            if is_ours() {
                // Each fails while the device is claimed, or has another file still.
                let _ = tool::output("losetup", &["--detach", &node]);
            }
            let file = files[usize::from(step % 2 == 0)].to_str().unwrap();
            let _ = tool::output("losetup", &[&node, file]);
        })
    };
    let mut tally = Tally::default();
    let mut races = 0..;
    until("the other file was met, often enough", || {
        let race = races.next();
        write_through(Path::new(&node), &mut tally, &is_ours);
        assert!(is_kept(&files[1]), "race {race:?}: {tally:?}");
        blank_again(&files[0]);
        tally.moved = mover.moved();
        tally.refused > 0 && races.start >= count()
    });
    drop(mover);
    println!("number: {} races, {tally:?}, 0 bytes written that were not asked for", races.start);
}

#[test]
fn a_directory_that_flips_between_file_systems_is_one_of_them_in_all_that_is_said_of_it() {
    let disk = testkit::Scratch::new();
    let Some(memory) = testkit::Scratch::in_memory() else {
        testkit::skip("needs /dev/shm");
        return;
    };
    let link = disk.path().join("link");
    let place = disk.path().join("place");
    fs::create_dir(&place).unwrap();
    let mover = flipping(link.clone(), [place.clone(), memory.path().to_owned()]);
    let plan = ScratchPlan {
        length_bytes: 4096,
        seed: 1,
        budget_bytes: 4096,
        nocow_on_btrfs: true,
        may_move: true,
    };
    let mut seen = [0_u64; 2];
    for race in 0..count() {
        let directory = Pinned::at(&link).unwrap();
        let _ = host::scratch::sweep(&directory);
        let told = host::file_facts(&directory.path()).unwrap();
        let file = Scratch::create_anywhere_while(&directory, plan, |_| true).unwrap();
        let made = host::file_facts(&file.path()).unwrap();
        assert_eq!(told.device, made.device, "race {race}");
        let is_memory = file.filesystem() == "tmpfs";
        let place = host::file_facts(if is_memory { memory.path() } else { &place }).unwrap();
        assert_eq!(place.device, made.device, "race {race}: {}", file.filesystem());
        seen[usize::from(is_memory)] += 1;
    }
    println!("directory: {} races, {seen:?} of each, {} moves", count(), mover.moved());
    drop(mover);
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "nothing is left");
}
