//! Rows that the suite goes through: a file system on the shifted device, or in a volume on it.

use crate::arguments::{FileSystem, SuiteSteps};
use crate::bench::file_system::{FileSystemRecipe, recipe};

use super::volume;

/// The file systems unless the user names one.
const USUAL: [FileSystem; 3] = [FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs];
/// The one that is also made in a volume of LVM.
const IN_VOLUME: FileSystem = FileSystem::Ext4;

/// A file system, and whether it lies in a volume of LVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SuiteRow {
    kind: FileSystem,
    pub(super) in_volume: bool,
}

impl SuiteRow {
    pub(super) fn plain(kind: FileSystem) -> SuiteRow {
        SuiteRow { kind, in_volume: false }
    }

    /// Returns how its file system is made and mounted.
    pub(super) fn recipe(self) -> &'static FileSystemRecipe {
        recipe(self.kind)
    }

    /// Returns its name as a person says it: "ext4", "ext4 in LVM".
    pub(crate) fn name(self) -> String {
        let name = self.recipe().name;
        if self.in_volume { format!("{name} in LVM") } else { name.to_owned() }
    }

    /// Why this machine cannot go through it; `None` when nothing speaks against it.
    fn missing(self) -> Option<String> {
        let volume = self.in_volume.then(volume::missing).flatten();
        volume
            .map(|why| format!("{} is left out: {why}", self.name()))
            .or_else(|| self.recipe().missing())
    }
}

/// Returns what this machine can go through, and why not the others.
pub(crate) fn lines(bench: &SuiteSteps) -> (Vec<SuiteRow>, Vec<String>) {
    let wanted: Vec<SuiteRow> = match bench.fs {
        Some(kind) => vec![SuiteRow::plain(kind)],
        None => {
            let plain = USUAL.map(SuiteRow::plain);
            plain.into_iter().chain([SuiteRow { kind: IN_VOLUME, in_volume: true }]).collect()
        }
    };
    let (mut can, mut cannot) = (Vec::new(), Vec::new());
    for line in wanted {
        match line.missing() {
            None => can.push(line),
            Some(reason) => cannot.push(reason),
        }
    }
    (can, cannot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_whether_its_file_system_is_in_a_volume() {
        assert_eq!(SuiteRow::plain(FileSystem::Xfs).name(), "xfs");
        assert_eq!(SuiteRow { kind: IN_VOLUME, in_volume: true }.name(), "ext4 in LVM");
    }
}
