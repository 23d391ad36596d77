//! The disks: a layout, contents that need not fill their partitions, and dirt.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use units::random::Random;

use super::dirt::{self, Dirt};
use super::layout::Layout;
use super::made_part::MadePart;
use super::oracle::Side;
use crate::disks::{Tried, content, ran};
use crate::{Scratch, scratch};

/// Marks of formats that are found from the end of a partition, each with its distance from there.
const MARKS: [(&[u8], u64); 6] = [
    (&[0x83, 0x74, 0x02, 0x6d], 4096 - 60),
    (b"GEOM::ELI", 512),
    (b"GEOM::MIRROR", 512),
    (b"GEOM::LABEL", 512),
    (&[0xde, 0x11, 0xde, 0x11], 512),
    (b"Intel Raid ISM Cfg Sig. 1.1.00", 1024),
];
/// Disks for which plans are made.
const CONDITIONS: [&str; 6] = ["", "", "512e", "granule=16K", "granule=64K", "4Kn"];
/// The fewest sectors of a disk.
const SECTORS_MIN: u64 = 24 << 11;

/// A disk as it was made.
pub(super) struct MadeDisk {
    pub(super) image: PathBuf,
    /// The words of `--on`; empty without.
    pub(super) on: &'static str,
    pub(super) parts: Vec<MadePart>,
    pub(super) side: Side,
    table: String,
    dirt: Vec<Dirt>,
}

impl MadeDisk {
    /// Makes the disk of `seed`.
    pub(super) fn new(scratch: &Scratch, seed: u64) -> Tried<MadeDisk> {
        let mut random = Random::new(seed);
        let on = *random.choose(&CONDITIONS);
        // sfdisk refuses some places of logical partitions.
        let (image, table, parts) = loop {
            let layout = Layout::new(&mut random);
            let (few, many) = (random.below(20), random.below(9000));
            let tail = 34 + *random.choose(&[few, 0, many]);
            let sectors = (layout.end() + tail).max(SECTORS_MIN + random.below(999));
            let grain = if on == "4Kn" { 8 } else { layout.disk_grain(&mut random) };
            let sectors = sectors.next_multiple_of(grain);
            let image = scratch.image("disk.raw", sectors * 512);
            let table = layout.table_text(&mut random, sectors);
            let script = scratch.file("table", table.as_bytes());
            let words = ["-c", "sfdisk -q \"$0\" <\"$1\"", scratch::text(&image)];
            if ran("sh", &[&words[..], &[scratch::text(&script)]].concat()).is_ok() {
                break (image, table, layout.parts);
            }
        };
        for part in &parts {
            fill(&mut random, scratch, &image, part)?;
        }
        let dirt = dirt::spread(&mut random, &Side::of(&image, 512)?, &parts);
        let file =
            OpenOptions::new().write(true).open(&image).map_err(|error| error.to_string())?;
        for one in &dirt {
            file.write_all_at(&one.bytes, one.at).map_err(|error| error.to_string())?;
        }
        let side = Side::of(&image, 512)?;
        Ok(MadeDisk { image, on, parts, side, table, dirt })
    }

    /// Describes the table, the contents and the dirt.
    pub(super) fn described(&self) -> String {
        let table = self.table.trim_end().replace('\n', "\\n");
        let sectors = self.side.length().div_euclid(512);
        let mut text = format!("{sectors} sectors, --on {:?}, sfdisk '{table}'; holds", self.on);
        for part in &self.parts {
            let _ = write!(text, " {}:{}@{}+{}", part.number, part.kind, part.start, part.content);
        }
        text += "; bytes";
        for one in &self.dirt {
            let _ = write!(text, " {}@{}", one.name, one.at.div_euclid(512));
        }
        text
    }

    /// The length that each partition must keep to the byte: bytes follow its content, so that a
    /// format may be found from its end.
    pub(super) fn exact(&self) -> impl Iterator<Item = u64> {
        let is_used = |part: &&MadePart| {
            let (start, end) = (part.start + part.content, part.start + part.sectors);
            part.kind == "md"
                || self.side.part(&(start * 512..end * 512)).iter().any(|&byte| byte != 0)
        };
        self.parts.iter().filter(is_used).map(|part| part.number)
    }
}

/// Makes what a partition holds, and copies it into the disk.
fn fill(random: &mut Random, scratch: &Scratch, image: &Path, part: &MadePart) -> Tried<()> {
    let (start, length) = (part.start * 512, part.sectors * 512);
    if part.kind == "blank" {
        return Ok(());
    }
    if part.kind == "unknown" {
        let file = OpenOptions::new().write(true).open(image).map_err(|error| error.to_string())?;
        let (mark, back) = *random.choose(&MARKS);
        let put = |at: u64, bytes: &[u8]| {
            file.write_all_at(bytes, start + at).map_err(|error| error.to_string())
        };
        for _ in 0..random.below(6) {
            let at = random.below(length - 4096);
            put(at, &dirt::noise(random, 512))?;
        }
        return put(length - back, mark);
    }
    let file = content::made(part.kind, part.start, part.content * 512, scratch, random)?;
    if part.is_fat() {
        let files = scratch.path().join("files");
        let [volume, from] = [&file, &files].map(|path| scratch::text(path).to_owned());
        ran(
            "mcopy",
            &["-s", "-Q", "-i", &volume, &format!("{from}/random"), &format!("{from}/more"), "::/"],
        )?;
    }
    content::copy_into(image, start, &file)
}
