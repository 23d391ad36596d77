//! Measurements that end before their time, or cannot begin.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::json;
use tempfile::TempDir;
use testkit::scratch::text;

use super::playbook::{local, play};
use super::room::{Room, awaited, document, files, sound};
use crate::bench::tools;

/// Runs straddle, and ends it by a signal as soon as it has a file in the directory.
const ENDED: &str = "#!/bin/sh
\"PROGRAM\" \"$@\" & going=$!
until ls -l /proc/$going/fd 2>/dev/null | grep -q \" DIRECTORY/\"; do
    kill -0 $going || exit 99
    sleep 0.02
done
kill -s SIGNAL $going
wait $going
";

/// Endings: name of the host, signal, and the exit code of docs/exit-codes.md. Not by INT, which a
/// shell has its background processes ignore.
const ENDINGS: [(&str, &str, i32); 2] = [("ended", "TERM", 143), ("killed", "KILL", 137)];

/// Returns a directory beside the build: what measures wants a file system of a disk.
fn place() -> anyhow::Result<TempDir> {
    let here = std::env::current_exe()?;
    let here = here.parent().context("a program is in a directory")?;
    Ok(tempfile::Builder::new().prefix("straddle-fleet-").tempdir_in(here)?)
}

/// Acts the scene in which measurements are ended by signals. Fails when Ansible does not say so
/// with the exit code, when the other host has no result, or when a file stays.
pub(super) fn act(room: &Room) -> anyhow::Result<String> {
    let directory = place()?;
    let mut inventory = vec![local("whole", &format!("straddle_path={}", text(&room.program)))];
    for (host, signal, _) in ENDINGS {
        let program = room.place("killed")?.join(host);
        let lines = ENDED.replace("PROGRAM", text(&room.program));
        let lines = lines.replace("DIRECTORY", text(directory.path()));
        std::fs::write(&program, lines.replace("SIGNAL", signal))?;
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755))?;
        inventory.push(local(host, &format!("straddle_path={}", text(&program))));
    }
    let variables = json!({"straddle_directory": directory.path(), "straddle_seconds": 3});
    let played = play(room, "killed", "straddle.storage.fsync", &inventory, &variables)?;
    for (host, _, code) in ENDINGS {
        let line = played.said.lines().find(|line| line.starts_with(&format!("fatal: [{host}]")));
        let line = line.with_context(|| format!("{host} did not fail: {}", played.said))?;
        ensure!(line.contains(&format!("\"rc\": {code}")), "{line}");
    }
    let [kept]: [PathBuf; 1] = files(&played.results)?
        .try_into()
        .map_err(|files| anyhow::anyhow!("results of hosts that were ended: {files:?}"))?;
    sound(&kept, &room.schema("fsync")?)?;
    // A process of its own removes what a killed one leaves.
    let is_empty = || files(directory.path()).is_ok_and(|left| left.is_empty()).then_some(());
    awaited("nothing to be left", is_empty)?;
    Ok("exit codes 143 and 137; no file stays".to_owned())
}

/// Acts the scene in which one host has its directory mounted read-only. Fails when Ansible does
/// not say so, or the other host has no result.
pub(super) fn read_only(room: &Room) -> anyhow::Result<String> {
    let directory = place()?;
    let fixed = room.place("read-only/fixed")?;
    mount(&["--bind", text(directory.path()), text(&fixed)])?;
    mount(&["-o", "remount,bind,ro", text(&fixed)])?;
    let of = |path: &Path| format!("straddle_directory={}", text(path));
    let inventory = [local("fixed", &of(&fixed)), local("free", &of(directory.path()))];
    let variables = json!({"straddle_path": room.program, "straddle_seconds": 1});
    let played = play(room, "read-only", "straddle.storage.fsync", &inventory, &variables)?;
    let line = format!("cannot try a sync in {}: it is mounted read-only", fixed.display());
    ensure!(played.said.contains(&line), "no \"{line}\" in: {}", played.said);
    ensure!(played.recap["fixed"]["failed"] == 1, "{}", played.said);
    let kept = files(&played.results)?;
    ensure!(kept.len() == 1 && document(&kept[0]).is_ok(), "{kept:?}");
    Ok("it is mounted read-only".to_owned())
}

fn mount(words: &[&str]) -> anyhow::Result<()> {
    tools::answer(Command::new("mount").args(words))?;
    Ok(())
}
