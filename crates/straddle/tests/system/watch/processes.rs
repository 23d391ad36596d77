//! Processes of every kind: several, with threads, in groups and namespaces of their own, and such
//! as end at once.

use std::path::{Path, PathBuf};

use testkit::{need_loops, need_tools, scratch::text, skip, tool};

use super::volume::{Device, Volume};
use super::watching::{Culprit, Watching, off_granule, only, share_of, writers};
use super::writer::Writer;

/// Writes so seldom that a sample holds all of it.
const SLOW: &str = "
file, pages = direct(sys.argv[2]), memory(512)
while not select.select([0], [], [], 0.005)[0]:
    os.pwrite(file, pages, 4096)
";

#[test]
fn threads_are_named_by_their_process() {
    need_loops!();
    need_tools!("python3");
    let device = Device::new(64 << 20);
    let body = "
def thread(number):
    named(f'thread-{number}')
    write(direct(sys.argv[2]), 1024, 4096, 16)
threads = [threading.Thread(target=thread, args=(number,)) for number in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
";
    let watching = Watching::start(device.node(), &[]);
    let writer = Writer::named("many-threads", body, &[device.node()]);
    let name = device.name();
    let culprit = Culprit { process: "many-threads", layer: name, region: "raw", file: None };
    let document = watching.shows(&culprit, 1.0);
    assert_eq!(writers(&document).len(), 1, "{document:#}");
    assert_eq!(writers(&document)[0]["process_id"], writer.process());
}

#[test]
fn programs_that_end_at_once_are_named_or_unknown_and_never_taken_for_others() {
    need_loops!();
    need_tools!("python3");
    let device = Device::new(64 << 20);
    let mut watching = Watching::start(device.node(), &[]);
    let _beside = Writer::direct("goes-on", device.node(), 512, 4096);
    let body = "
while goes_on():
    if os.fork() == 0:
        os.pwrite(direct(sys.argv[2]), memory(1024), 1 << 20)
        os._exit(0)
    os.wait()
";
    let _writer = Writer::named("short-lived", body, &[device.node()]);
    watching.until("both are named", |seen| {
        ["goes-on", "short-lived"].iter().all(|name| share_of(seen, name) > 0.0)
    });
    let document = watching.end();
    only(&document, &["goes-on", "short-lived"]);
    for writer in writers(&document) {
        let length = if writer["process"] == "goes-on" { 512 } else { 1024 };
        assert_eq!(writer["usual_length_bytes"], length, "{document:#}");
        assert_eq!(writer["usual_length_share"], 1.0, "{document:#}");
    }
}

#[test]
fn a_process_in_another_mount_namespace_is_named_with_its_file() {
    need_loops!();
    need_tools!("mkfs.ext4", "unshare", "mount", "python3");
    let volume = Volume::ext4(1024);
    let _ = volume.file("pages");
    // Where only that namespace sees it.
    let place = volume.device.scratch.path().join("elsewhere");
    std::fs::create_dir(&place).expect("a directory can be made");
    let mut unshare = tool::command("unshare");
    let enter = "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"";
    unshare.args(["--mount", "--propagation", "private", "sh", "-c", enter, "sh"]);
    unshare.args([text(volume.path()), text(&place), "python3"]);
    let watching = Watching::start(volume.node(), &[]);
    let file = text(&place).to_owned() + "/pages";
    let body = "write(direct(sys.argv[2]), 1024, 1024, 64)";
    let _writer = Writer::within(unshare, "elsewhere", body, &[&file]);
    let layer = volume.layer("ext4");
    let culprit =
        Culprit { process: "elsewhere", layer: &layer, region: "file", file: Some(&file) };
    watching.shows(&culprit, 0.9);
}

/// A control group of the test's own; it goes when it is empty and this is dropped.
struct Group(PathBuf);

impl Group {
    fn new(root: &Path) -> Option<Group> {
        let path = root.join(format!("straddle-test-{}", std::process::id()));
        std::fs::create_dir(&path).ok()?;
        Some(Group(path))
    }

    fn name(&self) -> String {
        format!("/{}", self.0.file_name().and_then(|name| name.to_str()).expect("it has a name"))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..1000 {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

/// The directory on which cgroup v2 is mounted.
fn groups() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/mounts").ok()?;
    let mut fields = mounts.lines().map(|line| line.split(' '));
    let found = fields.find(|fields| fields.clone().nth(2) == Some("cgroup2"))?.nth(1)?;
    Some(PathBuf::from(found))
}

#[test]
fn a_control_group_is_named_and_counted_alone() {
    need_loops!();
    need_tools!("python3");
    let Some(group) = groups().as_deref().and_then(Group::new) else {
        return skip("needs cgroup v2, and a group of it");
    };
    let device = Device::new(64 << 20);
    let body = "
with open(sys.argv[3] + '/cgroup.procs', 'w') as members:
    members.write(str(os.getpid()))
file, pages = direct(sys.argv[2]), memory(1024)
for line in sys.stdin:
    for number in range(int(line)):
        os.pwrite(file, pages, 8192 * (number % 100))
";
    let mut inside = Writer::named("inside", body, &[device.node(), text(&group.0)]);
    let _outside = Writer::named("outside", SLOW, &[device.node()]);
    // It is in the group once it is listed there.
    testkit::running_program::until("it joins its group", || {
        std::fs::read_to_string(group.0.join("cgroup.procs")).is_ok_and(|text| !text.is_empty())
    });
    let mut alone = Watching::start(device.node(), &["--exact", "--cgroup", text(&group.0)]);
    let mut all = Watching::start(device.node(), &[]);
    inside.say("500");
    alone.until("it counts the group", |seen| off_granule(seen)["writes"] == 500);
    alone.two_seconds();
    let name = group.name();
    all.until("it names the group", |seen| {
        let is_it = |writer: &&serde_json::Value| writer["process"] == "inside";
        let found = writers(seen).iter().find(is_it);
        found.is_some_and(|writer| writer["control_group"] == name)
    });
    let (alone, all) = (alone.end(), all.end());
    assert_eq!(off_granule(&alone)["writes"], 500, "{alone:#}");
    only(&alone, &["inside"]);
    only(&all, &["inside", "outside"]);
    assert_eq!(alone["scope"]["whose"], "group", "{alone:#}");
    inside.ended();
}

#[test]
fn a_process_is_counted_with_what_it_starts_later() {
    need_loops!();
    need_tools!("python3");
    let device = Device::new(64 << 20);
    let body = "
for line in sys.stdin:
    if os.fork() == 0:
        named('started-later')
        file, pages = direct(sys.argv[2]), memory(1024)
        for number in range(int(line)):
            os.pwrite(file, pages, 8192 * (number % 100))
        os.fsync(file)
        sys.stdin.read()
        os._exit(0)
";
    let mut parent = Writer::named("parent", body, &[device.node()]);
    let _outside = Writer::named("outside", SLOW, &[device.node()]);
    let process = parent.process().to_string();
    let mut watching = Watching::start(device.node(), &["--exact", "--pid", &process]);
    parent.say("300");
    watching.until("it counts the child", |seen| off_granule(seen)["writes"] == 300);
    watching.until("it names the child", |seen| share_of(seen, "started-later") > 0.0);
    let document = watching.end();
    only(&document, &["started-later"]);
    let calls = document["syncs"]["calls"].as_array().expect("a list");
    let fsync = calls.iter().find(|call| call["name"] == "fsync");
    assert_eq!(fsync.map(|call| &call["calls"]), Some(&1.into()), "{document:#}");
}
