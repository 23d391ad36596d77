//! `drive simulate --published`.

use drive::published::{Compared, Standing, published};
use report::drive::{PUBLISHED_SCHEMA, Published, PublishedLine, published_json, published_table};

use crate::arguments::Simulate;
use crate::exit::Outcome;
use crate::printer;

/// Puts every published number beside the model's.
pub(super) fn run(asked: &Simulate) -> anyhow::Result<Outcome> {
    let compared = published(asked.seed);
    let document = Published {
        schema: PUBLISHED_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: asked.seed,
        lines: compared.iter().map(line).collect(),
    };
    let text = match asked.json {
        true => published_json(&document),
        false => published_table(&document, &printer::look(false)),
    };
    printer::print(&text)?;
    let is_fine = |line: &Compared| {
        line.is_within() || !line.outside.is_empty() || line.standing == Standing::Fitted
    };
    Ok(if compared.iter().all(is_fine) { Outcome::Clean } else { Outcome::Found })
}

fn line(compared: &Compared) -> PublishedLine {
    let note = [compared.outside, compared.note].into_iter().find(|note| !note.is_empty());
    PublishedLine {
        article: compared.article.title().to_owned(),
        what: compared.what.to_owned(),
        unit: compared.unit.to_owned(),
        published: compared.published,
        published_max: compared.published_max,
        model: compared.model,
        error_percent: compared.error_percent(),
        bound_percent: compared.bound_percent,
        label: compared.standing.word().to_owned(),
        drive: Some(compared.profile.to_owned()).filter(|profile| !profile.is_empty()),
        within: compared.is_within(),
        note: note.map(str::to_owned),
    }
}
