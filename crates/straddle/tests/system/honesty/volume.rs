//! File systems of the tests' own.

use std::path::Path;

use testkit::{Loop, Mount, Scratch, scratch::text, tool};

/// A file system on a loop device with direct I/O over a file. The parts go in this order.
pub(super) struct Volume {
    mount: Mount,
    _device: Loop,
    _scratch: Scratch,
}

impl Volume {
    /// One of `kind` mounted with `options`, in the temporary directory.
    pub(super) fn new(kind: &str, options: &str) -> Volume {
        Volume::of(kind, options, Scratch::new())
    }

    /// The same over a file in `directory`.
    pub(super) fn within(kind: &str, options: &str, directory: &Path) -> Volume {
        Volume::of(kind, options, Scratch::within(directory))
    }

    fn of(kind: &str, options: &str, scratch: Scratch) -> Volume {
        let image = scratch.image("image", 512 << 20);
        let device = Loop::attach_direct(&image, 512);
        let node = text(device.path());
        let force = if kind == "ext4" { "-F" } else { "-f" };
        tool::run(&format!("mkfs.{kind}"), &["-q", force, node]);
        let mount = Mount::new(kind, options, node, &scratch.path().join("mounted"));
        Volume { mount, _device: device, _scratch: scratch }
    }

    pub(super) fn path(&self) -> &Path {
        self.mount.path()
    }
}

/// A file system on a loop device with direct I/O, whose log is on another over a file in
/// `directory`. The parts go in this order.
pub(super) struct WithLog {
    mount: Mount,
    _devices: [Loop; 2],
    _scratches: [Scratch; 2],
}

impl WithLog {
    /// One of `kind`, ext4 or XFS.
    pub(super) fn new(kind: &str, directory: &Path) -> WithLog {
        let scratches = [Scratch::new(), Scratch::within(directory)];
        let image = scratches[0].image("image", 512 << 20);
        let devices = [
            Loop::attach_direct(&image, 512),
            Loop::attach(&scratches[1].image("log", 128 << 20), 512),
        ];
        let [node, log] = [text(devices[0].path()), text(devices[1].path())];
        let options = match kind {
            "ext4" => {
                tool::run("mke2fs", &["-q", "-F", "-b", "4096", "-O", "journal_dev", log]);
                let journal = format!("device={log}");
                tool::run("mkfs.ext4", &["-q", "-F", "-b", "4096", "-J", &journal, node]);
                String::new()
            }
            _ => {
                let place = format!("logdev={log},size=64m");
                tool::run("mkfs.xfs", &["-q", "-f", "-l", &place, node]);
                format!("logdev={log}")
            }
        };
        let mount = Mount::new(kind, &options, node, &scratches[0].path().join("mounted"));
        WithLog { mount, _devices: devices, _scratches: scratches }
    }

    pub(super) fn path(&self) -> &Path {
        self.mount.path()
    }
}
