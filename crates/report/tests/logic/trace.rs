//! The trace: its schema, and what people see.

use crate::made::trace::sample;
use report::trace::{Trace, table};
use report::{Look, Refusal};
use serde_json::Value;
use testkit::schema;

pub(crate) const COMMITTED: &str = include_str!("../../schema/straddle.trace.1.schema.json");

#[test]
fn a_trace_is_valid_and_wholly_described() {
    let schema: Value = serde_json::from_str(COMMITTED).expect("the schema is JSON");
    let refused = Trace { cost: None, ..refused() };
    for trace in [sample(), refused] {
        let document = serde_json::from_str(&trace.json()).expect("valid JSON");
        let faults = schema::faults(&schema, &document);
        assert!(faults.is_empty(), "{faults:#?}");
    }
}

#[test]
fn the_table_shows_every_copy_what_is_missed_and_the_cost() {
    let text = table(&sample(), &Look::default());
    for part in [
        "sda @ 1049088 (sector 2049) = sdb @ 1049088  ",
        "granule off by 512 B",
        "2 more",
        "granule of 4 KiB (sda, assumed)  0 % aligned, off by 512 B",
        "cost   average of one I/O of 4 KiB, over 2 of 6 I/Os",
        "2 read-modify-writes (2 granules read, 2.5 written); 100 % need a read-modify-write",
        "4 I/Os not counted: it lies in a hole",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains('\x1b') && !text.contains("atomic writes"), "{text:?}");
}

#[test]
fn two_shifts_that_add_up_are_both_shown() {
    let mut trace = sample();
    trace.extents[0].physical_bytes = Some((1 << 20) + 1024);
    let text = table(&trace, &Look::default());
    let said = "granule off by 512 B (3.5 KiB below + 1 KiB in the file system)";
    assert!(text.contains(said), "{text}");
}

#[test]
fn atomic_writes_are_shown_only_where_they_are_guaranteed() {
    let with = |bytes: &str| {
        let mut trace = sample();
        trace.facts[0].value = Some(bytes.into());
        table(&trace, &Look::default())
    };
    assert!(!with("0").contains("atomic writes"));
    assert!(with("16384").contains("  atomic writes  up to 16 KiB, with RWF_ATOMIC\n"));
}

#[test]
fn what_is_shorter_than_an_io_at_the_end_of_the_range_is_named_as_left_out() {
    let shown = |length_bytes| table(&Trace { length_bytes, ..sample() }, &Look::default());
    assert!(
        shown(6 * 4096).contains("average of one I/O of 4 KiB, over 2 of 6 I/Os\n"),
        "{}",
        shown(6 * 4096)
    );
    let said = "average of one I/O of 4 KiB, over 2 of 6 I/Os; without the last 1 KiB\n";
    assert!(shown(6 * 4096 + 1024).contains(said), "{}", shown(6 * 4096 + 1024));
}

#[test]
fn every_line_of_a_trace_fits_the_terminal_and_shows_every_copy() {
    for width in [60, 80] {
        let text = table(&sample(), &Look { width: Some(width), ..Look::default() });
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        let words: Vec<&str> = text.split_whitespace().collect();
        let copies = "sda @ 1049088 (sector 2049) = sdb @ 1049088";
        assert!(words.join(" ").contains(copies), "{text}");
    }
}

#[test]
fn a_refused_trace_prints_nothing() {
    assert_eq!(table(&refused(), &Look::default()), "");
}

fn refused() -> Trace {
    let mut trace = sample();
    trace.envelope.refusal = Some(Refusal::new("no", None));
    trace
}
