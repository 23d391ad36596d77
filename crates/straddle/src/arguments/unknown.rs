//! What commands share whose verdict can be missing.

use clap::Args;

/// What a missing verdict means for the exit code.
#[derive(Clone, Debug, Args)]
pub(crate) struct Unknown {
    /// Exit with 0 instead of 5 where there is no verdict
    ///
    /// For gates that accept what cannot be judged. Whatever was found still counts.
    #[arg(long = "allow-unknown", help_heading = "Exit code")]
    pub(crate) is_allowed: bool,
}
