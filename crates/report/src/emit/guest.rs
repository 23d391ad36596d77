//! The disk of a guest: libvirt's `<blockio>` and QEMU's properties of block devices. Sources:
//! libvirt, "Domain XML format", element `blockio`; QEMU, `include/hw/block/block.h`.

use super::{comment, heading, origin, sectors};
use crate::device_facts::{DeviceFacts, Quantity, SourcedNumber};

/// Largest block that QEMU takes, in bytes.
const BLOCK_MAX: u64 = 2 << 20;

/// Sizes for a guest, in the order of their names in both programs.
fn sizes(device: &DeviceFacts) -> Result<[(&'static str, &SourcedNumber); 2], String> {
    let (logical, granule) = sectors(device);
    let logical = logical.ok_or_else(|| comment("logical_block_size", None))?;
    let granule = granule?;
    let takes = granule.number >= logical.number && granule.number <= BLOCK_MAX;
    match takes && logical.number.is_power_of_two() {
        true => Ok([("logical_block_size", logical), ("physical_block_size", granule)]),
        false => Err(format!(
            "# physical_block_size: unknown: a granule of {} bytes does not fit sectors of {}\n",
            granule.number, logical.number
        )),
    }
}

/// An element of libvirt, with its sources in comments.
pub(super) fn libvirt(device: &DeviceFacts) -> String {
    let said = match sizes(device) {
        Ok(sizes) => {
            let comments = sizes.map(|(name, size)| comment(name, Some(size))).concat();
            let attributes = sizes.map(|(name, size)| format!(" {name}='{}'", size.number));
            let comments = xml_comments(&(comments + &origin(device)));
            return format!(
                "{}{comments}<blockio{}/>\n",
                xml_comments(&heading(device)),
                attributes.concat()
            );
        }
        Err(unknown) => unknown,
    };
    xml_comments(&(heading(device) + &said))
}

/// Comments of a shell as those of XML, which hold no two hyphens in a row.
fn xml_comments(text: &str) -> String {
    let text = text.lines().map(|line| line.trim_start_matches("# ").replace("--", "- -"));
    text.map(|line| format!("<!-- {} -->\n", line.trim_end_matches('-'))).collect()
}

/// An option of QEMU, with its sources in comments.
pub(super) fn qemu(device: &DeviceFacts) -> String {
    let head = heading(device);
    let sizes = match sizes(device) {
        Ok(sizes) => sizes,
        Err(unknown) => return head + &unknown,
    };
    let [(_, logical), (_, granule)] = sizes;
    let mut text = head + &sizes.map(|(name, size)| comment(name, Some(size))).concat();
    text += &origin(device);
    let mut options = sizes.map(|(name, size)| format!(",{name}={}", size.number)).concat();
    // The guest plans its smallest writes by it.
    options += &format!(",min_io_size={}", granule.number);
    let fits = |size: &&SourcedNumber| size.number.is_multiple_of(logical.number);
    let named = [
        ("opt_io_size", Quantity::FullStripe, Quantity::OptimalIo),
        ("discard_granularity", Quantity::Discard, Quantity::Discard),
    ];
    for (name, quantity, other) in named {
        let size = device.bytes(quantity).or_else(|| device.bytes(other)).filter(fits);
        text += &comment(name, size);
        options += &size.map_or(String::new(), |size| format!(",{name}={}", size.number));
    }
    format!("{text}-device virtio-blk-pci,drive=ID{options}\n")
}
