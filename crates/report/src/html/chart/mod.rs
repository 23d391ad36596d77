//! Charts: drawn by `plotters` into SVG, each with a title, a description and the same figures in a
//! table or a sentence beside it.
//!
//! Names of rows are drawn short; the library escapes them. The colors are those of the light
//! page; `style.css` gives each another one where the page is dark, by the attribute that holds it.

mod axis;
mod dots;
mod lines;
mod over_time;
mod percentiles;
mod strips;

use maud::{Markup, PreEscaped, html};
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea as _};
use plotters::style::RGBColor;

use axis::Axis;
pub(super) use axis::Span;
pub(super) use dots::{Dot, factors, latencies};
pub(super) use over_time::{pace, pair_by_pair, slowest, sustained};
pub(super) use percentiles::{CURVES_MAX, Curve, Scales, percentiles};
pub(super) use strips::strips;

use super::elements::{Tone, say, words};
use crate::bench::figure_rounding::chosen_time;
use crate::text;
use units::number::{real, whole};

/// Text and axes.
const INK: RGBColor = RGBColor(0x4a, 0x52, 0x5a);
/// Lines to read values by.
const GRID: RGBColor = RGBColor(0xd9, 0xdd, 0xe1);
/// Color of data.
const DATA: RGBColor = RGBColor(0x0b, 0x57, 0xd0);
/// Colors of the lines of one chart: each has its dashes too, so that no two look alike to anyone.
const LINES: [RGBColor; 8] = [
    DATA,
    RGBColor(0xa0, 0x40, 0x00),
    RGBColor(0x12, 0x60, 0x2f),
    RGBColor(0x7b, 0x3f, 0x98),
    RGBColor(0x00, 0x69, 0x6b),
    RGBColor(0xa3, 0x20, 0x6e),
    RGBColor(0x6a, 0x5d, 0x00),
    RGBColor(0x5b, 0x5b, 0x5b),
];
/// Color of a limit that a warning begins at.
const CARE: RGBColor = RGBColor(0x9a, 0x67, 0x00);
/// Color of what stands out.
const MARK: RGBColor = RGBColor(0xb3, 0x26, 0x1e);

/// Width of every chart in its own units; it grows and shrinks with the page.
const WIDTH: u32 = 400;
/// Height of letters in those units, as the library wants it: it draws them 1.24 times smaller.
const LETTER: f64 = 15.0;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// A chart's name, and in a sentence what it shows.
pub(super) struct Caption {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) description: String,
}

/// A latency that is drawn as a level line, in nanoseconds, with its name and how bad
/// it is to be above.
pub(super) type Limit = (String, u64, Tone);

fn levels(limits: &[Limit]) -> Vec<lines::Level> {
    let color = |tone: Tone| if tone == Tone::Care { CARE } else { MARK };
    let level = |(name, limit_ns, tone): &Limit| (name.clone(), real(*limit_ns), color(*tone));
    limits.iter().map(level).collect()
}

/// A latency on an axis as a person writes it: `5 ms`, not `5.00 ms`.
fn label(latency_ns: f64) -> String {
    chosen_time(whole(latency_ns.round()), words())
}

/// A name of a file as it fits beside a row: at most `letters` wide, never empty.
fn short(name: &str, letters: usize) -> String {
    let name = text::shorten(&say(name), letters, "…");
    if name.trim().is_empty() { "-".to_owned() } else { name }
}

/// Returns what `draw` draws, as a figure; without a picture where nothing can be drawn.
fn figure(caption: &Caption, height: u32, draw: impl FnOnce(&Area<'_>) -> Drawn) -> Markup {
    let mut text = String::new();
    let drawn = {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        draw(&area).and_then(|()| area.present())
    };
    // The library's own root names a size in pixels and nothing for those who do not see it.
    let inner = text.split_once('>').and_then(|(_, rest)| rest.trim_end().strip_suffix("</svg>"));
    // What all of them have alike stands in the style of the page. No name holds a plain quote.
    let inner = inner.filter(|_| drawn.is_ok()).map(|inner| {
        let inner = inner.replace(" opacity=\"1\"", "").replace(" font-family=\"sans-serif\"", "");
        inner
            .replace(&format!(" font-size=\"{}\"", LETTER / 1.24), "")
            .replace(" stroke-width=\"1\"", "")
    });
    let (title, about) = (format!("{}-t", caption.id), format!("{}-d", caption.id));
    html! {
        figure {
            @match inner {
                Some(inner) => svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img"
                    aria-labelledby=(title) aria-describedby=(about) {
                    title id=(title) { (caption.title) }
                    desc id=(about) { (caption.description) }
                    (PreEscaped(inner))
                },
                None => p.quiet { "This cannot be drawn." },
            }
            figcaption { strong { (caption.title) "." } " " (caption.description) }
        }
    }
}
