//! Scratch files: those that earlier runs left, and whether one can be used and stays in its place.

use std::path::Path;

use host::Pinned;
use host::scratch::{Fate, Leftover, Scratch, sweep};
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

/// Why writes cannot be placed in `scratch`; `None` where they can.
pub(crate) fn unusable(scratch: &Scratch) -> Option<String> {
    match scratch.usable() {
        Ok(usable) => usable.unusable.map(|reason| reason.to_string()),
        Err(error) => Some(error.to_string()),
    }
}

/// Returns that `scratch` lies elsewhere now than when it was written; `None` where it does not.
pub(crate) fn moved(scratch: &Scratch) -> Option<String> {
    match scratch.has_moved() {
        Ok(false) => None,
        Ok(true) => Some("the file system moved the scratch file during the run".to_owned()),
        Err(error) => Some(format!("cannot tell whether the scratch file moved: {error}")),
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
