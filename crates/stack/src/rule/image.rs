//! Image formats: clusters below the granule, holes that get in the way, files that are missing.

use std::ops::ControlFlow;

use device::ReadError;
use format::ProblemKind;
use format::image::{Extent, Image, ImageKind, Layout, Place};
use format::named::Class;
use units::ByteRange;
use units::prefix::Exact;
use units::text::shell_word;

use super::remedy::Command;
use super::{Case, Finding, Remedy, Severity, damage, finding, remedy};
use crate::id::LayerId;
use crate::layer::LayerKind;
use crate::mapping::{Mapping, Why};
use crate::unit::UnitKind;

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, layer) in case.stack.iter() {
        if let Some(off) = layer.host.as_ref().and_then(|host| host.off.as_ref()) {
            let mut finding = finding("ST505", Severity::Warning, id);
            finding.evidence.push(off.clone());
            finding.remedies.push(Remedy::when(
                "find the misaligned layer of the host, and run straddle plan on its disk",
                Command::Trace(remedy::typed(layer)),
            ));
            found.push(finding);
        }
        let LayerKind::ImageFormat(image) = &layer.kind else { continue };
        let unit = image.subblock_bytes.or(image.block_bytes);
        found.extend(small_cluster(case, id, unit));
        if let Mapping::Image { references, .. } = &layer.mapping {
            for unread in references.iter().filter_map(|reference| reference.as_ref().err()) {
                let severity = match unread.why {
                    Why::Outside => Severity::Info,
                    Why::Short { .. } | Why::Failed(_) => Severity::Warning,
                };
                let mut finding = finding("ST503", severity, id);
                finding.evidence.push(unread.to_string());
                finding.remedies.push(match unread.why {
                    Why::Outside => Remedy::command(Command::Follow(image_of(case, id))),
                    Why::Short { .. } => damage::whole_file(),
                    Why::Failed(_) => Remedy::tell("put it where the image says it is"),
                });
                found.push(finding);
            }
        }
        if image.kind == ImageKind::VmdkStream {
            let mut finding = finding("ST504", Severity::Info, id);
            finding
                .evidence
                .push("every grain is compressed, so nothing has an alignment".to_owned());
            finding.remedies.push(converted(case, id, "raw".to_owned()));
            found.push(finding);
        }
        found.extend(listed(case, id, image));
        if let Layout::Unknown(reason) = &image.layout
            && layer.problems.iter().all(|problem| problem.detail != *reason)
        {
            let mut finding = finding("ST408", Severity::Info, id);
            finding.evidence.push(reason.clone());
            finding.remedies.extend(unpacked(case, id, image));
            found.push(finding);
        }
    }
    found
}

/// The command that unpacks or converts what is not read.
fn unpacked(case: &Case<'_>, id: LayerId, image: &Image) -> Option<Remedy> {
    let ImageKind::Other(entry) = image.kind else { return None };
    let (Class::Packed(command) | Class::Image(command)) = entry.class else { return None };
    let file = case.stack.layer(*case.stack.layer(id).mapping.below().first()?);
    let path = file.path.as_ref().unwrap_or(&file.name);
    // A name that hardly any other file has: nothing is to be written over.
    let new = format!("{path}.raw");
    Some(Remedy::command(Command::Unpack {
        command,
        file: shell_word(path),
        new: shell_word(&new),
    }))
}

/// Returns what the tables of an image say of its bytes: that they are compressed, though others
/// may be plain, or past the end of the file, which then was cut.
fn listed(case: &Case<'_>, id: LayerId, image: &Image) -> Vec<Finding> {
    let Mapping::Image { file, .. } = &case.stack.layer(id).mapping else { return Vec::new() };
    let Some(disk) = case.stack.bytes(*file) else { return Vec::new() };
    let file_bytes = disk.length_bytes();
    let (mut compressed_bytes, mut lost_bytes) = (0_u64, 0_u64);
    let mut count = |extent: Extent| {
        let length = extent.guest.length_bytes();
        match extent.place {
            Place::Here(at) => lost_bytes += length - length.min(file_bytes.saturating_sub(at)),
            Place::Compressed(at) if at >= file_bytes => lost_bytes += length,
            Place::Compressed(_) => compressed_bytes += length,
            _ => {}
        }
        ControlFlow::Continue(())
    };
    let Some(all) = ByteRange::new(0, image.virtual_bytes) else { return Vec::new() };
    let walked = image.extents(disk.as_ref(), all, &mut count);
    let mut found = Vec::new();
    let is_told = || {
        let mut problems = case.stack.layer(id).problems.iter();
        problems.any(|problem| problem.kind == ProblemKind::Outside)
    };
    // The last cluster may end where its data ends.
    let is_lost = lost_bytes > 0 && lost_bytes >= image.block_bytes.unwrap_or(1);
    if (is_lost || matches!(walked, Err(ReadError::PastEnd { .. }))) && !is_told() {
        let mut finding = finding("ST403", Severity::Warning, id);
        let name = &case.stack.layer(*file).name;
        finding.evidence.push(format!(
            "{} lists bytes that are past the end of {name} at {file_bytes}",
            case.stack.layer(id).name
        ));
        finding.remedies.push(damage::whole_file());
        found.push(finding);
    }
    if compressed_bytes > 0 && matches!(image.layout, Layout::Qcow2(_)) {
        let mut finding = finding("ST504", Severity::Info, id);
        finding.evidence.push(format!(
            "{} of the guest's disk are in compressed clusters, which have no alignment; what is \
             written to one goes to a new place",
            Exact(compressed_bytes)
        ));
        finding.remedies.push(converted(case, id, "qcow2".to_owned()));
        found.push(finding);
    }
    found
}

fn small_cluster(case: &Case<'_>, id: LayerId, unit: Option<u64>) -> Option<Finding> {
    let cluster = unit.filter(|&bytes| bytes > 0)?;
    let under = case.stack.under(id);
    let leaf =
        under.iter().find(|&&below| matches!(case.stack.layer(below).mapping, Mapping::Leaf))?;
    let granule = case.stack.layer(*leaf).units.used_bytes(UnitKind::Granule)?;
    if cluster % granule == 0 {
        return None;
    }
    let mut finding = finding("ST502", Severity::Warning, id);
    finding.evidence.push(format!(
        "{} allocates units of {}; the granule below is {}",
        case.stack.layer(id).name,
        Exact(cluster),
        Exact(granule)
    ));
    let format = match remedy::cluster_size(granule) {
        Some(size) => format!("qcow2 -o cluster_size={size}"),
        None => "raw".to_owned(),
    };
    finding.remedies.push(converted(case, id, format));
    Some(finding)
}

/// The guest's disk in a new file.
fn converted(case: &Case<'_>, id: LayerId, format: String) -> Remedy {
    Remedy::command(Command::Convert { image: image_of(case, id), format })
}

fn image_of(case: &Case<'_>, id: LayerId) -> String {
    remedy::image_file(case, id).unwrap_or_else(|| "IMAGE".to_owned())
}
