//! A plan of each host, then its script as somebody types it, then nothing to do.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use testkit::scratch::text;
use testkit::tool;

use super::playbook::{Played, local, play_with};
use super::room::{MISALIGNED, Room, files, image};
use crate::bench::tools;

const HOSTS: [&str; 3] = ["host-1", "host-2", "host-3"];

/// Acts the scene in which plans are shown, carried out by hand, and shown again. Fails when check
/// mode changes a disk or writes a file, when a script does not do what the diff says, or when
/// something is left to do.
pub(super) fn fix(room: &Room) -> anyhow::Result<String> {
    let disks = disks(room, "plan")?;
    let before = bytes(&disks)?;
    let plan = room.path().join("plan/plan.json");
    let kept = json!({"straddle_plan_file": plan});
    let looked = played(room, "plan", &["--check", "--diff"], &disks, &kept)?;
    ensure!(bytes(&disks)? == before && !plan.exists(), "check mode changed something");
    for (host, disk) in HOSTS.iter().zip(&disks) {
        ensure!(looked.recap[*host]["changed"] == 1, "{}", looked.said);
        let old = format!("-{}", row(&partition(disk)?)?);
        typed(room, disk)?;
        let new = format!("+{}", row(&partition(disk)?)?);
        ensure!(old[1..] != new[1..], "the script moved nothing");
        for line in [old, new] {
            let shown = looked.said.matches(&line).count();
            ensure!(shown == HOSTS.len(), "{shown} times {line}: {}", looked.said);
        }
    }
    let fixed = bytes(&disks)?;
    let again = played(room, "plan", &["--diff"], &disks, &kept)?;
    for host in HOSTS {
        let tally = &again.recap[host];
        ensure!(tally["ok"] == 1 && tally["changed"] == 0, "{}", again.said);
    }
    ensure!(bytes(&disks)? == fixed && !plan.exists(), "a second plan changed something");
    ensure!(!again.said.contains(": start "), "a second plan has a diff: {}", again.said);
    Ok("each script did what the diff says; then changed=0".to_owned())
}

/// Acts the scene in which the second of three hosts has no plan. Fails when the third is asked.
pub(super) fn stops(room: &Room) -> anyhow::Result<String> {
    let mut disks = disks(room, "plan-stops")?;
    disks[1] = PathBuf::from("/no/such/disk");
    let ran = played(room, "plan-stops", &[], &disks, &json!({}))?;
    let [first, second, third] = HOSTS;
    ensure!(ran.recap[first]["ok"] == 1 && ran.recap[first]["failed"] == 0, "{}", ran.said);
    ensure!(ran.recap[second]["failed"] == 1, "{}", ran.said);
    ensure!(!ran.recap.contains_key(third), "{third} was asked: {}", ran.said);
    Ok(format!("{third} was not asked"))
}

fn disks(room: &Room, scene: &str) -> anyhow::Result<Vec<PathBuf>> {
    let place = room.place(&format!("{scene}/disks"))?;
    for host in HOSTS {
        image(&place.join(host), MISALIGNED)?;
    }
    files(&place)
}

fn bytes(disks: &[PathBuf]) -> anyhow::Result<Vec<Vec<u8>>> {
    disks.iter().map(|disk| std::fs::read(disk).context("a disk is gone")).collect()
}

fn played(
    room: &Room,
    scene: &str,
    words: &[&str],
    disks: &[PathBuf],
    more: &Value,
) -> anyhow::Result<Played> {
    let target = |disk: &PathBuf| format!("straddle_target={}", text(disk));
    let inventory: Vec<String> =
        HOSTS.iter().zip(disks).map(|(host, disk)| local(host, &target(disk))).collect();
    let mut variables = more.clone();
    variables["straddle_path"] = json!(room.program);
    let words = [&["straddle.storage.plan"], words].concat();
    play_with(room, scene, &words, &inventory, &variables)
}

/// Makes the script of a plan, and runs it as its first lines say.
fn typed(room: &Room, disk: &Path) -> anyhow::Result<()> {
    let script = disk.with_extension("sh");
    let words = ["plan", text(disk), "--script", "-o", text(&script)];
    tools::output(&mut room.straddle(room.path(), &words))?;
    // Disks that are alike to the byte share an identifier, so each has a directory of its own.
    let kept = disk.with_extension("kept");
    std::fs::create_dir(&kept)?;
    let name = disk.file_name().unwrap_or_default();
    let mut shell = Command::new("sh");
    tools::answer(shell.args([&script, disk, &kept]).arg("--confirm").arg(name))?;
    Ok(())
}

/// Returns the only partition, as sfdisk reads it.
fn partition(disk: &Path) -> anyhow::Result<Value> {
    let table = tools::answer(tool::command("sfdisk").arg("--json").arg(disk))?;
    let table: Value = serde_json::from_str(&table)?;
    Ok(table["partitiontable"]["partitions"][0].clone())
}

/// Returns the line of a partition in a diff; sfdisk counts in sectors.
fn row(partition: &Value) -> anyhow::Result<String> {
    let bytes =
        |key: &str| partition[key].as_u64().map(|sectors| sectors * 512).context("no number");
    Ok(format!("1: start {}, length {} bytes", bytes("start")?, bytes("size")?))
}
