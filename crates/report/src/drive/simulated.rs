//! A simulation for people: a row for each drive and place.

use units::number::real;

use super::{SimulatedArm, SimulatedLeaf, SimulatedPart, Simulation};
use crate::bench::figure_rounding::{number, time};
use crate::bench::grid::{Sheet, SheetRow, cell, labeled, prose, quiet};
use crate::quantity_words::ViewWords;
use crate::view_options::Look;

/// The whole simulation as text, with its last line feed.
#[must_use]
pub fn simulation_table(simulation: &Simulation, look: &Look) -> String {
    let limit = look.columns();
    let mut page = String::new();
    labeled("workload", vec![cell(&simulation.workload)], limit, &mut page);
    if let [first, rest @ ..] = &simulation.arms[..]
        && rest.iter().all(|arm| drive_name(arm) == drive_name(first))
    {
        labeled("drive   ", vec![cell(drive_name(first))], limit, &mut page);
    }
    let heads = ["place", "IOPS", "mean", "p50", "p99", "p99.9", "cost", "RMW"];
    let rows = (0..simulation.arms.len()).map(|number| row(simulation, number, look)).collect();
    // Of the times, the p99 is what people look for.
    Sheet { heads: &heads, droppable: &[2, 3, 5], rows }.write(limit, &mut page);
    parts(simulation, look, &mut page);
    leaves(simulation, look, &mut page);
    cut_table(simulation, look, &mut page);
    for note in own_notes(simulation, look).iter().chain(&simulation.envelope.notes) {
        prose(quiet("note"), note, limit, &mut page);
    }
    page
}

/// Returns what failed, and what the columns mean.
fn own_notes(simulation: &Simulation, look: &Look) -> Vec<String> {
    let faults = simulation.arms.iter().filter(|arm| arm.failed > 0);
    let failed = |arm: &SimulatedArm| {
        format!("{} of {} operations failed on {}", arm.failed, arm.operations, arm.drive)
    };
    let mut notes: Vec<String> = faults.map(failed).collect();
    if let [first, _, ..] = &simulation.arms[..] {
        let is_own = simulation.arms.iter().any(|arm| arm.against != first.against);
        let against = match &first.layer {
            Some(_) => "the aligned place above".to_owned(),
            None if is_own => "the first row of each drive".to_owned(),
            None => format!("{}, {}", first.drive, place(first, look)),
        };
        notes.push(format!(
            "cost: time relative to {against}; RMW: read-modify-writes per operation. Simulated: \
             no drive was touched; on a real drive the slowest operations take longer"
        ));
    }
    notes
}

/// Adds the times of each job's reads and writes to `page`.
fn parts(simulation: &Simulation, look: &Look, page: &mut String) {
    let of_arm = |arm: &SimulatedArm| {
        let group = match simulation.arms.len() {
            1 => String::new(),
            _ => format!("{}, {}", drive_name(arm), place(arm, look)),
        };
        let one = |part: &SimulatedPart| SheetRow {
            group: group.clone(),
            cells: part_row(part, look).to_vec(),
        };
        arm.parts.iter().flatten().map(one).collect::<Vec<_>>()
    };
    let rows: Vec<SheetRow> = simulation.arms.iter().flat_map(of_arm).collect();
    if !rows.is_empty() {
        page.push('\n');
        Sheet { heads: &PART_HEADS[1..], droppable: &[2, 3], rows }.write(look.columns(), page);
    }
}

/// Columns of a job's reads or writes, behind the place.
pub(crate) const PART_HEADS: [&str; 7] = ["place", "job", "IOPS", "mean", "p50", "p99", "p99.9"];

/// The job with its reads or writes, their rate, and what they took.
pub(crate) fn part_row(part: &SimulatedPart, look: &Look) -> [String; 6] {
    let what = if part.reads { "reads" } else { "writes" };
    let name = if part.job.is_empty() { what.to_owned() } else { format!("{}, {what}", part.job) };
    let [mean, p50, p99, p999] = [part.mean_ns, part.p50_ns, part.p99_ns, part.p999_ns]
        .map(|ns| time(ns, ViewWords { look }));
    [name, rate(part.operations_per_second), mean, p50, p99, p999]
}

fn rate(per_second: f64) -> String {
    match per_second {
        rate if rate < 1000.0 => format!("{rate:.1}"),
        rate => format!("{rate:.0}"),
    }
}

/// Adds the work of each of several drives under a layer to `page`.
fn leaves(simulation: &Simulation, look: &Look, page: &mut String) {
    // What it is compared with did the same elsewhere.
    let own = simulation.arms.iter().filter(|arm| !arm.reference);
    let rows = own.flat_map(|arm| {
        let one = move |leaf: &SimulatedLeaf| SheetRow {
            group: place(arm, look),
            cells: leaf_row(arm, leaf).to_vec(),
        };
        arm.leaves.iter().flatten().map(one)
    });
    let rows: Vec<SheetRow> = rows.collect();
    if !rows.is_empty() {
        page.push('\n');
    }
    Sheet { heads: &LEAF_HEADS[1..], droppable: &[], rows }.write(look.columns(), page);
}

/// Columns told of a drive, for each operation.
pub(crate) const LEAF_HEADS: [&str; 6] =
    ["place", "its drive", "commands", "read", "written", "RMW"];

