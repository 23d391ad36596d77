//! A measured drive as a file that others can check: what `straddle probe --contribute` writes, and
//! the folder `drives/` holds.
//!
//! It names a model in a firmware and a format, and no single drive: no serial number, no host, no
//! path. Its unit counts only where its own comparisons support it, by the functions of the probe.

use jiff::civil::Date;
use measure::probe::granule::{SupportedGranule, WriteComparison, WriteEvidence};
use serde::{Deserialize, Serialize};
use stack::drive::is_virtual_model;

/// The schema's name and version.
pub const MEASURED_DRIVE_SCHEMA: &str = "straddle.measured-drive/1";
/// First bytes of each such file.
pub const MEASURED_DRIVE_MARK: &str = "# A drive that `straddle probe --contribute` measured.";
/// The license that every file has, which the user types: an SPDX identifier.
pub const MEASURED_DRIVE_LICENSE: &str = "CC0-1.0";
/// The longest file that is read, in bytes.
const BYTES_MAX: usize = 64 << 10;
/// The longest text in it, in bytes.
const TEXT_BYTES_MAX: usize = 128;

/// A measured drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredDrive {
    /// [`MEASURED_DRIVE_SCHEMA`].
    pub schema: String,
    /// [`MEASURED_DRIVE_LICENSE`].
    pub license: String,
    /// The version of straddle that measured.
    pub version: String,
    /// The day, in UTC: `2026-01-02`.
    pub date: String,
    /// The drive's model.
    pub model: String,
    /// The version of its firmware.
    pub firmware: String,
    /// Step of all starts and lengths that were compared, in bytes.
    pub step_bytes: u64,
    /// The format in use.
    pub format: DriveFormat,
    /// The drive's and the kernel's own word.
    pub claims: DriveClaims,
    /// The unit that was measured.
    pub unit: MeasuredUnit,
    /// Comparisons of starts.
    pub starts: Vec<WriteComparison>,
    /// Comparisons of lengths.
    pub lengths: Vec<WriteComparison>,
}

/// The format of a drive: all of it must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveFormat {
    /// `logical_block_size`, in bytes.
    pub logical_sector_bytes: u64,
    /// `physical_block_size`, in bytes; it tells a drive behind a bridge from one without.
    pub physical_sector_bytes: u64,
    /// Metadata of each block of an NVMe namespace, in bytes; not there where it is not known.
    pub metadata_bytes: Option<u64>,
}

/// Claims of a drive and its kernel; one that is not known is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveClaims {
    /// `minimum_io_size`, in bytes.
    pub minimum_io_bytes: Option<u64>,
    /// `optimal_io_size`, in bytes.
    pub optimal_io_bytes: Option<u64>,
    /// NPWG of an NVMe namespace, in bytes.
    pub write_granularity_bytes: Option<u64>,
    /// NPWA of an NVMe namespace, in bytes.
    pub write_alignment_bytes: Option<u64>,
}

/// The unit that was measured, and how clearly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredUnit {
    /// Writes must start at multiples of it, in bytes.
    pub alignment_bytes: u64,
    /// Lengths must be multiples of it, in bytes; not there where that was not found.
    pub size_bytes: Option<u64>,
    /// Least lower bound of the time of a misaligned write over that of an aligned one.
    pub slower_low: f64,
    /// Greatest upper bound of the time of an aligned write over that of another.
    pub aligned_high: f64,
}

impl MeasuredUnit {
    /// Returns the unit that comparisons of writes with steps of `step_bytes` support.
    ///
    /// # Errors
    /// With the reason, when they support none, or the first unit does not start at byte 0: a
    /// jumper or a bridge shifts single drives, so that says nothing of a model.
    pub fn of(evidence: &WriteEvidence, step_bytes: u64) -> Result<MeasuredUnit, String> {
        let SupportedGranule { alignment, size_bytes, slower_low, aligned_high } =
            evidence.granule(step_bytes)?;
        if alignment.origin_bytes != 0 {
            return Err(format!(
                "the first unit starts at byte {}: true of this drive, and not of its model",
                alignment.origin_bytes
            ));
        }
        let alignment_bytes = alignment.bytes;
        Ok(MeasuredUnit { alignment_bytes, size_bytes, slower_low, aligned_high })
    }
}

