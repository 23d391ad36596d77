//! Result files of many hosts.

use report::fsync::{FSYNC_SCHEMA, Fsync, FsyncRow, FsyncTarget, fsync_json};
use testkit::{Scratch, scratch::text};

use crate::run::{Ran, report};

/// What `straddle fsync` writes on a host of which every durable write takes `median_ns`.
fn result(host: u64, median_ns: u64) -> String {
    let row = FsyncRow {
        id: "pg.one.fdatasync".to_owned(),
        label: "fdatasync".to_owned(),
        operations: 1000,
        median_ns: Some(median_ns),
        p99_ns: Some(median_ns * 3 / 2),
        histogram: vec![(median_ns, 1000)],
        ..FsyncRow::default()
    };
    let target = FsyncTarget {
        path: "/var/lib/etcd".to_owned(),
        model: Some("SSD 960".to_owned()),
        firmware: Some("XCV1".to_owned()),
        ..FsyncTarget::default()
    };
    fsync_json(&Fsync {
        schema: FSYNC_SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        host: format!("db-{host:02}"),
        target,
        rows: vec![row],
        ..Fsync::default()
    })
}

fn of_twenty(median_ns: impl Fn(u64) -> u64) -> Ran {
    let scratch = Scratch::new();
    let file = |host: u64| {
        let path = scratch.file(&format!("{host}.json"), result(host, median_ns(host)).as_bytes());
        text(&path).to_owned()
    };
    let files: Vec<String> = (0..20).map(file).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    report(&files)
}

#[test]
fn of_twenty_files_exactly_the_slow_host_is_named() {
    let ran = of_twenty(|host| if host == 11 { 200_000_000 } else { 2_000_000 + host * 20_000 });
    assert_eq!(ran.status, Some(0), "{}", ran.errors);
    assert_eq!(ran.errors.lines().count(), 1, "{}", ran.errors);
    assert!(ran.errors.starts_with("note: db-11 stands out among 20 hosts: its median is 9"));
    assert!(ran.out.contains("<strong>db-11</strong>: median 200 ms"));
    assert_eq!(ran.out.matches("stands out</span>").count(), 1);
}

#[test]
fn where_all_twenty_are_slow_nobody_is_named() {
    let ran = of_twenty(|host| 200_000_000 + host * 1_000_000);
    assert_eq!((ran.status, ran.errors.as_str()), (Some(0), ""));
    assert!(ran.out.contains("No host stands out among its peers."));
}
