//! A large machine that does not exist: disks with partitions as the kernel shows them, as one
//! manifest and as the directory of its files.

use std::path::Path;

use anyhow::Context as _;
use device::Manifest;
use device::manifest::ManifestEntry;
use units::random::Random;

/// Number of partitions each disk has.
pub(super) const PARTITIONS: usize = 10;

/// Files of `queue` whose values say nothing here.
const QUEUE: [&str; 36] = [
    "add_random",
    "chunk_sectors",
    "dax",
    "discard_max_hw_bytes",
    "discard_zeroes_data",
    "dma_alignment",
    "fua",
    "io_poll",
    "io_poll_delay",
    "io_timeout",
    "iostats",
    "max_discard_segments",
    "max_hw_sectors_kb",
    "max_integrity_segments",
    "max_sectors_kb",
    "max_segment_size",
    "max_segments",
    "nomerges",
    "nr_requests",
    "nr_zones",
    "read_ahead_kb",
    "rq_affinity",
    "stable_writes",
    "virt_boundary_mask",
    "wbt_lat_usec",
    "write_same_max_bytes",
    "write_zeroes_max_bytes",
    "zone_append_max_bytes",
    "zone_write_granularity",
    "atomic_write_boundary_bytes",
    "atomic_write_max_bytes",
    "atomic_write_unit_max_bytes",
    "atomic_write_unit_min_bytes",
    "max_active_zones",
    "max_open_zones",
    "throttle_sample_time",
];

/// A machine with `disks` disks, whose sectors and partitions `random` chooses.
///
/// # Errors
/// When a path is none that a manifest holds.
pub(super) fn made(disks: usize, random: &mut Random) -> anyhow::Result<Manifest> {
    let mut manifest = Manifest::new();
    manifest.file("/proc/self/mountinfo", b"1 0 0:1 / / rw - tmpfs none rw\n")?;
    manifest.file("/proc/mountinfo", b"1 0 0:1 / / rw - tmpfs none rw\n")?;
    manifest.file("/proc/swaps", b"Filename\tType\tSize\tUsed\tPriority\n")?;
    for index in 0..disks {
        MachineDisk::new(index).put(&mut manifest, random)?;
    }
    Ok(manifest)
}

struct MachineDisk {
    name: String,
    /// Path of its device.
    device: String,
    path: String,
    index: usize,
}

impl MachineDisk {
    fn new(index: usize) -> MachineDisk {
        let (bus, host) = (index.div_euclid(16), index);
        let name = name(index);
        let device = format!(
            "/sys/devices/pci0000:00/0000:{bus:02x}:1f.2/ata{host}/host{host}/target{host}:0:0/\
             {host}:0:0:0"
        );
        let path = format!("{device}/block/{name}");
        MachineDisk { name, device, path, index }
    }

    fn put(&self, manifest: &mut Manifest, random: &mut Random) -> anyhow::Result<()> {
        let [logical, physical] = *random.choose(&[[512, 512], [512, 4096], [4096, 4096]]);
        let (model, rotates) = *random.choose(&[("Rotating Model", 1), ("Flash Model", 0)]);
        let path = &self.path;
        let mut put = |file: &str, value: &str| {
            manifest.file(&format!("{path}/{file}"), format!("{value}\n").as_bytes())
        };
        for file in QUEUE {
            put(&format!("queue/{file}"), "0")?;
        }
        for (file, value) in [
            ("logical_block_size", logical),
            ("hw_sector_size", logical),
            ("physical_block_size", physical),
            ("minimum_io_size", physical),
            ("optimal_io_size", 0),
            ("discard_granularity", physical),
            ("discard_max_bytes", 2_147_450_880),
            ("rotational", rotates),
        ] {
            put(&format!("queue/{file}"), &value.to_string())?;
        }
        for (file, value) in [
            ("queue/zoned", "none"),
            ("queue/write_cache", "write back"),
            ("queue/scheduler", "none [mq-deadline]"),
            ("alignment_offset", "0"),
            ("discard_alignment", "0"),
            ("capability", "50"),
            ("ext_range", "256"),
            ("hidden", "0"),
            ("range", "16"),
            ("removable", "0"),
            ("ro", "0"),
            ("size", &SECTORS.to_string()),
        ] {
            put(file, value)?;
        }
        for (file, value) in [
            ("model", model),
            ("vendor", "ATA"),
            ("rev", "1.0"),
            ("type", "0"),
            ("state", "running"),
        ] {
            let file = format!("{}/{file}", self.device);
            manifest.file(&file, format!("{value}\n").as_bytes())?;
        }
        manifest.link(&format!("{path}/device"), "../..")?;
        manifest.directory(&format!("{path}/slaves"))?;
        manifest.directory(&format!("{path}/holders"))?;
        self.known(manifest, &self.name, "", 0)?;
        for number in 1..=PARTITIONS {
            self.partition(manifest, random, number, logical)?;
        }
        Ok(())
    }

