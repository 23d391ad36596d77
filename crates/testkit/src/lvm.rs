//! lvm2 on images, without device-mapper.
//!
//! It runs on loop devices over scratch files with a configuration of its own, so that it sees
//! nothing of this machine and this machine nothing of it. Volumes are described on the images and
//! never become active.

use std::path::{Path, PathBuf};

use crate::{Loop, Scratch, scratch, tool};

/// The tool with a private configuration, and the images that it sees as devices. The loops go
/// before the files.
#[derive(Debug)]
pub struct Lvm {
    loops: Vec<Loop>,
    images: Vec<PathBuf>,
    scratch: Scratch,
}

impl Lvm {
    /// Attaches an empty image `disk0`, `disk1` and so on for each of the sizes, as a loop device
    /// with logical sectors of 512 bytes.
    ///
    /// # Panics
    /// When an image or a loop device cannot be made: see [`need_loops`](crate::need_loops).
    #[must_use]
    pub fn on(sizes_bytes: &[u64]) -> Lvm {
        let scratch = Scratch::new();
        let image = |(n, &bytes): (usize, &u64)| scratch.image(&format!("disk{n}"), bytes);
        let images: Vec<_> = sizes_bytes.iter().enumerate().map(image).collect();
        let loops = images.iter().map(|image| Loop::attach(image, 512)).collect();
        Lvm { loops, images, scratch }
    }

    /// The images, in the order of their sizes.
    #[must_use]
    pub fn images(&self) -> &[PathBuf] {
        &self.images
    }

    /// The node of the loop device over image `number`.
    ///
    /// # Panics
    /// When there are not so many.
    #[must_use]
    pub fn device(&self, number: usize) -> &str {
        scratch::text(self.loops[number].path())
    }

    /// The directory that holds the images.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.scratch.path()
    }

    fn config(&self) -> String {
        let accept: String =
            (0..self.loops.len()).map(|n| format!("\"a|^{}$|\",", self.device(n))).collect();
        let directory = scratch::text(self.scratch.path());
        format!(
            "devices {{ dir=\"/dev\" scan=[\"/dev\"] filter=[{accept}\"r|.*|\"]
             global_filter=[{accept}\"r|.*|\"] use_devicesfile=0 hints=\"none\"
             obtain_device_list_from_udev=0 external_device_info_source=\"none\" }}
             global {{ locking_dir=\"{directory}/lock\" use_lvmlockd=0 use_lvmpolld=0 }}
             backup {{ backup=0 archive=0 }}
             activation {{ udev_sync=0 udev_rules=0 monitoring=0 }}"
        )
    }

    /// Runs `lvm` and returns its output; `None` when it refuses, which some geometries deserve.
    ///
    /// # Panics
    /// When it cannot be started, or prints what is no text.
    #[must_use]
    pub fn attempt(&self, arguments: &[&str]) -> Option<String> {
        let output = tool::command("lvm")
            .args(arguments)
            .args(["--driverloaded", "n", "--config", &self.config()])
            .env("LVM_SYSTEM_DIR", self.scratch.path())
            .env("LVM_SUPPRESS_FD_WARNINGS", "1")
            .output()
            .expect("lvm can be started");
        let printed = || String::from_utf8(output.stdout).expect("lvm prints UTF-8");
        output.status.success().then(printed)
    }

    /// Runs `lvm` and returns its output.
    ///
    /// # Panics
    /// When it refuses.
    pub fn run(&self, arguments: &[&str]) -> String {
        self.attempt(arguments).unwrap_or_else(|| panic!("lvm {arguments:?}"))
    }
}
