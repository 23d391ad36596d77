//! Image formats: clusters below the granule, holes that get in the way, files that are missing.

use std::ops::ControlFlow;

use device::{Disk, ReadError};
use format::ProblemKind;
use format::image::{GuestPlace, Image, ImageKind, ImageLayout, Reference, ReferenceRole};
use format::named::Class;
use units::ByteRange;
use units::prefix::Exact;
use units::text::file_word;

use super::remedy::Command;
use super::{Finding, Remedy, RuleInput, Severity, damage, finding, remedy};
use crate::id::LayerId;
use crate::layer::LayerKind;
use crate::mapping::{Mapping, Why};
use crate::placement::COMPRESSED;
use crate::unit::UnitKind;

pub(super) fn check(case: &RuleInput<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        if let Some(off) = layer.host.as_ref().and_then(|host| host.off.as_ref()) {
            let finding = finding("ST505", Severity::Warning, id).says(off.clone());
            found.push(finding.fixed_by([Remedy::when(
                "find the misaligned layer of the host, and run straddle plan on its disk",
                Command::Trace(remedy::typed(layer)),
            )]));
        }
        let LayerKind::ImageFormat(image) = &layer.kind else { continue };
        let unit = image.subblock_bytes.or(image.block_bytes);
        found.extend(small_cluster(case, id, unit));
        if let Mapping::Image { references, .. } = &layer.mapping {
            for unread in references.iter().filter_map(|reference| reference.as_ref().err()) {
                let severity = match unread.why {
                    Why::Outside => Severity::Info,
                    Why::Short { .. } | Why::Circle | Why::Failed(_) => Severity::Warning,
                };
                let finding = finding("ST503", severity, id).says(unread.to_string());
                found.push(finding.fixed_by([match unread.why {
                    Why::Outside => Remedy::command(Command::Follow(image_of(case, id))),
                    Why::Short { .. } => damage::whole_file(),
                    Why::Circle | Why::Failed(_) => {
                        Remedy::tell("put the file where the image expects it")
                    }
                }]));
            }
        }
        if image.kind == ImageKind::VmdkStream {
            let finding = finding("ST504", Severity::Info, id).says(COMPRESSED.to_owned());
            found.push(finding.fixed_by([converted(case, id, "raw".to_owned())]));
        }
        found.extend(listed(case, id, image));
        found.extend(encrypted(case, id));
        if let ImageLayout::Unknown(reason) = &image.layout
            && layer.problems.iter().all(|problem| problem.detail != *reason)
        {
            let finding = finding("ST408", Severity::Info, id).says(reason.clone());
            found.push(finding.fixed_by(unpacked(case, id, image)));
        }
    }
    found
}

/// The command that unpacks or converts what is not read.
fn unpacked(case: &RuleInput<'_>, id: LayerId, image: &Image) -> Option<Remedy> {
    let ImageKind::Other(entry) = image.kind else { return None };
    let (Class::Packed(command) | Class::Image(command)) = entry.class else { return None };
    let file = case.stack.layer(*case.stack.layer(id).mapping.below().first()?);
    let path = file.path.as_ref().unwrap_or(&file.name);
    // A name that hardly any other file has: nothing is to be written over.
    let new = format!("{path}.raw");
    Some(Remedy::command(Command::Unpack { command, file: file_word(path), new: file_word(&new) }))
}

/// The finding on an image that is encrypted or has an encrypted backing file; `None` on one that
/// is a backing file itself.
fn encrypted(case: &RuleInput<'_>, id: LayerId) -> Option<Finding> {
    let kind = |id: LayerId| &case.stack.layer(id).kind;
    let is_image = |&above: &LayerId| matches!(kind(above), LayerKind::ImageFormat(_));
    if case.stack.above(id).iter().any(is_image) {
        return None;
    }
    let mut keys = String::new();
    let mut names = Vec::new();
    let mut backing = String::new();
    let mut next = Some(id);
    while let Some(id) = next {
        let Mapping::Image { image, file, references } = &case.stack.layer(id).mapping else {
            break;
        };
        if image.encrypted {
            keys += &format!("{backing}encrypt.key-secret=key,");
            let role = if backing.is_empty() { "" } else { "the backing file " };
            names.push(format!("{role}{} is encrypted", case.stack.layer(*file).name));
        }
        backing += "backing.";
        let is_backing = |one: &Reference| one.role == ReferenceRole::Backing;
        let index = image.references.iter().position(is_backing);
        next = index.and_then(|index| references.get(index)?.as_ref().ok()).copied();
    }
    if names.is_empty() {
        return None;
    }
    let when = "copy the guest's disk, decrypted, to a raw file (PASSWORD_FILE holds the password \
                alone, without a line end)";
    let copy = Remedy::when(when, remedy::decrypt(case, id, &keys));
    Some(finding("ST408", Severity::Info, id).says(names.join("; ")).fixed_by([copy]))
}

