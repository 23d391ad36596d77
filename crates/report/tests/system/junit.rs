//! JUnit XML, read back with a parser.

use report::{Document, JUNIT_HEAD, JUNIT_TAIL, junit_open, junit_suite};
use stack::Severity;
use testkit::{Scratch, Xml, need_tools, scratch::text, tool};

use crate::made::sample::{
    array, broken, document, hostile, image, old_image, same, shifted_disk, unknowns,
};

/// A suite for each target.
fn junit(document: &Document, fail_on: Severity) -> String {
    let run = &document.envelope.run;
    let suite =
        |(number, target)| format!("{}{}", junit_open(number), junit_suite(target, fail_on, run));
    let suites: String = (0..).zip(&document.targets).map(suite).collect();
    format!("{JUNIT_HEAD}{suites}{JUNIT_TAIL}")
}

#[test]
fn a_shifted_disk_fails_the_case_of_its_partition() {
    same(
        &junit(&document(vec![shifted_disk()]), Severity::Warning),
        r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite id="0" package="straddle.check" name="/dev/sda" timestamp="2026-03-01T12:00:00" hostname="web-3" tests="3" failures="1" errors="0" skipped="0" time="0">
    <properties/>
    <testcase classname="/dev/sda" name="sda (drive)" time="0"/>
    <testcase classname="/dev/sda" name="sda1 (partition)" time="0">
      <failure message="partition start is not on a physical sector" type="ST101">ST101 error: partition start is not on a physical sector
seen: sda1 starts at 131073536 B
seen: 131073536 mod 4096 = 1536
cost: a 4 KiB write reads 2 and writes 2 sectors instead of writing 1: about 3 turns instead of 1
fix: straddle plan /dev/sda
fix: empty disk: parted -a none /dev/sda mkpart data 126MiB 50%</failure>
    </testcase>
    <testcase classname="/dev/sda" name="ext4 (file-system)" time="0"/>
    <system-out/>
    <system-err/>
  </testsuite>
</testsuites>
"#,
    );
}

#[test]
fn unknown_is_skipped_and_a_broken_target_is_an_error() {
    same(
        &junit(&document(vec![unknowns(), broken()]), Severity::Warning),
        r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite id="0" package="straddle.check" name="/dev/sdb" timestamp="2026-03-01T12:00:00" hostname="web-3" tests="4" failures="0" errors="0" skipped="4" time="0">
    <properties/>
    <testcase classname="/dev/sdb" name="sdb (drive)" time="0">
      <skipped message="unknown: neither sysfs nor identify says a sector size"/>
    </testcase>
    <testcase classname="/dev/sdb" name="sdb1 (partition)" time="0">
      <skipped message="unknown: neither sysfs nor identify says a sector size"/>
    </testcase>
    <testcase classname="/dev/sdb" name="secure (dm-integrity)" time="0">
      <skipped message="not expressible: dm-integrity interleaves tags with data, so no fixed offset leads to the drive"/>
    </testcase>
    <testcase classname="/dev/sdb" name="vg0/snapshot (lvm-lv)" time="0">
      <skipped message="undefined: the kernel says alignment_offset -1"/>
    </testcase>
    <system-out/>
    <system-err/>
  </testsuite>
  <testsuite id="1" package="straddle.check" name="/dev/sdz" timestamp="2026-03-01T12:00:00" hostname="web-3" tests="1" failures="0" errors="1" skipped="0" time="0">
    <properties/>
    <testcase classname="/dev/sdz" name="target" time="0">
      <error message="cannot open `/dev/sdz`: Permission denied (os error 13)" type="not-judged">hint: run it as root, or let straddle read a captured sysroot</error>
    </testcase>
    <system-out/>
    <system-err/>
  </testsuite>
</testsuites>
"#,
    );
}

#[test]
fn findings_below_the_severity_are_mentioned_and_fail_nothing() {
    let document = document(vec![old_image("b.raw"), array()]);
    for (fail_on, failures) in [(Severity::Info, 3), (Severity::Warning, 3), (Severity::Error, 1)] {
        let xml = Xml::parse(&junit(&document, fail_on));
        assert_eq!(xml.count("failure"), failures, "{fail_on:?}");
        assert_eq!(xml.count("testcase"), 12);
    }
    let text = junit(&document, Severity::Error);
    assert!(text.contains("(partition):\nST101 warning: partition start"), "{text}");
}

#[test]
fn hostile_text_is_well_formed_xml_without_illegal_characters() {
    let text = junit(&document(vec![hostile(), image("a.raw")]), Severity::Warning);
    let illegal = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{fffe}' | '\u{ffff}');
    assert!(!text.chars().any(illegal), "{text:?}");
    let xml = Xml::parse(&text);
    assert_eq!(xml.count("testsuite"), 2);
    let name =
        "/mnt/evil\\u{1b}[31m\\u{202e}\\u{0}\\u{a}</failure>]]>&\"'\\u{fffe}\\u{7}日本語\\xff";
    assert_eq!(xml.attribute("testsuite", "name"), name);
}

#[test]
fn strict_readers_of_ant_and_the_common_ones_take_every_document() {
    need_tools!("xmllint");
    let scratch = Scratch::new();
    let schema = scratch.file("ant.rng", include_bytes!("junit_ant.rng"));
    let targets = [shifted_disk(), array(), unknowns(), broken(), hostile(), old_image("b.raw")];
    let mut dated = document(targets.to_vec());
    dated.envelope.run.started = "2026-11-26T02:00:00.123Z".to_owned();
    dated.envelope.run.host = Some("db1".to_owned());
    for document in [dated, document(targets.to_vec()), document(Vec::new())] {
        for fail_on in [Severity::Info, Severity::Error] {
            let path = scratch.file("junit.xml", junit(&document, fail_on).as_bytes());
            let (schema, path) = (text(&schema), text(&path));
            tool::run("xmllint", &["--noout", "--relaxng", schema, path]);
        }
    }
    // The schema can fail.
    let path = scratch.file("junit.xml", b"<testsuites><testsuite/></testsuites>");
    let mut lint = tool::command("xmllint");
    lint.args(["--noout", "--relaxng", text(&schema), text(&path)]);
    assert!(!lint.output().expect("it runs").status.success());
}
