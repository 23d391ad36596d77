//! A result of `straddle drive simulate` on the page.

use maud::{Markup, html};

use super::chart::{Caption, Dot, factors};
use super::elements::{Tone, chip, folded, more, notes, pairs, say, time, words};
use super::headline::Headline;
use super::short_answer::{Rank, ShortAnswer};
use super::table::{Cell, Row, figure, head, row, table, told};
use crate::bench::figure_rounding::number;
use crate::drive::{
    CUT_COLUMNS, CUT_HEADS, CUT_MEANING, LEAF_HEADS, PART_HEADS, SimulatedArm, Simulation, cut_row,
    drive_name, leaf_row, part_row, place, rmw,
};
use crate::quantity_words::count_of;

/// The most rows of a table.
const ROWS_MAX: usize = 120;
/// From so many times on a cost stands out: more than the model's place on a track makes.
const COSTS: f64 = 1.1;
const HEADS: [&str; 9] =
    ["Drive", "Place", "Operations/s", "Mean", "p50", "p99", "p99.9", "Cost", "RMW"];

/// All of one result; `id` makes names unique on the page.
pub(super) fn section(id: &str, simulation: &Simulation) -> Markup {
    let arms = &simulation.arms[..simulation.arms.len().min(ROWS_MAX)];
    let command = say(&simulation.envelope.run.command.join(" "));
    html! {
        p { (say(&simulation.workload)) ". Models of drives did it in simulated time: no drive was "
            "touched." }
        h3 { "What it costs" }
        (table("Cost of the workload on each drive and place", &HEADS,
            arms.iter().map(one)))
        (more(simulation.arms.len() - arms.len(), "rows"))
        (parts(arms))
        (leaves(arms))
        p.quiet { (against(simulation)) }
        (costs(id, arms))
        (cuts(arms))
        (failures(arms))
        (notes(&simulation.envelope.notes))
        (folded("Command", &pairs(&[
            ("Command", Some(command).filter(|words| !words.is_empty())),
            ("Seed", Some(simulation.seed.to_string())),
            ("straddle", Some(say(&simulation.envelope.version))),
        ])))
    }
}

fn one(arm: &SimulatedArm) -> Row {
    let cost = html! {
        @if stands_out(arm) { (chip(Tone::Bad, "dearer")) " " } (number(arm.ratio))
    };
    row([
        head(&drive_name(arm)),
        told(&place(arm, words().look)),
        figure(number(arm.operations_per_second)),
        figure(time(arm.mean_ns)),
        figure(time(arm.p50_ns)),
        figure(time(arm.p99_ns)),
        figure(time(arm.p999_ns)),
        figure(cost),
        figure(rmw(arm)),
    ])
}

/// Returns the times of each job's reads and writes.
fn parts(arms: &[SimulatedArm]) -> Markup {
    html! {
        @if arms.iter().any(|arm| arm.parts.is_some()) {
            h3 { "What each job's reads and writes took" }
            (table("Times of each job's reads and writes", &PART_HEADS,
                arms.iter().flat_map(by_part)))
        }
    }
}

fn by_part(arm: &SimulatedArm) -> impl Iterator<Item = Row> {
    arm.parts.iter().flatten().take(ROWS_MAX).map(move |part| {
        let [job, figures @ ..] = part_row(part, words().look);
        let whose = format!("{}, {}", drive_name(arm), place(arm, words().look));
        let mut cells = vec![head(&whose), told(&job)];
        cells.extend(figures.iter().map(|text| figure(say(text))));
        row(cells)
    })
}

/// Returns what each of several drives under a layer did.
fn leaves(arms: &[SimulatedArm]) -> Markup {
    html! {
        @if arms.iter().any(|arm| arm.leaves.is_some()) {
            h3 { "What each drive did, for each operation" }
            (table("What each of several drives did", &LEAF_HEADS, arms.iter().flat_map(by_leaf)))
        }
    }
}

