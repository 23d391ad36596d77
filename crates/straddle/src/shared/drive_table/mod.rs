//! The table of measured drives: the files of the folder `drives/`, compiled in.
//!
//! An entry is believed only where two files that are independent say the same of a model, firmware
//! and format, and none says otherwise. It outranks the drive's own word, and neither what `--on`
//! sets nor what was measured on the drive itself.

use report::probe::{DriveFormat, MeasuredDrive};
use stack::drive::{KeptMeasurement, KernelDrive, MeasuredGranule};

use super::remarks::Remarks;

#[cfg(test)]
mod tests;

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../../drives/", $name, ".toml")))),*]
    };
}

/// The names and texts of the files in `drives/`: each has a line here.
const FILES: &[(&str, &str)] = files! {};

/// Measurements of models.
#[derive(Debug)]
pub(crate) struct DriveTable {
    entries: Vec<MeasuredDrive>,
    remarks: Remarks,
}

impl DriveTable {
    /// The table that is compiled in.
    pub(crate) fn built_in() -> DriveTable {
        DriveTable::of(FILES.iter().map(|(_, text)| *text))
    }

    /// The table of these files. One that does not support its own unit counts for nothing; a test
    /// keeps such files out of the folder.
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> DriveTable {
        let entries = texts.filter_map(|text| MeasuredDrive::parse(text).ok()).collect();
        DriveTable { entries, remarks: Remarks::default() }
    }

    /// Returns what the table says of `drive`, and says it once on standard error; `None` where it
    /// says nothing.
    pub(crate) fn of_drive(&self, drive: &KernelDrive) -> Option<KeptMeasurement> {
        let found = self.found(drive)?;
        self.remarks.say(match &found {
            KeptMeasurement::Granule(found) => format!(
                "{}: granule of {} bytes from the {}; to ignore it: --ignore-measured",
                drive.name, found.alignment_bytes, found.note
            ),
            KeptMeasurement::NotUsed(reason) => format!("{}: {reason}", drive.name),
        });
        Some(found)
    }

    fn found(&self, drive: &KernelDrive) -> Option<KeptMeasurement> {
        if self.entries.is_empty() {
            return None;
        }
        let (model, firmware, format) = model_state(drive).ok()?;
        let fits = |entry: &&MeasuredDrive| entry.is_of(&model, &firmware, &format);
        let own: Vec<&MeasuredDrive> = self.entries.iter().filter(fits).collect();
        let first = own.first()?;
        let bytes = first.unit.alignment_bytes;
        if let Some(other) = own.iter().find(|entry| !entry.agrees_with(first)) {
            return Some(KeptMeasurement::NotUsed(format!(
                "the files of the drive table disagree: {bytes} and {} bytes",
                other.unit.alignment_bytes
            )));
        }
        let confirms = |one: &&MeasuredDrive| own.iter().any(|other| one.is_independent_of(other));
        if !own.iter().any(confirms) {
            return Some(KeptMeasurement::NotUsed(format!(
                "the drive table has {bytes} bytes from one measurement; two independent ones are \
                 needed"
            )));
        }
        let date = own.iter().map(|entry| entry.date.clone()).max().unwrap_or_default();
        Some(KeptMeasurement::Granule(MeasuredGranule {
            alignment_bytes: bytes,
            origin_bytes: 0,
            size_bytes: first.unit.size_bytes,
            note: format!("table of measured drives: {} files, the last of {date}", own.len()),
            date,
        }))
    }
}

/// Returns the model, firmware and format of `drive`, as the files of the table name them.
///
/// # Errors
/// With the reason, when one is not known, or the drive is virtual.
pub(crate) fn model_state(drive: &KernelDrive) -> Result<(String, String, DriveFormat), String> {
    let name = &drive.name;
    if drive.is_virtual {
        return Err(format!("{name} is a virtual disk: its host decides what is written"));
    }
    let filled = |text: String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let model = drive.model.as_ref().and_then(|model| filled(model.to_string()));
    let model = model.ok_or_else(|| format!("{name} reports no model"))?;
    let firmware = drive.identity.firmware.value().and_then(|it| filled(it.clone()));
    let firmware = firmware.ok_or_else(|| format!("{name} reports no firmware version"))?;
    let sectors = (drive.logical_bytes.value(), drive.physical_bytes.value());
    let (Some(&logical_sector_bytes), Some(&physical_sector_bytes)) = sectors else {
        return Err(format!("the sectors of {name} are not known"));
    };
    let namespace = drive.said.namespace.value();
    let metadata_bytes = namespace.and_then(|it| it.format).map(|it| it.metadata_bytes.into());
    Ok((
        model,
        firmware,
        DriveFormat { logical_sector_bytes, physical_sector_bytes, metadata_bytes },
    ))
}
