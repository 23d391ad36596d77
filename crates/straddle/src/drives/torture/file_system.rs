//! The file system under a tortured program: how it is made at the start of a drive, and checked.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use host::{CommandError, CommandPlan, Interrupt};

/// Longest time for making or checking one.
const WITHIN: Duration = Duration::from_secs(120);

/// Tools of a file system.
pub(super) struct FsTools {
    /// Its name, for mount(8).
    pub(super) name: &'static str,
    make: &'static [&'static str],
    check: &'static [&'static str],
    package: &'static str,
}

const TOOLS: [FsTools; 3] = [
    FsTools {
        name: "ext4",
        make: &["mkfs.ext4", "-q", "-F", "-E", "nodiscard"],
        check: &["e2fsck", "-f", "-n"],
        package: "e2fsprogs",
    },
    FsTools {
        name: "xfs",
        make: &["mkfs.xfs", "-q", "-f", "-K"],
        check: &["xfs_repair", "-n"],
        package: "xfsprogs",
    },
    FsTools {
        name: "btrfs",
        make: &["mkfs.btrfs", "-q", "-f", "-K"],
        check: &["btrfs", "check", "--readonly"],
        package: "btrfs-progs",
    },
];

impl FsTools {
    /// The tools of the file system called `name`; `None` for the empty name, which is no file
    /// system.
    pub(super) fn of(name: &str) -> Option<&'static FsTools> {
        TOOLS.iter().find(|tools| tools.name == name)
    }

    /// Makes it on `device`, `size_bytes` long; false where a signal came.
    ///
    /// # Errors
    /// When its tool is missing, or fails.
    pub(super) fn make(
        &self,
        device: &Path,
        size_bytes: u64,
        interrupt: &Interrupt,
    ) -> anyhow::Result<bool> {
        let mut words: Vec<OsString> = self.make.iter().map(OsString::from).collect();
        match self.name {
            "xfs" => words.extend(["-d".into(), format!("size={size_bytes}").into()]),
            "btrfs" => words.extend(["-b".into(), size_bytes.to_string().into()]),
            _ => {}
        }
        words.push(device.into());
        if self.name == "ext4" {
            words.push(format!("{}k", size_bytes >> 10).into());
        }
        let hint = match self.name {
            "xfs" => "; XFS needs at least 300 MiB: --fs-size 512M",
            _ => "",
        };
        match self.run(&words, interrupt) {
            Ok(()) => Ok(true),
            Err(CommandError::Interrupted { .. }) => Ok(false),
            Err(error) => Err(anyhow!("{error}\nhint: apt install {}{hint}", self.package)),
        }
    }

    /// Returns what its checker finds on `device`, which it does not change; `None` where that is
    /// nothing.
    ///
    /// # Errors
    /// When the checker is missing.
    pub(super) fn damage(
        &self,
        device: &Path,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Option<String>> {
        let mut words: Vec<OsString> = self.check.iter().map(OsString::from).collect();
        words.push(device.into());
        match self.run(&words, interrupt) {
            // Whoever asks sees the signal too.
            Ok(()) | Err(CommandError::Interrupted { .. }) => Ok(None),
            Err(CommandError::Failed { program, ended, lines }) => {
                let lines = lines.join(" / ");
                let why = format!("{} is damaged: {program}: {ended}: {lines}", self.name);
                Ok(Some(why.trim_end_matches([' ', ':']).to_owned()))
            }
            Err(error) => Err(anyhow!(
                "cannot check the file system: {error}\nhint: apt install {}",
                self.package
            )),
        }
    }

    fn run(&self, words: &[OsString], interrupt: &Interrupt) -> Result<(), CommandError> {
        host::command::run(CommandPlan { words, budget: WITHIN, interrupt }).map(drop)
    }
}
