//! Many hosts that are this machine: each has a sound result, and a page of all takes no more
//! memory than one of a few.

use std::path::PathBuf;

use anyhow::ensure;
use serde_json::json;
use testkit::scratch::text;

use super::playbook::{local, play};
use super::room::{ALIGNED, MISALIGNED, Room, image, sound};
use crate::bench::memory;

/// Results of the smaller page.
const FEW: usize = 100;

/// Most memory that the larger page may take beyond the smaller, in bytes: a page has 8 MiB at most
/// (docs/report.md), and while it is written a copy of that may be in memory.
const GROWTH_BYTES_MAX: u64 = 16 << 20;

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
    ensure!(
        all <= few + GROWTH_BYTES_MAX,
        "report takes {} for {} results and {} for {FEW}: over {} more",
        mib(all),
        files.len(),
        mib(few),
        mib(GROWTH_BYTES_MAX)
    );
    Ok(format!(
        "{} sound results in {} s; report's peak is {} for {}, {} for all: {:.2} times (bound: \
         {} more, twice the longest page)",
        files.len(),
        played.time.as_secs(),
        mib(few),
        files.len().min(FEW),
        mib(all),
        all as f64 / few as f64,
        mib(GROWTH_BYTES_MAX)
    ))
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
