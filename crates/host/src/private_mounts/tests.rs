//! Real mounts, each in a thread with a namespace of its own, as a process would have it.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;

use testkit::running_program::until;
use testkit::{Scratch, need_loops, need_tools, tool};

use super::*;
use crate::test_child::{self, Child};
use crate::{LoopDevice, LoopPlan};

/// A loop device with ext4 on it, over a file without a name in `directory`.
fn formatted(directory: &Path) -> LoopDevice {
    let flags = OFlags::TMPFILE | OFlags::RDWR;
    let file = rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR).unwrap();
    let file = File::from(file);
    file.set_len(16 << 20).unwrap();
    file.write_all_at(&[1; 8192], 0).unwrap();
    let device = LoopDevice::attach(LoopPlan {
        file: file.as_fd(),
        offset_bytes: 512,
        length_bytes: 8 << 20,
        sector_bytes: None,
        direct: false,
        read_only: false,
        partitions: false,
    });
    let device = device.unwrap();
    let _ = tool::run("mkfs.ext4", &["-q", device.node().to_str().unwrap()]);
    device
}

fn ext4(device: &LoopDevice) -> MountPlan<'_> {
    MountPlan { device: device.node(), file_system: "ext4", options: "noatime,data=ordered" }
}

/// Runs `action` in a thread, which may then enter a namespace without the other tests.
fn apart<T: Send + 'static>(action: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::spawn(action).join().unwrap()
}

/// Unmounts once nobody holds it: what other tests start has all files of this process, until it
/// runs a program of its own.
fn unmounted(mounted: &mut Mounted<'_>) -> Result<Duration, MountError> {
    let mut answer = None;
    until("nobody holds it", || {
        answer = Some(mounted.unmount());
        !matches!(answer, Some(Err(MountError::Busy { .. })))
    });
    answer.unwrap()
}

fn host_mounts() -> String {
    std::fs::read_to_string("/proc/self/mountinfo").unwrap()
}

#[test]
fn a_mount_is_seen_by_its_process_only_and_unmounts_in_a_measured_time() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let scratch = Scratch::new();
    let directory = scratch.path().to_owned();
    apart(move || {
        let device = formatted(&directory);
        let mounts = PrivateMounts::enter().unwrap();
        let mut mounted = mounts.mount(ext4(&device)).unwrap();
        let path = mounted.path().to_owned();
        assert!(path.starts_with(mounts.place()));
        std::fs::write(path.join("file"), "inside").unwrap();
        assert!(!host_mounts().contains(path.to_str().unwrap()));
        let mine = std::fs::read_to_string("/proc/thread-self/mountinfo").unwrap();
        let line = mine.lines().find(|line| line.contains(path.to_str().unwrap())).unwrap();
        assert!(line.contains("nosuid,nodev,noatime - ext4"), "{line}");
        // A process that this thread starts sees it.
        let seen =
            tool::run("cp", &["--verbose", path.join("file").to_str().unwrap(), "/dev/null"]);
        assert!(seen.contains("file"));
        assert!(unmounted(&mut mounted).unwrap() > Duration::ZERO);
        assert!(!path.exists());
        drop(mounted);
        device.detach().unwrap();
    });
}

#[test]
fn an_unmount_tells_of_what_the_drive_did_not_take() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount");
    let scratch = Scratch::new();
    let directory = scratch.path().to_owned();
    apart(move || {
        let mounts = PrivateMounts::enter().unwrap();
        let place = directory.to_str().unwrap();
        let _ = tool::run("mount", &["-t", "tmpfs", "-o", "size=2m", "none", place]);
        // It promises more than the memory behind it holds.
        let device = formatted(&directory);
        let mut mounted = mounts.mount(ext4(&device)).unwrap();
        std::fs::write(mounted.path().join("file"), vec![1; 4 << 20]).unwrap();
        let told = unmounted(&mut mounted);
        assert!(matches!(told, Err(MountError::Lost { .. })), "{told:?}");
    });
}

#[test]
fn beside_the_mounts_nothing_can_be_written_and_lost() {
    need_loops!();
    apart(|| {
        let mounts = PrivateMounts::enter().unwrap();
        let refused = std::fs::write(mounts.place().join("result"), "x").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ReadOnlyFilesystem);
    });
}

