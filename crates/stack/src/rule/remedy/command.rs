//! Commands that a finding may print.

use std::fmt;

use format::ProblemKind;
use format::image::ImageKind;
use units::SectorSize;

use super::superblock_tool::SuperblockTool;
use crate::layer::{Layer, LayerKind};

/// A command that keeps every byte of what was recognized. There is no form for one that erases,
/// and none that shortens a file or writes an image over itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rule) enum Command {
    /// Plans the whole disk.
    Plan {
        /// The disk, as it is typed.
        disk: String,
        /// The words of `--on`, where the user gave some.
        on: Option<String>,
    },
    /// Writes both copies of a GPT from the sound one, the backup in the last sector.
    RewriteGpt {
        /// The disk, as it is typed.
        disk: String,
        /// The sector in which the table counts, where the disk is a file of which sfdisk would
        /// think 512.
        sector: Option<SectorSize>,
        /// The bytes at whose end the only sound copy is; sfdisk sees no more of the disk.
        within_bytes: Option<u64>,
        /// True if the entry of the protective MBR is marked active, which sfdisk forgets.
        is_active: bool,
    },
    /// Writes both copies of a GPT from the sound one, with only so many entries.
    FewerEntries {
        /// The disk, as it is typed.
        disk: String,
        /// Number of entries.
        count: u32,
    },
    /// Writes the one entry of a protective MBR, and the signature, on a disk without MBR.
    ProtectiveMbr {
        /// The disk, as it is typed.
        disk: String,
        /// The sector of the table, where the disk is a file of which sfdisk would think 512.
        sector: Option<SectorSize>,
    },
    /// Writes a plain protective MBR beside a GPT.
    PlainMbr(String),
    /// Writes an MBR that lists volumes into a copy of a disk that lost its table.
    ListVolumes {
        /// The disk's file, as it is typed.
        disk: String,
        /// The copy, as it is typed.
        copy: String,
        /// The first sector, the number of sectors and the type of each.
        entries: Vec<(u64, u64, &'static str)>,
    },
    /// Writes the first superblock of a file system again in a copy of its disk.
    RestoreSuperblock {
        /// The disk's file, as it is typed.
        disk: String,
        /// The copy, as it is typed.
        copy: String,
        /// The tool.
        tool: SuperblockTool,
    },
    /// Makes a file longer.
    Grow(Growth),
    /// Copies an image's guest into a new file.
    Convert {
        /// Facts that QEMU must know before it reads the image.
        source: CopySource,
        /// The image, as it is typed.
        image: String,
        /// The format, with its options.
        format: String,
        /// The new file, as it is typed.
        new: String,
    },
    /// Copies an encrypted image's guest into a new raw file.
    Decrypt {
        /// The image and its secrets as options of QEMU, as they are typed.
        options: String,
        /// The new file, as it is typed.
        new: String,
    },
    /// Copies a guest's disk from a raw file into a new image.
    FromRaw {
        /// The raw file, as it is typed.
        raw: String,
        /// The format, with its options.
        format: String,
        /// The new file, as it is typed.
        new: String,
    },
    /// Copies the first bytes of a file into a new one.
    Head {
        /// Number of bytes.
        bytes: u64,
        /// The file, as it is typed.
        file: String,
        /// The new file, as it is typed.
        new: String,
    },
    /// Unpacks a file, or converts an image that is not read, into a new file.
    Unpack {
        /// The command as [`format::named`] has it, with `FILE`, and `NEW` or `STEM`: the new file
        /// without the extension that the command adds.
        command: &'static str,
        /// The file, as it is typed.
        file: String,
        /// The new file, as it is typed.
        new: String,
    },
    /// Looks through an image's own tables.
    CheckImage(String),
    /// Shows an image's header, without the files that it names.
    ShowImage(String),
    /// Also reads the files that an image names outside of its directory.
    Follow(String),
    /// Shows where an image's file lies.
    Trace(String),
    /// Lists signatures.
    Signatures(String),
    /// Tells ext4 of a stripe, in blocks.
    ExtStripe {
        /// The device, as it is typed.
        device: String,
        /// Blocks of a chunk.
        stride: u64,
        /// Blocks of a full stripe.
        width: u64,
    },
    /// Tells XFS of a stripe when it is mounted, in 512-byte units; XFS keeps it.
    XfsStripe {
        /// The device, as it is typed.
        device: String,
        /// Place where the file system starts in the device.
        offset_bytes: u64,
        /// Units of a chunk.
        unit: u64,
        /// Units of a full stripe.
        width: u64,
    },
    /// Presents a file as a disk with the sectors for which it was made.
    Loop {
        /// The file, as it is typed.
        file: String,
        /// The sector.
        sector: SectorSize,
    },
    /// Sets a device's read-ahead to the kernel's default.
    ReadAhead(String),
    /// Allows flushes to pass a device.
    WriteBack(String),
    /// Passes discards through an open LUKS container.
    AllowDiscards {
        /// The container's mapping, as it is typed.
        name: String,
        /// True if its header keeps that, which takes LUKS2.
        is_kept: bool,
        /// The options that keep what the mapping has.
        others: Vec<&'static str>,
    },
    /// Makes a thin pool hand discards down.
    PassDiscards(String),
}

