//! Options that `bench` and `probe` share: writing to a raw device.

use std::path::Path;

use clap::Args;
use report::Refusal;

/// Writing to a raw device, and the words that allow it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Raw devices")]
pub(crate) struct RawDevice {
    /// Write to a raw device: all data on it may be lost. Needs --confirm, except with --dry-run
    #[arg(long)]
    pub(crate) write_device: bool,

    /// Serial number or WWN of the device; if it has none, PATH=BYTES: its path and exact size
    #[arg(long, value_name = "SERIAL", requires = "write_device")]
    pub(crate) confirm: Option<String>,

    /// Overwrite bytes that are not blank. Recognized data is still refused: wipe it first
    #[arg(long, requires = "write_device")]
    pub(crate) overwrite_data: bool,
}

impl RawDevice {
    /// Refuses `--write-device` after `command` where a directory was named: what is meant is
    /// unclear, and neither may be guessed.
    pub(crate) fn write_device_needs_a_device(
        &self,
        command: &str,
        directory: &Path,
    ) -> Result<(), Refusal> {
        if !self.write_device {
            return Ok(());
        }
        let name = units::text::escape(directory.as_os_str().as_encoded_bytes());
        Err(Refusal::hinted(
            format!(
                "cannot write to the device {name}: a directory, and --write-device is for devices"
            ),
            format!("name the device, or measure in a scratch file: straddle {command} {name}"),
        ))
    }
}