impl MeasuredDrive {
    /// Returns what `text` of a file says, where its own comparisons support its unit.
    ///
    /// # Errors
    /// With the reason, when the text is too long, has another form, or says what its comparisons
    /// do not support.
    pub fn parse(text: &str) -> Result<MeasuredDrive, String> {
        if text.len() > BYTES_MAX {
            return Err(format!("longer than {BYTES_MAX} bytes"));
        }
        let drive: MeasuredDrive = toml::from_str(text)
            .map_err(|error| units::text::escape(error.message().as_bytes()))?;
        drive.checked()
    }

    fn checked(self) -> Result<MeasuredDrive, String> {
        let is_text = |text: &String| {
            (1..=TEXT_BYTES_MAX).contains(&text.len()) && text.trim() == text.as_str()
        };
        let format = &self.format;
        let is_sector = |bytes: u64| bytes.is_power_of_two() && bytes >= 512;
        let checks = [
            (self.schema == MEASURED_DRIVE_SCHEMA, "schema"),
            (self.license == MEASURED_DRIVE_LICENSE, "license"),
            (self.date.len() == 10 && self.date.parse::<Date>().is_ok(), "date"),
            ([&self.version, &self.model, &self.firmware].into_iter().all(is_text), "text"),
            (!is_virtual_model(&self.model), "model, which is that of virtual disks,"),
            (
                is_sector(format.logical_sector_bytes) && is_sector(format.physical_sector_bytes),
                "format",
            ),
            (self.step_bytes >= format.logical_sector_bytes, "step_bytes"),
        ];
        if let Some((_, name)) = checks.iter().find(|(holds, _)| !holds) {
            return Err(format!("its {name} cannot be"));
        }
        let supported = MeasuredUnit::of(&self.evidence(), self.step_bytes)?;
        if supported != self.unit {
            return Err(format!(
                "its comparisons support another unit: {} bytes, size {}",
                supported.alignment_bytes,
                supported.size_bytes.map_or("not found".to_owned(), |size| size.to_string())
            ));
        }
        Ok(self)
    }

    fn evidence(&self) -> WriteEvidence {
        WriteEvidence { starts: self.starts.clone(), lengths: self.lengths.clone() }
    }

    /// Returns whether it is of a drive with this model, firmware and format. Metadata counts where
    /// both are known.
    #[must_use]
    pub fn is_of(&self, model: &str, firmware: &str, format: &DriveFormat) -> bool {
        let metadata_bytes = self.format.metadata_bytes.and(format.metadata_bytes);
        let own = DriveFormat {
            metadata_bytes: self.format.metadata_bytes.filter(|_| metadata_bytes.is_some()),
            ..self.format
        };
        self.model == model
            && self.firmware == firmware
            && own == DriveFormat { metadata_bytes, ..*format }
    }

    /// Returns whether both say the same unit.
    #[must_use]
    pub fn agrees_with(&self, other: &MeasuredDrive) -> bool {
        let unit = |it: &MeasuredDrive| (it.unit.alignment_bytes, it.unit.size_bytes);
        unit(self) == unit(other)
    }

    /// Returns whether they are two measurements: of two days, and with fewer than half of the
    /// ratios in common.
    #[must_use]
    pub fn is_independent_of(&self, other: &MeasuredDrive) -> bool {
        let pairs = self.starts.iter().zip(&other.starts);
        let common = pairs.filter(|(one, other)| one.ratio == other.ratio).count();
        self.date != other.date && common * 2 < self.starts.len().min(other.starts.len())
    }

    /// The file's text.
    ///
    /// # Errors
    /// When a text or number cannot be written as TOML.
    pub fn toml(&self) -> Result<String, String> {
        let values = toml::to_string(self).map_err(|error| error.to_string())?;
        Ok(format!("{MEASURED_DRIVE_MARK}\n{values}"))
    }
}