    /// Puts the ways by which the kernel leads to a device.
    fn known(
        &self,
        manifest: &mut Manifest,
        name: &str,
        below: &str,
        minor: usize,
    ) -> anyhow::Result<()> {
        let minor = minor + self.index * 16;
        let number = format!("{}:{}", 8 + minor.div_euclid(1 << 19), minor % (1 << 19));
        let place = self.path.trim_start_matches("/sys/").to_owned() + below;
        let events = if below.is_empty() { "disk" } else { "partition" };
        let events = format!("DEVNAME={name}\nDEVTYPE={events}\n");
        manifest.file(&format!("{}{below}/dev", self.path), format!("{number}\n").as_bytes())?;
        manifest.file(&format!("{}{below}/uevent", self.path), events.as_bytes())?;
        if below.is_empty() {
            manifest.link(&format!("/sys/block/{name}"), &format!("../{place}"))?;
        }
        manifest.link(&format!("/sys/class/block/{name}"), &format!("../../{place}"))?;
        manifest.link(&format!("/sys/dev/block/{number}"), &format!("../../{place}"))?;
        Ok(())
    }

    fn partition(
        &self,
        manifest: &mut Manifest,
        random: &mut Random,
        number: usize,
        logical: u64,
    ) -> anyhow::Result<()> {
        let name = format!("{}{number}", self.name);
        let length = SECTORS.div_euclid(u64::try_from(PARTITIONS)? + 1);
        // One in eight starts off every granule, as old tools left them.
        let shift = if random.below(8) == 0 { logical.div_euclid(512) * 7 } else { 0 };
        let start = length * u64::try_from(number - 1)? + 2048 + shift;
        let path = format!("{}/{name}", self.path);
        for (file, value) in [
            ("partition", u64::try_from(number)?),
            ("start", start),
            ("size", length - 4096),
            ("ro", 0),
            ("alignment_offset", 0),
            ("discard_alignment", 0),
        ] {
            manifest.file(&format!("{path}/{file}"), format!("{value}\n").as_bytes())?;
        }
        manifest.directory(&format!("{path}/holders"))?;
        self.known(manifest, &name, &format!("/{name}"), number)
    }
}

/// The length of each disk in 512-byte units.
const SECTORS: u64 = 7_814_037_168;

/// `sda` to `sdz`, then `sdaa` and on, as the kernel counts (`sd_format_disk_name`).
fn name(index: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = index + 1;
    while rest > 0 {
        let letter = u8::try_from((rest - 1) % 26).unwrap_or(0);
        letters.push(char::from(b'a' + letter));
        rest = (rest - 1).div_euclid(26);
    }
    format!("sd{}", letters.into_iter().rev().collect::<String>())
}

/// Makes files and links below `root` of everything in `manifest`; how many those are.
///
/// # Errors
/// When one cannot be made.
pub(super) fn spread(manifest: &Manifest, root: &Path) -> anyhow::Result<usize> {
    let at = |path: &str| root.join(path.trim_start_matches('/'));
    let mut count = 0;
    let mut last = String::new();
    for (path, entry) in manifest.entries() {
        let (directory, _) = path.rsplit_once('/').unwrap_or_default();
        if directory != last {
            directory.clone_into(&mut last);
            std::fs::create_dir_all(at(directory))?;
        }
        let made = match entry {
            ManifestEntry::File(content) => std::fs::write(at(&path), content),
            ManifestEntry::Link(target) => std::os::unix::fs::symlink(target, at(&path)),
            ManifestEntry::Unreadable(_) => std::fs::create_dir(at(&path)),
        };
        made.with_context(|| format!("cannot make {}", at(&path).display()))?;
        count += 1;
    }
    for path in manifest.empty_directories() {
        std::fs::create_dir_all(at(&path))?;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_counted_as_the_kernel_counts_them() {
        let names = [0, 25, 26, 701, 702].map(name);
        assert_eq!(names, ["sda", "sdz", "sdaa", "sdzz", "sdaaa"]);
    }

    #[test]
    fn the_directory_of_a_made_machine_answers_as_its_text() {
        let manifest = made(3, &mut testkit::random(5)).unwrap();
        let room = tempfile::tempdir().unwrap();
        let count = spread(&manifest, room.path()).unwrap();
        assert!(count > 3 * 150, "{count}");
        let directory = host::sysroot::open(room.path()).unwrap();
        let text = device::TextTree::parse(manifest.to_text()).unwrap();
        for (path, _) in manifest.entries() {
            assert_eq!(directory.bytes(&path), device::KernelTree::bytes(&text, &path), "{path}");
        }
        assert_eq!(directory.read("/sys/block/sdb/sdb3/partition").unwrap(), "3");
        assert_eq!(directory.read("/sys/dev/block/8:19/partition").unwrap(), "3");
    }
}
