//! Heads of real disks, made by the real tools and packed: what fuzzers start from, and what the
//! plain tests damage byte by byte.

mod recipes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use device::{Disk as _, pack};
use testkit::{FileDisk, Loop, Scratch, loops, scratch};

use self::recipes::{GROUP, RECIPES, SeedRecipe, UUID_1, UUID_2};
use crate::bench::tools;

/// Makes every head that the installed tools can make, in `directory`, with a readme that names the
/// commands. Always `true`: a tool that is missing or fails is named, and the others go on.
pub(crate) fn make(directory: &Path) -> anyhow::Result<bool> {
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    let mut rows = String::new();
    let (mut count, mut bytes_total) = (0, 0);
    for recipe in RECIPES {
        match head(recipe) {
            Ok(packed) => {
                fs::write(directory.join(format!("{}.pack", recipe.name)), &packed)?;
                bytes_total += packed.len();
                count += 1;
                if !recipe.name.starts_with("local-") {
                    rows += &row(recipe, packed.len());
                }
            }
            Err(reason) => println!("{}: left out: {reason:#}", recipe.name),
        }
    }
    fs::write(directory.join("README.md"), format!("{README}{rows}"))?;
    println!("{count} heads, {bytes_total} bytes, in {}", directory.display());
    Ok(true)
}

const README: &str = "# Heads of disks and images

Each file is what one command of a real tool left on a disk that was zeros: the parts that
parsers read, packed as `crates/device/src/pack.rs` describes. `cargo xtask seeds DIRECTORY` makes
those in the table again; `cargo xtask pack FILE PACKED` packs one more.

Arrays need a kernel with md, so these come from a virtual machine with four disks that have
physical sectors of 4 KiB:

- `md-raid5`: the first member after `mdadm --create --level=5 --raid-devices=4 --chunk=64
  --metadata=1.2 --bitmap=none --assume-clean`.
- `md-nested`: the same on partitions made by `sfdisk` (`label: gpt`, `start=2048`); the whole disk.
- `lvm-on-md`: the start of that array after `pvcreate`, `vgcreate` and `lvcreate -L 128M`, with
  what `cryptsetup luksFormat --type luks2` put on the volume.
- `mbr-lowest7`: a disk whose lowest aligned block is 7, partitioned at 63, 2048 and 16383.

Answers of drives come from a virtual machine too, each the bytes of one answer to Linux 6.12:

- `answer-nvme-namespace`, `answer-nvme-controller`: QEMU's NVMe disk, with `logical_block_size=512`
  and `discard_granularity=16384`.
- `answer-ata-identify`: QEMU's ATA disk with `physical_block_size=4096`, `rotation_rate=1`;
  `answer-scsi-characteristics`: what libata makes of one with `rotation_rate=5400`.
- `answer-scsi-capacity`, `answer-scsi-block-limits`: `modprobe scsi_debug dev_size_mb=64
  physblk_exp=3 lowest_aligned=7 lbpu=1 unmap_granularity=64 unmap_alignment=8 atomic_wr=1`.

| file | disk | made by |
|---|---|---|
";

fn row(recipe: &SeedRecipe, bytes: usize) -> String {
    let length = match recipe.length_mib {
        0 => "as made".to_owned(),
        mib => format!("{mib} MiB"),
    };
    let commands: Vec<String> =
        recipe.commands.lines().map(|line| format!("`{}`", with_uuids(line))).collect();
    format!("| {} ({bytes} bytes) | {length} | {} |\n", recipe.name, commands.join(", then "))
}

fn with_uuids(line: &str) -> String {
    line.replace("{1}", UUID_1).replace("{2}", UUID_2)
}

