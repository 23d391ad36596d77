//! Scratch files that an earlier run left: it was killed at once with the guard of its name, or the
//! machine lost its power.
//!
//! A file is one only if all of this holds; anything else is left alone, and not spoken of.
//!
//! | what | why |
//! |---|---|
//! | its name is exactly one of ours, marked with a boot (`scratch_name`) | others make none |
//! | it is a regular file, no link to one, with one name, of this user | nothing else is lost |
//! | it can be locked ([`super::lock`]) | a run that goes on has its files locked |
//! | after the lock, name and open file are still the same | it is what was looked at |
//! | where another boot made it: it is a machine's alone, and past | locks may end at a machine |
//!
//! A machine's alone is what lies on a kind of file system that only one machine mounts; past is
//! what was last changed before this boot began. What fails in the last row only is told, so that
//! somebody who knows can remove it.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::time::ClockId;

use super::lock::lock;
use super::scratch_name::{Boot, ScratchName};
use super::unfit_filesystems;
use crate::Pinned;

/// Largest number of names of a directory that are looked at.
const ENTRIES_MAX: usize = 1 << 20;

/// A file that an earlier run left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its name in the directory.
    pub name: String,
    /// Its length in bytes.
    pub length_bytes: u64,
    /// Its fate.
    pub fate: Fate,
}

/// Fate of a leftover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is gone.
    Removed,
    /// It may be that of a run on another machine.
    Doubtful,
    /// It could not be removed; what the kernel said.
    Stuck(String),
}

/// Removes what earlier runs of this user left in `directory`; what that was, by name. Files of a
/// run that goes on are none. Where the directory cannot be read there are none.
#[must_use]
pub fn sweep(directory: &Pinned) -> Vec<Leftover> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(directory, c".", flags, Mode::empty());
    let Ok(opened) = opened else { return Vec::new() };
    let mut found = Vec::new();
    for (name, boot) in marked(&opened) {
        let is_past = || is_past(opened.as_fd(), &name, &boot);
        found.extend(swept(opened.as_fd(), &name, is_past));
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// The names in `directory` that are exactly ours, and the boots that made them.
fn marked(directory: &OwnedFd) -> Vec<(String, Boot)> {
    let entries = Dir::read_from(directory).into_iter().flatten().take(ENTRIES_MAX);
    let names = entries.map_while(Result::ok).filter_map(|entry| {
        let name = entry.file_name().to_str().ok()?;
        Some((name.to_owned(), ScratchName::boot_of(name)?))
    });
    names.collect()
}

/// Removes the file called `name`, where it is one that was left, and `is_past` says so too.
fn swept(
    directory: BorrowedFd<'_>,
    name: &str,
    is_past: impl FnOnce() -> bool,
) -> Option<Leftover> {
    let look = || rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    // Before it is opened: some things notice that.
    look().filter(is_own)?;
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, name, flags, Mode::empty()).ok()?;
    lock(file.as_fd()).ok().filter(|&is_locked| is_locked)?;
    let opened = rustix::fs::fstat(&file).ok().filter(is_own)?;
    look().filter(|named| is_own(named) && is_same(named, &opened))?;
    let fate = match is_past() {
        false => Fate::Doubtful,
        true => match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
            Ok(()) => Fate::Removed,
            Err(error) => Fate::Stuck(crate::errno::text_of(error)),
        },
    };
    let length_bytes = u64::try_from(opened.st_size).unwrap_or(0);
    Some(Leftover { name: name.to_owned(), length_bytes, fate })
}

/// Returns whether it is a regular file of this user, with one name.
fn is_own(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
        && stat.st_uid == rustix::process::geteuid().as_raw()
        && stat.st_nlink == 1
}

fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// Returns whether no machine can be at work on a file of `boot` that nobody has locked.
fn is_past(directory: BorrowedFd<'_>, name: &str, boot: &Boot) -> bool {
    if Boot::now().as_ref() == Some(boot) {
        return true;
    }
    let is_local = unfit_filesystems::of(directory).is_ok_and(|filesystem| filesystem.is_local());
    let changed = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    is_local && changed.is_ok_and(|stat| i128::from(stat.st_mtime) < booted_at_seconds())
}

