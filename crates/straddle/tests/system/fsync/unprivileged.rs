//! Answers to an ordinary user about what lies under a directory: as far as that may be seen.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use testkit::{Scratch, need_loops, need_tools, scratch::text, tool};

use super::run::Ran;
use super::volume::Volume;

fn allow(path: &Path, mode: u32) {
    set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

/// The target of a look at `directory` by somebody who is not root.
fn target(directory: &Path) -> Value {
    // The build's own directories may be closed to others.
    let scratch = Scratch::new();
    let program = scratch.path().join("straddle");
    std::fs::copy(env!("CARGO_BIN_EXE_straddle"), &program).expect("it can be copied");
    allow(scratch.path(), 0o755);
    let mut command = tool::command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    command.args(["fsync", text(directory), "--rows", "none", "--json"]);
    let ran: Ran = command.stdin(Stdio::null()).output().expect("setpriv runs").into();
    let document: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    document["target"].clone()
}

#[test]
fn the_file_behind_a_loop_device_is_followed_as_far_as_the_user_may_see_it() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "umount", "setpriv");
    let volume = Volume::ext4("");
    let above = volume.path().parent().expect("it is in a directory");
    allow(volume.path(), 0o777);
    allow(above, 0o755);
    let seen = target(volume.path());
    let kinds: Vec<&str> = seen["layers"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|layer| layer["kind"].as_str())
        .collect();
    assert_eq!(kinds[..3], ["drive", "file", "file-system"], "{seen:#}");
    if kinds.len() > 3 {
        assert!(seen["unknown"].is_null(), "{seen:#}");
    } else {
        // The temporary directory is in memory, or where nobody sees below.
        assert!(seen["unknown"].is_string(), "{seen:#}");
    }

    // Where the directory of the file is closed, its name is reported, and why no more is.
    let hidden = above.join("hidden");
    std::fs::create_dir(&hidden).expect("a directory can be made");
    let device = volume.device_name();
    let backing = std::fs::read_to_string(format!("/sys/block/{device}/loop/backing_file"));
    let backing = backing.expect("it is a loop device");
    let moved = hidden.join("image");
    std::fs::rename(backing.trim_end(), &moved).expect("it can be moved");
    allow(&hidden, 0o700);
    let seen = target(volume.path());
    let unknown = seen["unknown"].as_str().unwrap_or_else(|| panic!("{seen:#}"));
    let begins = format!("the file behind {device}, {}", text(&moved));
    assert!(unknown.starts_with(&begins), "{unknown}");
    assert!(unknown.contains("Permission denied") && unknown.ends_with("try sudo"), "{unknown}");
    assert!(seen["drive"].is_null(), "{seen:#}");
}
