//! Description of a layer, in the few words that a person needs.

use format::filesystem::{Beside, FileSystem};
use format::image::{ImageKind, ReferenceRole};
use format::member::bcache::BcacheRole;
use format::member::md::MdMember;
use format::table::{Partition, PartitionRole, TableKind};
use stack::drive::{KeptMeasurement, KernelDrive};
use stack::{Layer, LayerKind};
use units::Known;
use units::prefix::Size;

/// Title of what the kernel alone shows: no bytes of it were read.
const BY_KERNEL: &str = "as the kernel reports";

/// The title of a layer: without its name, size and place, which stand beside it.
pub(crate) fn title(layer: &Layer) -> String {
    let mut words = match &layer.kind {
        LayerKind::Drive(drive) => drive_words(drive, layer),
        LayerKind::ImageFile => image_file_words(layer),
        LayerKind::ImageFormat(image) => {
            let mut words = vec![kind_of(image.kind, &image.version)];
            if let Some(block) = image.block_bytes {
                words.push(format!("{} clusters", Size(block)));
            }
            if image.references.iter().any(|file| file.role == ReferenceRole::Backing) {
                words.push("with a backing file".to_owned());
            }
            words
        }
        LayerKind::Partition(partition, info) => partition_words(partition, info.kind),
        LayerKind::KernelPartition => vec!["partition".to_owned(), BY_KERNEL.to_owned()],
        LayerKind::Mapped(mapped) => vec![mapped.what.clone(), BY_KERNEL.to_owned()],
        // Without a mount udev may have seen it.
        LayerKind::Mounted(kind) if layer.mount_points.is_empty() && kind != "swap" => {
            vec![kind.clone(), "not read".to_owned()]
        }
        LayerKind::Mounted(kind) => vec![kind.clone(), BY_KERNEL.to_owned()],
        LayerKind::MdMember(member) => {
            vec![format!("{} member", member.version.words()), role(member)]
        }
        LayerKind::MdArray(member) => array_words(member),
        LayerKind::LvmPhysical(volume) => match &volume.group {
            Some(group) => vec![format!("LVM PV of {}", group.name)],
            None => vec!["LVM PV without a group".to_owned()],
        },
        LayerKind::LvmLogical(_) => vec![logical_words(layer)],
        LayerKind::Luks(luks) => {
            let sector = luks.segments.first().map(|segment| segment.sector_bytes);
            let sector = sector.map(|bytes| format!("{} sectors", Size(bytes)));
            [Some(format!("LUKS{}", luks.version)), sector].into_iter().flatten().collect()
        }
        LayerKind::Bcache(bcache) => vec![match bcache.role {
            BcacheRole::Backing { .. } => "bcache backing device".to_owned(),
            BcacheRole::Cache { .. } => "bcache cache device".to_owned(),
            BcacheRole::Unknown => "bcache device of an unknown kind".to_owned(),
        }],
        LayerKind::Integrity(_) => vec!["dm-integrity".to_owned()],
        LayerKind::FileSystem(system) => system_words(system),
        LayerKind::Swap(system) => {
            let page = system.block_bytes.map(|bytes| format!("{} pages", Size(bytes)));
            // What changes under a system that sleeps is lost or destroyed when it wakes.
            let what = match system.kind {
                "swsuspend" => "swap with a hibernated system, resume it before any change",
                kind => kind,
            };
            [what.to_owned()].into_iter().chain(page).collect()
        }
        LayerKind::Named(entry) => vec![entry.what.to_owned()],
        LayerKind::File => vec!["file".to_owned()],
    };
    words.extend(mounted(layer));
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Returns where a file system is mounted, in a few words.
fn mounted(layer: &Layer) -> Option<String> {
    let (first, more) = layer.mount_points.split_first()?;
    Some(match more.len() {
        0 => format!("mounted on {first}"),
        count => format!("mounted on {first} and {count} more"),
    })
}

fn drive_words(drive: &KernelDrive, layer: &Layer) -> Vec<String> {
    let model = drive.model.as_ref().map(ToString::to_string).unwrap_or_default();
    let medium = match drive.rotational.value() {
        Some(true) => "rotating",
        Some(false) => "not rotating",
        None if drive.is_virtual => "virtual disk",
        None => "",
    };
    let behind = drive.backing_file.as_ref().map(|file| format!("loop over {file}"));
    let measured = match (&drive.measured, &drive.table) {
        (Some(KeptMeasurement::Granule(found)), _) => {
            let bytes = Size(found.alignment_bytes);
            format!("granule of {bytes} measured {}", found.date)
        }
        (_, Some(KeptMeasurement::Granule(found))) => {
            format!("granule of {} by the drive table", Size(found.alignment_bytes))
        }
        _ => String::new(),
    };
    let zones = match drive.zoned.value().map(String::as_str) {
        Some("host-managed") => "host-managed zones",
        Some("host-aware") => "host-aware zones",
        _ => "",
    };
    let zvol = drive.zvol.as_ref().map(|name| format!("ZFS volume {name}").trim_end().to_owned());
    let behind = behind.or(zvol).unwrap_or_else(|| medium.to_owned());
    vec![model, behind, zones.to_owned(), measured, tables(layer)]
}

fn image_file_words(layer: &Layer) -> Vec<String> {
    vec!["image file".to_owned(), tables(layer)]
}

fn tables(layer: &Layer) -> String {
    let words: Vec<String> = layer
        .tables
        .iter()
        .map(|table| match (table.kind, table.hybrid.is_empty()) {
            (TableKind::Gpt, false) => "gpt with a hybrid MBR".to_owned(),
            (kind, _) => kind.word().to_owned(),
        })
        .collect();
    words.join(" and ")
}

pub(crate) fn kind_of(kind: ImageKind, version: &str) -> String {
    let word = match kind {
        ImageKind::Qcow2 => "qcow2",
        ImageKind::VhdFixed => "VHD, fixed",
        ImageKind::VhdDynamic => "VHD, dynamic",
        ImageKind::Vdi => "VDI",
        ImageKind::VmdkSparse => "VMDK, sparse",
        ImageKind::VmdkStream => "VMDK, stream-optimized",
        ImageKind::VmdkDescriptor => "VMDK descriptor",
        ImageKind::Vhdx => "VHDX",
        ImageKind::Other(entry) => entry.what,
    };
    if version.is_empty() { word.to_owned() } else { format!("{word} ({version})") }
}

fn partition_words(partition: &Partition, kind: TableKind) -> Vec<String> {
    let name = partition.name.as_ref().filter(|name| !name.is_empty());
    let name = name.map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let role = match partition.role {
        PartitionRole::Extended => "extended",
        PartitionRole::BiosBoot => "BIOS boot",
        PartitionRole::EfiSystem => "EFI system",
        PartitionRole::Protective => "protective",
        PartitionRole::BsdSlice => "slice",
        PartitionRole::Whole => "whole",
        PartitionRole::Reserved => "reserved",
        PartitionRole::Ordinary => partition.type_name.unwrap_or(&partition.type_code),
    };
    vec![format!("{}{name}", kind.word()), role.to_owned()]
}

fn role(member: &MdMember) -> String {
    match member.role {
        Some(place) => format!("number {place}"),
        None => "spare".to_owned(),
    }
}

fn array_words(member: &MdMember) -> Vec<String> {
    let level = match member.level {
        -1 => "linear".to_owned(),
        level => format!("RAID{level}"),
    };
    // Some metadata gives a mirror a chunk too, which lays out nothing.
    let chunk = match member.chunk_bytes {
        bytes if bytes == 0 || member.level == 1 => String::new(),
        bytes => format!("{} chunk", Size(bytes)),
    };
    vec![level, format!("{} members", member.raid_disks), chunk]
}

fn logical_words(layer: &Layer) -> String {
    let stripes = layer.mapping.stripes();
    match (&layer.mapping, stripes.first()) {
        (_, Some(laid)) if laid.parity > 0 => format!(
            "LV, parity over {} x {}",
            laid.stripe.data_members(),
            Size(laid.stripe.chunk_bytes())
        ),
        (_, Some(laid)) => format!(
            "LV, striped {} x {}",
            laid.stripe.data_members(),
            Size(laid.stripe.chunk_bytes())
        ),
        (stack::Mapping::Mirrored { .. }, _) => "LV, mirrored".to_owned(),
        (stack::Mapping::Scattered { .. }, _) => "LV, thin".to_owned(),
        (stack::Mapping::Segments(segments), _) => format!("LV, {} segments", segments.len()),
        _ => "LV".to_owned(),
    }
}

fn system_words(system: &FileSystem) -> Vec<String> {
    let mut kind = match system.kind {
        "jbd" => "log of an ext3 or ext4".to_owned(),
        "xfs_external_log" => "log of an XFS".to_owned(),
        kind => kind.to_owned(),
    };
    if let Some(variant) = &system.variant {
        kind = format!("{kind} {variant}");
    }
    if let Some(label) = system.label.as_ref().filter(|label| !label.is_empty()) {
        kind = format!("{kind} \"{label}\"");
    }
    let block = system.block_bytes.map(|bytes| format!("{} blocks", Size(bytes)));
    let cluster = system.cluster_bytes.map(|bytes| format!("{} clusters", Size(bytes)));
    let stripe = system
        .stripe
        .map(|stripe| format!("stripe {} / {}", Size(stripe.unit_bytes), Size(stripe.width_bytes)));
    let beside = system.beside.as_ref().and_then(|beside| match beside {
        Beside::LogOn(_) => Some("log on another device".to_owned()),
        Beside::OneOf { of, .. } => Some(format!("on {of} devices")),
        Beside::LogOf(_) => None,
    });
    [Some(kind), block, cluster, stripe, beside].into_iter().flatten().collect()
}

/// The length of a layer where it is known.
pub(crate) fn length(layer: &Layer) -> Option<u64> {
    match &layer.length_bytes {
        Known::Yes(fact) => Some(fact.value),
        Known::No(_) => None,
    }
}
