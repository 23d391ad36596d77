//! Copies of an image's disk in another format, and the names of their files.

use format::image::ImageKind;
use format::lost_table::LostVolume;
use units::text::{plain_path, shell_word};

use super::command::CopySource;
use super::typed_path::path;
use super::{Command, Remedy, SuperblockTool, typed};
use crate::id::LayerId;
use crate::judge::Miss;
use crate::layer::{Layer, LayerKind};
use crate::mapping::Mapping;
use crate::rule::RuleInput;
use crate::unit::UnitKind;

/// The sector in which sfdisk counts of a file.
const SECTOR: u64 = 512;

/// Entries of an MBR.
const MBR_ENTRIES: usize = 4;

/// A VHD that is aligned and of exactly the size of its guest's disk.
const FIXED_VHD: &str = "vpc -o subformat=fixed,force_size=on";

/// Planned in a raw copy, since no partitioner opens the guest of an image format.
pub(in crate::rule) fn planned_as_raw(case: &RuleInput<'_>, id: LayerId) -> Option<Remedy> {
    let [disk] = case.stack.layer(id).mapping.below()[..] else { return None };
    guest_planned_as_raw(case, disk)
}

/// The guest's disk of image format `disk`, planned in a raw copy; `None` for any other layer.
pub(in crate::rule) fn guest_planned_as_raw(case: &RuleInput<'_>, disk: LayerId) -> Option<Remedy> {
    image_file(case, disk)?;
    let on = case.told.map(ToString::to_string);
    let (copy, new) = raw_copy(case, disk);
    Some(copy.then(Remedy::when("then plan the copy", Command::Plan { disk: new, on })))
}

/// Mended in a raw copy, for the same reason.
pub(in crate::rule) fn as_raw(case: &RuleInput<'_>, image: LayerId) -> Remedy {
    let (copy, new) = raw_copy(case, image);
    let repaired =
        copy.then(Remedy::tell(format!("then repair the copy; to see how: straddle check {new}")));
    let Some(format) = aligned_format(case, image) else {
        return repaired.then(Remedy::tell(format!(
            "then convert the copy into a new image: qemu-img convert -f raw -O FORMAT {new} NEW"
        )));
    };
    // A raw file is aligned as it is.
    if format == "raw" {
        return repaired.then(Remedy::tell(format!("then use {new} in place of the image")));
    }
    let (_, name) = convert(case, image, format.clone());
    let back = Command::FromRaw { raw: new, format, new: name };
    repaired.then(Remedy::when("then convert the copy into an aligned image", back))
}

/// The format, with its options, of a new image that puts the guest on the granule: a VHD stays a
/// VHD; `None` where the image does so already.
fn aligned_format(case: &RuleInput<'_>, id: LayerId) -> Option<String> {
    let LayerKind::ImageFormat(image) = &case.stack.layer(id).kind else { return None };
    if matches!(image.kind, ImageKind::VhdDynamic | ImageKind::VhdFixed) {
        return Some(FIXED_VHD.to_owned());
    }
    let (_, leaf) = case.stack.leaves(id).next()?;
    let granule = leaf.units.used_bytes(UnitKind::Granule)?;
    let cluster = image.subblock_bytes.or(image.block_bytes).unwrap_or(0);
    if !case.misaligned(id) && cluster.is_multiple_of(granule) {
        return None;
    }
    Some(match cluster_size(granule) {
        Some(size) => format!("qcow2 -o cluster_size={size}"),
        None => "raw".to_owned(),
    })
}

/// The guest's disk of a fixed VHD whose footer is damaged, so that qemu-img does not open it: the
/// first `bytes` of its file.
pub(in crate::rule) fn without_footer(case: &RuleInput<'_>, image: LayerId, bytes: u64) -> Remedy {
    let file = image_file(case, image).unwrap_or_else(|| "IMAGE".to_owned());
    let new = convert(case, image, "raw".to_owned()).1;
    let copy = Command::Head { bytes, file, new: new.clone() };
    Remedy::when("copy the guest's disk without the footer", copy).then(Remedy::tell(format!(
        "then convert the copy into a new VHD: qemu-img convert -f raw -O {FIXED_VHD} {new} NEW"
    )))
}

