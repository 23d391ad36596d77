//! Progress of a measurement, in one line: what is drawn between rounds.

use measure::{Interval, PairStep};
use units::prefix::Size;

use super::figure_rounding::{ratio_bounds, ratio_text, time};
use crate::quantity_words::{ViewWords, count};
use crate::text::{shorten, shorten_middle, width};
use crate::view_options::Look;

/// Columns of the drawn interval.
const SCALE: usize = 25;
/// The ends of what is drawn, as powers of 2: a quarter to four times.
const ENDS_LOG2: f64 = 2.0;

/// Subject of the measurement, and its cost so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchProgress<'a> {
    /// The experiment's title.
    pub title: &'a str,
    /// Duration so far, in nanoseconds.
    pub elapsed_ns: u64,
    /// Number of bytes it has written.
    pub written_bytes: u64,
}

/// One line without a line feed: what is measured, the pairs, the interval so far as figures and
/// drawn on a scale from a quarter to four times, what it took. Never wider than the look.
#[must_use]
pub fn progress(step: &PairStep, so_far: &BenchProgress<'_>, look: &Look) -> String {
    let words = ViewWords { look };
    let ratio = step.median;
    let figures = match ratio.high.is_finite() {
        true => ratio_text(ratio),
        false => ratio_bounds(ratio),
    };
    let pairs = count(step.pairs, "pair");
    let mut parts = vec![pairs, figures];
    let spent = format!("{}, {}", time(so_far.elapsed_ns, words), Size(so_far.written_bytes));
    let limit = look.columns();
    let used = |parts: &[String]| parts.iter().map(|part| width(part) + 2).sum::<usize>();
    // The least wanted falls first: what it took, then the drawing.
    let title_least = 12;
    for part in [drawn(ratio, look), spent] {
        if used(&parts) + width(&part) + title_least <= limit {
            parts.push(part);
        }
    }
    let ellipsis = words.glyphs().ellipsis;
    let room = limit.saturating_sub(used(&parts));
    let title = shorten_middle(&words.text(so_far.title), room, ellipsis);
    parts.insert(0, title);
    shorten(&parts.join("  "), limit, ellipsis)
}

/// `[    ·  |══o══·     ]`: where the interval lies on a logarithmic scale; an arrow where it
/// reaches beyond.
fn drawn(ratio: Interval, look: &Look) -> String {
    let (inside, point, one) = if look.ascii { ('=', 'o', '|') } else { ('═', '●', '│') };
    let cells = (0..SCALE).map(|column| {
        let (from, to) = (edge(column), edge(column + 1));
        let holds = |value: f64| (from..to).contains(&value);
        // No comparison with what is no number holds.
        let within = ratio.low < to && ratio.high >= from;
        match () {
            () if holds(ratio.ratio) => point,
            () if within && column == 0 && ratio.low < from => '<',
            () if within && column + 1 == SCALE && ratio.high >= to => '>',
            () if within => inside,
            () if holds(1.0) => one,
            () => ' ',
        }
    });
    format!("[{}]", cells.collect::<String>())
}

/// Returns where a column of the scale starts.
fn edge(column: usize) -> f64 {
    let share = column as f64 / SCALE as f64;
    (ENDS_LOG2 * (2.0 * share - 1.0)).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(low: f64, ratio: f64, high: f64, width: usize, ascii: bool) -> String {
        let step = PairStep { pairs: 41, median: Interval { ratio, low, high } };
        let title = "4 KiB write + fdatasync, depth 1";
        let so_far = BenchProgress { title, elapsed_ns: 1_420_000_000, written_bytes: 720_896 };
        progress(&step, &so_far, &Look { width: Some(width), ascii, ..Look::default() })
    }

    #[test]
    fn the_interval_narrows_round_by_round() {
        assert_eq!(
            line(0.0, 1.0, f64::INFINITY, 120, false),
            "4 KiB write + fdatasync, depth 1  41 pairs  not known yet  \
             [<═══════════●═══════════>]  1.42 s, 704 KiB"
        );
        assert_eq!(
            line(1.4, 2.9, 6.0, 120, false),
            "4 KiB write + fdatasync, depth 1  41 pairs  2.90 (1.40 to 6.00)  \
             [            │  ═══════●═>]  1.42 s, 704 KiB"
        );
        assert_eq!(
            line(2.97, 3.0, 3.03, 120, true),
            "4 KiB write + fdatasync, depth 1  41 pairs  3.00 (2.97 to 3.03)  \
             [            |         o  ]  1.42 s, 704 KiB"
        );
    }

    #[test]
    fn it_never_exceeds_its_width_whatever_the_figures() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e-300, 1e300];
        for columns in [0, 40, 55, 80, 200] {
            for low in odd {
                for high in odd {
                    let text = line(low, low, high, columns, columns == 55);
                    assert!(width(&text) <= columns.max(40), "{text}");
                    assert!(columns != 55 || text.is_ascii(), "{text}");
                }
            }
        }
        assert_eq!(line(2.97, 3.0, 3.03, 40, true), "4 K...h 1  41 pairs  3.00 (2.97 to 3.03)");
    }
}
