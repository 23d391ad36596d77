//! The message of a custom plugin of Kubernetes' node-problem-detector.
//!
//! The detector reads at most 4 KiB of standard output, trims it and cuts it to
//! `max_output_length` bytes, 80 by default, in the middle of a character if need be; it becomes
//! the message of a node's condition. Source: `pkg/custompluginmonitor/plugin/plugin.go` and
//! `types/config.go` of kubernetes/node-problem-detector. The message holds no time, so that it
//! changes when something changes (`enable_message_change_based_condition_update`).

use crate::text::one_line;
use crate::worst_targets::{Digest, clip};

/// The detector's default for `max_output_length`, in bytes.
pub const NPD_BYTES: usize = 80;

/// The message, with its line feed beyond `limit` bytes.
#[must_use]
pub fn npd(headline: &str, digest: Digest, limit: usize) -> String {
    let (notes, _) = digest.settled();
    let first = notes.first().map(|note| format!(": {}", note.text)).unwrap_or_default();
    npd_message(&format!("{headline}{first}"), limit)
}

/// `message` as one line of at most `limit` bytes and a line feed.
#[must_use]
pub fn npd_message(message: &str, limit: usize) -> String {
    let mut line = clip(&one_line(message.trim()), limit);
    line.push('\n');
    line
}
