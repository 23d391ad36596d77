//! JUnit XML, read back with a parser.

use stack::Severity;
use testkit::Xml;

use crate::sample::{
    array, broken, document, hostile, image, old_image, same, shifted_disk, unknowns,
};
use crate::whole::junit;

#[test]
fn a_shifted_disk_fails_the_case_of_its_partition() {
    same(
        &junit(&document(vec![shifted_disk()]), Severity::Warning),
        r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="straddle check">
  <testsuite name="/dev/sda" tests="3" failures="1" errors="0" skipped="0">
    <testcase classname="/dev/sda" name="sda (drive)"/>
    <testcase classname="/dev/sda" name="sda1 (partition)">
      <failure message="partition start is not on a physical sector" type="ST101">ST101 error: partition start is not on a physical sector
seen: sda1 starts at 131073536 B
seen: 131073536 mod 4096 = 1536
cost: a 4 KiB write reads 2 and writes 2 sectors instead of writing 1: about 3 turns instead of 1
fix: straddle plan /dev/sda
fix: empty disk: parted -a none /dev/sda mkpart data 126MiB 50%</failure>
    </testcase>
    <testcase classname="/dev/sda" name="ext4 (file-system)"/>
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
<testsuites name="straddle check">
  <testsuite name="/dev/sdb" tests="4" failures="0" errors="0" skipped="4">
    <testcase classname="/dev/sdb" name="sdb (drive)">
      <skipped message="unknown: neither sysfs nor identify says a sector size"/>
    </testcase>
    <testcase classname="/dev/sdb" name="sdb1 (partition)">
      <skipped message="unknown: neither sysfs nor identify says a sector size"/>
    </testcase>
    <testcase classname="/dev/sdb" name="secure (dm-integrity)">
      <skipped message="not expressible: dm-integrity interleaves tags with data, so no fixed offset leads to the drive"/>
    </testcase>
    <testcase classname="/dev/sdb" name="vg0/snapshot (lvm-lv)">
      <skipped message="undefined: the kernel says alignment_offset -1"/>
    </testcase>
  </testsuite>
  <testsuite name="/dev/sdz" tests="1" failures="0" errors="1" skipped="0">
    <testcase classname="/dev/sdz" name="target">
      <error message="cannot open `/dev/sdz`: Permission denied (os error 13)" type="not-judged">hint: run it as root, or let straddle read a captured sysroot</error>
    </testcase>
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
    assert!(text.contains("<system-out>ST101 warning: partition start"), "{text}");
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
