//! The images that are looked at: some templates made by the real tools, copied many times.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use units::random::Random;

use super::sfdisk::{self, Partition};
use super::tools;

/// A partitioned disk: its kind of table, and of each partition the first sector, the length in MiB
/// and the file system.
type Template = (&'static str, &'static [(u64, u64, &'static str)]);

const SECTOR_BYTES: u64 = 512;
/// Sectors that stay free after the last partition, for the table's second copy.
const TAIL_SECTORS: u64 = 2048;

/// Partitions in and out of place, as 30 years of partitioning tools left them.
const TEMPLATES: &[Template] = &[
    ("dos", &[(63, 64, "ext4")]),
    ("dos", &[(2048, 64, "ext4")]),
    ("dos", &[(2048, 320, "xfs")]),
    ("dos", &[(63, 320, "xfs")]),
    ("dos", &[(63, 32, "vfat")]),
    ("dos", &[(2048, 128, "btrfs")]),
    ("dos", &[(63, 8, "swap"), (16_447, 64, "ext4")]),
    ("dos", &[(2048, 64, "ext4"), (133_120, 16, "swap")]),
    ("dos", &[(2048, 32, "vfat"), (67_584, 64, "ext4"), (198_656, 16, "swap")]),
    ("dos", &[(63, 32, "ext4"), (65_663, 32, "ext4"), (131_263, 32, "vfat")]),
    ("dos", &[(2048, 16, "swap"), (34_816, 320, "xfs")]),
    ("dos", &[(1, 16, "vfat"), (40_000, 32, "ext4"), (110_001, 8, "swap"), (130_000, 32, "ext4")]),
    ("gpt", &[(34, 64, "ext4")]),
    ("gpt", &[(2048, 64, "ext4")]),
    ("gpt", &[(40, 32, "vfat"), (67_000, 64, "ext4")]),
    ("gpt", &[(2048, 320, "xfs")]),
    ("gpt", &[(34, 128, "btrfs")]),
    ("gpt", &[(2048, 32, "vfat"), (67_584, 128, "btrfs")]),
    ("gpt", &[(2048, 32, "vfat"), (67_584, 320, "xfs"), (722_944, 16, "swap")]),
    ("gpt", &[(34, 1, ""), (2082, 32, "vfat"), (67_618, 64, "ext4")]),
    ("gpt", &[(2048, 1, ""), (4096, 32, "vfat"), (69_632, 64, "ext4"), (200_704, 16, "swap")]),
    ("gpt", &[(2048, 16, "swap"), (34_817, 64, "ext4"), (165_895, 320, "xfs")]),
    ("gpt", &[(64, 32, "ext4"), (65_601, 32, "ext4"), (131_140, 32, "ext4"), (200_000, 8, "swap")]),
    ("gpt", &[(256, 64, "ext4"), (131_584, 64, "ext4"), (262_912, 128, "btrfs")]),
];

/// The images, and how large they are.
pub(super) struct Images {
    pub(super) paths: Vec<PathBuf>,
    /// The partitions of each, in the same order, as `sfdisk` says.
    pub(super) partitions: Vec<Vec<Partition>>,
    /// The sum of their lengths.
    pub(super) length_bytes: u64,
    /// The sum of what they occupy; holes take no place.
    pub(super) occupied_bytes: u64,
}

impl Images {
    /// Looks at the images at `indices` one after another, once; how long it took.
    ///
    /// # Errors
    /// When a tool is missing or fails, or `sfdisk` answers otherwise than when the image was made.
    pub(super) fn look(&self, indices: &[usize]) -> anyhow::Result<Duration> {
        let blkid = tools::find("blkid")?;
        let begun = Instant::now();
        for &index in indices {
            let path = &self.paths[index];
            let partitions = sfdisk::partitions(path)?;
            anyhow::ensure!(partitions == self.partitions[index], "{} changed", path.display());
            for partition in partitions {
                let mut command = Command::new(&blkid);
                command.args([
                    "--probe",
                    "--offset",
                    &(partition.start_sectors * SECTOR_BYTES).to_string(),
                    "--size",
                    &(partition.length_sectors * SECTOR_BYTES).to_string(),
                ]);
                // It exits with 2 where nothing is on a partition.
                tools::output(command.arg(path))?;
            }
        }
        Ok(begun.elapsed())
    }
}

/// Makes `count` images in `directory`, which exists, of templates that `random` chooses.
///
/// # Errors
/// When a tool is missing or fails, or the disk is full.
pub(super) fn make(
    directory: &Path,
    workshop: &Path,
    count: usize,
    random: &mut Random,
) -> anyhow::Result<Images> {
    let mut templates = Vec::new();
    for (number, template) in TEMPLATES.iter().enumerate() {
        let path = workshop.join(format!("template-{number}"));
        make_template(template, &path, &workshop.join("file-system"))
            .with_context(|| format!("cannot make template {number}"))?;
        let partitions = sfdisk::partitions(&path)?;
        anyhow::ensure!(partitions.len() == template.1.len(), "template {number} lacks partitions");
        templates.push((path, partitions));
    }
    let mut images =
        Images { paths: Vec::new(), partitions: Vec::new(), length_bytes: 0, occupied_bytes: 0 };
    for number in 0..count {
        let (template, partitions) = random.choose(&templates);
        let path = directory.join(format!("disk-{number:05}.img"));
        tools::run("cp", &["--sparse=always", "--", tools::text(template)?, tools::text(&path)?])?;
        let data = std::fs::metadata(&path)?;
        images.length_bytes += data.len();
        images.occupied_bytes += data.blocks() * SECTOR_BYTES;
        images.paths.push(path);
        images.partitions.push(partitions.clone());
    }
    Ok(images)
}

/// Returns how many templates there are.
pub(super) fn template_count() -> usize {
    TEMPLATES.len()
}

fn make_template((label, rows): &Template, path: &Path, spare: &Path) -> anyhow::Result<()> {
    let end = rows.iter().map(|(start, mib, _)| start + (mib << 20).div_euclid(SECTOR_BYTES)).max();
    let sectors = end.unwrap_or(0) + TAIL_SECTORS;
    File::create(path)?.set_len(sectors * SECTOR_BYTES)?;
    let first = if *label == "gpt" { "first-lba: 34\n" } else { "" };
    let lines: String =
        rows.iter().map(|(start, mib, _)| format!("start={start}, size={mib}MiB\n")).collect();
    let mut sfdisk = Command::new(tools::find("sfdisk")?);
    sfdisk.args(["--quiet", "--no-reread"]).arg(path);
    tools::run_with_input("sfdisk", &mut sfdisk, &format!("label: {label}\n{first}{lines}"))?;
    for (start, mib, kind) in rows.iter().filter(|(_, _, kind)| !kind.is_empty()) {
        // A new file each time, so that nothing of the last file system is left in it.
        File::create(spare)?.set_len(mib << 20)?;
        make_file_system(kind, spare)?;
        tools::run(
            "dd",
            &[
                "status=none",
                "bs=64K",
                "conv=notrunc,sparse",
                "oflag=seek_bytes",
                &format!("if={}", tools::text(spare)?),
                &format!("of={}", tools::text(path)?),
                &format!("seek={}", start * SECTOR_BYTES),
            ],
        )?;
        std::fs::remove_file(spare)?;
    }
    Ok(())
}

fn make_file_system(kind: &str, path: &Path) -> anyhow::Result<()> {
    let path = tools::text(path)?;
    match kind {
        "ext4" => tools::run("mkfs.ext4", &["-q", "-F", path]),
        "xfs" => tools::run("mkfs.xfs", &["-q", path]),
        "vfat" => tools::run("mkfs.vfat", &[path]),
        "btrfs" => tools::run("mkfs.btrfs", &["-q", path]),
        "swap" => tools::run("mkswap", &["-q", path]),
        _ => anyhow::bail!("no tool is known that makes {kind}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_partitions_of_a_template_overlap_and_most_kinds_occur_in_and_out_of_place() {
        for (number, (label, rows)) in TEMPLATES.iter().enumerate() {
            assert!((1..=4).contains(&rows.len()), "template {number}");
            let mut free = if *label == "gpt" { 34 } else { 1 };
            for (start, mib, _) in *rows {
                assert!(*start >= free, "template {number}: {start} < {free}");
                free = start + mib * 2048;
            }
        }
        for kind in ["ext4", "xfs", "btrfs", "vfat", "swap"] {
            let starts: Vec<u64> = TEMPLATES
                .iter()
                .flat_map(|(_, rows)| rows.iter())
                .filter(|(_, _, name)| *name == kind)
                .map(|(start, _, _)| *start)
                .collect();
            assert!(starts.iter().any(|start| start % 8 == 0), "{kind}");
            assert!(starts.iter().any(|start| start % 8 != 0), "{kind}");
        }
    }
}
