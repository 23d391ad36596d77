//! A logical volume of LVM, all of it in one piece, over a whole device. It goes with the process.
//!
//! Device-mapper is asked at once to remove the volume when it is closed for the last time
//! (`DM_DEFERRED_REMOVE`), and the only one who has it open is this process, and what uses it: so
//! neither the volume nor the device beneath can stay behind, SIGKILL included. What is left is the
//! moment in which LVM itself makes the volume: whoever kills this process then finds a volume
//! `straddle_…-data`, which `dmsetup remove` ends. Any other end in that moment removes it.
//!
//! The nodes that LVM makes are removed as soon as the kernel's own is open. Of the machine's other
//! devices LVM sees none: its filter lets the one through. It writes no backup, archive or hint.
//!
//! Source: lvm.conf(5), vgcreate(8), lvcreate(8), dmsetup(8), Linux `drivers/md/dm.c`.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use host::{CommandPlan, Interrupt};

use crate::bench::file_system::{failed, installed};
use crate::shared::halt::Halt;
use crate::shared::printer::shown;

const PACKAGE: &str = "lvm2";
const CONTROL: &str = "/dev/mapper/control";
/// The volume's name within its group.
const NAME: &str = "data";
/// Longest time that each of LVM's programs may take.
const WITHIN: Duration = Duration::from_secs(60);
/// Longest time that the volume may take to go, and the time between two looks.
const GONE_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// The bytes before the group's first extent: LVM's own default, and a multiple of every granule.
const DATA_AT: &str = "1m";
/// Length of what may hold an older group's metadata, in bytes: all before the first extent.
const HEAD_BYTES: usize = 1 << 20;

/// Why this machine has no such volumes; `None` when nothing speaks against it.
pub(super) fn missing() -> Option<String> {
    if let Err(error) = OpenOptions::new().read(true).write(true).open(CONTROL) {
        return Some(format!("no device-mapper ({CONTROL}: {error})"));
    }
    let absent = ["lvm", "dmsetup"].into_iter().find(|tool| !installed(tool))?;
    Some(format!("{absent} is not installed (apt install {PACKAGE})"))
}

/// A volume that is open.
pub(super) struct OpenVolume {
    held: File,
    node: PathBuf,
    /// Its directory in sysfs, which is there as long as it is.
    kernel: PathBuf,
}

impl OpenVolume {
    /// Makes a group of `device` alone, and a volume of all its extents.
    ///
    /// # Errors
    /// When LVM or device-mapper does not want to. Nothing of it is active then.
    pub(super) fn make(device: &Path, interrupt: &Interrupt) -> Result<OpenVolume, Halt> {
        let number = device.file_name().unwrap_or_default().to_string_lossy();
        let group = UnfinishedGroup {
            name: format!("straddle_{}_{number}", std::process::id()),
            device,
            interrupt,
        };
        let made = group.make();
        if made.is_err() {
            group.forget();
        }
        made
    }

    /// The kernel's own node.
    pub(super) fn node(&self) -> &Path {
        &self.node
    }

    /// Closes it, and waits until it is gone.
    ///
    /// # Errors
    /// When somebody else has it open.
    pub(super) fn end(self) -> Result<(), Halt> {
        let OpenVolume { held, node, kernel } = self;
        drop(held);
        let begun = Instant::now();
        while kernel.exists() {
            if begun.elapsed() > GONE_WITHIN {
                let message =
                    format!("cannot remove {}: another process has it open", shown(&node));
                return Err(Halt::hinted(message, "lsof tells who".to_owned()));
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }
}

/// A group under construction.
struct UnfinishedGroup<'a> {
    name: String,
    device: &'a Path,
    interrupt: &'a Interrupt,
}

impl UnfinishedGroup<'_> {
    fn make(&self) -> Result<OpenVolume, Halt> {
        self.clear().map_err(|error| tried("empty", self.device, &error))?;
        let size = ["--physicalextentsize", "1m", "--dataalignment", DATA_AT];
        self.lvm("vgcreate", &size, &[self.name.as_ref(), self.device.as_os_str()])?;
        // Nobody else is to activate it behind us, so it is marked to be skipped.
        let all = ["--extents", "100%FREE", "--setactivationskip", "y", "--ignoreactivationskip"];
        let plain = ["--zero", "n", "--wipesignatures", "n", "--name", NAME];
        self.lvm("lvcreate", &[&all[..], &plain[..]].concat(), &[self.name.as_ref()])?;
        let volume = self.hold().map_err(|error| tried("open", &self.node(), &error))?;
        // In this order: once the volume is to go by itself, nothing else is left to be removed.
        self.unlink();
        self.run(&["dmsetup", "remove", "--deferred", "--noudevsync"], &[self.mapped().as_ref()])?;
        Ok(volume)
    }

