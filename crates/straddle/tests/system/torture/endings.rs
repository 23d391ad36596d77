//! Endings of a torture: codes, refusals, and what is left by one that is killed.

use std::path::Path;

use testkit::loops::Attachment;
use testkit::running_program::{Going, Ran, until};
use testkit::scratch::text;
use testkit::{Scratch, need_loops, need_tools};

use super::{can_mount, drive, recipe, torture_file};

#[test]
fn every_ending_of_torture_has_its_code_and_says_why() {
    need_tools!("python3", "fusermount3");
    if !can_mount() {
        return;
    }
    let honest = ["--profile", "m4-256", "--cuts", "2"];
    let clean = torture_file(&honest, &[]);
    assert_eq!(clean.status, Some(0), "{clean:?}");
    assert!(clean.out.starts_with("PASS 2 cuts of m4-256: nothing acknowledged was lost"));
    let found = torture_file(&honest, &["check"]);
    assert_eq!(found.status, Some(1), "{found:?}");
    assert!(found.out.contains("lost in 2 of 2 cuts; m4-256 kept its"), "{found:?}");
    assert!(found.out.contains("as asked"), "{found:?}");
    // A part without a cut, and a program that says nothing, show nothing.
    for (words, said) in [
        (&["--profile", "m4-256", "--cuts", "1", "--shard", "2/2"][..], "no cut was made"),
        (&["--profile", "m4-256", "--cuts", "1"], "acknowledged nothing"),
    ] {
        let silent = if words.contains(&"--shard") { "none" } else { "silent" };
        let ran = torture_file(words, &[silent]);
        assert_eq!(ran.status, Some(5), "{ran:?}");
        assert!(ran.out.starts_with("NO VERDICT ") && ran.out.contains(said), "{ran:?}");
    }
    for phase in ["setup", "run"] {
        let refused = torture_file(&honest, &[phase]);
        assert_eq!(refused.status, Some(2), "{refused:?}");
        let said = format!("phase {phase} of the program failed: as asked");
        assert!(refused.errors.contains(&said), "{refused:?}");
    }
    for (words, said) in [
        (&["--profile", "m4-256", "--fs", "ext4"][..], "a file system needs a block device"),
        (&["--profile", "no-drive"], "there is no built-in drive and no file called no-drive"),
        (
            &["--from", "/nowhere"],
            "cannot read a recording: /nowhere/drive: No such file or directory",
        ),
        (&["--profile", "m4-256", "--shard", "3/2"], "expected a part and the number of parts"),
        (&["--profile", "m4-256", "--memory", "64K"], "No space left on device"),
    ] {
        let refused = torture_file(words, &[]);
        assert_eq!(refused.status, Some(2), "{words:?}: {refused:?}");
        assert!(refused.errors.contains(said), "{words:?}: {refused:?}");
    }
}

#[test]
fn every_ending_of_cut_has_its_code_and_says_why() {
    need_tools!("python3", "fusermount3");
    if !can_mount() {
        return;
    }
    let scratch = Scratch::new();
    let [kept, image] = ["kept", "image"].map(|name| scratch.path().join(name));
    let words = ["--profile", "m4-256", "--cuts", "1", "--save", text(&kept)];
    assert_eq!(torture_file(&words, &[]).status, Some(0));
    let again = torture_file(&words, &[]);
    assert!(again.errors.contains("hint: name a new directory"), "{again:?}");
    let cut = || Ran::of(&mut drive(&["cut", text(&kept), "-o", text(&image)]));
    let made = cut();
    assert_eq!(made.status, Some(0), "{made:?}");
    let there = cut();
    assert_eq!(there.status, Some(2), "{there:?}");
    assert!(there.errors.contains("hint: name a new file"), "{there:?}");
    for name in ["drive", "base", "log", "writes"] {
        let path = kept.join(name);
        let whole = std::fs::read(&path).expect("it is there");
        std::fs::write(&path, [&whole[..whole.len() / 2], &[0xff; 20]].concat()).expect("room");
        let other = scratch.path().join(name);
        let damaged = Ran::of(&mut drive(&["cut", text(&kept), "-o", text(&other)]));
        if name != "writes" {
            assert_eq!(damaged.status, Some(2), "{name}: {damaged:?}");
            assert!(damaged.errors.contains("cannot read the recording"), "{name}: {damaged:?}");
        }
        std::fs::write(&path, whole).expect("room");
    }
}

/// Node of the loop device on the drive that process `server` serves, as its record says.
fn node_of(server: u32) -> Option<String> {
    let record = std::fs::read_to_string(format!("/run/straddle/{server}.drive")).ok()?;
    let line = record.lines().find_map(|line| line.strip_prefix("loop "))?;
    Some(format!("/dev/loop{}", line.split(' ').next()?))
}

#[test]
fn a_killed_torture_leaves_no_program_no_mount_and_no_device() {
    need_tools!("python3", "mkfs.ext4", "unshare");
    need_loops!();
    let scratch = Scratch::new();
    let own = scratch.path().join("sleeper");
    // A daemon of its own session, whose name is found again.
    let script = format!(
        "cp /bin/sleep {0}; setsid {0} 600 & while :; do echo 1; echo x > $STRADDLE_DIR/f; \
         sync $STRADDLE_DIR/f; done",
        text(&own)
    );
    let words = ["torture", "--profile", "m4-256", "--", "sh", "-c"];
    let quiet = format!("[ $STRADDLE_PHASE = setup ] || {{ {script}; }}");
    let is_running = || {
        let entries = std::fs::read_dir("/proc").expect("it is mounted").flatten();
        let mut programs =
            entries.filter_map(|one| std::fs::read_link(one.path().join("exe")).ok());
        programs.any(|program| program == own)
    };
    let mut going = Going::with(drive(&words).arg(&quiet));
    let server = going.number();
    going.until("the daemon runs", is_running);
    let node = node_of(server).expect("the drive is attached");
    let device = Attachment::of(Path::new(&node)).expect("it is attached");
    going.signal("KILL");
    let _ = going.ended();
    until("the device is gone", || !device.is_there());
    until("the program is gone", || !is_running());
    crate::serve::forgotten(server);
}

#[test]
fn a_signal_ends_it_with_its_code_and_leaves_nothing() {
    need_tools!("python3", "mkfs.ext4", "unshare");
    need_loops!();
    let words = ["torture", "--profile", "m4-256", "--cuts", "100000", "--"];
    let mut going = Going::with(drive(&words).arg(recipe("files.py")));
    let server = going.number();
    going.until("it is attached", || node_of(server).is_some());
    going.signal("INT");
    let ran = going.ended();
    assert_eq!(ran.status, Some(130), "{ran:?}");
    assert_eq!(node_of(server), None, "its record is gone");
}
