//! A plan that converts a disk in place, for `straddle apply`.

use std::rc::Rc;

use device::Window;
use jiff::Timestamp;
use layout::{Side, TableChange};
use report::plan::{LAYOUT_SCHEMA, Layout};
use report::{Envelope, Refusal};

use super::conversion::Conversion;
use super::refuse;
use crate::arguments::Convert;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::shown;
use crate::shared::qcow2_image::QCOW2;
use crate::shared::{run, table_document};

/// The most bytes of a FAT that a plan holds.
const REBUILT_BYTES_MAX: u64 = 32 << 20;

/// The plan of a conversion.
///
/// # Errors
/// Why it cannot be done in place.
pub(super) fn plan(
    convert: &Convert,
    found: &Conversion,
    inspected: &InspectedMachine,
) -> Result<Layout, Refusal> {
    let copy = "write a converted copy: -o FILE instead of --plan";
    let wrong = |reason: &str| refuse(convert, reason, Some(copy.to_owned()));
    if !found.is_raw && found.qcow2.is_none() {
        return Err(wrong("only raw and qcow2 images are written in place"));
    }
    let mut change =
        TableChange::of(&found.plan, found.before.as_ref()).map_err(|reason| wrong(&reason))?;
    for one in &found.rebuilt {
        let old = Window::new(Rc::clone(&found.before), one.range);
        let what = format!("FAT in partition {}", one.number);
        let writes = one.fat.writes(&old, one.range.start_bytes(), &what, REBUILT_BYTES_MAX);
        let writes = writes.map_err(|reason| wrong(&reason))?;
        let sources = one.fat.sources(one.range.start_bytes());
        change = change.rebuilding(one.number, &sources, writes);
    }
    let known: u64 = change.known.iter().map(|run| run.length_bytes()).sum();
    if known > table_document::BYTES_MAX {
        return Err(wrong("its FAT holds more than 64 MiB in files that move"));
    }
    if change.known.len().max(change.writes.len()) > table_document::RUNS_MAX {
        return Err(wrong("its FAT is in more than 4096 pieces"));
    }
    // Nothing is moved, and of what is cut or taken the plan read each byte.
    layout::check(&change, found.before.as_ref(), Side::New, &|_| Ok(true))
        .map_err(|reason| wrong(&reason))?;
    if let Some(image) = &found.qcow2 {
        image.takes(&change, &shown(&convert.target)).map_err(|none| {
            let hint = none.hint.filter(|_| none.is_damage);
            refuse(convert, &none.reason, hint.or(Some(copy.to_owned())))
        })?;
    }
    let path = convert.target.canonicalize().map_err(|error| wrong(&error.to_string()))?;
    let format = if found.qcow2.is_some() { QCOW2 } else { "" };
    let document = table_document::document(&change, found.before.as_ref(), &path, format, false)
        .map_err(|reason| wrong(&reason))?;
    let plan = &found.plan;
    let own = document.logical_sector_bytes.filter(|&own| own != plan.sector_bytes);
    if let Some(own) = own {
        return Err(wrong(&format!("the disk itself has {own}-byte sectors")));
    }
    Ok(Layout {
        envelope: Envelope::new(LAYOUT_SCHEMA, run::run(Timestamp::now(), inspected)),
        target: shown(&convert.target),
        disk_bytes: Some(plan.disk_bytes),
        table: Some(plan.table.word().into()),
        old_sector_bytes: plan.old_sector_bytes,
        sector_bytes: plan.sector_bytes,
        changes: true,
        partitions: plan.rows.iter().map(table_document::partition).collect(),
        table_change: Some(document),
        ..Layout::default()
    })
}
