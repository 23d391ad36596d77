//! Made-up results of 20 hosts with the same drive.

use std::path::PathBuf;

use anyhow::ensure;
use report::fsync::{FSYNC_SCHEMA, Fsync, FsyncRow, FsyncTarget, fsync_json};
use report::{Envelope, Run};
use testkit::running_program::Ran;

use super::room::Room;

const HOSTS: u64 = 20;
/// Medians of a drive as it should be, and of one that is 100 times slower.
const QUICK_NS: u64 = 2_000_000;
const SLOW_NS: u64 = 100 * QUICK_NS;
/// The slow host, and the beginning of the line that names it.
const SLOW: u64 = 11;
const NAMED: &str = "note: db-11 stands out among 20 hosts: ";

/// Acts the scene in which one host is slow. Fails when another is named, or none.
pub(super) fn one_slow(room: &Room) -> anyhow::Result<String> {
    let ran = of(room, |host| if host == SLOW { SLOW_NS } else { QUICK_NS + host * 20_000 })?;
    let lines: Vec<&str> = ran.errors.lines().collect();
    ensure!(lines.len() == 1 && lines[0].starts_with(NAMED), "{}", ran.errors);
    Ok(String::new())
}

/// Acts the scene in which all hosts are slow. Fails when one is named.
pub(super) fn all_slow(room: &Room) -> anyhow::Result<String> {
    let ran = of(room, |host| SLOW_NS + host * 1_000_000)?;
    ensure!(ran.errors.is_empty(), "{}", ran.errors);
    ensure!(ran.out.contains("No host stands out among its peers."), "the page says nothing of it");
    Ok(String::new())
}

/// Returns what report says of hosts with these medians.
fn of(room: &Room, median_ns: impl Fn(u64) -> u64) -> anyhow::Result<Ran> {
    let place = room.place("peers")?;
    let mut files: Vec<PathBuf> = Vec::new();
    for host in 0..HOSTS {
        let file = place.join(format!("{host}.json"));
        std::fs::write(&file, result(host, median_ns(host)))?;
        files.push(file);
    }
    let ran = room.report(&files)?;
    ensure!(ran.status == Some(0), "report: {:?}: {}", ran.status, ran.errors);
    Ok(ran)
}

/// Returns what `straddle fsync --json` prints where each durable write takes `median_ns`.
fn result(host: u64, median_ns: u64) -> String {
    let row = FsyncRow {
        id: "pg.one.fdatasync".to_owned(),
        label: "fdatasync".to_owned(),
        operations: 1000,
        median_ns: Some(median_ns),
        p99_ns: Some(2 * median_ns),
        histogram: vec![(median_ns, 1000)],
        ..FsyncRow::default()
    };
    let target = FsyncTarget {
        path: "/var/lib/etcd".to_owned(),
        model: Some("SSD 960".to_owned()),
        firmware: Some("XCV1".to_owned()),
        ..FsyncTarget::default()
    };
    let run = Run { host: Some(format!("db-{host:02}")), ..Run::default() };
    let envelope = Envelope::new(FSYNC_SCHEMA, run);
    fsync_json(&Fsync { envelope, target, rows: vec![row], ..Fsync::default() })
}
