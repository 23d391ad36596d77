//! Lines over each other in one chart: each has its color, the dashes that `style.css` gives to
//! that color, and its name where it ends. A limit is a level line.

use maud::Markup;
use plotters::chart::ChartBuilder;
use plotters::element::{PathElement, Text};
use plotters::series::LineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, IntoTextStyle as _, RGBColor, TRANSPARENT};

use super::{Axis, Caption, Drawn, GRID, INK, LETTER, LINES, MARK, Span, WIDTH, figure};
use crate::html::elements::say;
use crate::text;

/// Height of a chart with few names, the least distance of two names, and the room above and below
/// the lines.
const HEIGHT: i32 = 250;
const LINE: i32 = 14;
const MARGIN: i32 = 10;
const FOOT: i32 = 24;
/// Room for half of what the right end of the axis is called.
const EDGE: i32 = 34;
/// Letters of a line of a name, which has two at most, and the room for one letter.
const NAME_MAX: usize = 17;
const LETTER_WIDTH: i32 = 8;

/// One line: its name, which may be anything, and its points, each with its value.
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) points: Vec<(f64, f64)>,
}

/// A value that is drawn as a level line, with its name and color.
pub(super) type Level = (String, f64, RGBColor);

/// Axes of a chart, and what is drawn behind its lines.
pub(super) struct Frame<'a> {
    pub(super) across: Axis,
    /// Label of a place on that axis.
    pub(super) across_name: &'a dyn Fn(f64) -> String,
    pub(super) up: Span,
    /// Label of a value.
    pub(super) up_name: &'a dyn Fn(f64) -> String,
    pub(super) levels: &'a [Level],
    /// A place on the axis across that stands out, with its name.
    pub(super) mark: Option<(f64, String)>,
}

/// A name at the end of its line.
struct EndName {
    down: i32,
    words: Vec<String>,
    color: RGBColor,
}

impl EndName {
    fn height(&self) -> i32 {
        LINE * i32::try_from(self.words.len()).unwrap_or(1)
    }
}

/// The chart of `lines`, at most as many as there are colors; nothing where there are none.
pub(super) fn chart(caption: &Caption, frame: Frame<'_>, lines: &[Line<'_>]) -> Markup {
    let lines = &lines[..lines.len().min(LINES.len())];
    if lines.iter().all(|line| line.points.is_empty()) {
        return Markup::default();
    }
    let named = lines.iter().map(|line| line.name);
    let named = named.chain(frame.levels.iter().map(|level| level.0.as_str()));
    let named: Vec<Vec<String>> = named.map(wrapped).collect();
    let widest = named.iter().flatten().map(|words| text::width(words)).max().unwrap_or(0);
    let room = LETTER_WIDTH * i32::try_from(widest).unwrap_or(0) + MARGIN;
    let all: i32 = named.iter().map(|words| LINE * i32::try_from(words.len()).unwrap_or(1)).sum();
    let height = HEIGHT.max(all + FOOT + 2 * MARGIN);
    let Frame { across, across_name, up, up_name, levels, mark } = frame;
    let span = up.roomy();
    let ends = across.ends.clone();
    let ticks = span.axis().ticks;
    let beside = ticks.iter().map(|value| text::width(&up_name(value.exp()))).max();
    let beside = u32::try_from(beside.unwrap_or(0)).unwrap_or(0);
    figure(caption, height.unsigned_abs(), |area| -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .margin(MARGIN)
            .margin_right(room.max(EDGE))
            .x_label_area_size(FOOT.unsigned_abs())
            .y_label_area_size(14 + 8 * beside)
            .build_cartesian_2d(across, span.axis())?;
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(("sans-serif", LETTER, &INK))
            .x_label_formatter(&|value| across_name(*value))
            .y_label_formatter(&|value| up_name(value.exp()))
            .draw()?;
        for (name, value, color) in levels {
            let line = [(ends.start, span.at(*value)), (ends.end, span.at(*value))];
            // What has no name is what the axis is about.
            let wide = if name.is_empty() { 1 } else { 2 };
            chart.draw_series([PathElement::new(line, color.stroke_width(wide))])?;
        }
        let mut names: Vec<EndName> = Vec::new();
        let mut words = named.into_iter();
        for (line, color) in lines.iter().zip(LINES) {
            let drawn: Vec<(f64, f64)> =
                line.points.iter().map(|&(at, value)| (at, span.at(value))).collect();
            let down = drawn.last().map_or(0, |end| chart.backend_coord(end).1);
            names.push(EndName { down, words: words.next().unwrap_or_default(), color });
            chart.draw_series(LineSeries::new(drawn, color.stroke_width(2)))?;
        }
        for (&(_, value, color), words) in levels.iter().zip(words) {
            let down = chart.backend_coord(&(ends.start, span.at(value))).1;
            names.push(EndName { down, words, color });
        }
        names.retain(|name| !name.words.is_empty());
        spread(&mut names, height);
        let right = i32::try_from(WIDTH).unwrap_or(i32::MAX) - room + MARGIN / 2;
        for EndName { down, words, color } in names {
            let style = ("sans-serif", LETTER).into_text_style(area).color(&color);
            let style = style.pos(Pos::new(HPos::Left, VPos::Center));
            for (words, step) in words.into_iter().zip([0, LINE]) {
                area.draw(&Text::new(words, (right, down + step), style.clone()))?;
            }
        }
        if let Some((at, words)) = mark {
            let line = [(at, span.ends().start), (at, span.ends().end)];
            chart.draw_series([PathElement::new(line, MARK.stroke_width(2))])?;
            let (across, down) = chart.backend_coord(&line[1]);
            let style = ("sans-serif", LETTER).into_text_style(area).color(&MARK);
            area.draw(&Text::new(words, (across.min(240) + 5, down + 2), style))?;
        }
        Ok(())
    })
}

