//! The part of a plan that `straddle apply` carries out: writes of the table, where no data moves.

use std::path::Path;

use device::{Disk, disk};
use layout::{Side, TableChange};
use report::plan::TableChangeDocument;
use units::ByteRange;
use units::text::shell_word;

use super::script::{self, PlannedDisk};
use crate::arguments::{Plan, is_standard_output};
use crate::shared::printer::shown;
use crate::shared::qcow2_image::QCOW2;
use crate::shared::table_document;

/// The longest range that is read in full here; `apply` reads all of any.
const WHOLE_BYTES: u64 = 16 << 30;
/// Bytes at the start and at the end of a longer one that are read; no more are read at once.
const ENDS_BYTES: u64 = 1 << 20;

/// Returns the writes of a plan; nothing where it changes nothing.
///
/// # Errors
/// Why `straddle apply` does not carry it out.
pub(super) fn table_change(
    plan: &Plan,
    found: &PlannedDisk,
) -> Result<Option<TableChangeDocument>, String> {
    if found.plan.is_empty() {
        return Ok(None);
    }
    if found.copy.is_some() && found.qcow2.is_none() {
        return Err("the plan is of a raw copy of the image: make that, and plan it".to_owned());
    }
    let holds = |one: &&layout::PlannedPartition| one.moves() && one.content.is_some();
    if let Some(one) = found.plan.rows.iter().find(holds) {
        return Err(format!("partition {} moves, and it holds data", one.number));
    }
    let bytes = found.stack.bytes(found.plan.disk).ok_or("its bytes cannot be read")?;
    let change = TableChange::of(&found.plan, bytes.as_ref())?;
    layout::check(&change, bytes.as_ref(), Side::New, &|range| seems_blank(bytes.as_ref(), range))?;
    layout::content_fits(&change, bytes, Side::New)?;
    if let Some(image) = &found.qcow2 {
        image.takes(&change, &shown(&plan.target)).map_err(|none| match none.hint {
            Some(hint) => format!("{}; {hint}", none.reason),
            None => none.reason,
        })?;
        let path = std::fs::canonicalize(&plan.target).map_err(|error| error.to_string())?;
        let document = table_document::document(&change, bytes.as_ref(), &path, QCOW2, false);
        return document.map(Some);
    }
    let path = script::path(plan, found).ok_or("its path is not text")?;
    table_document::document(&change, bytes.as_ref(), Path::new(&path), "", false).map(Some)
}

fn seems_blank(disk: &dyn Disk, range: ByteRange) -> Result<bool, String> {
    let (start, end) = (range.start_bytes(), range.end_bytes());
    let zeros = vec![0; usize::try_from(ENDS_BYTES).unwrap_or(0)];
    let is_zero = |at: u64| -> Result<bool, String> {
        let bytes = disk::read_vec(disk, at, ENDS_BYTES.min(end - at));
        Ok(zeros.starts_with(&bytes.map_err(|error| error.to_string())?))
    };
    let last = end.saturating_sub(ENDS_BYTES).max(start);
    let step = if range.length_bytes() > WHOLE_BYTES { last - start } else { ENDS_BYTES };
    let mut at = start;
    while at < end {
        if !is_zero(at)? {
            return Ok(false);
        }
        at += step.max(ENDS_BYTES);
    }
    Ok(true)
}

/// Returns what to type to carry it out.
pub(super) fn next(plan: &Plan, change: &TableChangeDocument, make: &str) -> Vec<String> {
    let file = plan.output.as_deref().filter(|file| !is_standard_output(file) && !plan.script);
    let file = file.map_or_else(|| "plan.json".to_owned(), |file| shell_word(&shown(file)));
    let is_made = plan.output.is_some() && !plan.script;
    let make = (!is_made).then(|| format!("{make} -o {file}"));
    let own = [
        format!("straddle apply {file} --dry-run"),
        format!("straddle apply {file} --confirm {}", confirm(change)),
    ];
    make.into_iter().chain(own).collect()
}

/// Words after `--confirm`: of an image its name, of a device what `apply --dry-run` shows.
fn confirm(change: &TableChangeDocument) -> String {
    let name = Path::new(&change.path).file_name().unwrap_or_default().to_string_lossy();
    match (&change.identity, change.logical_sector_bytes) {
        (None, None) => shell_word(&name),
        (Some(_), _) => "SERIAL".to_owned(),
        (None, Some(_)) => format!("{}={}", shell_word(&change.path), change.disk_bytes),
    }
}
