//! Faults of some hosts, each with the line that says so.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde_json::json;
use testkit::running_program::Ran;
use testkit::scratch::text;

use super::playbook::{local, play};
use super::room::{ALIGNED, MISALIGNED, Room, document, files, image, sound};
use crate::bench::tools;

/// Pairs of checks that keep their results at once.
const PAIRS: usize = 20;

/// Prints a result of a release before the first.
const OLD_BINARY: &str = "#!/bin/sh
echo '{\"schema\": \"straddle.check/0\", \"version\": \"0.0.1\", \"targets\": []}'
";

/// Returns an image of the scene called `scene`, misaligned.
fn target(room: &Room, scene: &str) -> anyhow::Result<PathBuf> {
    let image_path = room.place(scene)?.join("disk.raw");
    image(&image_path, MISALIGNED)?;
    Ok(image_path)
}

/// A line that must be among what was said.
fn says(said: &str, line: &str) -> anyhow::Result<()> {
    ensure!(said.contains(line), "no \"{line}\" in: {said}");
    Ok(())
}

/// Acts the scene in which a result is cut short. Fails when report does not name it, or does not
/// show the other.
pub(super) fn corrupt(room: &Room) -> anyhow::Result<String> {
    let disk = target(room, "corrupt")?;
    let whole = room.path().join("corrupt/whole.json");
    let cut = room.path().join("corrupt/cut.json");
    let mut check = room.straddle(room.path(), &["check", "--json", text(&disk)]);
    let result = tools::output(&mut check)?.stdout;
    std::fs::write(&whole, &result)?;
    std::fs::write(&cut, &result[..result.len().div_euclid(2)])?;
    let ran = room.report(&[whole.clone(), cut.clone()])?;
    ensure!(ran.status == Some(2), "report: {:?}", ran.status);
    says(&ran.errors, text(&cut))?;
    says(&ran.errors, "damaged: ")?;
    says(&ran.out, "disk.raw")?;
    Ok("damaged".to_owned())
}

/// Acts the scene in which a host has a release whose results are not read. Fails when report does
/// not name it, or does not show the others.
pub(super) fn old_binary(room: &Room) -> anyhow::Result<String> {
    let disk = target(room, "old-binary")?;
    let old = room.path().join("old-binary/straddle");
    std::fs::write(&old, OLD_BINARY)?;
    std::fs::set_permissions(&old, PermissionsExt::from_mode(0o755))?;
    let path = |program: &Path| format!("straddle_path={}", text(program));
    let inventory = [
        local("new-1", &path(&room.program)),
        local("old-1", &path(&old)),
        local("new-2", &path(&room.program)),
    ];
    let targets = json!({"straddle_targets": [disk]});
    let played = play(room, "old-binary", "straddle.storage.check", &inventory, &targets)?;
    let ran = room.report(&played.all(3)?)?;
    ensure!(ran.status == Some(2), "report: {:?}", ran.status);
    says(&ran.errors, "old-1.check.json")?;
    let line = "this version of straddle does not know the schema `straddle.check/0`";
    says(&ran.errors, line)?;
    says(&ran.out, "new-1.check.json")?;
    says(&ran.out, "new-2.check.json")?;
    Ok(line.to_owned())
}

/// Acts the scene in which a host has no sshd. Fails when Ansible does not name it, or the others
/// have no result.
pub(super) fn unreachable(room: &Room) -> anyhow::Result<String> {
    let disk = target(room, "unreachable")?;
    // Nobody listens at the port of tcpmux.
    let lost = "lost ansible_connection=ssh ansible_host=127.0.0.1 ansible_port=1\n".to_owned();
    let inventory = [local("here-1", ""), lost, local("here-2", "")];
    let variables = json!({"straddle_targets": [disk], "straddle_path": room.program});
    let played = play(room, "unreachable", "straddle.storage.check", &inventory, &variables)?;
    says(&played.said, "fatal: [lost]: UNREACHABLE!")?;
    ensure!(played.recap["lost"]["unreachable"] == 1, "{}", played.said);
    let kept = files(&played.results)?;
    ensure!(kept.len() == 2 && kept.iter().all(|file| document(file).is_ok()), "{kept:?}");
    Ok("UNREACHABLE!".to_owned())
}

