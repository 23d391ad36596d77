//! A simulation for people: a row for each drive and place.

use super::{SimulatedArm, SimulatedLeaf, Simulation};
use crate::bench::grid::{Grid, cell, labelled, prose, quiet};
use crate::look::Look;
use crate::words::Words;

/// The whole simulation as text, with its last line feed.
#[must_use]
pub fn simulation_table(simulation: &Simulation, look: &Look) -> String {
    let limit = look.columns();
    let mut page = String::new();
    labelled("workload", vec![cell(&simulation.workload)], limit, &mut page);
    let mut grid = Grid::default();
    let heads = ["drive", "place", "a second", "mean", "p50", "p99", "cost", "RMW"];
    grid.push(heads.iter().map(|head| quiet(*head)).collect());
    for arm in &simulation.arms {
        grid.push(row(arm, look).into_iter().map(cell).collect());
    }
    if grid.fits(limit) {
        grid.write(&mut page);
    } else {
        for arm in &simulation.arms {
            let [drive, place, rate, mean, p50, p99, cost, rmw] = row(arm, look);
            let text = format!(
                "{place}: {rate} a second, mean {mean}, p50 {p50}, p99 {p99}, cost {cost}, RMW \
                    {rmw}"
            );
            prose(cell(drive), &text, limit, &mut page);
        }
    }
    leaves(simulation, look, &mut page);
    cut_table(simulation, look, &mut page);
    let first = simulation.arms.first();
    let faults = simulation.arms.iter().filter(|arm| arm.failed > 0);
    for arm in faults {
        let text =
            format!("{} of {} operations failed on {}", arm.failed, arm.operations, arm.drive);
        prose(quiet("note"), &text, limit, &mut page);
    }
    if let Some(first) = first.filter(|_| simulation.arms.len() > 1) {
        let against = match &first.layer {
            Some(_) => "at the aligned place above".to_owned(),
            None => format!("on {}, {}", first.drive, place(first, look)),
        };
        let text = format!(
            "cost is how many times the time {against} it takes; RMW, what is read first for each \
             operation. Simulated: no drive was touched"
        );
        prose(quiet("note"), &text, limit, &mut page);
    }
    for note in &simulation.notes {
        prose(quiet("note"), note, limit, &mut page);
    }
    page
}

/// What each of several drives under a layer did.
fn leaves(simulation: &Simulation, look: &Look, page: &mut String) {
    let limit = look.columns();
    let mut grid = Grid::default();
    grid.push(LEAF_HEADS.iter().map(|head| quiet(*head)).collect());
    let told = |arm: &SimulatedArm| {
        let place = place(arm, look);
        let row = |leaf: &SimulatedLeaf| (place.clone(), leaf_row(arm, leaf));
        arm.leaves.iter().flatten().map(row).collect::<Vec<(String, [String; 5])>>()
    };
    // What it is compared with did the same elsewhere.
    let own = simulation.arms.iter().filter(|arm| arm.layer.as_deref() != Some("aligned"));
    let rows: Vec<(String, [String; 5])> = own.flat_map(told).collect();
    if rows.is_empty() {
        return;
    }
    for (place, row) in &rows {
        let cells = std::iter::once(place).chain(row).map(|text| cell(text.clone()));
        grid.push(cells.collect());
    }
    if grid.fits(limit) {
        page.push('\n');
        return grid.write(page);
    }
    for (place, [name, commands, read, written, rmw]) in rows {
        let text = format!(
            "{name}, {commands} commands for each operation, {read} read, {written} written, RMW \
             {rmw}"
        );
        prose(cell(place), &text, limit, page);
    }
}

/// What is told of a drive, for each operation.
pub(crate) const LEAF_HEADS: [&str; 6] =
    ["place", "its drive", "commands", "read", "written", "RMW"];

/// The drive's name, and what it did for each operation of the whole.
pub(crate) fn leaf_row(arm: &SimulatedArm, leaf: &SimulatedLeaf) -> [String; 5] {
    let each = |count: u64| match arm.operations {
        0 => "-".to_owned(),
        operations => format!("{:.2}", real(count) / real(operations)),
    };
    let bytes = |count: u64| match arm.operations {
        0 => "-".to_owned(),
        operations => format!("{:.0} B", real(count) / real(operations)),
    };
    [
        leaf.name.clone(),
        each(leaf.did.commands),
        bytes(leaf.read_bytes),
        bytes(leaf.written_bytes),
        each(leaf.did.rmw_reads),
    ]
}

