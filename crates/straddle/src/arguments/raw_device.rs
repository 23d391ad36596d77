//! What `bench` and `probe` share: writing to a raw device.

use clap::Args;

/// Writing to a raw device, and the words that allow it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Raw devices")]
pub(crate) struct RawDevice {
    /// Write to a raw device: everything on it may be lost. Needs --confirm, but for --dry-run
    #[arg(long)]
    pub(crate) write_device: bool,

    /// The device's serial or WWN; where it has none PATH=BYTES, its exact size
    #[arg(long, value_name = "SERIAL", requires = "write_device")]
    pub(crate) confirm: Option<String>,
}
