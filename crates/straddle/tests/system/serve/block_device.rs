//! A loop device over a served drive.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use testkit::loops::Attachment;
use testkit::running_program::{Going, until};
use testkit::scratch::text;
use testkit::{Scratch, need_loops, need_tools, tool};

use super::{interrupted, served, signal_server};

/// A block device, and the file with its counts.
fn attached(scratch: &Scratch, words: &[&str]) -> (Going, PathBuf) {
    let counts = scratch.path().join(format!("counts-{}", words.join("").replace('/', "-")));
    let base = ["--profile", "hdd-7200-512e", "--as", "loop", "--counts", text(&counts)];
    let mut going = served(&[&base[..], words].concat());
    let mut node = None;
    going.until("it is attached", || {
        let told = std::fs::read_to_string(&counts).unwrap_or_default();
        let told: Option<serde_json::Value> = serde_json::from_str(&told).ok();
        node = told.and_then(|told| told["address"].as_str().map(PathBuf::from));
        node.is_some()
    });
    (going, node.expect("it is there"))
}

/// Returns whether the kernel shows partition `node` with this first sector and length, and not one
/// of another test's device.
fn is_partition(node: &Path, first_sector: &str, sectors: &str) -> bool {
    let directory = Path::new("/sys/class/block").join(node.file_name().expect("it has one"));
    let says = |file: &str, value: &str| {
        std::fs::read_to_string(directory.join(file)).is_ok_and(|told| told.trim() == value)
    };
    says("start", first_sector) && says("size", sectors)
}

#[test]
fn a_block_device_takes_partitions_and_a_file_system_and_is_gone_at_the_end() {
    need_tools!("sfdisk", "mkfs.ext4", "mount", "umount", "partx");
    need_loops!();
    let scratch = Scratch::new();
    let store = scratch.path().join("store");
    let words = ["--timing", "off", "--store", text(&store)];
    let (going, node) = attached(&scratch, &words);
    tool::run_with_input(
        "sfdisk",
        &[text(&node)],
        "label: gpt\nfirst-lba: 34\nstart=2047, size=200000\nsize=100000\n",
    );
    let attachment = Attachment::of(&node).expect("it is attached");
    interrupted(going);
    assert!(!attachment.is_there());

    // The next one shows the partitions that are in the store.
    let (mut going, node) = attached(&scratch, &[&words[..], &["--patience", "5"]].concat());
    let attachment = Attachment::of(&node).expect("it is attached");
    let first = PathBuf::from(format!("{}p1", text(&node)));
    assert!(is_partition(&first, "2047", "200000"), "{first:?}");
    tool::run("mkfs.ext4", &["-q", "-F", text(&first)]);
    let point = scratch.path().join("point");
    std::fs::create_dir(&point).expect("a new directory");
    tool::run("mount", &[text(&first), text(&point)]);
    std::fs::write(point.join("file"), vec![5; 1 << 20]).expect("there is room");
    File::open(point.join("file")).expect("it is there").sync_all().expect("it syncs");
    let busy = File::open(point.join("file")).expect("it is there");
    going.signal("INT");
    // It waits for its user.
    assert!(going.is_going());
    drop(busy);
    let ran = going.ended();
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(!attachment.is_there() && !is_partition(&first, "2047", "200000"));
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("it is readable");
    assert!(!mounts.contains(text(&point)), "it was unmounted first");
}

#[test]
fn killed_and_stopped_servers_leave_no_device_and_no_hanging_user() {
    need_tools!("mkfs.ext4", "mount");
    need_loops!();
    let scratch = Scratch::new();
    for name in ["KILL", "STOP"] {
        let words = ["--timing", "0.001", "--patience", "1", "--memory", "64M", "--set"];
        let size = if name == "KILL" { "capacity=4G" } else { "capacity=5G" };
        let (mut going, node) = attached(&scratch, &[&words[..], &[size]].concat());
        let attachment = Attachment::of(&node).expect("it is attached");
        tool::run("mkfs.ext4", &["-q", "-F", text(&node)]);
        let point = scratch.path().join(name);
        std::fs::create_dir(&point).expect("a new directory");
        tool::run("mount", &[text(&node), text(&point)]);
        let file = File::create(point.join("file")).expect("there is room");
        file.write_all_at(&vec![1; 8 << 20], 0).expect("the page cache takes it");
        going.signal(name);
        // A signal takes a moment; then every sync ends with an error.
        until("syncs fail", || {
            let _ = file.write_all_at(&vec![1; 1 << 20], 0);
            file.sync_all().is_err()
        });
        drop(file);
        until("the device is gone", || !attachment.is_there());
        going.signal("KILL");
        let _ = going.ended();
    }
}

