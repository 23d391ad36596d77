//! Built-in profiles, and those that are refused.

use super::engines::BUILT_IN;
use super::{Engines, Profile, Sync};
use crate::profile_text::PROFILE_BYTES_MAX;

#[test]
fn every_engine_that_is_promised_has_a_profile_of_its_name() {
    let engines = Engines::built_in();
    let names: Vec<&str> = engines.iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(
        names.join("|"),
        "etcd|openshift|cockroachdb|tikv|postgresql|mysql|sqlite|mongodb|kafka|zookeeper|redis|\
         nats|ceph|raft-strict"
    );
    for ((file, _), name) in BUILT_IN.iter().zip(names) {
        assert_eq!(*file, name);
    }
    assert_eq!(engines.find("ETCD").unwrap().name, "etcd");
    assert!(engines.find("etc").unwrap_err().contains("etcd, openshift"));
}

#[test]
fn engines_are_found_by_the_names_that_people_type_and_a_wrong_one_suggests_the_nearest() {
    let engines = Engines::built_in();
    for (typed, name) in [
        ("postgres", "postgresql"),
        ("pg", "postgresql"),
        ("MariaDB", "mysql"),
        ("innodb", "mysql"),
        ("k3s", "etcd"),
        ("etcd3", "etcd"),
        ("sqlite3", "sqlite"),
        ("mongo", "mongodb"),
        ("redis-aof", "redis"),
    ] {
        assert_eq!(engines.find(typed).unwrap().name, name, "{typed}");
    }
    for (typed, near) in
        [("postgers", "postgresql"), ("mysq", "mysql"), ("cokroach", "cockroachdb")]
    {
        let hint = engines.find(typed).unwrap_err();
        assert!(hint.starts_with(&format!("try --for {near}; known engines are etcd,")), "{hint}");
    }
    assert!(engines.find("zfs").unwrap_err().starts_with("known engines are etcd,"));
    // Each name leads to one.
    let names = |profile: &Profile| [vec![profile.name.clone()], profile.aliases.clone()].concat();
    let mut all: Vec<String> = engines.iter().flat_map(names).collect();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}

/// One commit in a hundred says nothing of the other 99.
#[test]
fn no_profile_reasons_from_a_percentile_to_a_rate() {
    for profile in &Engines::built_in().iter().collect::<Vec<_>>() {
        for limit in [&profile.warn, &profile.fail] {
            for text in [&limit.sentence, &limit.from()] {
                assert!(!text.contains("fewer than"), "{}: {text}", profile.name);
            }
        }
    }
    let engines = Engines::built_in();
    for (name, above) in [("mysql", "10 ms"), ("postgresql", "10 ms"), ("sqlite", "20 ms")] {
        let sentence = &engines.find(name).unwrap().warn.sentence;
        let said = format!("Slow commits: one in a hundred waits longer than {above}");
        assert!(sentence.starts_with(&said), "{sentence}");
    }
}

#[test]
fn etcd_appends_2300_bytes_to_a_preallocated_segment_and_wants_10_ms() {
    let etcd = Engines::built_in().find("etcd").unwrap().clone();
    assert_eq!((etcd.pattern.write_bytes, etcd.pattern.file_bytes), (2300, 64_000_000));
    assert_eq!(etcd.pattern.sync, Sync::Fdatasync);
    assert_eq!((etcd.warn.above_ns, etcd.fail.above_ns), (10_000_000, 100_000_000));
    assert!(etcd.warn.from().starts_with("https://etcd.io/") && !etcd.warn.is_ours());
    assert!(etcd.fail.is_ours() && etcd.fail.from().starts_with("set by the engine profile: "));
}

#[test]
fn a_sites_own_profile_adds_an_engine_or_replaces_one() {
    let (_, text) = BUILT_IN[0];
    let mut engines = Engines::built_in();
    let own = text.replace("name = \"etcd\"", "name = \"ours-etcd\"");
    engines.add(Profile::parse("own.toml", &own).unwrap());
    assert_eq!(engines.iter().count(), 15);
    let stricter = text.replace("above = \"10 ms\"", "above = \"5 ms\"");
    engines.add(Profile::parse("etcd.toml", &stricter).unwrap());
    assert_eq!(engines.iter().count(), 15);
    assert_eq!(engines.find("etcd").unwrap().warn.above_ns, 5_000_000);
}