#[test]
fn who_keeps_a_mount_busy_is_named() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let scratch = Scratch::new();
    let directory = scratch.path().to_owned();
    apart(move || {
        let device = formatted(&directory);
        let mounts = PrivateMounts::enter().unwrap();
        let mut mounted = mounts.mount(ext4(&device)).unwrap();
        let mut held = std::process::Command::new("cat");
        held.stdin(std::process::Stdio::piped()).current_dir(mounted.path());
        let mut held = held.spawn().unwrap();
        let (number, name) = (held.id(), "cat".to_owned());
        let by = "has its working directory there";
        let MountError::Busy { holders, .. } = mounted.unmount().unwrap_err() else {
            panic!("it is busy");
        };
        assert_eq!(holders, [Holder::Process { number, name, by }]);
        drop(held.stdin.take());
        held.wait().unwrap();
        let own = File::create(mounted.path().join("own")).unwrap();
        let busy = mounted.unmount().unwrap_err();
        let me = format!("process {} (", std::process::id());
        assert!(busy.to_string().contains(&me) && busy.hint().is_some(), "{busy}");
        drop(own);
        unmounted(&mut mounted).unwrap();
        drop(mounted);
        device.detach().unwrap();
    });
}

#[test]
fn what_cannot_be_mounted_says_why_and_leaves_no_directory() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let scratch = Scratch::new();
    let directory = scratch.path().to_owned();
    apart(move || {
        let device = formatted(&directory);
        let mounts = PrivateMounts::enter().unwrap();
        let asked = |file_system, options| {
            let plan = MountPlan { device: device.node(), file_system, options };
            let error = mounts.mount(plan).unwrap_err();
            (error.to_string(), error.hint().unwrap_or_default())
        };
        let (error, hint) = asked("nosuchfs", "");
        assert!(error.ends_with("as nosuchfs: No such device (os error 19)"), "{error}");
        assert!(hint.contains("/proc/filesystems"), "{hint}");
        let (_, hint) = asked("ext4", "nosuchoption=1");
        assert!(hint.contains("dmesg"), "{hint}");
        assert_eq!(std::fs::read_dir(mounts.place()).unwrap().count(), 0);
    });
}

#[test]
fn a_directory_that_holds_something_is_not_mounted_on() {
    let scratch = Scratch::new();
    assert!(hides_nothing(scratch.path()));
    let link = scratch.path().join("link");
    std::os::unix::fs::symlink("/proc/self/task", &link).unwrap();
    assert!(!hides_nothing(&link));
    assert!(!hides_nothing(scratch.path()));
    assert!(!hides_nothing(&scratch.path().join("none")));
}

/// Also the child's side of it: see [`test_child`](crate::test_child).
#[test]
fn sigkill_leaves_no_mount_no_loop_and_no_file() {
    need_loops!();
    need_tools!("mkfs.ext4");
    if let Some(directory) = test_child::argument() {
        let device = formatted(Path::new(&directory));
        let mounts = PrivateMounts::enter().unwrap();
        let mounted = mounts.mount(ext4(&device)).unwrap();
        std::fs::write(mounted.path().join("dirty"), vec![7; 1 << 20]).unwrap();
        test_child::ready(&format!("{} {}", device.number(), mounted.path().display()));
    }
    let scratch = Scratch::new();
    let name = "private_mounts::tests::sigkill_leaves_no_mount_no_loop_and_no_file";
    let child = Child::start(name, scratch.path().as_os_str());
    let (number, path) = child.told().split_once(' ').unwrap();
    let (node, path) = (format!("/dev/loop{number}"), path.to_owned());
    let file = crate::loop_file(Path::new(&node)).unwrap();
    // It is mounted in one of the child's threads, and here it is not.
    let tasks = std::fs::read_dir(format!("/proc/{}/task", child.number())).unwrap();
    let seen = tasks.flatten().any(|task| {
        let mounts = std::fs::read_to_string(task.path().join("mountinfo")).unwrap_or_default();
        mounts.contains(&path) && mounts.contains(&node)
    });
    assert!(seen, "{path} is mounted in the child");
    assert!(!host_mounts().contains(&format!("{node} ")));
    child.kill();
    until("the loop is gone", || {
        crate::loop_file(Path::new(&node)).map_or(true, |now| now != file)
    });
    // Others may have been given the number since.
    assert!(!host_mounts().contains(&path));
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    assert!(!Path::new(&path).exists());
}
