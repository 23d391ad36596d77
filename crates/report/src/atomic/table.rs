//! The verdict for people: the answer, a line for each layer, the settings.

use durability::untorn::{
    GuardSetting, GuardState, PageFate, PageRole, UntornAnswer, UntornVerdict,
};

use super::AtomicWrites;
use crate::bench::grid::{Cell, cell, prose};
use crate::colored_line::{BAD, CARE, GOOD, Line, NAME, PLAIN, QUIET};
use crate::text::{hang, width, wrap};
use crate::text_page::TextPage;
use crate::view_options::Look;

/// Columns that a reason keeps at least.
const REASON_COLUMNS: usize = 24;

/// The whole answer as text, with its last line feed; empty where the command refused.
#[must_use]
pub fn table(answer: &AtomicWrites, look: &Look) -> String {
    let Some(verdict) = &answer.verdict else { return String::new() };
    let mut page = TextPage::new(look);
    head(&mut page, answer, verdict);
    let rows = verdict.layers.iter().map(|line| {
        let style = match line.fate {
            PageFate::Whole => GOOD,
            PageFate::Unknown => CARE,
            PageFate::Torn => BAD,
        };
        let source = line.source.iter().filter(|_| look.explain).map(|url| format!(" [{url}]"));
        let reason = line.reason.clone() + &source.collect::<String>();
        let fate = match (line.fate, line.role) {
            // What is written later may get other places.
            (PageFate::Whole, PageRole::Files) => "whole now",
            (PageFate::Torn, _) => "may tear",
            (fate, _) => fate.word(),
        };
        [cell(line.name.as_str()), (style, fate.to_owned()), cell(reason)]
    });
    rows_of(&mut page, ["layer", "a page", "reason"], rows.collect());
    let rows = verdict.settings.iter().map(setting);
    rows_of(&mut page, ["", "setting", "source"], rows.collect());
    for note in &answer.envelope.notes {
        prose((NAME, "note:".to_owned()), &page.words.text(note), page.limit, &mut page.text);
    }
    page.text
}

fn head(page: &mut TextPage<'_>, answer: &AtomicWrites, verdict: &UntornVerdict) {
    let (words, engine) = (page.words, verdict.engine.title());
    let target = words.text(&answer.target);
    let keep = format!("keep torn-page protection on for {engine} in {target}");
    let (style, answer, text) = match verdict.answer {
        UntornAnswer::Yes => (
            GOOD,
            format!("YES {}:", words.exact(verdict.page_bytes)),
            format!("{engine} may run in {target} without torn-page protection"),
        ),
        UntornAnswer::No => (BAD, "NO:".to_owned(), keep),
        UntornAnswer::Unknown => (CARE, "UNKNOWN:".to_owned(), keep),
    };
    page.prose((style, answer), &text);
    if !verdict.because.is_empty() {
        let because = words.text(&verdict.because);
        page.text += &(hang(&format!("  because  {because}"), page.limit) + "\n");
    }
}

fn setting(setting: &GuardSetting) -> [Cell; 3] {
    let style = match setting.state {
        GuardState::Allowed => GOOD,
        GuardState::Required => CARE,
        GuardState::Keep => PLAIN,
    };
    let state = (style, setting.state.word().to_owned());
    [state, cell(setting.setting.as_str()), cell(setting.source.as_str())]
}

/// Writes three columns under their heads; the last one is wrapped.
fn rows_of(page: &mut TextPage<'_>, heads: [&str; 3], rows: Vec<[Cell; 3]>) {
    let words = page.words;
    let rows: Vec<[Cell; 3]> =
        rows.into_iter().map(|row| row.map(|(style, text)| (style, words.text(&text)))).collect();
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| width(&row[column].1));
        cells.chain([width(heads[column])]).max().unwrap_or(0)
    };
    let second = 2 + widest(0) + 2;
    let third = second + widest(1) + 2;
    // Where three columns do not fit, the last one starts on a line of its own.
    let is_narrow = third + REASON_COLUMNS > page.limit;
    let third = if is_narrow { 4 } else { third };
    page.text.push('\n');
    let heads = heads.map(|head| (QUIET, head.to_owned()));
    for row in std::iter::once(&heads).chain(&rows) {
        let mut line = Line::default();
        line.advance(2, 0);
        line.push(row[0].0, &row[0].1);
        line.advance(second, 2);
        line.push(row[1].0, &row[1].1);
        if is_narrow {
            std::mem::take(&mut line).end(&mut page.text);
        }
        for part in wrap(&row[2].1, page.limit - third) {
            line.advance(third, 0);
            line.push(row[2].0, &part);
            std::mem::take(&mut line).end(&mut page.text);
        }
    }
}
