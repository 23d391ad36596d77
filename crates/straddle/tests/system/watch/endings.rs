//! Ends of a watch, which leave nothing, and a watch without rights.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use testkit::running_program::by_signals;
use testkit::{Scratch, need_loops, need_tools, scratch::text, tool};

use super::volume::Volume;
use super::watching::{Culprit, Watching};
use super::writer::Writer;

/// Everything of the kernel's that a watch could leave.
fn left() -> Vec<String> {
    let names = |path: &str| -> Vec<String> {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path().to_string_lossy().into_owned()).collect()
    };
    let tracefs = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
    let instances = tracefs.iter().flat_map(|root| names(&format!("{root}/instances")));
    let mounts = std::fs::read_to_string("/proc/mounts").expect("it can be read");
    let tracefs = mounts.lines().filter(|line| line.contains("tracefs")).map(str::to_owned);
    let filters = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let mut left: Vec<String> = instances.chain(tracefs).chain(filters).collect();
    left.sort();
    left
}

#[test]
fn nothing_is_left_of_a_watch_that_is_killed() {
    need_loops!();
    need_tools!("mkfs.ext4", "losetup", "python3");
    let volume = Volume::ext4(1024);
    let file = volume.file("pages");
    let mine = || {
        let node = format!("{} ", volume.node());
        let loops = tool::run("losetup", &["--list", "--noheadings", "--output", "NAME,BACK-FILE"]);
        let mounts = std::fs::read_to_string("/proc/mounts").expect("it can be read");
        let of_volume = |line: &&str| line.contains(text(volume.device.scratch.path()));
        let loops: Vec<String> = loops.lines().filter(of_volume).map(str::to_owned).collect();
        let mounts: Vec<String> =
            mounts.lines().filter(|line| line.starts_with(&node)).map(str::to_owned).collect();
        (loops, mounts, left())
    };
    let before = mine();
    let mut watching = Watching::start(volume.node(), &[]);
    let _writer = Writer::direct("writer", &file, 1024, 1024);
    let layer = volume.layer("ext4");
    let culprit = Culprit { process: "writer", layer: &layer, region: "file", file: Some(&file) };
    watching.until("it samples", |seen| culprit.share(seen) > 0.5);
    watching.kill();
    assert_eq!(mine(), before);
}

#[test]
fn without_rights_the_layers_are_shown_and_what_is_missing_is_named() {
    need_loops!();
    need_tools!("mkfs.ext4", "setpriv", "python3");
    let volume = Volume::ext4(1024);
    let file = volume.file("pages");
    let _writer = Writer::direct("writer", &file, 1024, 1024);
    // The build's own directories may be closed to others.
    let scratch = Scratch::new();
    let program = scratch.path().join("straddle");
    std::fs::copy(env!("CARGO_BIN_EXE_straddle"), &program).expect("it can be copied");
    let everybody = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scratch.path(), everybody).expect("it is ours");
    let mut unprivileged = by_signals("setpriv");
    unprivileged.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    unprivileged.args(["watch", volume.node(), "--jsonl"]);
    let mut watching = Watching::running(unprivileged);
    watching.until("writes are counted", |seen| {
        seen["devices"][0]["traffic"][0]["writes"].as_u64() > Some(0)
    });
    let document = watching.end();
    let device = &document["devices"][0];
    for key in ["off_unknown", "writers_unknown"] {
        let reason = device[key].as_str().unwrap_or_else(|| panic!("{key}: {document:#}"));
        // Where tracefs is not mounted, that comes first.
        let is_named = ["CAP_PERFMON", "root"].iter().any(|right| reason.contains(right));
        assert!(is_named, "{key}: {reason}");
    }
    assert_eq!(device["off"].as_array().map(Vec::len), Some(0), "{document:#}");
    assert!(Path::new("/proc/sys/kernel/perf_event_paranoid").exists());
}