/// `name` in one line, or in two where it is long; none where it is empty.
fn wrapped(name: &str) -> Vec<String> {
    let whole = text::shorten(&say(name), 2 * NAME_MAX, "…");
    if text::width(&whole) <= NAME_MAX {
        return Some(whole).filter(|whole| !whole.trim().is_empty()).into_iter().collect();
    }
    let cuts = whole.char_indices().map(|(at, _)| at);
    let most = cuts.take_while(|&at| text::width(&whole[..at]) <= NAME_MAX).last().unwrap_or(0);
    let word = whole[..most].rfind([' ', '.', '-', ',', '_', '/']).map(|at| at + 1);
    let (first, second) = whole.split_at(word.filter(|at| *at > 3).unwrap_or(most));
    vec![first.trim_end().to_owned(), text::shorten(second.trim_start(), NAME_MAX, "…")]
}

/// Moves `names` apart, so that none touches another and all are inside the chart.
fn spread(names: &mut [EndName], height: i32) {
    names.sort_by_key(|name| name.down);
    let mut least = MARGIN;
    for name in names.iter_mut() {
        name.down = name.down.max(least);
        least = name.down + name.height();
    }
    // Beside the lines, not beside the words below them.
    let mut end = height - MARGIN - FOOT;
    for name in names.iter_mut().rev() {
        name.down = name.down.min(end - name.height() + LINE / 2);
        end = name.down - LINE / 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_at_one_place_are_moved_apart_inside_the_chart() {
        for at in [0, 120, 400] {
            let name =
                |words: usize| EndName { down: at, words: vec![String::new(); words], color: INK };
            let mut names: Vec<EndName> = [1, 2, 1, 2, 2, 1, 2, 1].map(name).into();
            spread(&mut names, HEIGHT);
            let apart = |two: &[EndName]| two[1].down - two[0].down >= two[0].height();
            assert!(names.windows(2).all(apart));
            assert!(names[0].down >= 0 && names[7].down + names[7].height() <= HEIGHT);
        }
    }

    #[test]
    fn a_long_name_has_two_lines_and_is_whole() {
        assert_eq!(wrapped("fdatasync"), ["fdatasync"]);
        assert_eq!(wrapped("open_datasync.buffered"), ["open_datasync.", "buffered"]);
        assert_eq!(wrapped("shifted 512 B on the array"), ["shifted 512 B on", "the array"]);
        assert_eq!(wrapped(&"x".repeat(30)), ["x".repeat(17), "x".repeat(13)]);
        assert_eq!(wrapped(""), [""; 0]);
    }
}
