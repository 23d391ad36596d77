//! File systems of the tests' own, on which nobody else writes, so that whatever a run leaves
//! behind is seen.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::running_program::until;
use testkit::{Loop, Mount, Scratch, scratch::text, tool};

const NOT_LATER: &str = "lazy_itable_init=0,lazy_journal_init=0";

/// Plan of how a volume is made.
#[derive(Clone, Copy)]
pub(crate) struct Plan<'a> {
    pub(crate) kind: &'a str,
    pub(crate) make: &'a [&'a str],
    pub(crate) options: &'a str,
    pub(crate) length_bytes: u64,
}

impl Plan<'_> {
    /// All that it writes for itself is written when it is made, so that counters tell of others.
    pub(crate) const EXT4: Plan<'static> = Plan {
        kind: "ext4",
        make: &["-q", "-F", "-b", "4096", "-N", "1024", "-J", "size=4", "-E", NOT_LATER],
        options: "",
        length_bytes: 1 << 30,
    };
    pub(crate) const XFS: Plan<'static> =
        Plan { kind: "xfs", make: &["-q"], options: "", length_bytes: 1 << 30 };
    pub(crate) const BTRFS: Plan<'static> =
        Plan { kind: "btrfs", make: &["-q", "-f"], options: "", length_bytes: 1 << 30 };

    /// Made on a sparse image in `directory`, and mounted there.
    pub(crate) fn within(&self, directory: &Path) -> Parts {
        let image = directory.join("image");
        let file = fs::File::create(&image).expect("an image can be made");
        file.set_len(self.length_bytes).expect("an image can be given a length");
        let device = Loop::attach_direct(&image, 512);
        let node = text(device.path()).to_owned();
        let arguments: Vec<&str> = self.make.iter().copied().chain([node.as_str()]).collect();
        tool::run(&format!("mkfs.{}", self.kind), &arguments);
        let point = directory.join("mounted");
        let mount = Mount::new(self.kind, self.options, &node, &point);
        tool::run("sync", &["--file-system", text(&point)]);
        Parts { mount, device }
    }

    /// Made in a directory of its own, and mounted.
    pub(crate) fn mounted(&self) -> Volume {
        let scratch = Scratch::new();
        let parts = self.within(scratch.path());
        Volume { parts, _scratch: scratch }
    }
}

/// A mounted file system and its device. They go in this order.
pub(crate) struct Parts {
    mount: Mount,
    device: Loop,
}

/// A mounted file system in a directory of its own. They go in this order.
pub(crate) struct Volume {
    parts: Parts,
    _scratch: Scratch,
}

impl std::ops::Deref for Volume {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

impl Parts {
    /// Returns where it is mounted.
    pub(crate) fn path(&self) -> &Path {
        self.mount.path()
    }

    /// Returns where it is mounted, as an argument.
    pub(crate) fn name(&self) -> &str {
        text(self.path())
    }

    /// Sends all that goes to its device through the page cache of the file system that has the
    /// image; its kernel's name.
    pub(crate) fn goes_through_the_page_cache(&self) -> &str {
        let node = text(self.device.path());
        tool::run("losetup", &["--direct-io=off", node]);
        node.trim_start_matches("/dev/")
    }

    /// Returns how much was written to its device since that was attached, in sectors of 512 bytes.
    pub(crate) fn written_sectors(&self) -> u64 {
        self.counter(6)
    }

    /// A counter of its device, as [`counter`] has it.
    pub(crate) fn counter(&self, place: usize) -> u64 {
        counter(&self.device, place)
    }

    /// Returns how many blocks are free, and how many files are there.
    pub(crate) fn state(&self) -> State {
        let numbers = tool::run("stat", &["--file-system", "--format=%f %d", self.name()]);
        let names = fs::read_dir(self.path()).expect("it can be listed");
        State { free: numbers.trim().to_owned(), files: names.count() }
    }

    /// The loop devices over files in it.
    pub(crate) fn loops(&self) -> Vec<String> {
        let devices = fs::read_dir("/sys/block").expect("sysfs is there").flatten();
        let behind = |directory: PathBuf| fs::read_to_string(directory.join("loop/backing_file"));
        let ours = |file: &String| file.starts_with(self.name());
        devices.filter_map(|device| behind(device.path()).ok()).filter(ours).collect()
    }

    /// Waits until nothing of a run is there that started in `before`: no loop device over a file
    /// of it, no file, and all space free again.
    #[track_caller]
    pub(crate) fn is_clean_again(&self, before: &State) {
        until("no loop device is left", || self.loops().is_empty());
        until("no file is left, and all space is free", || self.state() == *before);
    }
}

/// One of the counters of sysfs's `stat`: the third is what was read and the seventh what was
/// written, in sectors of 512 bytes. `place` counts from 0.
pub(crate) fn counter(device: &Loop, place: usize) -> u64 {
    let name = device.path().file_name().expect("a node has a name");
    let stat = Path::new("/sys/block").join(name).join("stat");
    let stat = fs::read_to_string(stat).expect("a loop device has counters");
    let number = stat.split_whitespace().nth(place).expect("there are at least eleven");
    number.parse().expect("a counter is a number")
}

/// Content of a file system.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State {
    free: String,
    files: usize,
}
