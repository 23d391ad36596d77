//! File systems on shifted devices: how each is made and mounted.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::{CommandError, CommandPlan, Interrupt, MountPlan, Mounted, PrivateMounts};

use crate::arguments::FileSystem;
use crate::shared::halt::Halt;

/// Recipe by which a file system is made and mounted. None of them may discard: that would punch
/// holes into the file beneath.
pub(crate) struct FileSystemRecipe {
    pub(crate) name: &'static str,
    make: &'static [&'static str],
    /// The word before the sector's size, where the file system has sectors of its own.
    sector: Option<&'static str>,
    mount: &'static str,
    /// The least device that its tool takes, in bytes.
    pub(crate) device_bytes_min: u64,
    package: &'static str,
}

const RECIPES: [(FileSystem, FileSystemRecipe); 4] = [
    (
        FileSystem::Ext3,
        FileSystemRecipe {
            name: "ext3",
            make: &["mkfs.ext3", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0"],
            sector: None,
            mount: "nodiscard",
            device_bytes_min: 32 << 20,
            package: "e2fsprogs",
        },
    ),
    (
        FileSystem::Ext4,
        FileSystemRecipe {
            name: "ext4",
            make: &["mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0"],
            sector: None,
            mount: "nodiscard",
            device_bytes_min: 32 << 20,
            package: "e2fsprogs",
        },
    ),
    (
        FileSystem::Xfs,
        FileSystemRecipe {
            name: "xfs",
            make: &["mkfs.xfs", "-q", "-f", "-K"],
            sector: Some("-s"),
            mount: "nodiscard",
            device_bytes_min: 300 << 20,
            package: "xfsprogs",
        },
    ),
    (
        FileSystem::Btrfs,
        FileSystemRecipe {
            name: "btrfs",
            make: &["mkfs.btrfs", "-q", "-f", "-K"],
            sector: None,
            mount: "nodiscard",
            device_bytes_min: 114 << 20,
            package: "btrfs-progs",
        },
    ),
];

/// Longest time that making one may take.
const MAKE_WITHIN: Duration = Duration::from_secs(120);

/// The recipe of a file system.
pub(crate) fn recipe(kind: FileSystem) -> &'static FileSystemRecipe {
    let row = RECIPES.iter().find(|(row, _)| *row == kind);
    &row.expect("every file system has a row").1
}

impl FileSystemRecipe {
    /// Makes the file system; how long that took, in nanoseconds. `sector_bytes` is what a drive
    /// with this granule would report as its physical sector, which some tools ask for.
    pub(crate) fn make(
        &self,
        device: &Path,
        sector_bytes: u64,
        interrupt: &Interrupt,
    ) -> Result<u64, Halt> {
        let mut words: Vec<OsString> = self.make.iter().map(OsString::from).collect();
        if let Some(option) = self.sector {
            words.push(option.into());
            words.push(format!("size={}", sector_bytes.clamp(512, 4096)).into());
        }
        words.push(device.into());
        let plan = CommandPlan { words: &words, budget: MAKE_WITHIN, interrupt };
        match host::command::run(plan) {
            Ok(ran) => Ok(u64::try_from(ran.wall.as_nanos()).unwrap_or(u64::MAX)),
            Err(error) => Err(failed(error, self.package)),
        }
    }

    /// Why this machine cannot make or mount it; `None` when nothing speaks against it.
    pub(crate) fn missing(&self) -> Option<String> {
        let tool = self.make.first().copied().unwrap_or_default();
        if installed(tool) {
            return None;
        }
        let (name, package) = (self.name, self.package);
        Some(format!("{name} is left out: {tool} is not installed (apt install {package})"))
    }

    /// Mounts it where nobody else sees it.
    pub(crate) fn mount<'a>(
        &self,
        mounts: &'a PrivateMounts,
        device: &Path,
    ) -> Result<Mounted<'a>, Halt> {
        let plan = MountPlan { device, file_system: self.name, options: self.mount };
        mounts.mount(plan).map_err(Halt::from)
    }
}

/// Returns whether a program is where programs are.
pub(crate) fn installed(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(usual).any(|place| place.join(tool).is_file())
}

/// Returns what a program's failure means for the measurement; `package` has the program.
pub(crate) fn failed(error: CommandError, package: &str) -> Halt {
    match error {
        CommandError::NotStarted { .. } => {
            Halt::hinted(error.to_string(), format!("install it: apt install {package}"))
        }
        _ => Halt::from(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum as _;

    #[test]
    fn every_file_system_has_its_recipe() {
        for &kind in FileSystem::value_variants() {
            let name = kind.to_possible_value().unwrap().get_name().to_owned();
            assert_eq!(recipe(kind).name, name);
        }
    }
}
