//! Published numbers beside the models', for people.

use super::{Published, PublishedLine};
use crate::bench::grid::{Grid, cell, prose, quiet};
use crate::look::Look;

/// All lines by their articles, what is outside with its reason, and how many are where.
#[must_use]
pub fn published_table(published: &Published, look: &Look) -> String {
    let mut page = String::new();
    let mut rest = &published.lines[..];
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|line| line.article == first.article).count();
        let (lines, others) = rest.split_at(count);
        prose(cell(&first.article), "", look.columns(), &mut page);
        of_article(lines, look, &mut page);
        page.push('\n');
        rest = others;
    }
    let (counted, fitted): (Vec<_>, Vec<_>) =
        published.lines.iter().partition(|line| line.label != "fitted");
    let within = counted.iter().filter(|line| line.within).count();
    let unexplained = counted.iter().filter(|line| !line.within && line.note.is_none()).count();
    let explained = counted.len() - within - unexplained;
    let mut text = format!("of {} numbers that count are within their bounds", counted.len());
    for (number, words) in [
        (explained, "outside, each for the reason above"),
        (unexplained, "outside for no stated reason"),
        (fitted.len(), "fitted, which do not count"),
    ] {
        if number > 0 {
            text.push_str(&format!("; {number} {words}"));
        }
    }
    prose(cell(within.to_string()), &text, look.columns(), &mut page);
    page
}

fn of_article(lines: &[PublishedLine], look: &Look, page: &mut String) {
    let mut grid = Grid::default();
    let heads = ["", "published", "model", "", "error", "label", "drive"];
    grid.push(heads.iter().map(|head| quiet(*head)).collect());
    for line in lines {
        grid.push(vec![
            cell(&line.what),
            cell(range(line)),
            cell(number(line.model)),
            quiet(&line.unit),
            cell(error(line)),
            quiet(&line.label),
            quiet(line.drive.as_deref().unwrap_or_default()),
        ]);
    }
    if grid.fits(look.columns()) {
        grid.write(page);
    } else {
        for line in lines {
            let text = format!(
                "{} for {} {}, {}, {}",
                number(line.model),
                range(line),
                line.unit,
                error(line),
                line.label
            );
            prose(cell(format!("{}:", line.what)), &text, look.columns(), page);
        }
    }
    for line in lines {
        if let Some(note) = &line.note {
            prose(quiet(format!("{}:", line.what)), note, look.columns(), page);
        }
    }
}

/// By how much the model is above, and whether that is outside of the bound.
fn error(line: &PublishedLine) -> String {
    let sign = match (line.within, line.label.as_str()) {
        (true, _) => "",
        (false, "fitted") => " (fitted)",
        (false, _) => " outside",
    };
    format!("{:+.1} %{sign}", line.error_percent)
}

/// Returns what was published, with both ends of a range.
pub(crate) fn range(line: &PublishedLine) -> String {
    let low = number(line.published);
    match line.published_max > line.published {
        true => format!("{low} to {}", number(line.published_max)),
        false => low,
    }
}

/// Number with as many digits as are worth reading.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        huge if huge >= 1e9 => format!("{value:.2e}"),
        below if below < 10.0 => format!("{value:.3}"),
        below if below < 1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
