//! Many hosts that are this machine: each has a sound result, and a page of all takes no more
//! memory than one of a few.

use std::path::PathBuf;

use anyhow::ensure;
use serde_json::json;
use testkit::scratch::text;

use super::playbook::{local, play};
use super::room::{ALIGNED, MISALIGNED, Room, document, image, sound};
use crate::bench::memory;

/// Results of the smaller page.
const FEW: usize = 100;

/// Most memory that the page of all may take beyond the smaller, in bytes. A page has 8 MiB at most
/// (docs/report.md), and is in memory up to six times while it is put together and escaped.
const GROWTH_BYTES_MAX: u64 = 6 * (8 << 20);

/// Results that fill a page, and more than those. Each further one may take this many bytes: of a
/// file for which the page has no room, only its name and its verdict are kept.
const FULL: usize = 2000;
const OVERFULL: usize = 8000;
const FURTHER_BYTES_MAX: u64 = 2 << 10;

/// Every seventh host is misaligned.
fn is_bad(host: u64) -> bool {
    host.checked_rem(7) == Some(0)
}

/// Acts the scene. Fails when a host has no sound result, or memory grows with their number.
pub(super) fn act(room: &Room) -> anyhow::Result<String> {
    let place = room.place("many")?;
    let (good, bad) = (place.join("good.raw"), place.join("bad.raw"));
    image(&good, ALIGNED)?;
    image(&bad, MISALIGNED)?;
    let mut inventory = Vec::new();
    for host in 0..room.hosts {
        let path = place.join(format!("disk-{host:05}.raw"));
        std::fs::hard_link(if is_bad(host) { &bad } else { &good }, &path)?;
        let targets = format!("straddle_targets=\"['{}']\"", text(&path));
        inventory.push(local(&format!("host-{host:05}"), &targets));
    }
    let path = json!({"straddle_path": room.program});
    let played = play(room, "many", "straddle.storage.check", &inventory, &path)?;
    let files = played.all(inventory.len())?;
    let rules = room.schema("check")?;
    for (host, file) in (0..).zip(&files) {
        let verdict = if is_bad(host) { "misaligned" } else { "aligned" };
        let document = sound(file, &rules)?;
        let found = &document["targets"][0]["verdict"];
        ensure!(found == verdict, "{}: {found}, not {verdict}", file.display());
    }
    let few = peak(room, &files[..files.len().min(FEW)])?;
    let all = peak(room, &files)?;
    let copies = copies(room, &files)?;
    let (full, overfull) = (peak(room, &copies[..FULL])?, peak(room, &copies)?);
    let further = overfull.saturating_sub(full) / (OVERFULL - FULL) as u64;
    let memory = format!(
        "report's peak is {} for {}, {} for all (at most {} more: six times the longest page); {} \
         for {FULL} copies, {} for {OVERFULL}: {further} B for each further result (at most \
         {FURTHER_BYTES_MAX})",
        mib(few),
        files.len().min(FEW),
        mib(all),
        mib(GROWTH_BYTES_MAX),
        mib(full),
        mib(overfull)
    );
    let is_flat = all <= few + GROWTH_BYTES_MAX && further <= FURTHER_BYTES_MAX;
    ensure!(is_flat, "{memory}");
    Ok(format!("{} sound results in {} s; {memory}", files.len(), played.time.as_secs()))
}

/// Writes the results again and again, each time of another host.
fn copies(room: &Room, files: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let place = room.place("many/copies")?;
    let mut copies = Vec::new();
    for (number, file) in files.iter().cycle().take(OVERFULL).enumerate() {
        let mut result = document(file)?;
        result["host"] = json!(format!("copy-{number}"));
        let copy = place.join(format!("{number:05}.json"));
        std::fs::write(&copy, result.to_string())?;
        copies.push(copy);
    }
    Ok(copies)
}

/// Returns the most bytes that were resident while a page of these files was made.
fn peak(room: &Room, files: &[PathBuf]) -> anyhow::Result<u64> {
    let page = room.path().join("page.html");
    let mut words = vec!["report", "-o", text(&page)];
    words.extend(files.iter().map(|file| text(file)));
    let run = memory::run(&room.program, &words, room.path())?;
    ensure!(run.code == 0, "report ended with {}", run.code);
    std::fs::remove_file(page)?;
    Ok(run.peak_bytes)
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
