//! `drive simulate --published` and `--validate`.

use drive::published::{LineOrigin, PublishedNumber, published, validation};
use report::Envelope;
use report::drive::{PUBLISHED_SCHEMA, Published, PublishedLine, published_json, published_table};

use crate::arguments::Simulate;
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, Said};
use crate::shared::run;

/// Puts every published number beside the model's.
pub(super) fn run(asked: &Simulate) -> anyhow::Result<CommandOutcome> {
    let compared = match asked.validate {
        true => validation(asked.seed),
        false => published(asked.seed),
    };
    let document = Published {
        envelope: Envelope::new(PUBLISHED_SCHEMA, run::anywhere()),
        seed: asked.seed,
        lines: compared.iter().map(line).collect(),
    };
    let text = match asked.document.json {
        true => published_json(&document),
        false => published_table(&document, &printer::look(false)),
    };
    let said = Said::or(printer::print(&text)?, "there are no published numbers");
    Ok(if compared.iter().all(is_fine) {
        CommandOutcome::Done
    } else {
        CommandOutcome::Found(said)
    })
}

/// Returns whether a figure is within its bounds, or is known not to be.
fn is_fine(line: &PublishedNumber) -> bool {
    line.is_within() || !line.outside.is_empty() || line.standing == LineOrigin::Fitted
}

/// The line of a document.
pub(super) fn line(compared: &PublishedNumber) -> PublishedLine {
    // Nothing but its reason excuses a figure that is outside.
    let notes: &[&str] = match is_fine(compared) {
        true => &[compared.outside, compared.note],
        false => &[],
    };
    let note = notes.iter().find(|note| !note.is_empty());
    PublishedLine {
        article: compared.article.title().to_owned(),
        what: compared.what.to_owned(),
        unit: compared.unit.to_owned(),
        published: compared.published,
        published_max: compared.published_max,
        model: compared.model,
        error_percent: compared.error_percent(),
        bound_percent: compared.bound_percent,
        label: compared.standing,
        drive: Some(compared.profile.to_owned()).filter(|profile| !profile.is_empty()),
        within: compared.is_within(),
        note: note.map(|&note| note.to_owned()),
        served: None,
        served_error_percent: None,
    }
}

#[cfg(test)]
mod tests {
    use drive::published::{Article, published_of};

    use super::*;

    #[test]
    fn a_figure_outside_its_bounds_is_found_unless_its_reason_is_known() {
        let lines = published_of(&[Article::BlocksAlignment], 1);
        let within = lines.into_iter().find(PublishedNumber::is_within).expect("one is");
        let off = PublishedNumber { model: within.published_max * 9.0, outside: "", ..within };
        let predicted = PublishedNumber { standing: LineOrigin::Predicted, ..off };
        assert!(is_fine(&within) && !is_fine(&predicted));
        let noted = PublishedNumber { note: "seen in 2013", ..predicted };
        assert!(!is_fine(&noted) && line(&noted).note.is_none(), "a note is no reason");
        assert!(is_fine(&PublishedNumber { outside: "known", ..predicted }));
        assert!(is_fine(&PublishedNumber { standing: LineOrigin::Fitted, ..off }));
    }
}
