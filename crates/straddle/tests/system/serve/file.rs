//! A file of FUSE that is a served drive.

use std::fs::{File, Permissions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::running_program::{Going, by_signals, until};
use testkit::scratch::text;
use testkit::{Scratch, need_tools, skip, tool};

use super::{detaching_alone, interrupted, served, signal_server, straddle};

pub(super) fn can_mount() -> bool {
    let can = File::options().read(true).write(true).open("/dev/fuse").is_ok();
    if !can {
        skip("needs FUSE");
    }
    can
}

fn mounted(point: &Path, words: &[&str]) -> Going {
    std::fs::create_dir(point).expect("a new directory");
    let counts = point.with_extension("counts");
    let base = ["--profile", "hdd-7200-512e", "--as", "file", "--mount", text(point)];
    let mut going = served(&[&base[..], &["--counts", text(&counts)], words].concat());
    // They are told when all is ready.
    going.until("it is mounted", || counts.exists());
    going
}

fn is_mounted(point: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("it is readable");
    mounts.contains(text(point))
}

fn open(path: &Path) -> File {
    File::options().read(true).write(true).open(path).expect("it can be opened")
}

#[test]
fn a_file_is_read_written_synced_counted_and_gone() {
    need_tools!("fusermount3", "fallocate");
    if !can_mount() {
        return;
    }
    let scratch = Scratch::new();
    let point = scratch.path().join("point");
    let going = mounted(&point, &["--timing", "off"]);
    let disk = open(&point.join("disk"));
    let length = disk.metadata().expect("it has some").len();
    assert_eq!(length, 6_001_175_126_016);
    for (offset, data) in [(512, &[7; 4096][..]), (length - 3, &[8; 3]), (1 << 40, &[9; 100_000])] {
        disk.write_all_at(data, offset).expect("it takes bytes");
        disk.sync_data().expect("it syncs");
        let mut back = vec![0; data.len()];
        disk.read_exact_at(&mut back, offset).expect("it gives them back");
        assert_eq!(back, data);
    }
    let error = disk.write_at(&[1; 2], length).expect_err("it does not grow");
    assert!([27, 28].contains(&error.raw_os_error().expect("an errno")), "{error}");
    disk.set_len(0).expect("it is not truncated");
    assert_eq!(disk.metadata().expect("it has some").len(), length);
    tool::run(
        "fallocate",
        &["--punch-hole", "--offset", "0", "--length", "1024", text(&point.join("disk"))],
    );
    let mut head = [1; 1536];
    open(&point.join("disk")).read_exact_at(&mut head, 0).expect("it is read");
    assert_eq!((head[1023], head[1024]), (0, 7));
    let counts = std::fs::read_to_string(point.join("counts.json")).expect("counts");
    let counts: serde_json::Value = serde_json::from_str(&counts).expect("a document");
    assert!(counts["requests"]["flushes"].as_u64() >= Some(3), "{counts}");
    assert!(counts["did"]["rmw_reads"].as_u64() >= Some(2), "{counts}");
    disk.write_all_at(&[0; 8192], 0).expect("it takes bytes");
    let shorter = open(&point.join("disk"));
    shorter.write_all_at(&vec![0; 4 << 20], 0).expect("it takes bytes");
    super::same_bytes(&shorter, &scratch);
    drop((disk, shorter));
    interrupted(going);
    assert!(!is_mounted(&point));
}

#[test]
fn killed_and_stopped_servers_leave_no_mount_and_no_hanging_user() {
    need_tools!("fusermount3");
    if !can_mount() {
        return;
    }
    let scratch = Scratch::new();
    for name in ["KILL", "STOP"] {
        let point = scratch.path().join(name);
        let mut going = mounted(&point, &["--patience", "1"]);
        let disk = open(&point.join("disk"));
        disk.write_all_at(&[1; 4096], 0).expect("it takes bytes");
        going.signal(name);
        // A signal takes a moment; then every write ends with an error.
        until("writes fail", || disk.write_at(&[2; 4096], 4096).is_err());
        until("the mount is gone", || !is_mounted(&point));
        drop(disk);
        going.signal("KILL");
        let _ = going.ended();
    }
}

#[test]
fn a_killed_guard_takes_the_mount_with_it() {
    need_tools!("fusermount3");
    if !can_mount() {
        return;
    }
    let scratch = Scratch::new();
    let point = scratch.path().join("point");
    let going = mounted(&point, &["--timing", "off"]);
    let guards = going.children();
    assert_eq!(guards.len(), 1, "{guards:?}");
    signal_server(guards[0], "KILL");
    let ran = going.ended();
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(!is_mounted(&point));
}

#[test]
fn what_both_killed_processes_leave_is_detached_as_stale() {
    need_tools!("fusermount3");
    if !can_mount() {
        return;
    }
    let scratch = Scratch::new();
    let point = scratch.path().join("point");
    let mut going = mounted(&point, &[]);
    let guards = going.children();
    let _one = detaching_alone();
    // The guard first stops, so that it cannot see the end of the other.
    signal_server(guards[0], "STOP");
    going.signal("KILL");
    signal_server(guards[0], "KILL");
    let _ = going.ended();
    until("the guard is gone", || !Path::new(&format!("/proc/{}", guards[0])).exists());
    assert!(is_mounted(&point), "nobody was left to unmount it");
    let ran = testkit::running_program::Ran::of(straddle(&["detach"]).arg("--stale"));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(!is_mounted(&point), "{ran:?}");
}

/// Becomes an ordinary user.
const AS_USER: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

/// `drive serve` of an ordinary user on a directory of `scratch`, with that directory; `None` where
/// that is not possible here.
fn served_by_a_user(scratch: &Scratch, path: Option<&str>) -> Option<(Going, PathBuf)> {
    const USER: u32 = 65534;
    if !can_mount() || !host::is_root() {
        skip("needs FUSE, and root to become somebody else");
        return None;
    }
    let [point, own] = ["point", "own"].map(|name| {
        let directory = scratch.path().join(name);
        std::fs::create_dir(&directory).expect("a new directory");
        chown(&directory, Some(USER), Some(USER)).expect("root may");
        directory
    });
    // Its way there is open to all.
    std::fs::set_permissions(scratch.path(), Permissions::from_mode(0o755)).expect("root may");
    let mut reaches = Command::new("setpriv");
    reaches.args(AS_USER).args(["test", "-w", text(&point)]);
    if !reaches.status().expect("it runs").success() {
        skip("needs a directory for temporary files that all may enter");
        return None;
    }
    let mut command = by_signals("setpriv");
    command.args(AS_USER);
    command.arg(env!("CARGO_BIN_EXE_straddle")).args(["drive", "serve", "--timing", "off"]);
    command.args(["--profile", "hdd-7200-512e", "--as", "file", "--mount", text(&point)]);
    command.env("XDG_RUNTIME_DIR", &own).env("LC_ALL", "C.UTF-8");
    command.envs(path.map(|path| ("PATH", path)));
    let mut going = Going::with(&mut command);
    going.until("it is mounted", || is_mounted(&point));
    Some((going, point))
}

#[test]
fn an_ordinary_user_serves_a_file_and_leaves_nothing() {
    need_tools!("fusermount3", "setpriv");
    let scratch = Scratch::new();
    let Some((going, point)) = served_by_a_user(&scratch, None) else { return };
    // Only that user may look into it.
    let typed = format!("printf 1234 | dd of={}/disk conv=notrunc,fsync status=none", text(&point));
    let mut writer = Command::new("setpriv");
    writer.args(AS_USER).args(["sh", "-c", &typed]);
    let wrote = writer.output().expect("it runs");
    assert!(wrote.status.success(), "{wrote:?}");
    let ran = interrupted(going);
    assert!(ran.out.contains("1 flush"), "{ran:?}");
    assert!(!is_mounted(&point));
}

/// A stopped process, which goes on when this is dropped, also by a test that fails.
struct Stopped(u32);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = tool::output("kill", &["-s", "CONT", &self.0.to_string()]);
    }
}