/// Checks the message for etcd's profile with `old` replaced by `new`.
#[track_caller]
fn check(old: &str, new: &str, expected: &str) {
    let (_, text) = BUILT_IN[0];
    assert!(text.contains(old), "{old}");
    let error = Profile::parse("own.toml", &text.replacen(old, new, 1)).unwrap_err();
    let said = format!("{error}; {}", error.hint());
    assert!(said.contains(expected), "{said}\nis not\n{expected}");
    assert!(said.starts_with("cannot read the profile: own.toml:"), "{said}");
}

#[test]
fn what_cannot_be_meant_is_refused_with_its_line() {
    check("write = 2300", "writes = \"2300\"", "own.toml:17: unknown field `writes`");
    check("sync = \"fdatasync\"\n", "", "missing field `sync`");
    check("above = \"10 ms\"", "above = \"10\"", "such as 10 ms, got `above = \"10\"`");
    check("above = \"10 ms\"", "above = \"-10 ms\"", "got `above = \"-10 ms\"`");
    check("above = \"10 ms\"", "above = \"10 mb\"", "own.toml:26");
    check("above = \"10 ms\"", "above = 10", "own.toml:26: expected a whole number with ns");
    check("above = \"10 ms\"", "above = \"0 ms\"", "above is 0 ms, outside of 1 us to 60 s");
    check("above = \"10 ms\"", "above = \"99999999 s\"", "outside of 1 us to 60 s");
    check(
        "above = \"10 ms\"",
        "above = \"200 ms\"",
        "own.toml:26: the warn limit of 200 ms is above",
    );
    check("quantile = \"p99\"", "quantile = \"p98\"", "one of p50, p90, p95, p99, p99.9");
    check("write = 2300", "write = \"0\"", "write is 0, outside of 1 B to 16 MiB");
    check("write = 2300", "write = \"2300 ms\"", "expected a size such as 4 KiB");
    check("samples = 30000", "samples = -1", "samples is -1, outside of 100 to 1000000");
    check("samples = 30000", "samples = 1e9", "own.toml:22: expected a number");
    check(
        "samples = 30000",
        "samples = \"many\"",
        "expected a whole number, got `samples = \"many\"`",
    );
    check("sync = \"fdatasync\"", "sync = \"O_DIRECT+O_DSYNC\"", "choose a multiple of 512 B");
    check("source = \"ours\"\n", "source = \"ftp://x\"\n", "expected an address");
    check("name = \"etcd\"", "name = \"et cd\"", "own.toml:2: expected a name");
    check("name = \"etcd\"", "name = \"etcd", "own.toml:2: ");
    check("name = \"etcd\"", "name = \"etcd\"\nname = \"etcd\"", "own.toml:3: duplicate key");
    check("title = \"etcd: write-ahead log\"", "title = \"a\\u001b[31m\"", "expected one line");
    check("title = \"etcd: write-ahead log\"", "title = \" \"", "expected one line of text");
    check(
        "file = \"64 MB\"",
        "file = \"4 KiB\"\nwrites_per_sync = 2",
        "own.toml:20: file is 4096 bytes, and one sync follows 2 of 2300 bytes, which are 4600; \
         make file at least 4600, or lower write or writes_per_sync",
    );
    check(
        "notes = [",
        &format!("notes = [{}", "\"n\", ".repeat(40)),
        "the number of notes is 44, outside of 0 to 32",
    );
}

#[test]
fn a_limit_of_ones_own_needs_a_reason() {
    let (_, text) = BUILT_IN[0];
    let at = text.find("reason = ").unwrap();
    let end = at + text[at..].find('\n').unwrap();
    let without = format!("{}{}", &text[..at], &text[end + 1..]);
    let error = Profile::parse("own.toml", &without).unwrap_err();
    assert!(error.to_string().ends_with("fail has source \"ours\" but no reason"), "{error}");
}

#[test]
fn a_huge_file_and_deep_nesting_are_refused() {
    let huge = "#".repeat(PROFILE_BYTES_MAX + 1);
    assert!(Profile::parse("own.toml", &huge).unwrap_err().to_string().contains("more than"));
    let deep = format!("notes = {}{}", "[".repeat(30_000), "]".repeat(30_000));
    assert!(Profile::parse("own.toml", &deep).is_err());
}