    /// Makes the device's head empty, so that no group of an earlier round is found there.
    fn clear(&self) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(self.device)?;
        file.write_all(&vec![0; HEAD_BYTES])?;
        file.sync_all()
    }

    /// Opens the volume by the kernel's own node.
    fn hold(&self) -> io::Result<OpenVolume> {
        let name = self.mapped();
        let is_it = |directory: &Path| {
            let text = std::fs::read_to_string(directory.join("dm/name"));
            text.is_ok_and(|text| text.trim_end() == name)
        };
        let blocks = std::fs::read_dir("/sys/block")?.flatten().map(|entry| entry.path());
        let kernel = blocks.into_iter().find(|directory| is_it(directory));
        let kernel = kernel.ok_or(io::ErrorKind::NotFound)?;
        let node = Path::new("/dev").join(kernel.file_name().unwrap_or_default());
        Ok(OpenVolume { held: File::open(&node)?, node, kernel })
    }

    /// Removes LVM's own names for the volume.
    fn unlink(&self) {
        let links = Path::new("/dev").join(&self.name);
        for file in [links.join(NAME), self.node()] {
            // What is not there needs no removal.
            let _ = std::fs::remove_file(file);
        }
        let _ = std::fs::remove_dir(links);
    }

    /// Device-mapper's name of the volume.
    fn mapped(&self) -> String {
        format!("{}-{NAME}", self.name)
    }

    /// The node that LVM makes.
    fn node(&self) -> PathBuf {
        Path::new("/dev/mapper").join(self.mapped())
    }

    fn lvm(&self, verb: &str, options: &[&str], names: &[&OsStr]) -> Result<(), Halt> {
        let config = config(self.device);
        let words = [&["lvm", verb, "--yes", "--quiet", "--config", &config][..], options].concat();
        self.run(&words, names)
    }

    fn run(&self, words: &[&str], names: &[&OsStr]) -> Result<(), Halt> {
        let words = words.iter().map(OsString::from);
        let words: Vec<OsString> = words.chain(names.iter().map(OsString::from)).collect();
        let plan = CommandPlan { words: &words, budget: WITHIN, interrupt: self.interrupt };
        host::command::run(plan).map(|_| ()).map_err(|error| failed(error, PACKAGE))
    }

    /// Removes what there may be of the volume, once nobody has it open. No interrupt ends this.
    fn forget(&self) {
        let mut command = Command::new("dmsetup");
        command.args(["remove", "--deferred", "--noudevsync", &self.mapped()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Where there is no volume it fails, which is as well.
        let _ = command.status();
        self.unlink();
    }
}

/// LVM's settings: this device alone, nothing kept, no daemon asked.
fn config(device: &Path) -> String {
    let device = device.display();
    let filter = format!(r#"["a|^{device}$|", "r|.*|"]"#);
    format!(
        "devices {{ filter={filter} global_filter={filter} use_devicesfile=0 hints=\"none\" \
         obtain_device_list_from_udev=0 external_device_info_source=\"none\" \
         data_alignment_offset_detection=0 }} \
         backup {{ backup=0 archive=0 }} global {{ use_lvmlockd=0 use_lvmpolld=0 }} \
         activation {{ udev_sync=0 udev_rules=0 monitoring=0 }}"
    )
}

fn tried(verb: &str, path: &Path, error: &io::Error) -> Halt {
    Halt::refused(format!("cannot {verb} {}: {error}", shown(path)), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lvm_sees_the_one_device_alone() {
        let config = config(Path::new("/dev/loop3"));
        assert!(config.contains(r#" filter=["a|^/dev/loop3$|", "r|.*|"]"#), "{config}");
        assert!(config.contains(r#"global_filter=["a|^/dev/loop3$|", "r|.*|"]"#), "{config}");
    }
}