/// Makes one disk and packs its ends.
fn head(recipe: &SeedRecipe) -> anyhow::Result<Vec<u8>> {
    let scratch = Scratch::new();
    let disk = match recipe.length_mib {
        0 => scratch.path().join("disk"),
        mib => scratch.image("disk", mib << 20),
    };
    let looped = match recipe.commands.contains("{loop}") {
        true if loops::available() => Some(Loop::attach(&disk, 512)),
        true => bail!("cannot make heads without root and loop devices; hint: try sudo"),
        false => None,
    };
    let device = looped.as_ref().map_or(Path::new("none"), Loop::path);
    let (directory, raw) = contents(&scratch)?;
    let group = scratch.file("group", GROUP.as_bytes());
    for line in recipe.commands.lines() {
        let (line, input) = line.split_once(" < ").unwrap_or((line, ""));
        let words: Vec<String> = with_uuids(line)
            .split_whitespace()
            .map(|word| {
                word.replace("{disk}", scratch::text(&disk))
                    .replace("{loop}", scratch::text(device))
                    .replace("{dir}", scratch::text(&directory))
                    .replace("{raw}", scratch::text(&raw))
                    .replace("{group}", scratch::text(&group))
            })
            .collect();
        run(&words, &input.replace(';', "\n"))?;
    }
    drop(looped);
    let disk = FileDisk::open(&disk);
    let kept_bytes = |kib: u64| (kib << 10).min(disk.length_bytes());
    let packed = pack::pack_ends(&disk, kept_bytes(recipe.head_kib), kept_bytes(recipe.tail_kib))?;
    Ok(without_kernel(packed))
}

/// `packed` without the running kernel's version, which f2fs keeps as a text without a checksum.
fn without_kernel(mut packed: Vec<u8>) -> Vec<u8> {
    let version = fs::read("/proc/version").unwrap_or_default();
    let version = version.trim_ascii_end();
    let mut at = 0;
    while !version.is_empty() && at + version.len() <= packed.len() {
        if packed[at..].starts_with(version) {
            packed[at..at + version.len()].fill(0);
        }
        at += 1;
    }
    packed
}

/// A directory with a file in it, and a raw disk with data in three places.
fn contents(scratch: &Scratch) -> anyhow::Result<(PathBuf, PathBuf)> {
    let directory = scratch.path().join("contents");
    fs::create_dir(&directory)?;
    fs::write(directory.join("file"), "straddle\n".repeat(100))?;
    let mut bytes = vec![0; 6 << 20];
    for at in [0, 3 << 20, (5 << 20) + 4096] {
        bytes[at..at + 600].fill(b'x');
    }
    Ok((directory, scratch.file("raw", &bytes)))
}

/// Runs a tool for at most 30 seconds.
fn run(words: &[String], input: &str) -> anyhow::Result<()> {
    let (name, arguments) = words.split_first().context("a command has a name")?;
    let mut command = Command::new(tools::find("timeout")?);
    command.arg("30").arg(tools::find(name)?).args(arguments);
    command.env("LVM_SUPPRESS_FD_WARNINGS", "1");
    // Times of creation, where a tool heeds it, so that two runs give the same bytes.
    command.env("SOURCE_DATE_EPOCH", "1000000000").env("E2FSPROGS_FAKE_TIME", "1000000000");
    tools::run_with_input(name, &mut command, input)
}

/// Packs the first `head_bytes` of `file` into a file called `packed`.
pub(crate) fn pack_file(file: &str, packed: &str, head_bytes: u64) -> anyhow::Result<bool> {
    anyhow::ensure!(Path::new(file).is_file(), "{file} is not a file");
    let bytes = pack::pack_ends(&FileDisk::open(Path::new(file)), head_bytes, 0)?;
    fs::write(packed, &bytes).with_context(|| format!("cannot write {packed}"))?;
    println!("{} bytes in {packed}", bytes.len());
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_has_its_own_name_and_only_tools_that_are_listed() {
        let listed =
            |name: &str| crate::packages::TOOLS.iter().any(|(_, tools)| tools.contains(&name));
        for (number, recipe) in RECIPES.iter().enumerate() {
            assert!(!RECIPES[..number].iter().any(|other| other.name == recipe.name));
            for line in recipe.commands.lines() {
                let name = line.split_whitespace().next().unwrap();
                assert!(listed(name), "{}: {name}", recipe.name);
            }
        }
    }

    #[test]
    fn a_head_made_by_a_real_tool_comes_back_from_its_packed_form() {
        testkit::need_tools!("mkswap");
        let recipe = RECIPES.iter().find(|recipe| recipe.name == "swap").unwrap();
        let disk = pack::unpack(&head(recipe).unwrap()).unwrap();
        assert_eq!(disk.length_bytes(), 1 << 20);
        assert_eq!(&disk.read_array::<10>(4086).unwrap(), b"SWAPSPACE2");
    }
}
