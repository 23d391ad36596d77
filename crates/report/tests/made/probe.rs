//! Probes made by hand.

use crate::made::sample::{envelope, notes};
use measure::Interval;
use measure::probe::{PanelKind, Reading, TurnPolicy};
use report::probe::{
    Answers, FoundAlignment, FoundBytes, FoundDepth, FoundTurn, FoundTurns, PROBE_SCHEMA, Probe,
    ProbeAnswer, ProbeComparison, ProbeTarget, Reported, ResultFate, Spent, ToolHost, tools,
};
use report::{Envelope, Run};

pub(crate) fn found<T>(value: T) -> ProbeAnswer<T> {
    ProbeAnswer {
        value: Some(value),
        alpha: Some(0.004),
        said_by: Some("writes shifted by 512 bytes are slower".to_owned()),
        why: None,
        reason: None,
    }
}

/// A shifted platter of 512e sectors.
pub(crate) fn platter() -> Probe {
    let mut answers = Answers::not_tried("it was not tried");
    answers.alignment = found(FoundAlignment { bytes: 4096, origin_bytes: 3584 });
    answers.size = found(FoundBytes { bytes: 4096 });
    answers.depth = found(FoundDepth { reads: 32, is_of_member: false });
    let (turn_ns, low_ns, high_ns) = (8_333_333, 8_331_000, 8_335_000);
    answers.turn = found(FoundTurn { turn_ns, low_ns, high_ns });
    let policy = TurnPolicy::PerSector;
    answers.turns = found(FoundTurns { turns: 3, low_turns: 2.97, high_turns: 3.02, policy });
    let run = Run {
        command: vec!["straddle".to_owned(), "probe".to_owned()],
        started: "2026-01-02T03:04:05Z".to_owned(),
        kernel: Some("6.12".to_owned()),
        host: None,
        machine: None,
    };
    Probe {
        envelope: Envelope { notes: notes(), ..envelope(PROBE_SCHEMA, run) },
        seed: 1,
        elapsed_ns: 21_400_000_000,
        dry_run: false,
        target: ProbeTarget {
            path: "/data".to_owned(),
            layers: vec!["sda: \x1b[2Jevil".to_owned()],
            drive: Some("sda".to_owned()),
            model: Some("ST\u{1b}4000".to_owned()),
            firmware: Some("CC\n52".to_owned()),
            capacity_bytes: None,
            writes: true,
            length_bytes: 64 << 20,
        },
        spent: Spent { written_bytes: 90 << 20, ..Spent::default() },
        tools: tools(&answers, &ToolHost::default()),
        answers,
        reported: Reported {
            physical_sector_bytes: Some(512),
            physical_sector_lies: Some(true),
            ..Reported::default()
        },
        comparisons: vec![ProbeComparison {
            panel: PanelKind::Alignment,
            arm: "64 KiB, shifted by 512 B".to_owned(),
            against: "64 KiB, shifted by 0 B".to_owned(),
            interval: Interval { ratio: 3.0, low: 2.9, high: f64::INFINITY },
            blocks: 29,
            reading: Reading::Slower,
        }],
        kept: ResultFate { file: None, reason: Some("--no-save".to_owned()) },
    }
}
