//! Answers to other programs: states for Nagios where nothing can be measured, JSON for jq.

use testkit::running_program::Ran;
use testkit::scratch::text;
use testkit::{Scratch, need_tools, tool};

use crate::check::monitors::image;
use crate::check::run::straddle;

#[test]
fn every_command_of_a_monitor_is_unknown_where_nothing_can_be_measured() {
    for command in [
        &["fsync", "/no/such/place", "--for", "etcd"][..],
        &["bench", "/no/such/place"],
        &["watch", "/no/such/place", "--seconds", "1"],
        &["fsync", "/", "--such-option"],
        &["check", "/no/such/place"],
    ] {
        let words = [command, &["--format", "nagios"]].concat();
        let ran = Ran::from(straddle(&words));
        assert_eq!(ran.status, Some(3), "{words:?}: {ran:?}");
        assert!(ran.out.starts_with("STRADDLE UNKNOWN - "), "{words:?}: {ran:?}");
        assert!(!ran.errors.is_empty(), "{words:?}: {ran:?}");
    }
}

#[test]
fn jq_finds_the_misaligned_hosts_among_results_as_docs_say() {
    need_tools!("jq");
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fleet.md"));
    let docs = docs.expect("the page is there");
    let (_, filter) = docs.split_once("jq -r '").expect("a filter");
    let (filter, _) = filter.split_once("' ").expect("its end");
    let scratch = Scratch::new();
    let results = [("good", 2048), ("bad", 63)].map(|(name, sector)| {
        let disk = image(scratch.path(), format!("{name}.raw").as_ref(), sector);
        let result = straddle(&["check", "--json", text(&disk)]).stdout;
        text(&scratch.file(&format!("{name}.json"), &result)).to_owned()
    });
    let found = tool::run("jq", &["-r", filter, &results[0], &results[1]]);
    let lines: Vec<&str> = found.lines().collect();
    let [line] = lines.as_slice() else { panic!("{found}") };
    let fields: Vec<&str> = line.split('\t').collect();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("it is there");
    assert_eq!(fields[0], host.trim());
    assert!(fields[1].ends_with("bad.raw"), "{found}");
}
