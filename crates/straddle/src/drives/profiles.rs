//! The drives that can be simulated: the built-in ones, and a user's files.

use std::path::Path;

use anyhow::{anyhow, bail};
use drive::profile::{self, DriveProfile};
use report::Envelope;
use report::drive::{
    DRIVES_SCHEMA, DriveText, DriveValue, Drives, drive_list, drive_text, drives_json,
};
use workload::near_words::near_words;
use workload::profile_text::PROFILE_BYTES_MAX;

use crate::arguments::{DriveList, DriveShow};
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, shown};
use crate::shared::run;

/// Lists the built-in drives.
pub(super) fn list(list: &DriveList) -> anyhow::Result<CommandOutcome> {
    let drives = document(profile::built_in().iter());
    let text = match list.document.json {
        true => drives_json(&drives),
        false => drive_list(&drives, &printer::look(false)),
    };
    printer::print(&text)?;
    Ok(CommandOutcome::Done)
}

/// Shows a drive.
pub(super) fn show(show: &DriveShow) -> anyhow::Result<CommandOutcome> {
    if show.toml
        && let Some(text) = profile::text(&show.drive)
    {
        printer::print(text)?;
        return Ok(CommandOutcome::Done);
    }
    if show.sheet {
        let Some(text) = profile::sheet_text(&show.drive) else {
            bail!(
                "cannot print the sheet of {}: its profile is not made of one\nhint: straddle \
                 drive show samsung-990-pro --sheet",
                show.drive
            );
        };
        printer::print(text)?;
        return Ok(CommandOutcome::Done);
    }
    let found = named(&show.drive)?;
    if show.toml {
        bail!(
            "cannot print the built-in file of {}: it is your own file\nhint: name a built-in \
             drive; to list all: straddle drive list",
            show.drive
        );
    }
    let drives = document(std::iter::once(&found));
    let text = match (show.document.json, drives.drives.first()) {
        (false, Some(drive)) => drive_text(drive, &printer::look(false)),
        _ => drives_json(&drives),
    };
    printer::print(&text)?;
    Ok(CommandOutcome::Done)
}

/// The drive that `word` names: a built-in one, else a file.
///
/// # Errors
/// When it is neither, or the file holds no profile.
pub(super) fn named(word: &str) -> anyhow::Result<DriveProfile> {
    match profile::called(word) {
        Some(found) => Ok(found.clone()),
        None => in_file(Path::new(word), FILES_MAX),
    }
}

/// Files that may name each other: a controller, its array, that one's drive, and a base of each.
const FILES_MAX: u8 = 6;

/// The drive that the file at `path` describes; it may name `files` others, beside it.
fn in_file(path: &Path, files: u8) -> anyhow::Result<DriveProfile> {
    let name = shown(path);
    let names = profile::built_in().iter().map(|known| known.name.as_str());
    let near = near_words(&name, names).join("`, `");
    let hint = format!(
        "hint: name a file, or a built-in drive such as `{near}`; straddle drive list shows all"
    );
    let failed = |error: &dyn std::fmt::Display| {
        anyhow!("cannot read the drive profile {name}: {error}\n{hint}")
    };
    if matches!(path.try_exists(), Ok(false)) {
        return Err(anyhow!("there is no built-in drive and no file called {name}\n{hint}"));
    }
    let most = u64::try_from(PROFILE_BYTES_MAX).unwrap_or(u64::MAX);
    let bytes = host::read_input(path, most).map_err(|error| failed(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| failed(&"not UTF-8 text"))?;
    let beside = |name: &str| {
        let path = path.parent()?.join(name);
        let files = files.checked_sub(1).filter(|_| path.is_file())?;
        in_file(&path, files).ok()
    };
    DriveProfile::parse_with(&name, &text, &beside)
        .map_err(|error| anyhow!("{error}\nhint: {}", error.hint()))
}

fn document<'a>(profiles: impl Iterator<Item = &'a DriveProfile>) -> Drives {
    Drives {
        envelope: Envelope::new(DRIVES_SCHEMA, run::anywhere()),
        drives: profiles.map(described).collect(),
    }
}

fn described(profile: &DriveProfile) -> DriveText {
    let value = |value: &profile::Value| DriveValue {
        key: value.key.to_owned(),
        value: value.quantity.shown(value.amount).to_string(),
        label: value.label.word().to_owned(),
        by: value.label.by().to_owned(),
        source: value.source.clone(),
    };
    DriveText {
        name: profile.name.clone(),
        title: profile.title.clone(),
        kind: profile.kind.word().to_owned(),
        member: profile.member.as_ref().map(|member| member.name.clone()),
        notes: profile.notes.clone(),
        values: profile.values.iter().map(value).collect(),
    }
}