/// What was left when the power was cut: a row for each drive and place.
fn cut_table(simulation: &Simulation, look: &Look, page: &mut String) {
    let limit = look.columns();
    let mut grid = Grid::default();
    grid.push(CUT_HEADS.iter().map(|head| quiet(*head)).collect());
    let cut = |arm| cut_row(arm, look);
    let rows: Vec<[String; CUT_COLUMNS]> = simulation.arms.iter().filter_map(cut).collect();
    if rows.is_empty() {
        return;
    }
    page.push('\n');
    for row in &rows {
        grid.push(row.iter().map(cell).collect());
    }
    if grid.fits(limit) {
        grid.write(page);
    } else {
        for [drive, place, broken, lost, torn, promised, missing, neighbours, unfit] in &rows {
            let text = format!(
                "{place}: {broken} cuts broke a promise; {lost} writes lost, {torn} torn, \
                 {promised} promised writes among them; sectors: {missing} missing, \
                 {neighbours} neighbours lost, {unfit} unfit"
            );
            prose(cell(drive), &text, limit, page);
        }
    }
    let text = "of the writes that were acknowledged when the power went, summed over the cuts: \
                lost and torn without a promise is legal; promised is what was flushed or forced, \
                or acknowledged by a drive that says it has no cache that forgets. Missing are \
                sectors that a promise covers, or that nobody wrote; neighbours, such as cannot be \
                read since they share a physical sector with a write; unfit, such as have mirrors \
                that differ or a parity that does not fit";
    prose(quiet("note"), text, limit, page);
}

/// How many columns say what cuts left.
pub(crate) const CUT_COLUMNS: usize = 9;

/// What they are called.
pub(crate) const CUT_HEADS: [&str; CUT_COLUMNS] = [
    "drive",
    "place",
    "broken cuts",
    "lost",
    "torn",
    "promised lost",
    "missing",
    "neighbours",
    "unfit",
];

/// What cuts left of an arm; `None` where there were none.
pub(crate) fn cut_row(arm: &SimulatedArm, look: &Look) -> Option<[String; CUT_COLUMNS]> {
    let cuts = arm.cuts.as_ref()?;
    Some([
        drive_name(arm),
        place(arm, look),
        format!("{} of {}", cuts.broken_cuts, cuts.cuts),
        format!("{} of {}", cuts.lost_writes, cuts.acknowledged_writes),
        cuts.torn_writes.to_string(),
        format!("{} of {}", cuts.broken_writes, cuts.promised_writes),
        cuts.missing_sectors.to_string(),
        cuts.neighbour_sectors.to_string(),
        cuts.mirror_sectors.saturating_add(cuts.parity_sectors).to_string(),
    ])
}

fn row(arm: &SimulatedArm, look: &Look) -> [String; 8] {
    [
        drive_name(arm),
        place(arm, look),
        match arm.operations_per_second {
            rate if rate < 1000.0 => format!("{rate:.1}"),
            rate => format!("{rate:.0}"),
        },
        time(arm.mean_ns),
        time(arm.p50_ns),
        time(arm.p99_ns),
        format!("{:.2}", arm.ratio),
        rmw(arm),
    ]
}

/// The drive, with what of it was changed.
pub(crate) fn drive_name(arm: &SimulatedArm) -> String {
    match arm.changed.is_empty() {
        true => arm.drive.clone(),
        false => format!("{} {}", arm.drive, arm.changed.join(" ")),
    }
}

/// How much was read first for each operation.
pub(crate) fn rmw(arm: &SimulatedArm) -> String {
    let reads = arm.did.rmw_reads.saturating_add(arm.did.parity_rmws);
    match arm.operations {
        0 => "-".to_owned(),
        operations => format!("{:.2}", real(reads) / real(operations)),
    }
}

/// Where it was done: how far shifted, or in which layer, and where that begins on the drive.
pub(crate) fn place(arm: &SimulatedArm, look: &Look) -> String {
    if let Some(variant) = &arm.variant {
        return variant.clone();
    }
    match (&arm.layer, arm.shift_bytes) {
        (Some(layer), _) => format!("{layer} at {}", Words { look }.size(arm.start_bytes)),
        (None, 0) => "as it is".to_owned(),
        (None, bytes) => format!("{bytes} B off"),
    }
}

/// A time with three digits.
fn time(ns: u64) -> String {
    let ns = real(ns);
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}

/// A count or a time as a real number, rounded beyond 2^53.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn real(number: u64) -> f64 {
    number as f64
}