#[test]
fn a_killed_guard_takes_the_device_with_it() {
    need_tools!("losetup");
    need_loops!();
    let scratch = Scratch::new();
    let (going, node) = attached(&scratch, &["--timing", "off"]);
    let attachment = Attachment::of(&node).expect("it is attached");
    let guards = going.children();
    signal_server(guards[0], "KILL");
    let ran = going.ended();
    assert_eq!(ran.status, Some(0), "{ran:?}");
    until("the device is gone", || !attachment.is_there());
}

/// A control group with a limit of memory, gone when dropped; `None` where none can be made.
struct MemoryGroup(PathBuf);

impl MemoryGroup {
    fn new(bytes: u64) -> Option<MemoryGroup> {
        let name = format!("straddle-test-{}", std::process::id());
        let kinds =
            [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
        kinds.into_iter().find_map(|(root, limit)| {
            let group = MemoryGroup(Path::new(root).join(&name));
            std::fs::create_dir(&group.0).ok()?;
            std::fs::write(group.0.join(limit), bytes.to_string()).ok()?;
            Some(group)
        })
    }

    /// Runs `words` in it.
    fn command(&self, words: &[&str]) -> std::process::Command {
        let mut command = testkit::running_program::by_signals("sh");
        let script = format!("echo $$ > {}/cgroup.procs; exec \"$@\"", text(&self.0));
        command.args(["-c", &script, "sh"]).args(words);
        command
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        until("nobody is left in the group", || {
            std::fs::remove_dir(&self.0).is_ok() || !self.0.exists()
        });
    }
}

#[test]
fn a_writer_in_the_same_small_memory_group_ends_and_nothing_stays() {
    need_tools!("sh", "dd", "mkfs.ext4", "mount");
    need_loops!();
    let Some(group) = MemoryGroup::new(96 << 20) else {
        testkit::skip("needs a memory control group of its own");
        return;
    };
    let scratch = Scratch::new();
    let counts = scratch.path().join("counts");
    let serve = [
        env!("CARGO_BIN_EXE_straddle"),
        "drive",
        "serve",
        "--profile",
        "hdd-7200-512e",
        "--as",
        "loop",
        "--timing",
        "off",
        "--memory",
        "1G",
        "--patience",
        "2",
        "--set",
        "capacity=4G",
        "--counts",
        text(&counts),
    ];
    let mut going = Going::with(&mut group.command(&serve));
    let mut node = PathBuf::new();
    going.until("it is attached", || {
        let told = std::fs::read_to_string(&counts).unwrap_or_default();
        let told: serde_json::Value = serde_json::from_str(&told).unwrap_or_default();
        node = told["address"].as_str().map(PathBuf::from).unwrap_or_default();
        node.exists()
    });
    let attachment = Attachment::of(&node).expect("it is attached");
    tool::run("mkfs.ext4", &["-q", "-F", text(&node)]);
    let point = scratch.path().join("point");
    std::fs::create_dir(&point).expect("a new directory");
    tool::run("mount", &[text(&node), text(&point)]);
    let file = format!("of={}/file", text(&point));
    let dd = ["dd", "if=/dev/zero", &file, "bs=1M", "count=400", "conv=fsync"];
    // Zeros take no room; their pages do. It succeeds or fails, and in any case ends.
    let _ = group.command(&dd).output().expect("it runs");
    let random = ["dd", "if=/dev/urandom", &file, "bs=1M", "count=400", "conv=fsync"];
    let _ = group.command(&random).output().expect("it runs");
    going.signal("INT");
    let _ = going.ended();
    let _one = super::detaching_alone();
    let ran = testkit::running_program::Ran::of(super::straddle(&["detach"]).arg("--stale"));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    until("the device is gone", || !attachment.is_there());
}

#[test]
fn a_full_store_is_an_error_for_the_writer_and_the_device_goes() {
    need_tools!("fallocate");
    need_loops!();
    let scratch = Scratch::new();
    let (going, node) = attached(&scratch, &["--timing", "off", "--memory", "4M"]);
    let attachment = Attachment::of(&node).expect("it is attached");
    let file = File::options().write(true).open(&node).expect("it can be opened");
    file.write_all_at(&vec![1; 32 << 20], 0).expect("the page cache takes it");
    assert!(file.sync_all().is_err(), "there is no room");
    drop(file);
    interrupted(going);
    assert!(!attachment.is_there());
}

#[test]
fn a_block_device_holds_the_same_bytes_as_a_plain_file() {
    need_loops!();
    let scratch = Scratch::new();
    let (going, node) = attached(&scratch, &["--timing", "off", "--set", "cache=0"]);
    let device = File::options().read(true).write(true).open(&node).expect("it can be opened");
    super::same_bytes(&device, &scratch);
    drop(device);
    interrupted(going);
}