/// A file and a length above its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rule) struct Growth {
    file: String,
    bytes: u64,
}

/// Writes both copies of the GPT of `disk` again, where the standard puts them. (`sgdisk -e` moves
/// the entries next to the first usable sector, over whatever is there.) `-A` marks the entry of
/// the protective MBR, which was written again too.
fn relocate(disk: &str, is_active: bool) -> String {
    let relocated = format!("sfdisk -q --relocate gpt-bak-std {disk}");
    if is_active { format!("{relocated} && sfdisk -q -A {disk} 1") } else { relocated }
}

impl Growth {
    /// `file` of `length` made `bytes` long; `None` where that would not make it longer.
    pub(in crate::rule) fn new(file: String, length: u64, bytes: u64) -> Option<Growth> {
        (bytes > length).then_some(Growth { file, bytes })
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Plan { disk, on: None } => write!(f, "straddle plan {disk}"),
            Command::Plan { disk, on: Some(on) } => write!(f, "straddle plan {disk} --on {on}"),
            Command::RewriteGpt { disk, sector: None, within_bytes: None, is_active } => {
                f.write_str(&relocate(disk, *is_active))
            }
            Command::RewriteGpt { disk, sector, within_bytes, is_active } => {
                f.write_str("L=$(losetup")?;
                sector.map_or(Ok(()), |it| write!(f, " --sector-size {}", it.bytes()))?;
                within_bytes.map_or(Ok(()), |bytes| write!(f, " --sizelimit {bytes}"))?;
                let relocate = relocate("$L", *is_active);
                write!(f, " -f --show {disk}) && {relocate}; losetup -d $L")
            }
            Command::FewerEntries { disk, count } => write!(f, "sgdisk -S {count} {disk}"),
            Command::ProtectiveMbr { disk, sector } => {
                let mbr = r"printf 'label: dos\nstart=1,type=ee\n' | sfdisk -q --wipe never";
                let Some(sector) = sector else { return write!(f, "{mbr} {disk}") };
                let bytes = sector.bytes();
                write!(f, "L=$(losetup --sector-size {bytes} -f --show {disk}) && {mbr} $L; ")?;
                f.write_str("losetup -d $L")
            }
            Command::ListVolumes { disk, copy, entries } => {
                write!(f, "test ! -e {copy} && cp --sparse=always {disk} {copy} && ")?;
                f.write_str(r"printf 'label: dos\n")?;
                for (start, size, kind) in entries {
                    write!(f, r"start={start},size={size},type={kind}\n")?;
                }
                write!(f, "' | sfdisk -q --wipe never --wipe-partitions never {copy}")
            }
            Command::RestoreSuperblock { disk, copy, tool } => {
                write!(f, "test ! -e {copy} && cp --sparse=always {disk} {copy} && ")?;
                tool.write(f, disk, copy)
            }
            Command::PlainMbr(disk) => write!(f, r"printf 'x\nn\nw\ny\n' | gdisk {disk}"),
            Command::Grow(Growth { file, bytes }) => write!(f, "truncate -s {bytes} {file}"),
            Command::Convert { source, image, format, new } => {
                f.write_str(&copy_command(*source, format, image, new))
            }
            Command::Decrypt { options, new } => write!(
                f,
                "test ! -e {new} && qemu-img convert --object secret,id=key,file=PASSWORD_FILE \
                 --image-opts {options} -O raw {new}"
            ),
            Command::FromRaw { raw, format, new } => {
                write!(f, "test ! -e {new} && qemu-img convert -f raw -O {format} {raw} {new}")
            }
            Command::Head { bytes, file, new } => {
                write!(f, "test ! -e {new} && head -c {bytes} {file} > {new}")
            }
            Command::Unpack { command, file, new } => {
                if command.contains("NEW") || command.contains("STEM") {
                    write!(f, "test ! -e {new} && ")?;
                }
                // In quotes where the name needs them.
                let stem = new.replace(".raw'", "'");
                let stem = stem.strip_suffix(".raw").unwrap_or(&stem).to_owned();
                let word = |word| match word {
                    "FILE" => file.as_str(),
                    "NEW" => new.as_str(),
                    "STEM" => stem.as_str(),
                    word => word,
                };
                let words: Vec<&str> = command.split(' ').map(word).collect();
                f.write_str(&words.join(" "))
            }
            Command::CheckImage(image) => write!(f, "qemu-img check {image}"),
            Command::ShowImage(image) => write!(f, "qemu-img info -U {image}"),
            Command::Follow(image) => write!(f, "straddle check --follow-references {image}"),
            Command::Trace(image) => write!(f, "straddle trace {image}"),
            Command::Signatures(device) => write!(f, "wipefs {device}"),
            Command::ExtStripe { device, stride, width } => {
                write!(f, "tune2fs -E stride={stride},stripe_width={width} {device}")
            }
            Command::XfsStripe { device, offset_bytes, unit, width } => {
                let place = match offset_bytes {
                    0 => String::new(),
                    bytes => format!("offset={bytes},"),
                };
                write!(f, "mount -o {place}sunit={unit},swidth={width} {device} DIR")
            }
            Command::Loop { file, sector } => {
                write!(f, "losetup --sector-size {} -P -f --show {file}", sector.bytes())
            }
            Command::ReadAhead(device) => write!(f, "blockdev --setra 256 {device}"),
            Command::AllowDiscards { name, is_kept, others } => {
                f.write_str("cryptsetup refresh --allow-discards")?;
                others.iter().try_for_each(|option| write!(f, " {option}"))?;
                write!(f, "{} {name}", if *is_kept { " --persistent" } else { "" })
            }
            Command::PassDiscards(pool) => write!(f, "lvchange --discards passdown {pool}"),
            Command::WriteBack(name) => {
                write!(f, "echo write back > /sys/block/{name}/queue/write_cache")
            }
        }
    }
}

