//! A directory that stands for the root of a machine: packages are tried there.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use testkit::tool;

/// Enters the first argument as a container does, with the kernel's file systems, which go with
/// the process; then runs the other arguments.
const ENTER: &str = "root=$1; shift; mount --bind \"$root\" \"$root\" && \
    mount -t proc proc \"$root/proc\" && mount --rbind /sys \"$root/sys\" && \
    mount --rbind /dev \"$root/dev\" && exec chroot \"$root\" \"$@\"";

/// Tools that entering takes.
pub(super) const TOOLS: [&str; 4] = ["chroot", "mount", "sh", "unshare"];

/// The directory.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
}

impl Root {
    /// Takes `path` as a root, and makes the directories that every machine has.
    ///
    /// # Errors
    /// When one cannot be made.
    pub(super) fn new(path: PathBuf) -> anyhow::Result<Root> {
        for name in ["dev", "proc", "sys", "tmp"] {
            let directory = path.join(name);
            // debootstrap makes a link of /proc where the machine is a container.
            if directory.is_symlink() {
                std::fs::remove_file(&directory)?;
            }
            std::fs::create_dir_all(&directory)?;
        }
        std::fs::set_permissions(path.join("tmp"), std::fs::Permissions::from_mode(0o1777))?;
        Ok(Root { path })
    }

    /// Returns the directory as text.
    pub(super) fn text(&self) -> &str {
        testkit::scratch::text(&self.path)
    }

    /// Makes the database in which dpkg keeps what is installed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn with_dpkg(self) -> anyhow::Result<Root> {
        let database = self.path.join("var/lib/dpkg");
        for directory in ["info", "updates"] {
            std::fs::create_dir_all(database.join(directory))?;
        }
        std::fs::write(database.join("status"), "")?;
        Ok(self)
    }

    /// Runs this machine's dpkg on the root.
    ///
    /// # Errors
    /// When it fails.
    pub(super) fn dpkg(&self, words: &[&str]) -> anyhow::Result<String> {
        let at = format!("--root={}", self.text());
        ran("dpkg", &[&["--force-not-root", "--force-bad-path", &at], words].concat(), &[0])
    }

    /// Runs this machine's rpm on the root.
    ///
    /// # Errors
    /// When it fails.
    pub(super) fn rpm(&self, words: &[&str]) -> anyhow::Result<String> {
        let at = format!("--root={}", self.text());
        // Debian's rpm keeps its books in the home of the user.
        ran("rpm", &[&[at.as_str(), "--dbpath=/var/lib/rpm"], words].concat(), &[0])
    }

    /// Runs `words` within the root, as root of the machine.
    ///
    /// # Errors
    /// When they end with a code that is not among `codes`.
    pub(super) fn run(&self, words: &[&str], codes: &[i32]) -> anyhow::Result<String> {
        let enter = ["--mount", "sh", "-c", ENTER, "sh", self.text()];
        ran("unshare", &[&enter, words].concat(), codes)
    }

    /// Returns the paths of all files below the root, except those below `var`, where package
    /// managers keep their books.
    ///
    /// # Errors
    /// When a directory cannot be read.
    pub(super) fn files(&self) -> anyhow::Result<BTreeSet<String>> {
        let mut files = BTreeSet::new();
        collect(&self.path, &self.path, &mut files)?;
        files.retain(|path| !path.starts_with("/var/"));
        Ok(files)
    }
}

fn collect(root: &Path, directory: &Path, files: &mut BTreeSet<String>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(root, &entry.path(), files)?;
        } else {
            files.insert(format!("/{}", entry.path().strip_prefix(root)?.display()));
        }
    }
    Ok(())
}

/// Runs a tool of this machine; its standard output.
///
/// # Errors
/// When it cannot be started, or ends with a code that is not among `codes`.
pub(super) fn ran(name: &str, words: &[&str], codes: &[i32]) -> anyhow::Result<String> {
    let output = tool::command(name).env("PATH", PATH).args(words).output();
    let output = output.with_context(|| format!("cannot start {name}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_good = output.status.code().is_some_and(|code| codes.contains(&code));
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(is_good, "{name} {}: {}\n{said}{complaint}", words.join(" "), output.status);
    Ok(said)
}

/// Directories of programs, on this machine and in every root.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
