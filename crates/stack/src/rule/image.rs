//! Image formats: clusters below the granule, holes that get in the way, files that are missing.

use format::image::{Image, ImageKind, Layout};
use format::named::Class;
use units::prefix::Exact;
use units::text::shell_word;
use units::{ByteRange, Unit};

use super::remedy::Command;
use super::{Case, Finding, Remedy, Severity, finding, remedy};
use crate::id::LayerId;
use crate::layer::LayerKind;
use crate::mapping::{Mapping, Why};
use crate::unit::UnitKind;

/// Number of clusters looked at for compressed ones: 1 MiB of their table.
const CLUSTERS_MAX: u64 = 1 << 17;

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
                let mut finding = finding("ST503", Severity::Info, id);
                finding.evidence.push(unread.to_string());
                finding.remedies.push(match unread.why {
                    Why::Outside => Remedy::command(Command::Follow(image_of(case, id))),
                    Why::Short { .. } => Remedy::tell("get the whole file again"),
                    Why::Failed => Remedy::tell("put it where the image says it is"),
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
        found.extend(compressed(case, id, image));
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

/// Compressed clusters of an image of which others may be plain, counted over its beginning.
fn compressed(case: &Case<'_>, id: LayerId, image: &Image) -> Option<Finding> {
    let Mapping::Image { file, .. } = &case.stack.layer(id).mapping else { return None };
    if !matches!(image.layout, Layout::Qcow2(_)) {
        return None;
    }
    let disk = case.stack.bytes(*file)?;
    let reach = image.block_bytes?.saturating_mul(CLUSTERS_MAX).min(image.virtual_bytes);
    let shifts = image.shifts(disk.as_ref(), ByteRange::new(0, reach)?, Unit::new(512)?);
    if shifts.compressed_bytes == 0 {
        return None;
    }
    let mut finding = finding("ST504", Severity::Info, id);
    finding.evidence.push(format!(
        "{} of the guest's first {} are in compressed clusters, which have no alignment; what is \
         written to one goes to a new place",
        Exact(shifts.compressed_bytes),
        Exact(reach)
    ));
    finding.remedies.push(converted(case, id, "qcow2".to_owned()));
    Some(finding)
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
