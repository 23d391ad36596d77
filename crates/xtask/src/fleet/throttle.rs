//! Hosts that measure: never more than two at a time.

use anyhow::{Context as _, ensure};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::playbook::{local, play};
use super::room::{Room, sound};

const HOSTS: usize = 8;
const AT_ONCE: usize = 2;

/// Acts the scene, beside the build: what measures wants a file system of a disk. Fails when more
/// measured at once, or a host has no sound result.
pub(super) fn act(room: &Room) -> anyhow::Result<String> {
    let here = std::env::current_exe()?;
    let inventory: Vec<String> =
        (0..HOSTS).map(|host| local(&format!("host-{host}"), "")).collect();
    let variables = json!({
        "straddle_path": room.program,
        "straddle_directory": here.parent().context("a program is in a directory")?,
        "straddle_seconds": 1,
    });
    let played = play(room, "throttle", "straddle.storage.fsync", &inventory, &variables)?;
    let rules = room.schema("fsync")?;
    let mut spans = Vec::new();
    for file in played.all(HOSTS)? {
        spans.push(span(&sound(&file, &rules)?)?);
    }
    let most = most_at_once(&spans);
    ensure!(most <= AT_ONCE, "{most} of {HOSTS} measured at once");
    Ok(format!("{most} of {HOSTS}, in {} s", played.time.as_secs()))
}

/// Returns when a run began and ended, in nanoseconds since 1970. Fails when its document does not
/// say.
pub(super) fn span(document: &Value) -> anyhow::Result<(i128, i128)> {
    let started: Timestamp = document["started"].as_str().context("no start")?.parse()?;
    let elapsed_ns = document["elapsed_ns"].as_u64().context("no elapsed time")?;
    let started_ns = started.as_nanosecond();
    Ok((started_ns, started_ns + i128::from(elapsed_ns)))
}

/// Returns the most spans that have a moment in common. A span without its end ends another.
pub(super) fn most_at_once(spans: &[(i128, i128)]) -> usize {
    // A set of spans with a moment in common has one in which its last begins.
    let at =
        |moment: i128| spans.iter().filter(|(start, end)| (*start..*end).contains(&moment)).count();
    spans.iter().map(|(start, _)| at(*start)).max().unwrap_or(0)
}
