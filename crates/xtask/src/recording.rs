//! A recording of `straddle demo` as an SVG that plays it step by step.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use crate::cargo::root;

/// Size of a character and of a line, in units of the SVG.
const CHARACTER: f64 = 8.4;
const LINE: f64 = 18.0;
/// Seconds between two steps, and for which the last one stays.
const STEP_SECONDS: usize = 4;

/// Writes `docs/demo.svg`, with what `program` prints.
///
/// # Errors
/// When the program cannot be run or fails, or the file cannot be written.
pub(crate) fn run(program: &Path) -> anyhow::Result<bool> {
    let mut demo = Command::new(program);
    demo.args(["--color", "always", "demo"]).env("LC_ALL", "C.UTF-8").env("COLUMNS", "100");
    let output = demo.output().with_context(|| format!("cannot run {}", program.display()))?;
    anyhow::ensure!(output.status.success(), "straddle demo ended with {}", output.status);
    let printed = String::from_utf8(output.stdout).context("demo prints no UTF-8")?;
    let path = root().join("docs/demo.svg");
    std::fs::write(&path, svg(&printed)).with_context(|| format!("{}", path.display()))?;
    println!("{}", path.display());
    Ok(true)
}

/// The picture of `printed`, whose steps begin with a number.
fn svg(printed: &str) -> String {
    let lines: Vec<&str> = printed.trim_end().lines().collect();
    let columns = lines.iter().map(|line| plain(line).chars().count()).max().unwrap_or(0);
    let (width, height) = (size(columns + 4, CHARACTER), size(lines.len() + 2, LINE));
    let is_step = |line: &str| matches!(line.as_bytes(), [b'1'..=b'9', b'.', b' ', ..]);
    let steps = 1 + lines.iter().filter(|line| is_step(line)).count();
    let seconds = steps * STEP_SECONDS;
    let mut style = String::new();
    for step in 1..steps {
        let shown = 100 * step / steps;
        let _ = writeln!(
            style,
            "@keyframes s{step}{{0%,{shown}%{{opacity:0}}{}%,100%{{opacity:1}}}}\
             .s{step}{{animation:s{step} {seconds}s infinite}}",
            shown + 1
        );
    }
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>straddle demo</title>\n<style>\n\
         text{{font:14px ui-monospace,monospace;white-space:pre;fill:#dcdcdc}}\n\
         .b{{font-weight:bold;fill:#fff}}.d{{fill:#909090}}.r{{fill:#ff7b72}}.y{{fill:#e3b341}}\n\
         {style}@media(prefers-reduced-motion){{g{{animation:none!important}}}}\n</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#16181d\"/>\n<g>\n"
    );
    let mut step = 0;
    for (number, line) in lines.iter().enumerate() {
        if is_step(line) {
            step += 1;
            let class = if step > 1 { format!(" class=\"s{}\"", step - 1) } else { String::new() };
            let _ = writeln!(text, "</g>\n<g{class}>");
        }
        let y = size(number + 2, LINE);
        let _ = writeln!(text, "<text y=\"{y}\">{}</text>", spans(line));
    }
    text.push_str("</g>\n</svg>\n");
    text
}

fn size(count: usize, unit: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a screen has few lines and columns"
    )]
    let pixels = (count as f64 * unit).round() as u32;
    pixels
}

/// A line without its colors.
fn plain(line: &str) -> String {
    pieces(line).into_iter().map(|(_, text)| text).collect()
}

/// The pieces of a line, each with the numbers of its colors ("Select Graphic Rendition" of
/// ECMA-48, 8.3.117).
fn pieces(line: &str) -> Vec<(Vec<&str>, &str)> {
    let (mut found, mut colors) = (Vec::new(), Vec::new());
    for (index, part) in line.split("\u{1b}[").enumerate() {
        let text = match part.split_once('m').filter(|_| index > 0) {
            Some((code, text)) => {
                match code {
                    "0" => colors.clear(),
                    code => colors.push(code),
                }
                text
            }
            None => part,
        };
        found.push((colors.clone(), text));
    }
    found
}

fn spans(line: &str) -> String {
    let (mut text, mut column) = (String::new(), 2);
    for (colors, piece) in pieces(line).into_iter().filter(|(_, piece)| !piece.is_empty()) {
        let class = match &colors[..] {
            [.., "31"] => " class=\"r\"",
            [.., "33"] => " class=\"y\"",
            [.., "1"] => " class=\"b\"",
            [.., "2"] => " class=\"d\"",
            _ if line.starts_with("$ ") => " class=\"b\"",
            _ => "",
        };
        let escaped = piece.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let (x, length) = (size(column, CHARACTER), piece.chars().count());
        let width = size(length, CHARACTER);
        let _ = write!(text, "<tspan x=\"{x}\" textLength=\"{width}\"{class}>{escaped}</tspan>");
        column += length;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_in_the_picture_in_its_colors_and_escaped() {
        let printed =
            "1. Find\n$ straddle <a> & b\n\u{1b}[1m\u{1b}[31mbad\u{1b}[0m rest\n2. Mend\n";
        let svg = svg(printed);
        for part in [
            ">$ straddle &lt;a&gt; &amp; b</tspan>",
            "class=\"r\">bad</tspan>",
            "textLength=\"42\"> rest</tspan>",
            "<g class=\"s1\">\n<text y=\"90\">",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert_eq!(plain("\u{1b}[2ma\u{1b}[0mb"), "ab");
    }
}
