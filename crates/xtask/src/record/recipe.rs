//! The file systems that are recorded, and how each is made.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use host::{CommandPlan, Interrupt};
use testkit::tool;

/// A file system made with its tool's defaults, but for what only a newer kernel does.
#[derive(Debug)]
pub(super) struct RecordRecipe {
    /// Its name to people and to the kernel.
    pub(super) name: &'static str,
    /// Its name among the published numbers.
    pub(super) title: &'static str,
    make: &'static [&'static str],
    /// Mount options: its defaults in Linux 2.6.32.
    pub(super) mount: &'static str,
    package: &'static str,
}

/// Kernels before 2.6.37 did not make tables of inodes in the background: the tool wrote them.
const AT_ONCE: &str = "lazy_itable_init=0,lazy_journal_init=0";

/// Megabytes of the largest journal that mke2fs made in 2009.
const JOURNAL: &str = "size=128";
/// Features that mke2fs 1.41 did not switch on, and the one in place of the first.
const EXT4: &str = "^metadata_csum,^64bit,uninit_bg";
/// Features that btrfs did not have; its nodes were as long as a page.
const BTRFS: &str = "^no-holes,^skinny-metadata,^extref";

pub(super) const RECIPES: [RecordRecipe; 6] = [
    RecordRecipe {
        name: "ext3",
        title: "ext3",
        make: &["mkfs.ext3", "-q", "-F", "-J", JOURNAL, "-E", AT_ONCE],
        mount: "barrier=0,no_prefetch_block_bitmaps",
        package: "e2fsprogs",
    },
    RecordRecipe {
        name: "ext4",
        title: "ext4",
        make: &["mkfs.ext4", "-q", "-F", "-O", EXT4, "-J", JOURNAL, "-E", AT_ONCE],
        mount: "no_prefetch_block_bitmaps",
        package: "e2fsprogs",
    },
    RecordRecipe {
        name: "xfs",
        title: "XFS",
        make: &["mkfs.xfs", "-q", "-f"],
        mount: "",
        package: "xfsprogs",
    },
    RecordRecipe {
        name: "btrfs",
        title: "btrfs",
        make: &[
            "mkfs.btrfs",
            "-q",
            "-f",
            "-n",
            "4096",
            "-m",
            "dup",
            "-O",
            BTRFS,
            "-R",
            "^free-space-tree",
        ],
        mount: "",
        package: "btrfs-progs",
    },
    RecordRecipe {
        name: "jfs",
        title: "JFS",
        make: &["mkfs.jfs", "-q"],
        mount: "",
        package: "jfsutils",
    },
    RecordRecipe {
        name: "reiserfs",
        title: "ReiserFS",
        make: &["mkfs.reiserfs", "-q", "-f", "-f"],
        mount: "barrier=none",
        package: "reiserfsprogs",
    },
];

/// The one called `name`.
///
/// # Errors
/// When there is none.
pub(super) fn called(name: &str) -> anyhow::Result<&'static RecordRecipe> {
    let known = || RECIPES.iter().map(|recipe| recipe.name).collect::<Vec<_>>().join(", ");
    let found = RECIPES.iter().find(|recipe| recipe.name == name);
    found.with_context(|| format!("no such trace: {name}; there are {}", known()))
}

/// Longest time to make one; under emulation it takes minutes.
const MAKE_WITHIN: Duration = Duration::from_secs(900);

impl RecordRecipe {
    fn tool(&self) -> &'static str {
        self.make[0]
    }

    /// Why this machine cannot record it; `None` when nothing speaks against it.
    pub(super) fn missing(&self) -> Option<String> {
        if tool::find(self.tool()).is_none() {
            return Some(format!(
                "{} is not installed (apt install {})",
                self.tool(),
                self.package
            ));
        }
        if !self.is_known() {
            // Where modules are not loaded by name, this does; where there is none, it says so.
            let mut modprobe = Command::new("modprobe");
            modprobe.args(["-q", self.name]).stdin(Stdio::null()).stderr(Stdio::null());
            let _ = modprobe.status();
        }
        (!self.is_known()).then(|| format!("this kernel has no {}", self.name))
    }

    fn is_known(&self) -> bool {
        let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
        known.lines().any(|line| line.trim() == self.name)
    }

    /// Makes the file system on `device`.
    ///
    /// # Errors
    /// When its tool fails, or the process is asked to end.
    pub(super) fn make(&self, device: &Path, interrupt: &Interrupt) -> anyhow::Result<()> {
        let mut words: Vec<OsString> = self.make.iter().map(OsString::from).collect();
        words[0] = tool::find(self.tool()).unwrap_or_default().into();
        words.push(device.into());
        host::command::run(CommandPlan { words: &words, budget: MAKE_WITHIN, interrupt })?;
        Ok(())
    }

    /// The kernel and the tool, with the words that each was told.
    pub(super) fn versions(&self) -> String {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        // What stands after the number names whoever built it.
        let number = release.trim().split('-').next().unwrap_or_default().to_owned();
        let said = tool::output(self.tool(), &["-V"]);
        let said = [said.stdout, said.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let version = said.lines().find(|line| line.contains(|it: char| it.is_ascii_digit()));
        let (version, make) = (version.unwrap_or_default().trim(), self.make.join(" "));
        let mount =
            if self.mount.is_empty() { "mount" } else { &format!("mount -o {}", self.mount) };
        format!("{}: Linux {number}; {version}; {make}; {mount}", self.name)
    }
}