/// The drive's name, and what it did for each operation of the whole.
pub(crate) fn leaf_row(arm: &SimulatedArm, leaf: &SimulatedLeaf) -> [String; 5] {
    let each = |count: u64| match arm.operations {
        0 => "-".to_owned(),
        operations => number(real(count) / real(operations)),
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

/// Adds what was left when the power was cut to `page`: a row for each drive and place.
fn cut_table(simulation: &Simulation, look: &Look, page: &mut String) {
    let one = |arm: &SimulatedArm| {
        let [group, cells @ ..] = cut_row(arm, look)?;
        Some(SheetRow { group, cells: cells.to_vec() })
    };
    let rows: Vec<SheetRow> = simulation.arms.iter().filter_map(one).collect();
    if rows.is_empty() {
        return;
    }
    page.push('\n');
    let sheet = Sheet { heads: &CUT_HEADS[1..], droppable: &[5, 6], rows };
    sheet.write(look.columns(), page);
    let shown = sheet.columns(look.columns());
    let more = [
        (5, "; neighbors: sectors that a torn write next to them made unreadable"),
        (6, "; inconsistent: sectors whose mirrors differ or whose parity does not match"),
    ];
    let more: String =
        more.iter().filter(|(at, _)| shown.contains(at)).map(|(_, text)| *text).collect();
    let text = format!("{CUT_MEANING}{more}");
    prose(quiet("note"), &text, look.columns(), page);
}

/// Number of columns that say what cuts left.
pub(crate) const CUT_COLUMNS: usize = 8;

/// Heads of these columns.
pub(crate) const CUT_HEADS: [&str; CUT_COLUMNS] = [
    "drive",
    "place",
    "writes lost",
    "torn",
    "promises broken",
    "in cuts",
    "neighbors",
    "inconsistent",
];

/// Meaning of the first of them.
pub(crate) const CUT_MEANING: &str = "lost, torn: acknowledged writes, in all cuts together; \
     promises broken: lost or torn writes that the drive had promised to keep (flushed, forced, or \
     acknowledged without a volatile cache), of all promised ones; in cuts: cuts that broke one or \
     lost what nothing was writing; a drive may lose all others";

/// Returns what cuts left of an arm; `None` where there were none.
pub(crate) fn cut_row(arm: &SimulatedArm, look: &Look) -> Option<[String; CUT_COLUMNS]> {
    let cuts = arm.cuts.as_ref()?;
    Some([
        drive_name(arm),
        place(arm, look),
        format!("{} of {}", cuts.lost_writes, cuts.acknowledged_writes),
        cuts.torn_writes.to_string(),
        format!("{} of {}", cuts.broken_writes, cuts.promised_writes),
        format!("{} of {}", cuts.broken_cuts, cuts.cuts),
        cuts.neighbour_sectors.to_string(),
        cuts.mirror_sectors.saturating_add(cuts.parity_sectors).to_string(),
    ])
}

fn row(simulation: &Simulation, number: usize, look: &Look) -> SheetRow {
    let arm = &simulation.arms[number];
    let place = reference(simulation, number).map_or_else(
        || place(arm, look),
        |layer| format!("reference for {layer}, at {}", ViewWords { look }.size(arm.start_bytes)),
    );
    let rate = rate(arm.operations_per_second);
    let times = [arm.mean_ns, arm.p50_ns, arm.p99_ns, arm.p999_ns];
    let times = times.map(|ns| time(ns, ViewWords { look }));
    let cells = [place, rate].into_iter().chain(times);
    let cells = cells.chain([ratio(arm), rmw(arm)]).collect();
    SheetRow { group: drive_name(arm), cells }
}

/// The layer of a stack that is compared with this arm, which does the same at an aligned place;
/// `None` of other arms.
fn reference(simulation: &Simulation, number: usize) -> Option<&str> {
    let against = u32::try_from(number).ok().filter(|_| simulation.arms[number].reference)?;
    let later = simulation.arms.iter().skip(number + 1);
    later.filter(|arm| arm.against == against).find_map(|arm| arm.layer.as_deref())
}

fn ratio(arm: &SimulatedArm) -> String {
    number(arm.ratio)
}

/// The drive, with what of it was changed.
pub(crate) fn drive_name(arm: &SimulatedArm) -> String {
    match arm.changed.is_empty() {
        true => arm.drive.clone(),
        false => format!("{} {}", arm.drive, arm.changed.join(" ")),
    }
}

/// Returns how much was read first for each operation.
pub(crate) fn rmw(arm: &SimulatedArm) -> String {
    let reads = arm.did.rmw_reads.saturating_add(arm.did.parity_rmws);
    match arm.operations {
        0 => "-".to_owned(),
        operations => number(real(reads) / real(operations)),
    }
}

/// Returns where it was done: how far shifted, or in which layer, and where that begins on the
/// drive.
pub(crate) fn place(arm: &SimulatedArm, look: &Look) -> String {
    if let Some(variant) = &arm.variant {
        return variant.clone();
    }
    match (&arm.layer, arm.shift_bytes) {
        (Some(layer), _) => format!("{layer} at {}", start(arm.start_bytes, look)),
        (None, 0) => "unshifted".to_owned(),
        (None, bytes) => format!("{bytes} B off"),
    }
}

/// Returns where something starts, to the byte within 4 KiB: what is off stays to be seen.
fn start(bytes: u64, look: &Look) -> String {
    match bytes.checked_rem(4096) {
        None | Some(0) => ViewWords { look }.size(bytes),
        Some(_) if bytes < 1 << 20 => ViewWords { look }.exact(bytes),
        Some(off) => {
            let (sector, off) = (bytes.div_euclid(512), ViewWords { look }.exact(off));
            format!("sector {sector}, {off} after a 4 KiB boundary")
        }
    }
}
