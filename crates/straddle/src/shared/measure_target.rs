//! Target of a measurement: a directory in which a scratch file can be, or a raw device.

use std::path::Path;

use host::{PathIdentity, Pinned};
use report::Refusal;
use units::text::shell_word;

use crate::shared::printer::shown;

/// Place where is measured.
#[derive(Clone, Debug)]
pub(crate) enum MeasureTarget {
    /// In a scratch file in this directory.
    Directory(Pinned),
    /// On the device itself.
    Device {
        /// Its node.
        node: Pinned,
        /// Its number.
        number: (u32, u32),
    },
}

impl MeasureTarget {
    /// Returns what `path` leads to: it is followed here, and never again. Hints name `command`.
    pub(crate) fn of(path: &Path, command: &str) -> Result<MeasureTarget, Refusal> {
        let name = shown(path);
        let pinned = Pinned::at(path).map_err(|error| {
            Refusal::hinted(
                format!("cannot measure in {name}: {error}"),
                "check the path, or name another directory on the drive",
            )
        })?;
        match pinned.identity() {
            PathIdentity::Block { major, minor } => {
                Ok(MeasureTarget::Device { node: pinned, number: (major, minor) })
            }
            PathIdentity::File { .. } if pinned.is_directory() => {
                Ok(MeasureTarget::Directory(pinned))
            }
            PathIdentity::File { .. } => Err(Refusal::hinted(
                format!("cannot measure in {name}: neither a directory nor a block device"),
                format!(
                    "measure in its directory: straddle {command} {}",
                    shell_word(&parent(path))
                ),
            )),
        }
    }
}

/// The directory that `path` is in, as it can be typed.
fn parent(path: &Path) -> String {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => shown(parent),
        None => ".".to_owned(),
    }
}

/// Refuses to do `what` ("probe /data") since where the bytes lie is not known.
pub(crate) fn cannot(what: &str, refusal: Refusal) -> Refusal {
    Refusal { message: format!("cannot {what}: {}", refusal.message), ..refusal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_nothing_are_refused_with_what_to_do() {
        let scratch = testkit::Scratch::new();
        let file = scratch.image("file", 4096);
        let refusal = MeasureTarget::of(&file, "bench").unwrap_err();
        assert!(refusal.message.contains("neither"), "{refusal:?}");
        assert!(refusal.hint.unwrap().contains("straddle bench"));
        assert!(
            MeasureTarget::of(Path::new("/nonexistent/x"), "bench").unwrap_err().hint.is_some()
        );
        let directory = file.parent().unwrap();
        let found = MeasureTarget::of(directory, "bench");
        assert!(matches!(found, Ok(MeasureTarget::Directory(it)) if it.given() == directory));
    }
}
