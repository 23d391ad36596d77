//! However a run ends, nothing of it is left: no file, no loop device, no mount, no process.

use std::path::{Path, PathBuf};

use testkit::{Scratch, need_loops, need_tools, scratch::text};

use super::run::{Going, RESTING, Ran, going, until};
use super::volume::{Plan, Volume};

const SCRATCH_BYTES: u64 = 48 << 20;
/// The length of the scratch file, and more time than any run here gets.
const LONG: [&str; 6] = ["--scratch", "48M", "--seconds", "600", "--bytes-max", "64G"];
/// The length of a sector as counters have it.
const SECTOR_BYTES: u64 = 512;
/// The signals that ask a program to end, and what it ends with.
const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

/// A way of measuring on a small ext4, and when it is in the middle of it.
struct Scene {
    volume: Volume,
    _scratch: Scratch,
    /// The mark that a command leaves when it runs.
    mark: PathBuf,
    job: PathBuf,
}

/// The ways.
#[derive(Clone, Copy, Debug)]
enum Way {
    Inside,
    OnDevice,
    OnMount,
    Job,
    Suite,
}

const WAYS: [Way; 5] = [Way::Inside, Way::OnDevice, Way::OnMount, Way::Job, Way::Suite];

impl Scene {
    fn new() -> Scene {
        let scratch = Scratch::new();
        let job = b"[x]\nrw=write\nbs=4k\nsize=4m\nfsync=1\ndirectory=/nonexistent\n";
        Scene {
            volume: Plan::EXT4.mounted(),
            mark: scratch.path().join("mark"),
            job: scratch.file("job", job),
            _scratch: scratch,
        }
    }

    /// A run of one way, that goes on.
    fn started(&self, way: Way) -> Going {
        // The word after sleep is searched for among all processes.
        let script = format!("touch {}; sleep {}; true", text(&self.mark), self.seconds());
        let words: Vec<&str> = match way {
            Way::Inside => RESTING.to_vec(),
            Way::OnDevice => vec!["--", "sh", "-c", &script, "{device}"],
            Way::OnMount => vec!["--", "sh", "-c", &script, "{mount}"],
            Way::Job => vec!["--job", text(&self.job)],
            Way::Suite => vec!["--suite", "--fs", "ext4"],
        };
        // The suite knows best how long its scratch file must be.
        let bounds = if let Way::Suite = way { &LONG[2..] } else { &LONG[..] };
        going(&[&[self.volume.name()], bounds, &words].concat())
    }

    /// A number of seconds that no other process sleeps.
    fn seconds(&self) -> String {
        let digits =
            self.volume.name().bytes().map(u64::from).fold(0, |sum, byte| sum * 31 % 99_991 + byte);
        format!("{}", 1_000_000 + digits)
    }

    /// Waits until the run is in the middle of its way.
    fn is_in_the_middle(&self, way: Way, before_sectors: u64, going: &mut Going) {
        let written = |more_bytes: u64| {
            let sectors = (SCRATCH_BYTES + more_bytes) / SECTOR_BYTES;
            self.volume.written_sectors() >= before_sectors + sectors
        };
        let is_there = || match way {
            // Of the file's own blocks, the journal writes less.
            Way::Inside => written(2 << 20),
            Way::OnDevice | Way::OnMount => self.mark.exists(),
            Way::Job => self.volume.loops().len() == 3 && written(16 << 20),
            Way::Suite => !self.volume.loops().is_empty(),
        };
        going.until("it is in the middle", is_there);
    }

    /// Nothing is there that was not before.
    #[track_caller]
    fn is_clean(&self, before: &super::volume::State) {
        let seconds = self.seconds();
        until("its commands ended", || !runs(&seconds));
        self.volume.is_clean_again(before);
    }
}

/// Returns whether a process has this word.
fn runs(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("procfs is there").flatten();
    let words = |process: PathBuf| std::fs::read(process.join("cmdline")).unwrap_or_default();
    let word = word.as_bytes();
    let has = |line: Vec<u8>| line.split(|&byte| byte == 0).any(|one| one == word);
    processes.map(|process| process.path()).any(|process| has(words(process)))
}

/// Returns how a run ended that got a signal in the middle of it.
fn interrupted(way: Way, signal: &str) -> Ran {
    let scene = Scene::new();
    let (before, sectors) = (scene.volume.state(), scene.volume.written_sectors());
    let mut going = scene.started(way);
    scene.is_in_the_middle(way, sectors, &mut going);
    going.signal(signal);
    let ran = going.ended();
    scene.is_clean(&before);
    ran
}

