//! `cargo xtask dist rehearse`: each package of the last `dist` is installed in a root of its own,
//! straddle is run there, and the package is removed, after which nothing of it may be left.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use testkit::{scratch::text, tool};

use super::architecture::{self, Architecture};
use super::project::VERSION;
use super::root::{Root, TOOLS, ran};

/// Commands for each root, and the codes with which each may end: what this machine's disks are
/// like is not the packages' concern.
const COMMANDS: [(&[&str], &[i32]); 5] = [
    (&["version"], &[0]),
    (&["demo"], &[0]),
    (&["check"], &[0, 1]),
    (&["fsync", "/tmp", "--rows", "pg", "--seconds", "2", "--no-progress"], &[0, 1, 5]),
    (&["bench", "/tmp", "--seconds", "2", "--no-progress"], &[0, 1, 5]),
];

/// The release of Debian whose libraries stand for an old userland, and where it is fetched.
const OLD_DEBIAN: &str = "bullseye";
const MIRROR: &str = "http://deb.debian.org/debian";

/// The packages of this machine's architecture, and room for roots.
struct Rehearsal {
    packages: PathBuf,
    room: tempfile::TempDir,
    host: Architecture,
}

/// One rehearsal: its name, the tools that it takes, and how it is done.
type Scene = (&'static str, &'static [&'static str], fn(&Rehearsal) -> anyhow::Result<()>);

const SCENES: [Scene; 8] = [
    ("lintian and rpmlint", &["lintian", "rpmlint"], Rehearsal::lint),
    ("Debian package in an empty root", &["dpkg"], Rehearsal::debian),
    ("rpm package in an empty root", &["rpm"], Rehearsal::rpm),
    ("archive in an empty root", &["sha256sum", "tar"], Rehearsal::archive),
    ("archive in a root of busybox", &["busybox"], Rehearsal::busybox),
    ("image", &["skopeo", "tar", "umoci"], Rehearsal::image),
    ("Debian package in Debian 11", &["debootstrap"], Rehearsal::old_debian),
    ("aarch64 in an emulator", &["qemu-aarch64-static", "tar"], Rehearsal::emulated),
];

/// Rehearses with the packages in `packages`; true if no rehearsal failed. One whose tools are
/// missing is named.
///
/// # Errors
/// When there is no room for roots, or this is not root.
pub(super) fn run(packages: &Path) -> anyhow::Result<bool> {
    ensure!(host::is_root(), "cannot enter other roots: only root may");
    let sums = packages.join("SHA256SUMS");
    ensure!(sums.is_file(), "cannot find packages; hint: cargo xtask dist");
    let room = tempfile::Builder::new().prefix("rehearsal-").tempdir_in(packages)?;
    let host = architecture::named(std::env::consts::ARCH)?;
    let rehearsal = Rehearsal { packages: packages.to_owned(), room, host };
    let mut failed = 0;
    for (name, tools, scene) in SCENES {
        let mut tools = TOOLS.iter().chain(tools);
        if let Some(missing) = tools.find(|tool| tool::find(tool).is_none()) {
            println!("skipped  {name}: needs {missing}");
            continue;
        }
        match scene(&rehearsal) {
            Ok(()) => println!("ok       {name}"),
            Err(error) => {
                println!("FAILED   {name}: {error:#}");
                failed += 1;
            }
        }
    }
    Ok(failed == 0)
}

impl Rehearsal {
    fn package(&self, name: &str) -> PathBuf {
        self.packages.join(name)
    }

    fn root(&self, name: &str) -> anyhow::Result<Root> {
        Root::new(self.room.path().join(name))
    }

    fn lint(&self) -> anyhow::Result<()> {
        let rules = crate::cargo::root().join("crates/xtask/packaging/rpmlint.toml");
        for one in architecture::ALL {
            let debian = self.package(&one.debian_package());
            let rpm = self.package(&one.rpm_package());
            for package in [&debian, &rpm] {
                ensure!(package.is_file(), "no {}", package.display());
            }
            let strict = ["--allow-root", "--fail-on", "error,warning", text(&debian)];
            ran("lintian", &strict, &[0])?;
            ran("rpmlint", &["--strict", "--config", text(&rules), text(&rpm)], &[0])?;
        }
        Ok(())
    }

    fn debian(&self) -> anyhow::Result<()> {
        let root = self.root("debian")?.with_dpkg()?;
        let package = self.package(&self.host.debian_package());
        let install = || root.dpkg(&["--install", text(&package)]);
        whole(&root, "/usr", install, || root.dpkg(&["--purge", "straddle"]))
    }

    fn rpm(&self) -> anyhow::Result<()> {
        let root = self.root("rpm")?;
        let package = self.package(&self.host.rpm_package());
        let install = || root.rpm(&["--install", text(&package)]);
        whole(&root, "/usr", install, || root.rpm(&["--erase", "straddle"]))
    }

    fn archive(&self) -> anyhow::Result<()> {
        let root = self.root("archive")?;
        let script = self.package("install.sh");
        let archive = self.package(&self.host.archive());
        let prefix = format!("{}/opt", root.text());
        let words = [text(&archive), &prefix];
        let install = || ran("sh", &[&[text(&script)], &words[..]].concat(), &[0]);
        let remove = || ran("sh", &[&[text(&script), "--remove"], &words[..]].concat(), &[0]);
        whole(&root, "/opt", install, remove)
    }

    /// The tools of Alpine are busybox's.
    fn busybox(&self) -> anyhow::Result<()> {
        let root = self.root("busybox")?;
        let directory = Path::new(root.text()).join("bin");
        std::fs::create_dir(&directory)?;
        let busybox = tool::find("busybox").context("busybox is there")?;
        std::fs::copy(busybox, directory.join("busybox"))?;
        root.run(&["/bin/busybox", "--install", "-s", "/bin"], &[0])?;
        let name = self.host.archive();
        std::fs::create_dir(Path::new(root.text()).join("root"))?;
        for name in [name.as_str(), "install.sh", "SHA256SUMS"] {
            std::fs::copy(self.package(name), Path::new(root.text()).join("root").join(name))?;
        }
        let archive = format!("/root/{name}");
        let script = ["/bin/sh", "/root/install.sh"];
        let install = || root.run(&[&script[..], &[&archive]].concat(), &[0]);
        let remove = || root.run(&[&script[..], &["--remove", &archive]].concat(), &[0]);
        whole(&root, "/usr/local", install, remove)
    }

    fn image(&self) -> anyhow::Result<()> {
        let package = self.package(&self.host.image());
        ran("skopeo", &["inspect", &format!("oci-archive:{}", text(&package))], &[0])?;
        let (layout, bundle) = (self.room.path().join("layout"), self.room.path().join("bundle"));
        std::fs::create_dir(&layout)?;
        ran("tar", &["-xf", text(&package), "-C", text(&layout)], &[0])?;
        let image = format!("{}:{VERSION}", text(&layout));
        ran("umoci", &["unpack", "--rootless", "--image", &image, text(&bundle)], &[0])?;
        commands(&Root::new(bundle.join("rootfs"))?, "/usr")
    }

    /// The base system is unpacked and not set up: its libraries and its dpkg are all that counts.
    fn old_debian(&self) -> anyhow::Result<()> {
        let path = self.room.path().join(OLD_DEBIAN);
        let words = ["--foreign", "--variant=minbase", OLD_DEBIAN, text(&path), MIRROR];
        ran("debootstrap", &words, &[0])?;
        let root = Root::new(path.clone())?;
        std::fs::copy(self.package(&self.host.debian_package()), path.join("root/straddle.deb"))?;
        let install = || root.run(&["dpkg", "--install", "/root/straddle.deb"], &[0]);
        whole(&root, "/usr", install, || root.run(&["dpkg", "--purge", "straddle"], &[0]))
    }

    fn emulated(&self) -> anyhow::Result<()> {
        let directory = self.room.path().join("aarch64");
        std::fs::create_dir(&directory)?;
        let archive = self.package(&architecture::named("aarch64")?.archive());
        ran("tar", &["-xzf", text(&archive), "-C", text(&directory)], &[0])?;
        let program = directory.join("usr/bin/straddle");
        for words in [["version"], ["demo"]] {
            ran("qemu-aarch64-static", &[&[text(&program)], &words[..]].concat(), &[0])?;
        }
        Ok(())
    }
}

/// Installs, runs every command, and removes.
fn whole(
    root: &Root,
    prefix: &str,
    install: impl FnOnce() -> anyhow::Result<String>,
    remove: impl FnOnce() -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    let before = root.files()?;
    install()?;
    commands(root, prefix)?;
    remove()?;
    let left: Vec<String> = root.files()?.difference(&before).cloned().collect();
    ensure!(left.is_empty(), "left behind: {}", left.join(" "));
    Ok(())
}

/// Runs every command of the straddle below `prefix`; none may leave a file.
fn commands(root: &Root, prefix: &str) -> anyhow::Result<()> {
    let program = format!("{prefix}/bin/straddle");
    let before = root.files()?;
    ensure!(before.contains(&program), "{program} is not installed");
    for (words, codes) in COMMANDS {
        root.run(&[&[program.as_str()], words].concat(), codes)?;
    }
    let left: Vec<String> = root.files()?.difference(&before).cloned().collect();
    ensure!(left.is_empty(), "straddle left behind: {}", left.join(" "));
    Ok(())
}