/// Bytes of the guest's disk, by what the tables of the image say of them.
struct Listed {
    /// Number of bytes in compressed clusters.
    compressed_bytes: u64,
    /// Number of bytes past the end of the image's file.
    lost_bytes: u64,
    /// True if a cluster or a table starts past the end of the file.
    is_cut: bool,
}

impl Listed {
    /// Walks the tables of `image`, as far as [`Image::extents`] does.
    fn of(image: &Image, file: &dyn Disk) -> Option<Listed> {
        let file_bytes = image.file_bytes(file);
        let mut listed = Listed { compressed_bytes: 0, lost_bytes: 0, is_cut: false };
        let all = ByteRange::new(0, image.virtual_bytes)?;
        let walked = image.extents(file, all, &mut |extent| {
            let length = extent.guest.length_bytes();
            match extent.place {
                GuestPlace::Here(at) => {
                    listed.lost_bytes += length - length.min(file_bytes.saturating_sub(at));
                }
                GuestPlace::Compressed(at) if at >= file_bytes => listed.lost_bytes += length,
                GuestPlace::Compressed(_) => listed.compressed_bytes += length,
                _ => {}
            }
            ControlFlow::Continue(())
        });
        // The last cluster may end where its data ends.
        listed.is_cut = listed.lost_bytes >= image.block_bytes.unwrap_or(1).max(1)
            || matches!(walked, Err(ReadError::PastEnd { .. }));
        Some(listed)
    }
}

/// Findings about the bytes that the tables of an image list: past the end of its file, or in
/// compressed clusters though others may be plain.
fn listed(case: &RuleInput<'_>, id: LayerId, image: &Image) -> Vec<Finding> {
    let layer = case.stack.layer(id);
    let Mapping::Image { file, .. } = &layer.mapping else { return Vec::new() };
    let Some(disk) = case.stack.bytes(*file) else { return Vec::new() };
    let Some(listed) = Listed::of(image, disk.as_ref()) else { return Vec::new() };
    let mut found = Vec::new();
    let is_told = layer.problems.iter().any(|problem| problem.kind == ProblemKind::Outside);
    if listed.is_cut && !is_told {
        let finding = finding("ST403", Severity::Warning, id).says(format!(
            "{} lists data after the end of {}, at byte {}",
            layer.name,
            case.stack.layer(*file).name,
            disk.length_bytes()
        ));
        found.push(finding.fixed_by([damage::whole_file()]));
    }
    if listed.compressed_bytes > 0 && matches!(image.layout, ImageLayout::Qcow2(_)) {
        let finding = finding("ST504", Severity::Info, id).says(format!(
            "{} of the guest's disk are in compressed clusters, which have no alignment; a write \
             to such a cluster stores it at a new offset",
            Exact(listed.compressed_bytes)
        ));
        found.push(finding.fixed_by([converted(case, id, "qcow2".to_owned())]));
    }
    found
}

fn small_cluster(case: &RuleInput<'_>, id: LayerId, unit: Option<u64>) -> Option<Finding> {
    let cluster = unit.filter(|&bytes| bytes > 0)?;
    let (_, leaf) = case.stack.leaves(id).next()?;
    let granule = leaf.units.used_bytes(UnitKind::Granule)?;
    if cluster % granule == 0 {
        return None;
    }
    let finding = finding("ST502", Severity::Warning, id).says(format!(
        "{} allocates units of {}; the granule below is {}",
        case.stack.layer(id).name,
        Exact(cluster),
        Exact(granule)
    ));
    let format = match remedy::cluster_size(granule) {
        Some(size) => format!("qcow2 -o cluster_size={size}"),
        None => "raw".to_owned(),
    };
    Some(finding.fixed_by([converted(case, id, format)]))
}

/// The guest's disk in a new file.
fn converted(case: &RuleInput<'_>, id: LayerId, format: String) -> Remedy {
    Remedy::command(remedy::convert(case, id, format).0)
}

fn image_of(case: &RuleInput<'_>, id: LayerId) -> String {
    remedy::image_file(case, id).unwrap_or_else(|| "IMAGE".to_owned())
}
