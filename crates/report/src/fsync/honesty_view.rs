//! Verdict on completed syncs, for people: the grade, what speaks for and against it, what
//! each layer counted, what drive and process say.

use durability::{Direction, Grade, POWER_CUT};

use super::{Honesty, LayerFlushes, ProcessWord};
use crate::bench::figure_rounding::UNKNOWN;
use crate::bench::grid::{Cell, Sheet, SheetRow, cell, labeled, prose, quiet};
use crate::colored_line::{BAD, CARE, GOOD, NAME};
use crate::quantity_words::ViewWords;

/// Writes all of it.
pub(super) fn honesty(honesty: &Honesty, words: ViewWords<'_>, limit: usize, text: &mut String) {
    // The reason follows, with its source.
    let sentence = match honesty.grade {
        Grade::Unproven => "no evidence against durability, but not all could be checked.",
        Grade::Consistent if honesty.is_in_guest() => "the host is not visible.",
        _ => &honesty.sentence,
    };
    prose(grade(honesty), &words.text(sentence), limit, text);
    for evidence in &honesty.evidence {
        let style = match evidence.direction {
            Direction::Against => BAD,
            Direction::For => GOOD,
            Direction::Open => CARE,
        };
        let source = format!("({})", words.text(&evidence.source));
        let pieces = vec![(style, words.text(&evidence.sentence)), quiet(source)];
        labeled(evidence.label(), pieces, limit, text);
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
    // Of a durable sync the grade says it.
    let is_said = |change: &&String| honesty.grade != Grade::Consistent || *change != POWER_CUT;
    for change in honesty.would_change.iter().filter(is_said) {
        labeled("next:", vec![cell(words.text(change))], limit, text);
    }
}

fn grade(honesty: &Honesty) -> Cell {
    let style = match honesty.grade {
        Grade::Consistent if honesty.is_in_guest() => NAME,
        Grade::Consistent => GOOD,
        Grade::NotDurable => BAD,
        Grade::Unproven | Grade::Opaque | Grade::Suspect => CARE,
    };
    let is = if honesty.grade == Grade::Consistent { "" } else { "is " };
    (style, format!("sync {is}{}:", honesty.words()))
}

/// A row for each layer.
fn layers(layers: &[LayerFlushes], words: ViewWords<'_>, limit: usize, text: &mut String) {
    let row = |layer: &LayerFlushes| {
        // Unknown is shown where flushes should have been counted, and nothing elsewhere.
        let none = if layer.write_cache.is_some() { UNKNOWN } else { "" };
        let flushes = layer.flushes_per_sync.filter(|flushes| flushes.is_finite());
        let cells = vec![
            words.text(&layer.name),
            flushes.map_or(none.to_owned(), |flushes| format!("{flushes:.2}")),
            layer.write_cache.as_ref().map_or(String::new(), |mode| words.text(mode)),
            words.text(&layer.kind),
        ];
        SheetRow { group: String::new(), cells }
    };
    let heads = &["layer", "flushes per sync", "write cache", "kind"];
    Sheet { heads, droppable: &[3, 2], rows: layers.iter().map(row).collect() }.write(limit, text);
}

fn process(process: &ProcessWord, words: ViewWords<'_>, limit: usize, text: &mut String) {
    let name = format!("{} ({})", process.pid, words.text(&process.name));
    let mut pieces = vec![(NAME, name)];
    match (process.suppressors.is_empty(), process.unknown.is_empty()) {
        (false, _) => pieces.extend(process.suppressors.iter().map(|one| cell(words.text(one)))),
        (true, true) => pieces.push(cell("nothing visible intercepts its syncs")),
        (true, false) => pieces.push((
            CARE,
            "cannot tell whether its syncs reach the kernel: not all of it is visible".to_owned(),
        )),
    }
    pieces.extend(process.looked_at.iter().map(|one| quiet(words.text(one))));
    labeled("process", pieces, limit, text);
}