/// The table that lists `volumes`, in a copy of the raw image that lost it: only where the start
/// and the length of each are known.
pub(in crate::rule) fn volumes_listed(
    case: &RuleInput<'_>,
    id: LayerId,
    volumes: &[LostVolume],
) -> Option<Remedy> {
    let layer = case.stack.layer(id);
    let is_plain = matches!(layer.kind, LayerKind::ImageFile)
        && layer.tables.is_empty()
        && layer.units.used_bytes(UnitKind::LogicalSector).is_none_or(|bytes| bytes == SECTOR);
    if !is_plain || volumes.len() > MBR_ENTRIES {
        return None;
    }
    let entry = |one: &LostVolume| {
        // What starts with all of its own fields may be longer than it was.
        let is_open = one.what.starts_with("LUKS") || one.what == "bcache";
        let rest = layer.length()?.checked_sub(one.start_bytes);
        let rest = rest.filter(|_| is_open && volumes.last() == Some(one));
        let rest = rest.map(|bytes| bytes.div_euclid(SECTOR) * SECTOR);
        let length = one.length_bytes.or(rest).filter(|_| one.copy.is_none())?;
        let size = length.div_ceil(SECTOR);
        let start = one.start_bytes.checked_div(SECTOR).filter(|&start| start > 0)?;
        let kind = match one.what.as_str() {
            "vfat" => "c",
            "ntfs" | "exfat" => "7",
            "swap" => "82",
            _ => "83",
        };
        let end = start.checked_add(size).filter(|&end| end <= u64::from(u32::MAX))?;
        (end * SECTOR <= layer.length()?).then_some((start, size, kind))
    };
    let entries: Vec<_> = volumes.iter().map(entry).collect::<Option<_>>()?;
    if entries.windows(2).any(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
        return None;
    }
    let (disk, copy) = file_and_copy(case, layer)?;
    let list = Command::ListVolumes { disk, copy, entries };
    Some(Remedy::when("write nothing to it; list them in a copy", list))
}

/// The first superblock of the file system `volume`, which takes all of a raw image, written again
/// in a copy of the image; `None` where no command is known for its kind.
pub(in crate::rule) fn superblock_restored(
    case: &RuleInput<'_>,
    id: LayerId,
    volume: &LostVolume,
) -> Option<Remedy> {
    let layer = case.stack.layer(id);
    let copied = volume.copy.filter(|_| matches!(layer.kind, LayerKind::ImageFile))?;
    let tool = SuperblockTool::of(&volume.what, copied)?;
    let (disk, copy) = file_and_copy(case, layer)?;
    let restore = Command::RestoreSuperblock { disk, copy, tool };
    Some(Remedy::when("write nothing to it; restore the superblock in a copy", restore))
}

/// A raw file, and a copy of it, as they are typed.
fn file_and_copy(case: &RuleInput<'_>, layer: &Layer) -> Option<(String, String)> {
    let path = plain_path(&path(layer)?);
    let is_named = |new: &str| {
        case.stack.iter().any(|(_, layer)| layer.path.as_deref().unwrap_or(&layer.name) == new)
    };
    let copy = shell_word(&copy_name(&path, "raw", is_named));
    Some((shell_word(&path), copy))
}

/// Returns the command that copies the guest's disk of `image`, and the copy as it is typed.
fn raw_copy(case: &RuleInput<'_>, image: LayerId) -> (Remedy, String) {
    let convert = convert(case, image, "raw".to_owned());
    let new = convert.1;
    (Remedy::when("copy the guest's disk to a raw file", convert.0), new)
}

/// The command that puts the guest's disk of `image` into a new file of `format`, which may have
/// options, and that file as it is typed.
pub(in crate::rule) fn convert(
    case: &RuleInput<'_>,
    image: LayerId,
    format: String,
) -> (Command, String) {
    let (path, new) = copied(case, image, &format);
    let source = CopySource::of(case.stack.layer(image));
    (Command::Convert { source, image: shell_word(&path), format, new: new.clone() }, new)
}

/// The paths of an image, and, as it is typed, of a copy of it in `format`.
fn copied(case: &RuleInput<'_>, image: LayerId, format: &str) -> (String, String) {
    let file = case.stack.layer(image).mapping.below().first().copied();
    let path = file.and_then(|file| path(case.stack.layer(file)));
    let path = path.unwrap_or_else(|| "IMAGE".to_owned());
    let path = plain_path(&path);
    let is_named = |new: &str| {
        case.stack.iter().any(|(_, layer)| layer.path.as_deref().unwrap_or(&layer.name) == new)
    };
    let new = shell_word(&copy_name(&path, format, is_named));
    (path, new)
}