fn by_leaf(arm: &SimulatedArm) -> impl Iterator<Item = Row> {
    arm.leaves.iter().flatten().take(ROWS_MAX).map(move |leaf| {
        let mut cells = vec![head(&place(arm, words().look))];
        cells.extend(leaf_row(arm, leaf).iter().map(|text| figure(say(text))));
        row(cells)
    })
}

/// Returns what was left when the power was cut, where it was.
fn cuts(arms: &[SimulatedArm]) -> Markup {
    let rows: Vec<[String; CUT_COLUMNS]> =
        arms.iter().filter_map(|arm| cut_row(arm, words().look)).collect();
    let drawn = |cells: [String; CUT_COLUMNS]| {
        let [drive, place, counts @ ..] = cells;
        let named = [head(&drive), told(&place)].into_iter();
        row(named.chain(counts.iter().map(|text| figure(say(text)))).collect::<Vec<Cell>>())
    };
    html! {
        @if !rows.is_empty() {
            h3 { "What is left when the power goes" }
            (table("Writes that power cuts took from each drive", &CUT_HEADS,
                rows.into_iter().map(drawn)))
            p.quiet {
                (CUT_MEANING) "."
            }
        }
    }
}

fn stands_out(arm: &SimulatedArm) -> bool {
    arm.ratio > COSTS
}

/// Returns what a cost is a factor of, and what RMW counts.
fn against(simulation: &Simulation) -> String {
    let whose = match simulation.arms.first() {
        Some(SimulatedArm { layer: Some(_), .. }) => "the time at the aligned place above it",
        Some(first) if simulation.arms.iter().any(|arm| arm.against != first.against) => {
            "the time of the first row of each drive"
        }
        _ => "the time of the first row",
    };
    format!("Cost is how many times {whose} it takes; RMW, what is read first for each operation.")
}

fn costs(id: &str, arms: &[SimulatedArm]) -> Markup {
    let caption = Caption {
        id: format!("{id}-c"),
        title: "Cost of every row".to_owned(),
        description: "A dot for each row's cost, a line from 1 to it, on a logarithmic axis; the \
                      numbers are those of the table."
            .to_owned(),
    };
    let dot = |arm: &SimulatedArm| Dot {
        name: format!("{} {}", place(arm, words().look), drive_name(arm)),
        at: arm.ratio,
        line: [1.0, arm.ratio],
        odd: stands_out(arm),
    };
    factors(&caption, &arms.iter().map(dot).collect::<Vec<Dot>>())
}

fn failures(arms: &[SimulatedArm]) -> Markup {
    html! {
        @if arms.iter().any(|arm| arm.failed > 0) {
            ul.notes {
                @for arm in arms.iter().filter(|arm| arm.failed > 0) {
                    li {
                        (chip(Tone::Care, "failed")) " " (arm.failed) " of " (arm.operations)
                        " operations on " (say(&drive_name(arm)))
                    }
                }
            }
        }
    }
}

/// Returns what was simulated, in a few words.
pub(super) fn title(simulation: &Simulation) -> String {
    let mut drives: Vec<&str> = simulation.arms.iter().map(|arm| arm.drive.as_str()).collect();
    drives.dedup();
    match drives[..] {
        [one] => format!("simulation of {}", say(one)),
        _ => "simulation of drives".to_owned(),
    }
}

/// The result in a few words, for the table of all files.
pub(super) fn headline(simulation: &Simulation) -> Headline {
    let rows = count_of(simulation.arms.len(), "row");
    let dearest = simulation.arms.iter().map(|arm| arm.ratio).fold(0.0, f64::max);
    let figures = match dearest > COSTS {
        true => format!("{rows}, the most expensive costs {} times", number(dearest)),
        false => format!("{rows}, none costs more than the first"),
    };
    Headline::new(Tone::Plain, "simulated", figures)
}

/// The result in a sentence: of models, so that nothing here is wrong.
pub(super) fn short_answer(simulation: &Simulation) -> ShortAnswer {
    ShortAnswer::new(Rank::Plain, format!("{}.", headline(simulation).figures))
}
