//! The trace: its schema, and what people see.

use report::trace::{
    TRACE_SCHEMA, Trace, TraceCopy, TraceCost, TraceEffort, TraceEnd, TraceExtent, TraceLayer,
    TracePiece, TraceShare, TraceStep, TraceTotal, TraceUnknown, TraceUntold, table,
};
use report::{Envelope, Fact, Look, Refusal, Run};
use serde_json::Value;
use stack::file_extents::RunState;
use stack::{LayerType, UnitFact, UnitKind};
use testkit::schema;
use units::Source;

use crate::sample::{envelope, notes};

pub(crate) const COMMITTED: &str = include_str!("../../schema/straddle.trace.1.schema.json");

fn layer(id: u32, below: &[u32], kind: LayerType, name: &str) -> TraceLayer {
    let unit = |unit, bytes| UnitFact {
        unit,
        bytes: Some(bytes),
        origin_bytes: 0,
        source: Some(Source::Sysfs),
        used: id == 0,
        reason: String::new(),
    };
    TraceLayer {
        id,
        below: below.to_vec(),
        kind,
        name: name.to_owned(),
        title: format!("a {}", kind.word()),
        length_bytes: Some(1 << 30),
        units: vec![unit(UnitKind::Granule, 4096), unit(UnitKind::LogicalSector, 512)],
    }
}

fn copy(disk: u32, at_bytes: u64) -> TraceCopy {
    let step = |layer, at_bytes| TraceStep { layer, at_bytes };
    TraceCopy {
        path: vec![step(2, at_bytes), step(disk, at_bytes + 512)],
        end: TraceEnd::Leaf,
        reason: String::new(),
    }
}

fn extent(offset_bytes: u64, state: RunState) -> TraceExtent {
    TraceExtent {
        offset_bytes,
        length_bytes: 8192,
        state,
        flags: vec!["shared".into(), "last".into()],
        shared: true,
        physical_bytes: (state == RunState::Data).then_some(1 << 20),
        reason: if state == RunState::Encoded {
            "compressed\x1b[31m".to_owned()
        } else {
            String::new()
        },
        alignment: Vec::new(),
        starts_at: Vec::new(),
        pieces: Vec::new(),
        pieces_end_bytes: None,
    }
}

/// A file of a mirror half of which is off, with a hole and something compressed.
pub(crate) fn sample() -> Trace {
    let share = TraceShare {
        unit: UnitKind::Granule,
        layer: 0,
        unit_bytes: 4096,
        assumed: true,
        aligned_bytes: 0,
        misaligned_bytes: 8192,
        offsets_bytes: vec![512],
    };
    let effort = |untold: u64| TraceEffort {
        told_ios: 2,
        granules_read: 4,
        granules_written: 5,
        rmws: 4,
        parity_updates: 0,
        untold: vec![TraceUntold { ios: untold, reason: "it lies in a hole".to_owned() }],
    };
    let mut data = extent(0, RunState::Data);
    data.alignment = vec![share.clone()];
    data.pieces = vec![TracePiece {
        offset_bytes: 0,
        length_bytes: 8192,
        copies: vec![copy(0, 1 << 20), copy(1, 1 << 20)],
    }];
    Trace {
        envelope: Envelope { notes: notes(), ..envelope(TRACE_SCHEMA, Run::default()) },
        file: "db/file\\u{1b}[31m".to_owned(),
        file_bytes: Some(24576),
        offset_bytes: 0,
        length_bytes: 24576,
        facts: vec![Fact {
            key: "atomic-write-max-bytes".into(),
            value: None,
            source: None,
            reason: Some("not answered".to_owned()),
        }],
        layers: vec![
            layer(0, &[], LayerType::Drive, "sda"),
            layer(1, &[], LayerType::Drive, "sdb"),
            layer(2, &[0, 1], LayerType::FileSystem, "btrfs"),
            layer(3, &[2], LayerType::File, "db/file"),
        ],
        extents: vec![data, extent(8192, RunState::Hole), extent(16384, RunState::Encoded)],
        omitted_extents: 2,
        total: TraceTotal {
            extents: 2,
            placed_bytes: 8192,
            hole_bytes: 8192,
            unknown: vec![TraceUnknown { bytes: 8192, reason: "compressed".to_owned() }],
            unvisited_bytes: 1,
            alignment: vec![share],
        },
        cost: Some(TraceCost {
            io_bytes: 4096,
            ios: 6,
            counted_ios: 6,
            read: effort(4),
            write: effort(4),
            writes_with_rmw: 2,
            writes_with_parity_rmw: 0,
        }),
    }
}

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
