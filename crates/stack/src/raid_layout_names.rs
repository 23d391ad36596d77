//! Layouts of the md drivers' arrays, by the names that device-mapper and LVM use.

use units::stripe::{Rotation, Stripe};

use crate::mapping::{Below, Copies, Mapping};

/// Returns how a layout lies that `lvs -o segtype` or a device-mapper table names: `raid5_ls`,
/// `raid10`. RAID 10 has two copies beside each other.
///
/// Source: Linux `drivers/md/dm-raid.c` (`raid_types`), which maps the names to md's layouts.
///
/// # Errors
/// When the layout is not known here, or has no chunk; the text says which.
pub(crate) fn raid(
    name: &str,
    chunk_bytes: u64,
    members: Vec<Option<Below>>,
) -> Result<Mapping, String> {
    let count = u64::try_from(members.len()).unwrap_or(0);
    let level = name.get(..5).unwrap_or(name);
    match (name, level) {
        ("raid10" | "raid10_near", _) if count >= 2 && count.is_multiple_of(2) => {
            striped(chunk_bytes, count / 2, Copies::Neighbors(2), members)
        }
        ("raid10_far", _) => striped(chunk_bytes, count, Copies::Far, members),
        ("raid10_offset", _) => striped(chunk_bytes, count, Copies::Offset(2), members),
        (_, "raid0") => striped(chunk_bytes, count, Copies::Neighbors(1), members),
        ("raid1", _) => Ok(Mapping::Mirrored { members }),
        (_, "raid4" | "raid5") if count > 1 => {
            let rotation = match name {
                "raid4" | "raid5_n" => Some(Rotation::Last),
                "raid5" | "raid5_ls" => Some(Rotation::LeftSymmetric),
                "raid5_la" => Some(Rotation::LeftAsymmetric),
                "raid5_ra" => Some(Rotation::RightAsymmetric),
                "raid5_rs" => Some(Rotation::RightSymmetric),
                _ => None,
            };
            parity(chunk_bytes, count - 1, 1, rotation, members)
        }
        (_, "raid6") if count > 2 => {
            // Rotating with zero restart (md layout 8) places data, P and Q as right asymmetric
            // does; only the order in which Q is computed differs.
            let zero_restart = matches!(name, "raid6" | "raid6_zr");
            let rotation = zero_restart.then_some(Rotation::RightAsymmetric);
            parity(chunk_bytes, count - 2, 2, rotation, members)
        }
        _ => {
            Err(format!("the layout of {} is not known here", units::text::escape(name.as_bytes())))
        }
    }
}

/// Round the members in chunks.
///
/// # Errors
/// When there is no chunk, or there are no data members.
pub(crate) fn striped(
    chunk_bytes: u64,
    data: u64,
    copies: Copies,
    members: Vec<Option<Below>>,
) -> Result<Mapping, String> {
    let stripe = Stripe::new(chunk_bytes, data).ok_or_else(no_chunk)?;
    Ok(Mapping::Striped { stripe, copies, members })
}

fn parity(
    chunk_bytes: u64,
    data: u64,
    parity: u64,
    rotation: Option<Rotation>,
    members: Vec<Option<Below>>,
) -> Result<Mapping, String> {
    let stripe = Stripe::new(chunk_bytes, data).ok_or_else(no_chunk)?;
    Ok(Mapping::Parity { stripe, parity, rotation, members })
}

fn no_chunk() -> String {
    "it has no stripe size".to_owned()
}
