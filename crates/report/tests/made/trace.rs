//! A trace made by hand.

use crate::made::sample::{envelope, notes};
use report::trace::{
    TRACE_SCHEMA, Trace, TraceCopy, TraceCost, TraceEffort, TraceEnd, TraceExtent, TraceLayer,
    TracePiece, TraceShare, TraceStep, TraceTotal, TraceUnknown, TraceUntold,
};
use report::{Envelope, Fact, Run};
use stack::file_extents::RunState;
use stack::{LayerType, UnitFact, UnitKind};
use units::Source;

pub(crate) fn layer(id: u32, below: &[u32], kind: LayerType, name: &str) -> TraceLayer {
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

pub(crate) fn copy(disk: u32, at_bytes: u64) -> TraceCopy {
    let step = |layer, at_bytes| TraceStep { layer, at_bytes };
    TraceCopy {
        path: vec![step(2, at_bytes), step(disk, at_bytes + 512)],
        end: TraceEnd::Leaf,
        reason: String::new(),
    }
}

pub(crate) fn extent(offset_bytes: u64, state: RunState) -> TraceExtent {
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
