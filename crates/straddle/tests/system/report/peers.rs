//! Result files of many hosts.

use report::fsync::{FSYNC_SCHEMA, Fsync, FsyncRow, FsyncTarget, fsync_json};
use report::{Envelope, Run};
use testkit::{Scratch, scratch::text};

use super::run::{Ran, report};

/// Returns what `straddle fsync` writes on a host of which every durable write takes `median_ns`.
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
    let run = Run { host: Some(format!("db-{host:02}")), ..Run::default() };
    fsync_json(&Fsync {
        envelope: Envelope::new(FSYNC_SCHEMA, run),
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
    assert!(ran.out.contains(">db-11</a>: <strong>Its median is 200 ms"), "the page says it first");
    assert_eq!(ran.out.matches(">slow</span>").count(), 2, "at the top, and in the heat map");
}

#[test]
fn where_all_twenty_are_slow_nobody_is_named() {
    let ran = of_twenty(|host| 200_000_000 + host * 1_000_000);
    assert_eq!((ran.status, ran.errors.as_str()), (Some(0), ""));
    assert!(ran.out.contains("No host stands out among its peers."));
}

#[test]
fn where_all_slow_hosts_run_one_kernel_that_is_named_and_no_host() {
    let scratch = Scratch::new();
    let file = |host: u64| {
        let (kernel, median_ns) =
            if host < 7 { ("6.1.0-13", 200_000_000) } else { ("6.1.0-18", 2_000_000) };
        let of = result(host, median_ns);
        let of = of.replace("\"kernel\": null", &format!("\"kernel\": \"{kernel}\""));
        text(&scratch.file(&format!("{host}.json"), of.as_bytes())).to_owned()
    };
    let files: Vec<String> = (0..20).map(file).collect();
    let ran = report(&files.iter().map(String::as_str).collect::<Vec<&str>>());
    let said = "note: all 7 hosts with kernel 6.1.0-13 are slow: their median is 100.0 times that \
                of the 13 others (fdatasync, pg.one.fdatasync)\n";
    assert_eq!((ran.status, ran.errors.as_str()), (Some(0), said));
}

#[test]
fn a_copy_of_a_file_is_shown_once_and_is_no_second_host() {
    let scratch = Scratch::new();
    let nameless = |host: u64, median_ns: u64| {
        result(host, median_ns).replace(&format!("db-{host:02}"), "localhost")
    };
    let slow = scratch.file("slow.json", nameless(0, 200_000_000).as_bytes());
    let mut files = vec![text(&slow).to_owned()];
    for copy in 0..6 {
        let path = scratch.file(&format!("copy{copy}.json"), nameless(1, 2_000_000).as_bytes());
        files.push(text(&path).to_owned());
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let ran = report(&files);
    assert_eq!((ran.status, ran.errors.as_str()), (Some(0), ""), "two hosts accuse nobody");
    assert_eq!(ran.out.matches("<section class=\"file\"").count(), 2);
    let copies = ran.out.matches(&format!(" is {}</li>", files[1])).count();
    assert_eq!(copies, 5, "each copy is named");
}

#[test]
fn a_page_of_hundreds_of_files_is_bounded_and_names_them_all() {
    let scratch = Scratch::new();
    let file = |host: u64| {
        let median_ns = if host == 123 { 200_000_000 } else { 2_000_000 + host };
        let path = scratch.file(&format!("{host}.json"), result(host, median_ns).as_bytes());
        text(&path).to_owned()
    };
    let files: Vec<String> = (0..400).map(file).collect();
    let ran = report(&files.iter().map(String::as_str).collect::<Vec<&str>>());
    assert_eq!(ran.status, Some(0), "{}", ran.errors);
    assert_eq!(ran.errors.lines().count(), 1, "{}", ran.errors);
    assert!(ran.out.len() < 1 << 20, "{}", ran.out.len());
    assert!(files.iter().all(|file| ran.out.contains(file.as_str())));
    let (short, _) = ran.out.split_once("<h2>Results</h2>").expect("there is a table");
    assert!(short.contains(">db-123</a>"), "the slow one is named first: {short}");
}
