//! Simulations made by hand.

use crate::made::sample::envelope;
use drive::published::LineOrigin;
use report::drive::{
    PUBLISHED_SCHEMA, Published, PublishedLine, SIMULATION_SCHEMA, SimulatedArm, SimulatedCuts,
    SimulatedWork, Simulation,
};
use report::{Envelope, Run};

pub(crate) fn text(word: &str) -> String {
    word.to_owned()
}

/// A row of a simulation that takes so many turns of 8.33 ms.
pub(crate) fn arm(turns: u64) -> SimulatedArm {
    let time = turns * 8_333_333;
    SimulatedArm {
        drive: text("hdd-7200-512e"),
        operations: 10_000,
        elapsed_ns: time * 10_000,
        operations_per_second: 1e9 / (time as f64),
        mean_ns: time,
        p50_ns: time,
        p90_ns: time,
        p99_ns: time + 40_000,
        max_ns: time + 80_000,
        start_bytes: 1 << 20,
        ratio: turns as f64,
        did: SimulatedWork {
            commands: 20_000,
            rmw_reads: (turns - 1) * 10_000,
            ..SimulatedWork::default()
        },
        ..SimulatedArm::default()
    }
}

/// Synced writes on a 512e disk, aligned, a sector off, and with other firmware.
pub(crate) fn shifted() -> Simulation {
    let off = SimulatedArm { shift_bytes: 512, ..arm(3) };
    let serial = SimulatedArm { changed: vec![text("rmw=serial")], ..arm(4) };
    let failed = SimulatedArm { failed: 7, ..serial.clone() };
    let command = ["straddle", "drive", "simulate"].map(text).to_vec();
    Simulation {
        envelope: Envelope {
            notes: vec![text("the trace lost 3 events")],
            ..envelope(SIMULATION_SCHEMA, Run { command, ..Run::default() })
        },
        seed: 1,
        workload: text("4 KiB writes in order, a flush after each, depth 1"),
        arms: vec![arm(1), off, serial, failed],
    }
}

/// The same in the layers of an image.
pub(crate) fn stacked() -> Simulation {
    let aligned = SimulatedArm { layer: Some(text("aligned")), reference: true, ..arm(1) };
    let layer = Some(text("disk.raw#1 ext4"));
    let off = SimulatedArm { layer, start_bytes: 32_256, ..arm(3) };
    Simulation { arms: vec![aligned, off], ..shifted() }
}

pub(crate) fn line(article: &str, label: LineOrigin, model: f64, within: bool) -> PublishedLine {
    PublishedLine {
        article: text(article),
        what: format!("raw, {label:?}").to_lowercase(),
        unit: text("IOPS"),
        published: 118.5,
        published_max: 118.5,
        model,
        error_percent: (model / 118.5 - 1.0) * 100.0,
        bound_percent: 10.0,
        label,
        drive: Some(text("hdd-7200-512e")),
        within,
        note: None,
        served: None,
        served_error_percent: None,
    }
}

/// Numbers of two articles: within, outside with a reason, fitted, a range, and without a drive.
pub(crate) fn compared() -> Published {
    let first = "advanced format disks";
    let note = Some(text("the writeback of metadata is not modeled"));
    Published {
        envelope: envelope(PUBLISHED_SCHEMA, Run::default()),
        seed: 1,
        lines: vec![
            line(first, LineOrigin::Predicted, 119.9, true),
            PublishedLine { note, ..line(first, LineOrigin::Calibrated, 80.0, false) },
            line(first, LineOrigin::Fitted, 200.0, false),
            PublishedLine {
                published_max: 160.0,
                ..line("arrays", LineOrigin::Predicted, 150.0, true)
            },
            PublishedLine { drive: None, ..line("arrays", LineOrigin::Derived, 118.5, true) },
        ],
    }
}

/// Synced writes, of which cuts took some; a drive that lies is among them.
pub(crate) fn cut() -> Simulation {
    let cuts = |broken_cuts, broken_writes| SimulatedCuts {
        cuts: 100,
        broken_cuts,
        acknowledged_writes: 51_234,
        lost_writes: 73,
        torn_writes: 19,
        promised_writes: 50_017,
        broken_writes,
        missing_sectors: 8 * broken_writes,
        neighbour_sectors: 7,
        unreadable_sectors: 8,
        mirror_sectors: 5,
        parity_sectors: 40,
    };
    let mut cut = shifted();
    cut.arms[0].cuts = Some(cuts(0, 0));
    cut.arms[1].cuts = Some(cuts(31, 62));
    cut
}
