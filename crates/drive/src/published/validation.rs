//! Drives that nobody here owns, beside their models: what others measured, and every line of the
//! data sheets.

use super::compared::{Article, LineOrigin, PublishedNumber};
use super::measured_drives;
use crate::profile;
use crate::sheet::{DataSheet, NOT_CONFIRMED, SheetCheck};

/// By how many percent a line of a data sheet may be off.
const SHEET: f64 = 15.0;

/// All numbers beside the models', drive by drive; `seed` decides the places of random requests.
/// It takes seconds.
#[must_use]
pub fn validation(seed: u64) -> Vec<PublishedNumber> {
    let mut lines = measured_drives::compared(seed);
    for sheet in profile::checked_sheets() {
        let drive = profile::called(sheet.name()).expect("a built-in drive");
        lines.extend(sheet.checks(drive, seed).into_iter().map(|check| line(sheet, &check)));
    }
    // The lines of a drive stand together.
    lines.sort_by_key(|line| profile::built_in().iter().position(|it| it.name == line.profile));
    lines
}

fn line(sheet: &'static DataSheet, check: &SheetCheck) -> PublishedNumber {
    let article = Article::Drive(sheet.name());
    let standing = if check.is_solved { LineOrigin::Calibrated } else { LineOrigin::Predicted };
    let range = (check.sheet, check.sheet);
    let published =
        PublishedNumber::published(article, check.what, check.unit, range, standing, SHEET);
    let note = if check.is_confirmed { "" } else { NOT_CONFIRMED };
    let line = PublishedNumber { model: check.model, profile: sheet.name(), note, ..published };
    PublishedNumber { outside: if line.is_within() { "" } else { check.outside }, ..line }
}
