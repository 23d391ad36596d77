//! File systems of the tests' own, on which nobody else writes, so that whatever a run leaves
//! behind is seen.

use std::path::{Path, PathBuf};

use testkit::{Loop, Scratch, scratch::text, tool};

use super::run::until;

/// A mounted file system; it goes in this order.
pub(crate) struct Volume {
    point: PathBuf,
    device: Option<Loop>,
    _scratch: Scratch,
}

impl Volume {
    /// A file system of `kind` on a loop device with direct I/O, mounted with `options`.
    pub(crate) fn on_loop(kind: &str, make: &[&str], options: &str) -> Volume {
        let scratch = Scratch::new();
        let device = Loop::attach_direct(&scratch.image("image", 512 << 20), 512);
        let node = text(device.path()).to_owned();
        let arguments: Vec<&str> = make.iter().copied().chain([node.as_str()]).collect();
        tool::run(&format!("mkfs.{kind}"), &arguments);
        Volume::mounted(scratch, kind, options, &node, Some(device))
    }

    /// An ext4 whose structures are all written when it is made.
    pub(crate) fn ext4(options: &str) -> Volume {
        let whole = "lazy_itable_init=0,lazy_journal_init=0";
        Volume::on_loop("ext4", &["-q", "-F", "-J", "size=4", "-E", whole], options)
    }

    /// A file system in memory.
    pub(crate) fn in_memory(options: &str) -> Volume {
        Volume::mounted(Scratch::new(), "tmpfs", options, "tmpfs", None)
    }

    fn mounted(
        scratch: Scratch,
        kind: &str,
        options: &str,
        what: &str,
        device: Option<Loop>,
    ) -> Volume {
        let point = scratch.path().join("mounted");
        std::fs::create_dir(&point).expect("a mount point can be made");
        let options = if options.is_empty() { "defaults" } else { options };
        tool::run("mount", &["-t", kind, "-o", options, what, text(&point)]);
        Volume { point, device, _scratch: scratch }
    }

    /// Returns where it is mounted.
    pub(crate) fn name(&self) -> &str {
        text(&self.point)
    }

    /// The same as a path.
    pub(crate) fn path(&self) -> &Path {
        &self.point
    }

    /// The name of its loop device.
    pub(crate) fn device_name(&self) -> &str {
        let device = self.device.as_ref().expect("it is on one");
        device.path().file_name().and_then(|name| name.to_str()).expect("it has a name")
    }

    /// Returns how much of its device was written since that was attached, in bytes.
    pub(crate) fn written_bytes(&self) -> u64 {
        let path = format!("/sys/block/{}/stat", self.device_name());
        let line = std::fs::read_to_string(path).expect("it counts");
        let sectors: u64 = line.split_whitespace().nth(6).expect("a field").parse().expect("one");
        sectors * 512
    }

    /// Returns what is in it, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.point).expect("it can be listed").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().into_string().expect("it is text")).collect();
        names.sort();
        names
    }

    /// Checks that no file of a run is there any more.
    #[track_caller]
    pub(crate) fn is_clean(&self) {
        let ours = || {
            let entries = std::fs::read_dir(&self.point).expect("it can be listed").flatten();
            entries.filter(|entry| entry.file_name() != "lost+found").count()
        };
        until("nothing is left", || ours() == 0);
    }
}

/// Another mount of a directory, undone when dropped.
pub(crate) struct Bound(PathBuf);

impl Bound {
    /// One that cannot be written to, at `point`, which is made.
    pub(crate) fn read_only(directory: &str, point: PathBuf) -> Bound {
        std::fs::create_dir(&point).expect("a mount point can be made");
        tool::run("mount", &["-o", "bind,ro", directory, text(&point)]);
        Bound(point)
    }

    /// Returns where it is mounted.
    pub(crate) fn name(&self) -> &str {
        text(&self.0)
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        unmount(&self.0);
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        unmount(&self.point);
    }
}

/// A killed run's last file may go a moment after it.
fn unmount(point: &Path) {
    for _ in 0..2000 {
        if tool::output("umount", &[text(point)]).status.success() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
