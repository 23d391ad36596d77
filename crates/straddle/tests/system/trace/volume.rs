//! File systems on loop devices, unmounted and detached when dropped.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use testkit::{Loop, Mount, Scratch, scratch::text, tool};

/// A mounted file system. Its parts go in this order.
pub(crate) struct Volume {
    _mount: Mount,
    _loops: Vec<Loop>,
    point: PathBuf,
}

/// Plan of how a volume is made.
pub(crate) struct Plan<'a> {
    pub(crate) kind: &'a str,
    pub(crate) make: &'a [&'a str],
    pub(crate) options: &'a str,
    pub(crate) sector_bytes: u64,
    pub(crate) devices: usize,
}

impl Plan<'_> {
    pub(crate) const EXT4: Plan<'static> = Plan::of("ext4", &["-q", "-F"]);
    pub(crate) const XFS: Plan<'static> = Plan::of("xfs", &["-q", "-m", "reflink=1"]);
    pub(crate) const BTRFS: Plan<'static> = Plan::of("btrfs", &["-q", "-f"]);

    const fn of(kind: &'static str, make: &'static [&'static str]) -> Plan<'static> {
        Plan { kind, make, options: "", sector_bytes: 512, devices: 1 }
    }

    /// Makes and mounts it on images in `directory`.
    pub(crate) fn mounted(&self, directory: &Path) -> Volume {
        let image = |number| {
            let path = directory.join(format!("image{number}"));
            let file = File::create(&path).expect("an image can be made");
            file.set_len(512 << 20).expect("an image can be given a length");
            path
        };
        let images: Vec<PathBuf> = (0..self.devices).map(image).collect();
        let attach = |image: &PathBuf| Loop::attach(image, self.sector_bytes);
        let loops: Vec<Loop> = images.iter().map(attach).collect();
        let nodes: Vec<PathBuf> = loops.iter().map(|device| device.path().to_owned()).collect();
        self.on(&nodes, loops, directory)
    }

    /// Makes it on `nodes` and mounts it below `directory`.
    pub(crate) fn on(&self, nodes: &[PathBuf], loops: Vec<Loop>, directory: &Path) -> Volume {
        let mut arguments = self.make.to_vec();
        arguments.extend(nodes.iter().map(|node| text(node)));
        tool::run(&format!("mkfs.{}", self.kind), &arguments);
        let devices = nodes.iter().map(|node| format!("device={}", text(node)));
        let mut options: Vec<String> = match self.kind {
            "btrfs" => devices.collect(),
            _ => Vec::new(),
        };
        options.extend(Some(self.options.to_owned()).filter(|options| !options.is_empty()));
        let point = directory.join("mounted");
        let mount = Mount::new(self.kind, &options.join(","), text(&nodes[0]), &point);
        Volume { _mount: mount, _loops: loops, point }
    }
}

impl Volume {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.point.join(name)
    }

    /// A file of `length_bytes` of random bytes.
    pub(crate) fn file(&self, name: &str, length_bytes: u64) -> PathBuf {
        let path = self.path(name);
        let file = File::create(&path).expect("a file can be made");
        let mut random = units::random::Random::new(length_bytes);
        let mut block = [0; 65536];
        for at in (0..length_bytes).step_by(block.len()) {
            for word in block.chunks_exact_mut(8) {
                word.copy_from_slice(&random.next_u64().to_le_bytes());
            }
            let rest = usize::try_from(length_bytes - at).unwrap_or(usize::MAX).min(block.len());
            file.write_all_at(&block[..rest], at).expect("a file can be written");
        }
        file.sync_all().expect("a file can be synced");
        path
    }
}

/// A file that can be written anywhere.
pub(crate) fn writable(path: &Path) -> File {
    OpenOptions::new().write(true).open(path).expect("a file can be opened for writing")
}

/// A fresh directory for one test.
pub(crate) fn directory() -> Scratch {
    Scratch::new()
}