/// Acts the scene in which the folder of results is full. Fails when Ansible does not say so, or a
/// part of a result stays.
pub(super) fn full_disk(room: &Room) -> anyhow::Result<String> {
    let disk = target(room, "full-disk")?;
    let full = room.place("full-disk/full")?;
    let mount = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", text(&full)];
    tools::answer(std::process::Command::new("mount").args(mount))?;
    let filled = std::fs::write(full.join("filler"), vec![0; 1 << 20]);
    ensure!(filled.is_err(), "the disk is not full");
    let inventory = [local("host-1", ""), local("host-2", "")];
    let variables = json!({
        "straddle_targets": [disk],
        "straddle_path": room.program,
        "straddle_results": full,
    });
    let played = play(room, "full-disk", "straddle.storage.check", &inventory, &variables)?;
    says(&played.said, "No space left on device")?;
    for host in ["host-1", "host-2"] {
        ensure!(played.recap[host]["failed"] == 1, "{}", played.said);
    }
    let left = files(&full)?;
    ensure!(left.len() == 1, "parts of results stay: {left:?}");
    Ok("No space left on device".to_owned())
}

/// Acts the scene in which the last check was long ago. Fails when it is judged.
pub(super) fn too_old(room: &Room) -> anyhow::Result<String> {
    of_time(room, "too-old", "2020-01-01T00:00:00Z", "too old: ")
}

/// Acts the scene in which the clock was set back after a check. Fails when it is judged.
pub(super) fn of_the_future(room: &Room) -> anyhow::Result<String> {
    of_time(room, "future", "2199-01-01T00:00:00Z", "is of the future")
}

/// Keeps a result, gives it another time, and wants `line` instead of a verdict.
fn of_time(room: &Room, scene: &str, time: &str, line: &str) -> anyhow::Result<String> {
    let disk = target(room, scene)?;
    let state = room.path().join(scene).join("state");
    tools::output(&mut room.straddle(&state, &["check", "--keep", text(&disk)]))?;
    let kept = state.join("last-check.json");
    let mut result = document(&kept)?;
    result["started"] = json!(time);
    std::fs::write(&kept, result.to_string())?;
    let words = ["check", "--cached", "--format", "nagios"];
    let ran = Ran::from(tools::output(&mut room.straddle(&state, &words))?);
    ensure!(ran.status == Some(3), "{:?}: {}", ran.status, ran.out);
    says(&ran.out, "STRADDLE UNKNOWN - ")?;
    says(&ran.errors, "error: cannot judge the last kept result: ")?;
    says(&ran.errors, line)?;
    Ok(format!("UNKNOWN, {}", line.trim_end_matches(": ")))
}

/// Acts the scene in which a timer and its administrator check at once. Fails when a check fails,
/// or what is kept is not the whole of one.
pub(super) fn two_at_once(room: &Room) -> anyhow::Result<String> {
    let bad = target(room, "two-at-once")?;
    let good = room.path().join("two-at-once/good.raw");
    image(&good, ALIGNED)?;
    let state = room.path().join("two-at-once/state");
    let rules = room.schema("check")?;
    for _ in 0..PAIRS {
        let runs = [(&bad, 1), (&good, 0)].map(|(disk, code)| {
            let mut check = room.straddle(&state, &["check", "--keep", "--json", text(disk)]);
            check.stdout(std::process::Stdio::piped());
            (check.spawn(), code)
        });
        for (child, code) in runs {
            let output = child.context("cannot start straddle")?.wait_with_output()?;
            ensure!(output.status.code() == Some(code), "check ended with {}", output.status);
            serde_json::from_slice::<serde_json::Value>(&output.stdout)?;
        }
        sound(&state.join("last-check.json"), &rules)?;
        ensure!(files(&state)?.len() == 1, "a part of a result stays");
    }
    Ok(format!("{PAIRS} pairs, both whole"))
}
