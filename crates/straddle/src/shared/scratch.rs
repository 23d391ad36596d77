//! Scratch files that earlier runs left.

use std::path::Path;

use host::Pinned;
use host::scratch::{Fate, Leftover, sweep};
use units::prefix::Size;
use units::text::escape;

use crate::shared::printer;

/// Removes scratch files that earlier runs left in `directory` when they were killed, before a new
/// one is made there, and says so on standard error.
pub(crate) fn clear_leftovers(directory: &Pinned) {
    for leftover in sweep(directory) {
        printer::note(&told(directory.given(), &leftover));
    }
}

fn told(directory: &Path, leftover: &Leftover) -> String {
    let place = escape(directory.as_os_str().as_encoded_bytes());
    let Leftover { name, length_bytes, fate } = leftover;
    let length = Size(*length_bytes);
    match fate {
        Fate::Removed => {
            format!("removed {name} ({length}) from {place}: left by a run that was killed")
        }
        Fate::Doubtful => format!(
            "left {name} ({length}) in {place}: another machine may be using it; if none does, \
             remove it"
        ),
        Fate::Stuck(reason) => format!(
            "cannot remove {name} ({length}) from {place}, left by a run that was killed: {reason}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fate_is_told_with_the_name_the_length_and_the_escaped_directory() {
        let stuck = Fate::Stuck("Permission denied (os error 13)".to_owned());
        for (fate, start, end) in [
            (Fate::Removed, "removed ", "that was killed"),
            (Fate::Doubtful, "left ", "remove it"),
            (stuck, "cannot remove ", "denied (os error 13)"),
        ] {
            let name = ".straddle-scratch-x".to_owned();
            let leftover = Leftover { name, length_bytes: 16 << 20, fate };
            let text = told(Path::new("/da\x1bta"), &leftover);
            assert!(text.starts_with(start) && text.ends_with(end), "{text}");
            assert!(text.contains(".straddle-scratch-x (16 MiB)"), "{text}");
            assert!(!text.contains('\x1b'), "{text}");
        }
    }
}