/// Facts that QEMU must know before it reads an image that it copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopySource {
    /// The format, where it is known.
    pub kind: Option<ImageKind>,
    /// True if its log holds changes that its file lacks.
    pub is_unreplayed: bool,
}

impl CopySource {
    /// The image whose guest's disk is `layer`.
    #[must_use]
    pub fn of(layer: &Layer) -> CopySource {
        let kind = match &layer.kind {
            LayerKind::ImageFormat(image) => Some(image.kind),
            _ => None,
        };
        let mut problems = layer.problems.iter();
        let is_unreplayed = problems.any(|one| one.kind == ProblemKind::Unreplayed);
        CopySource { kind, is_unreplayed }
    }
}

/// Returns the command that writes the changes in the log of `image`, as it is typed, into its
/// file.
#[must_use]
pub fn replay_command(image: &str) -> String {
    format!("qemu-img check -r all {image}")
}

/// Returns the command that puts the guest's disk of `image` into the file `new` of `format`, which
/// may have options; both files as they are typed.
#[must_use]
pub fn copy_command(source: CopySource, format: &str, image: &str, new: &str) -> String {
    // A fixed VHD has its signature at its end alone, where qemu-img does not look.
    let from = if source.kind == Some(ImageKind::VhdFixed) { "-f vpc " } else { "" };
    // It opens no image for reading whose log is to be replayed.
    let replay = match source.is_unreplayed {
        true => replay_command(image) + " && ",
        false => String::new(),
    };
    // qemu-img and shells write over a file that exists without a word.
    format!("test ! -e {new} && {replay}qemu-img convert {from}-O {format} {image} {new}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_makes_a_file_does_nothing_where_the_file_exists() {
        let (image, new) = ("a.vhd".to_owned(), "a.raw".to_owned());
        let convert = copy_command(CopySource::default(), "raw", &image, &new);
        assert!(convert.starts_with("test ! -e a.raw && "), "{convert}");
        let logged = CopySource { is_unreplayed: true, ..CopySource::default() };
        let convert = copy_command(logged, "raw", &image, &new);
        assert!(convert.starts_with("test ! -e a.raw && qemu-img check -r all a.vhd && "));
        let unpack = Command::Unpack { command: "gzip -dc FILE > NEW", file: image.clone(), new };
        assert!(unpack.to_string().starts_with("test ! -e a.raw && "), "{unpack}");
        for (new, stem) in [("a.E01.raw", "a.E01"), ("'a b.E01.raw'", "'a b.E01'")] {
            let (file, new) = (stem.to_owned(), new.to_owned());
            let export =
                Command::Unpack { command: "ewfexport -t STEM FILE", file, new: new.clone() };
            let expected = format!("test ! -e {new} && ewfexport -t {stem} {stem}");
            assert_eq!(export.to_string(), expected);
        }
        let unzip = Command::Unpack { command: "unzip -n FILE", file: image, new: String::new() };
        assert_eq!(unzip.to_string(), "unzip -n a.vhd");
        let (file, new) = ("NEWS.gz".to_owned(), "NEWS.gz.raw".to_owned());
        let news = Command::Unpack { command: "gzip -dc FILE > NEW", file, new };
        assert!(news.to_string().ends_with("gzip -dc NEWS.gz > NEWS.gz.raw"), "{news}");
    }
}
