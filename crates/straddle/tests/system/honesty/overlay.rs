//! Layers on file systems: what an overlay writes to is judged, and what hides its own never makes
//! an engine's verdict PASS.

use std::path::Path;

use measure::engine_verdict::Fitness;
use report::fsync::FsyncVerdict;
use testkit::fuse::Fuse;
use testkit::{Mount, Scratch, need_loops, need_tools, scratch::text, tool};

use super::volume::Volume;
use super::{check, looked, passes, ran_for};

/// An overlay with this option whose upper directory is in `directory`.
fn overlay(option: &str, directory: &Path) -> Mount {
    let at = |name: &str| directory.join(name);
    for name in ["lower", "upper", "work"] {
        std::fs::create_dir(at(name)).expect("a directory can be made");
    }
    let [lower, upper, work] = ["lower", "upper", "work"].map(at);
    let options = format!(
        "{option}lowerdir={},upperdir={},workdir={}",
        text(&lower),
        text(&upper),
        text(&work)
    );
    Mount::new("overlay", &options, "overlay", &directory.join("mounted"))
}

/// The verdict on an engine for which any speed is enough.
fn verdict(directory: &Path) -> FsyncVerdict {
    let scratch = Scratch::new();
    let profile = include_str!("../../../../workload/tests/seeds/profile/own.toml")
        .replace("above=\"1 ms\"", "above=\"60 s\"")
        .replace("above=\"2 ms\"", "above=\"60 s\"")
        .replace("quantile=\"p99\"", "quantile=\"p50\"");
    ran_for(directory, &scratch.file("own.toml", profile.as_bytes()))
}

#[test]
fn an_overlay_is_followed_to_memory() {
    need_loops!();
    need_tools!("mount", "umount");
    let Some(memory) = Scratch::in_memory() else {
        testkit::skip("needs /dev/shm");
        return;
    };
    let mount = overlay("", memory.path());
    let found = looked(mount.path());
    check(&found, "not-durable", "in-memory");
    let names: Vec<&str> = found.layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(names, ["overlay", "tmpfs"]);
    assert_eq!(verdict(mount.path()).verdict, Fitness::Fail);
}

#[test]
fn an_overlay_on_a_direct_loop_passes_and_names_its_drive() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "umount");
    let volume = Volume::new("ext4", "");
    let mount = overlay("", volume.path());
    let found = looked(mount.path());
    let kinds: Vec<&str> = found.layers.iter().map(|layer| layer.kind.as_str()).collect();
    assert_eq!(kinds[..4], ["file system", "file system", "loop, direct", "file"], "{found:#?}");
    if found.layers.last().is_some_and(|layer| layer.kind == "memory") {
        testkit::skip("needs a temporary directory on a drive");
        return;
    }
    passes(&found);
}

#[test]
fn a_volatile_overlay_is_not_durable_whatever_it_lies_on() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "umount");
    let volume = Volume::new("ext4", "");
    let mount = overlay("volatile,", volume.path());
    check(&looked(mount.path()), "not-durable", "sync-off");
}

#[test]
fn an_overlay_whose_upper_directory_is_hidden_is_opaque_and_says_which() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "umount");
    let volume = Volume::new("ext4", "");
    let mount = overlay("", volume.path());
    // What is mounted over it takes its name.
    let hidden = Mount::new("tmpfs", "", "tmpfs", &volume.path().join("upper"));
    let found = looked(mount.path());
    check(&found, "opaque", "opaque-layer");
    let upper = text(hidden.path());
    let reason = "cannot be seen from here: another file system has that path here";
    assert!(
        found.sentence.contains(&format!("its upper directory {upper} {reason}")),
        "{found:#?}"
    );
    assert!(found.would_change[0].starts_with("run straddle fsync on its upper directory"));
}

#[test]
fn an_overlay_whose_upper_directory_is_named_relative_says_that_it_cannot_be_found() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "umount");
    let volume = Volume::new("ext4", "");
    let point = volume.path().join("mounted");
    let script = "cd \"$0\" && mkdir lower upper work mounted && mount -t overlay -o \
                  lowerdir=lower,upperdir=upper,workdir=work overlay mounted";
    let made = tool::output("sh", &["-c", script, text(volume.path())]);
    let _mount = Mount::taken(&point);
    if !made.status.success() {
        testkit::skip("needs an overlay with relative directories");
        return;
    }
    let found = looked(&point);
    check(&found, "opaque", "opaque-layer");
    let said = "overlay hides what is below it: its upper directory has a relative path (upper), so \
                it cannot be found from here.";
    assert_eq!(found.sentence, said);
}

#[test]
fn what_is_fast_enough_on_an_opaque_layer_is_a_warning_with_what_would_change_it() {
    testkit::need_full_tier!();
    let scratch = Scratch::new();
    let back = scratch.image("back", 64 << 20);
    let Some(fuse) = Fuse::over(&back, &scratch.path().join("mounted")) else {
        testkit::skip("needs root and FUSE");
        return;
    };
    let seen = verdict(fuse.path());
    assert_eq!(seen.verdict, Fitness::Warn, "{seen:#?}");
    assert!(seen.sentence.contains("opaque layer (fuse)"), "{seen:#?}");
    assert!(seen.next.starts_with("run straddle fsync on the path that"), "{seen:#?}");
}
