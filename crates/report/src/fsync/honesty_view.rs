//! Verdict on completed syncs, for people: the grade, what speaks for and against it, what
//! each layer counted, what drive and process say.

use durability::{Direction, Grade};

use super::{Honesty, LayerFlushes, ProcessWord};
use crate::bench::figures::UNKNOWN;
use crate::bench::grid::{Cell, Grid, cell, flowing, labeled, prose, quiet};
use crate::colored_line::{BAD, CARE, GOOD, NAME};
use crate::words::ViewWords;

/// Writes all of it.
pub(super) fn honesty(honesty: &Honesty, words: ViewWords<'_>, limit: usize, text: &mut String) {
    // The reason follows, with its source.
    let sentence = match honesty.grade {
        Grade::Unproven => "nothing speaks against it, but not all that matters could be seen.",
        _ => &honesty.sentence,
    };
    prose(grade(honesty.grade), &words.text(sentence), limit, text);
    for evidence in &honesty.evidence {
        let style = match evidence.direction {
            Direction::Against => BAD,
            Direction::For => GOOD,
            Direction::Open => CARE,
        };
        let source = format!("({})", words.text(&evidence.source));
        let pieces = vec![(style, words.text(&evidence.sentence)), quiet(source)];
        labeled(evidence.direction.label(), pieces, limit, text);
    }
    layers(&honesty.layers, words, limit, text);
    if let Some(drive) = &honesty.drive {
        let life = drive.life_used_percent;
        let life = life.map_or("life used: not known".to_owned(), |used| {
            format!("{used} % of its rated life used")
        });
        let protection = drive.power_loss_protection.word();
        let pieces = vec![
            cell(format!("power-loss protection: {protection}")),
            quiet(format!("({})", words.text(&drive.power_loss_source))),
            cell(life),
        ];
        labeled("drive", pieces, limit, text);
    }
    if let Some(seen) = &honesty.process {
        process(seen, words, limit, text);
    }
    for change in &honesty.would_change {
        labeled("next:", vec![cell(words.text(change))], limit, text);
    }
}

fn grade(grade: Grade) -> Cell {
    let style = match grade {
        Grade::Consistent => GOOD,
        Grade::NotDurable => BAD,
        Grade::Unproven | Grade::Opaque | Grade::Suspect => CARE,
    };
    (style, format!("sync is {}:", grade.word().replace('-', " ")))
}

/// A row for each layer; a line for each where columns do not fit.
fn layers(layers: &[LayerFlushes], words: ViewWords<'_>, limit: usize, text: &mut String) {
    if layers.is_empty() {
        return;
    }
    let mut grid = Grid::default();
    let heads = ["layer", "", "write cache", "flushes per sync", "per append", "per empty sync"];
    grid.push(heads.into_iter().map(quiet).collect());
    let rows: Vec<Vec<Cell>> = layers.iter().map(|layer| row(layer, words)).collect();
    rows.iter().for_each(|row| grid.push(row.clone()));
    if grid.fits(limit) {
        return grid.write(text);
    }
    for mut row in rows {
        row.truncate(4);
        row.retain(|(_, text)| !text.is_empty());
        flowing(row, limit, text);
    }
}

fn row(layer: &LayerFlushes, words: ViewWords<'_>) -> Vec<Cell> {
    let figure = |flushes: Option<f64>| {
        flushes.filter(|flushes| flushes.is_finite()).map(|flushes| format!("{flushes:.2}"))
    };
    // Unknown is told where something should have been counted, and left out elsewhere.
    let none = if layer.write_cache.is_some() { UNKNOWN } else { "" };
    let cells =
        [layer.flushes_per_sync, layer.append_flushes_per_sync, layer.empty_flushes_per_sync];
    let mut row = vec![
        (NAME, words.text(&layer.name)),
        cell(words.text(&layer.kind)),
        cell(layer.write_cache.as_ref().map_or(String::new(), |mode| words.text(mode))),
    ];
    row.extend(cells.map(|flushes| cell(figure(flushes).unwrap_or_else(|| none.to_owned()))));
    row
}

fn process(process: &ProcessWord, words: ViewWords<'_>, limit: usize, text: &mut String) {
    let name = format!("{} ({})", process.pid, words.text(&process.name));
    let mut pieces = vec![(NAME, name)];
    match (process.suppressors.is_empty(), process.unknown.is_empty()) {
        (false, _) => pieces.extend(process.suppressors.iter().map(|one| cell(words.text(one)))),
        (true, true) => pieces.push(cell("nothing is seen that keeps its syncs from the kernel")),
        (true, false) => pieces.push((
            CARE,
            "not all of it could be seen, so it is not known whether its syncs reach the kernel"
                .to_owned(),
        )),
    }
    pieces.extend(process.looked_at.iter().map(|one| quiet(words.text(one))));
    labeled("process", pieces, limit, text);
}
