//! `drive fit`: a profile from a data sheet, and from what was measured.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{anyhow, bail};
use drive::profile::DriveProfile;
use drive::sheet::{DataSheet, SheetCheck};
use report::RESULT_BYTES_MAX;
use report::drive::measured_lines;
use workload::profile_text::PROFILE_BYTES_MAX;

use crate::arguments::DriveFit;
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, shown};

/// Prints the profile, and each line of the sheet beside what the profile does, as comments.
pub(super) fn run(asked: &DriveFit) -> anyhow::Result<CommandOutcome> {
    let name = shown(&asked.sheet);
    let text = text_of(&asked.sheet, PROFILE_BYTES_MAX)?;
    let mut sheet = DataSheet::parse(&name, &text)
        .map_err(|error| anyhow!("{error}\nhint: {}", error.hint()))?;
    for path in &asked.measured {
        measure(&mut sheet, path)?;
    }
    let mut page = sheet.profile_text();
    let profile = DriveProfile::parse("the fitted profile", &page)
        .map_err(|error| anyhow!("cannot fit {name}: {error}\nhint: {}", error.hint()))?;
    page.push_str("\n# the sheet and this profile, simulated:\n");
    for check in sheet.checks(&profile, asked.seed) {
        page.push_str(&checked(&check));
    }
    printer::print(&page)?;
    Ok(CommandOutcome::Done)
}

/// Takes over what the result at `path` measured.
fn measure(sheet: &mut DataSheet, path: &Path) -> anyhow::Result<()> {
    let name = shown(path);
    let lines = measured_lines(&text_of(path, RESULT_BYTES_MAX)?)
        .map_err(|error| anyhow!("cannot read {name}: {error}\nhint: {}", error.hint()))?;
    let mut taken = 0;
    for line in lines {
        taken += u64::from(sheet.measured(line.key, line.amount, line.by));
    }
    if taken == 0 {
        bail!(
            "cannot use {name}: it measured nothing that the sheet of a {} has\nhint: straddle \
             bench DEVICE --read -o FILE measures a latency, straddle probe DEVICE -o FILE a unit",
            sheet.kind().word()
        );
    }
    Ok(())
}

fn text_of(path: &Path, bytes_max: usize) -> anyhow::Result<String> {
    let name = shown(path);
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    let bytes = host::read_input(path, most).map_err(|error| {
        anyhow!("cannot read {name}: {error}\nhint: straddle drive fit --help shows a sheet")
    })?;
    String::from_utf8(bytes).map_err(|_| {
        anyhow!("cannot read {name}: not UTF-8 text\nhint: straddle drive fit --help shows a sheet")
    })
}

/// A line of the check, as a comment.
fn checked(check: &SheetCheck) -> String {
    let SheetCheck { what, unit, sheet, model, .. } = check;
    let error = (model / sheet - 1.0) * 100.0;
    let mut line = format!("# {what}: sheet {sheet:.1} {unit}, model {model:.1} ({error:+.1} %)");
    if error.abs() > 10.0 && !check.outside.is_empty() {
        let _ = write!(line, "; {}", check.outside);
    }
    line.push('\n');
    line
}