/// When this boot began, in seconds since 1970.
fn booted_at_seconds() -> i128 {
    let now = rustix::time::clock_gettime(ClockId::Realtime).tv_sec;
    let since = rustix::time::clock_gettime(ClockId::Boottime).tv_sec;
    i128::from(now) - i128::from(since)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::os::unix::fs::{chown, symlink};
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, SystemTime};

    use rustix::process::{Pid, Signal, kill_process};
    use testkit::running_program::until;

    use super::super::Name;
    use super::*;
    use crate::test_child::{self, Child};

    const OTHER_BOOT: &str = "0123456789abcdef0123456789abcdef";

    fn sweep(directory: &Path) -> Vec<Leftover> {
        super::sweep(&Pinned::at(directory).unwrap())
    }

    fn opened(directory: &Path) -> OwnedFd {
        rustix::fs::open(directory, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap()
    }

    fn ours(directory: &Path, number: u64) -> PathBuf {
        directory.join(ScratchName::marked(number).to_string())
    }

    fn count(directory: &Path) -> usize {
        std::fs::read_dir(directory).unwrap().count()
    }

    fn children_of(parent: u32) -> Vec<Pid> {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let is_child = |number: &i32| {
            let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
            let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
            fields.split(' ').nth(1).and_then(|field| field.parse().ok()) == Some(parent)
        };
        numbers.filter(is_child).filter_map(Pid::from_raw).collect()
    }

    /// Ends a thread when dropped.
    struct Ends<'a>(&'a AtomicBool);

    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[test]
    fn what_is_left_of_a_run_killed_with_its_guard_goes_with_the_next() {
        if let Some(directory) = test_child::argument() {
            let (_file, _name) = Name::create(&opened(Path::new(&directory)), 7).unwrap();
            test_child::ready("it has a name");
        }
        let scratch = testkit::Scratch::new();
        let test = "scratch::leftover::tests::\
                    what_is_left_of_a_run_killed_with_its_guard_goes_with_the_next";
        let run = Child::start(test, OsStr::new(scratch.path()));
        assert_eq!(sweep(scratch.path()), [], "it goes on");
        assert_eq!(count(scratch.path()), 1);
        let guards = children_of(run.number());
        assert_eq!(guards.len(), 1, "{guards:?}");
        // What is stopped does nothing between the two deaths.
        kill_process(guards[0], Signal::STOP).unwrap();
        run.kill();
        kill_process(guards[0], Signal::KILL).unwrap();
        assert_eq!(count(scratch.path()), 1, "nobody was there to remove it");
        let left = sweep(scratch.path());
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(left[0].fate, Fate::Removed);
        assert_eq!(count(scratch.path()), 0);
    }

    #[test]
    fn a_file_of_a_run_that_goes_on_is_left_alone() {
        let scratch = testkit::Scratch::new();
        let directory = opened(scratch.path());
        let (file, name) = Name::create(&directory, 1).unwrap();
        // Whoever closes another descriptor of it unlocks nothing.
        drop(File::open(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file))));
        assert_eq!(sweep(scratch.path()), []);
        assert_eq!(count(scratch.path()), 1);
        drop(name);
        assert_eq!(count(scratch.path()), 0);
    }

    #[test]
    fn only_a_file_that_is_surely_ours_is_removed() {
        let (scratch, beside) = (testkit::Scratch::new(), testkit::Scratch::new());
        let place = scratch.path();
        let target = beside.image("target", 5);
        symlink(&target, ours(place, 1)).unwrap();
        symlink("nowhere", ours(place, 2)).unwrap();
        File::create(place.join("linked")).unwrap();
        std::fs::hard_link(place.join("linked"), ours(place, 3)).unwrap();
        std::fs::create_dir(ours(place, 4)).unwrap();
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, ours(place, 5), FileType::Fifo, mode, 0).unwrap();
        File::create(place.join(".straddle-scratch-1-2")).unwrap();
        File::create(place.join(ScratchName::unmarked(6).to_string())).unwrap();
        let mut kept = 8;
        if crate::is_root() {
            File::create(ours(place, 7)).unwrap();
            chown(ours(place, 7), Some(12345), None).unwrap();
            kept += 1;
        } else {
            testkit::skip("a file of another user needs root");
        }
        assert_eq!(count(place), kept);
        assert_eq!(sweep(place), []);
        assert_eq!(count(place), kept);
        File::create(ours(place, 8)).unwrap().set_len(4096).unwrap();
        let name = ScratchName::marked(8).to_string();
        let gone = Leftover { name, length_bytes: 4096, fate: Fate::Removed };
        assert_eq!(sweep(place), [gone]);
        assert_eq!(count(place), kept);
        assert_eq!(std::fs::metadata(target).unwrap().len(), 5);
    }

    #[test]
    fn a_file_of_another_boot_is_removed_only_where_no_other_machine_can_be_at_work_on_it() {
        let scratch = testkit::Scratch::new();
        let made = |number: u64| {
            let name = format!(".straddle-scratch-{OTHER_BOOT}-1-{number}");
            File::create(scratch.path().join(name)).unwrap()
        };
        made(1);
        made(2).set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 20)).unwrap();
        let directory = opened(scratch.path());
        let is_local = unfit_filesystems::of(directory.as_fd()).unwrap().is_local();
        let fates: Vec<Fate> = sweep(scratch.path()).into_iter().map(|left| left.fate).collect();
        let old = if is_local { Fate::Removed } else { Fate::Doubtful };
        assert_eq!(fates, [Fate::Doubtful, old], "the first was changed since this boot began");
        assert_eq!(count(scratch.path()), 2 - usize::from(is_local));
    }

    #[test]
    fn this_boot_began_in_the_past_and_its_own_files_need_no_age() {
        assert!(booted_at_seconds() > 0);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert!(booted_at_seconds() <= i128::from(now.as_secs()));
        let scratch = testkit::Scratch::new();
        File::create(ours(scratch.path(), 1)).unwrap();
        let left =
            swept(opened(scratch.path()).as_fd(), &ScratchName::marked(1).to_string(), || {
                is_past(opened(scratch.path()).as_fd(), "not asked for", &Boot::now().unwrap())
            });
        assert_eq!(left.unwrap().fate, Fate::Removed);
    }

    #[test]
    fn no_name_goes_that_was_just_made_while_others_sweep_without_end() {
        let scratch = testkit::Scratch::new();
        let directory = opened(scratch.path());
        let (is_over, has_begun) = (AtomicBool::new(false), AtomicBool::new(false));
        let (made, swept) = std::thread::scope(|scope| {
            let sweeper = scope.spawn(|| {
                let mut swept = 0;
                while !is_over.load(Ordering::SeqCst) {
                    // One that was left, so that it has something to do.
                    File::create(ours(scratch.path(), 0)).unwrap();
                    swept += sweep(scratch.path()).len();
                    has_begun.store(true, Ordering::SeqCst);
                }
                swept
            });
            // Also where a claim below fails.
            let ends = Ends(&is_over);
            until("it sweeps", || has_begun.load(Ordering::SeqCst));
            let mut made = 0;
            for number in 1..=100 {
                // Names are tried a bounded number of times.
                let Ok((file, name)) = Name::create(&directory, number << 8) else { continue };
                for _ in 0..20 {
                    let stat = rustix::fs::fstat(&file).unwrap();
                    assert_eq!(stat.st_nlink, 1, "number {number}");
                    std::thread::yield_now();
                }
                made += 1;
                drop((file, name));
            }
            drop(ends);
            (made, sweeper.join().unwrap())
        });
        assert!(made >= 90 && swept >= 1, "{made} made, {swept} swept");
        // A process that another test starts may hold a lock until it is somebody else.
        until("nothing is left", || {
            let _ = sweep(scratch.path());
            count(scratch.path()) == 0
        });
    }
}
