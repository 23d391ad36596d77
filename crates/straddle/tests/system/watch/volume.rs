//! Loop devices with file systems on them, unmounted and detached when dropped.

use std::path::{Path, PathBuf};

use testkit::running_program::until;
use testkit::{Loop, Scratch, scratch::text, tool};

/// A loop device past the page cache.
pub(crate) struct Device {
    pub(crate) device: Loop,
    pub(crate) scratch: Scratch,
}

impl Device {
    /// One of `length_bytes`.
    pub(crate) fn new(length_bytes: u64) -> Device {
        let scratch = Scratch::new();
        let device = Loop::attach_direct(&scratch.image("image", length_bytes), 512);
        Device { device, scratch }
    }

    /// Its node.
    pub(crate) fn node(&self) -> &str {
        text(self.device.path())
    }

    /// The kernel's name of it.
    pub(crate) fn name(&self) -> &str {
        self.node().trim_start_matches("/dev/")
    }

    /// Gives it one partition that starts at `sector`; returns the node of that.
    pub(crate) fn partition(&self, label: &str, sector: u64) -> PathBuf {
        let table = format!("label: {label}\n{sector},,L\n");
        let words = ["-q", "--no-tell-kernel", "--no-reread", self.node()];
        tool::run_with_input("sfdisk", &words, &table);
        // One of the number's last user may be there still, while somebody looks at it.
        let node = self.node();
        until("the kernel takes the partition", || {
            let _ = tool::output("partx", &["--delete", node]);
            tool::output("partx", &["--add", "--nr", "1", node]).status.success()
        });
        PathBuf::from(format!("{node}p1"))
    }

    /// Mounts what is at `node`, which is on it.
    pub(crate) fn mounted(self, node: &Path) -> Volume {
        let point = self.scratch.path().join("point");
        std::fs::create_dir(&point).expect("a mount point can be made");
        tool::run("mount", &[text(node), text(&point)]);
        Volume { point, device: self }
    }
}

/// A file system on it, mounted.
pub(crate) struct Volume {
    point: PathBuf,
    pub(crate) device: Device,
}

impl Volume {
    /// One that `words` make, followed by the node.
    pub(crate) fn made(length_bytes: u64, words: &[&str]) -> Volume {
        let device = Device::new(length_bytes);
        tool::run(words[0], &[&words[1..], &[device.node()]].concat());
        let node = device.device.path().to_owned();
        device.mounted(&node)
    }

    /// An ext4 with blocks of `block_bytes`, whose structures are all written when it is made.
    pub(crate) fn ext4(block_bytes: u64) -> Volume {
        Volume::made(256 << 20, &[&EXT4[..], &["-b", &block_bytes.to_string()]].concat())
    }

    /// The directory on which it is mounted.
    pub(crate) fn path(&self) -> &Path {
        &self.point
    }

    /// The node of its device.
    pub(crate) fn node(&self) -> &str {
        self.device.node()
    }

    /// The name of its layer.
    pub(crate) fn layer(&self, kind: &str) -> String {
        format!("{kind} on {}", self.device.name())
    }

    /// A file called `name` of 1 MiB that was written, so that it has its place on the device.
    pub(crate) fn file(&self, name: &str) -> String {
        let path = self.point.join(name);
        std::fs::write(&path, vec![1; 1 << 20]).expect("a file can be written");
        tool::run("sync", &["--file-system", text(&path)]);
        text(&path).to_owned()
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        until("it is unmounted", || tool::output("umount", &[text(&self.point)]).status.success());
    }
}

/// mkfs.ext4 without work that the kernel would do later.
pub(crate) const EXT4: [&str; 7] =
    ["mkfs.ext4", "-q", "-F", "-J", "size=4", "-E", "lazy_itable_init=0,lazy_journal_init=0"];