/// The command that decrypts the guest's disk of a qcow2 `image` into a new raw file. `keys` are
/// options of QEMU, each with a comma after it, that name the secret `key`.
pub(in crate::rule) fn decrypt(case: &RuleInput<'_>, image: LayerId, keys: &str) -> Command {
    let (path, new) = copied(case, image, "raw");
    // In options of QEMU, a comma in a value is typed twice.
    let file = path.replace(',', ",,");
    let options = format!("driver=qcow2,{keys}file.driver=file,file.filename={file}");
    Command::Decrypt { options: shell_word(&options), new }
}

/// A name for a copy of the file at `path` in `format`, after which options may follow: no name
/// that `is_named` knows, and one that hardly any file has, since the copy is written over it.
#[must_use]
pub fn copy_name(path: &str, format: &str, is_named: impl Fn(&str) -> bool) -> String {
    let extension = match format.split(' ').next() {
        Some("vpc") => "vhd",
        Some(word) => word,
        None => "raw",
    };
    let stem = path.strip_suffix(&format!(".{extension}"));
    let mut new = match stem {
        Some(stem) => format!("{stem}.new.{extension}"),
        None => format!("{path}.{extension}"),
    };
    let mut number = 2_u32;
    while is_named(&new) {
        new = format!("{}.new-{number}.{extension}", stem.unwrap_or(path));
        number += 1;
    }
    new
}

/// The file of an image format, as it is typed.
pub(in crate::rule) fn image_file(case: &RuleInput<'_>, id: LayerId) -> Option<String> {
    let layer = case.stack.layer(id);
    let (LayerKind::ImageFormat(_), Mapping::Image { file, .. }) = (&layer.kind, &layer.mapping)
    else {
        return None;
    };
    Some(typed(case.stack.layer(*file)))
}

/// A format whose clusters begin on the granule. A VHD stays one where it has to.
pub(super) fn converted(
    case: &RuleInput<'_>,
    id: LayerId,
    kind: ImageKind,
    miss: &Miss,
) -> Vec<Remedy> {
    let convert = |format: String| convert(case, id, format).0;
    let mut remedies = Vec::new();
    let clusters = cluster_size(miss.unit.length_bytes());
    match clusters {
        Some(size) => {
            remedies.push(Remedy::command(convert(format!("qcow2 -o cluster_size={size}"))));
        }
        None => remedies.push(Remedy::command(convert("raw".to_owned()))),
    }
    if matches!(kind, ImageKind::VhdDynamic | ImageKind::VhdFixed) {
        let fixed = convert(FIXED_VHD.to_owned());
        remedies.push(Remedy::when("if it must stay a VHD", fixed));
    }
    remedies
}

/// Clusters of a qcow2 image that hold whole units, at least 64 KiB; `None` above the 2 MiB that
/// the format allows.
pub(in crate::rule) fn cluster_size(unit: u64) -> Option<String> {
    let bytes = unit.checked_next_power_of_two()?.max(64 << 10);
    (bytes <= 2 << 20).then(|| format!("{}K", bytes.div_euclid(1024)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_a_name_that_no_known_file_has() {
        let none = |_: &str| false;
        assert_eq!(
            copy_name("dir/dyn.vhd", "qcow2 -o cluster_size=64K", none),
            "dir/dyn.vhd.qcow2"
        );
        assert_eq!(copy_name("disk.qcow2", "qcow2", none), "disk.new.qcow2");
        assert_eq!(copy_name("disk.vhd", "vpc", none), "disk.new.vhd");
        assert_eq!(copy_name("NEW", "raw", none), "NEW.raw");
        let taken = |name: &str| matches!(name, "NEW.raw" | "NEW.new-2.raw");
        assert_eq!(copy_name("NEW", "raw", taken), "NEW.new-3.raw");
    }

    #[test]
    fn clusters_hold_whole_units_or_are_not_offered() {
        assert_eq!(cluster_size(4096).as_deref(), Some("64K"));
        assert_eq!(cluster_size(100 << 10).as_deref(), Some("128K"));
        assert_eq!(cluster_size(4 << 20), None);
    }
}