#[test]
fn a_signal_before_the_guard_has_said_a_word_ends_a_drive_in_order() {
    need_tools!("fusermount3", "setpriv", "sh");
    let scratch = Scratch::new();
    // The helper that mounts stops the other child of the server, which is the guard.
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = -o ] && for child in $(cat /proc/$PPID/task/*/children); do\n    \
         [ $child = $$ ] || kill -STOP $child\ndone\nexec {} \"$@\"\n",
        text(&tool::find("fusermount3").expect("it is needed"))
    );
    let helper = scratch.file("fusermount3", script.as_bytes());
    std::fs::set_permissions(helper, Permissions::from_mode(0o755)).expect("it is there");
    let path = format!("{}:{}", text(scratch.path()), std::env::var("PATH").unwrap_or_default());
    let Some((mut going, point)) = served_by_a_user(&scratch, Some(&path)) else { return };
    let server = going.number();
    // recvfrom(2), of this processor: it waits for the guard.
    let waits = ["45 ", "207 "];
    let call = format!("/proc/{server}/syscall");
    let is_waiting = || {
        let call = std::fs::read_to_string(&call).unwrap_or_default();
        waits.iter().any(|number| call.starts_with(number))
    };
    going.until("it waits for its guard", is_waiting);
    let words = |process: u32| std::fs::read_to_string(format!("/proc/{process}/cmdline"));
    let is_guard = |&process: &u32| words(process).is_ok_and(|words| words.contains("guard"));
    let guard = going.children().into_iter().find(is_guard).expect("it has one");
    let guard = Stopped(guard);
    going.signal("INT");
    let pending = format!("/proc/{server}/status");
    going.until("the signal has arrived", || {
        let status = std::fs::read_to_string(&pending).unwrap_or_default();
        status.contains("ShdPnd:\t0000000000000000")
    });
    drop(guard);
    let ran = going.ended();
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(!is_mounted(&point));
}