#[test]
fn every_way_ends_by_a_signal_with_its_code_and_leaves_nothing() {
    need_loops!();
    need_tools!("mkfs.ext4", "kill");
    for (number, way) in WAYS.into_iter().enumerate() {
        // Each way by one signal, and Ctrl-C by all of them.
        let other = SIGNALS[1 + number % 2];
        for (signal, code) in [SIGNALS[0], other] {
            let ran = interrupted(way, signal);
            assert_eq!(ran.status, Some(code), "{way:?} {signal}: {ran:?}");
            let note = "interrupted; nothing is left behind";
            assert!(ran.errors.contains(note), "{way:?} {signal}: {ran:?}");
            assert!(!ran.errors.contains("error:"), "{way:?} {signal}: {ran:?}");
            assert!(!ran.out.contains("Penalty"), "{way:?} {signal}: {ran:?}");
            let forecast = ran.errors.starts_with("note: writes at most ");
            assert!(forecast, "{way:?} {signal}: {ran:?}");
        }
    }
}

#[test]
fn a_signal_while_the_scratch_file_is_written_ends_it_at_once() {
    need_loops!();
    need_tools!("mkfs.ext4", "kill");
    let volume = Plan { length_bytes: 8 << 30, ..Plan::EXT4 }.mounted();
    let (before, sectors) = (volume.state(), volume.written_sectors());
    let mut going = going(&[volume.name(), "--scratch", "4G", "--bytes-max", "8G"]);
    going.until("a part is written", || volume.written_sectors() > sectors + (8 << 11));
    going.signal("INT");
    let ran = going.ended();
    assert_eq!(ran.status, Some(130), "{ran:?}");
    assert!(ran.out.is_empty() && !ran.errors.contains("error:"), "{ran:?}");
    assert!(volume.written_sectors() < sectors + (2 << 21), "it does not write on to its end");
    volume.is_clean_again(&before);
}

/// Kills runs of a way at moments that a seed draws, counted in what was written.
fn killed(way: Way, seed: u64) {
    let mut random = testkit::random(seed);
    let scene = Scene::new();
    let before = scene.volume.state();
    for _ in 0..4 {
        let _ = std::fs::remove_file(&scene.mark);
        let sectors = scene.volume.written_sectors();
        let mut going = scene.started(way);
        match random.below(3) {
            // While it makes ready.
            0 => {
                let more = random.below(SCRATCH_BYTES / SECTOR_BYTES);
                going.until("it writes", || scene.volume.written_sectors() >= sectors + more);
            }
            _ => scene.is_in_the_middle(way, sectors, &mut going),
        }
        going.signal("KILL");
        assert_eq!(going.ended().status, None, "a signal is no exit code");
        scene.is_clean(&before);
    }
}

#[test]
fn nothing_is_left_of_what_is_killed_inside_its_scratch_file() {
    need_loops!();
    need_tools!("mkfs.ext4", "kill");
    killed(Way::Inside, 41);
}

#[test]
fn nothing_is_left_of_a_command_on_a_device_when_all_is_killed() {
    need_loops!();
    need_tools!("mkfs.ext4", "kill");
    killed(Way::OnDevice, 42);
}

#[test]
fn nothing_is_left_of_a_command_on_a_mount_when_all_is_killed() {
    need_loops!();
    need_tools!("mkfs.ext4", "kill");
    killed(Way::OnMount, 43);
}

#[test]
fn nothing_is_left_of_a_job_that_is_killed() {
    need_loops!();
    need_tools!("mkfs.ext4", "kill");
    killed(Way::Job, 44);
}

#[test]
fn nothing_is_left_of_a_suite_that_is_killed() {
    need_loops!();
    need_tools!("mkfs.ext4", "kill");
    killed(Way::Suite, 45);
}

#[test]
fn a_mount_of_a_run_is_seen_by_nobody_else() {
    need_loops!();
    need_tools!("mkfs.ext4", "kill");
    let scene = Scene::new();
    let mut going = scene.started(Way::OnMount);
    going.until("the command runs", || scene.mark.exists());
    let [backing] = &scene.volume.loops()[..] else { panic!("there is one device") };
    assert!(Path::new(backing).starts_with(scene.volume.path()), "{backing}");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("procfs is there");
    let nodes: Vec<&str> = mounts.lines().filter(|line| line.contains(" /dev/loop")).collect();
    let volume: Vec<&&str> =
        nodes.iter().filter(|line| line.contains(scene.volume.name())).collect();
    assert_eq!(volume.len(), 1, "the volume itself: {nodes:?}");
    going.signal("INT");
    assert_eq!(going.ended().status, Some(130));
}
