//! Filters in the kernel's words, for reads and writes of some devices.

/// Bits of the minor number in the `dev_t` of the kernel (`include/linux/kdev_t.h`).
const MINOR_BITS: u32 = 20;
/// The kernel's sector, in bytes, in which events count.
pub const SECTOR_BYTES: u64 = 512;
/// Reads and writes by the letters of `rwbs`; a write that flushes first begins with an F. Never
/// with a star in front: the kernel would look for the letter behind the text's end too, where
/// bytes of earlier events are (`regex_match_middle` of Linux
/// `kernel/trace/trace_events_filter.c`).
const READS: &str = "rwbs ~ \"R*\"";
const WRITES: &str = "(rwbs ~ \"W*\" || rwbs ~ \"FW*\")";

/// Place where events are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockLevel {
    /// Requests that go to the drive, after merging.
    Requests,
    /// Pieces of work as the layer above hands them in, before merging.
    Bios,
}

impl BlockLevel {
    /// The name of its event.
    pub(super) fn event(self) -> &'static str {
        match self {
            BlockLevel::Requests => "block/block_rq_issue",
            BlockLevel::Bios => "block/block_bio_queue",
        }
    }
}

/// Direction of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the device.
    Read,
    /// To the device; discards and zeroing without data are none.
    Write,
}

/// Reads or writes of some devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockFilter {
    /// Numbers of the devices, major and minor: a disk, and for bios its partitions too.
    pub devices: Vec<(u32, u32)>,
    /// Place where they are counted.
    pub level: BlockLevel,
    /// Direction.
    pub direction: Direction,
    /// Only those that start or end off multiples of this many bytes: a power of two. All that move
    /// data where it is `None`; none where it is no more than a sector of 512 bytes.
    pub off_bytes: Option<u64>,
    /// True if only the start counts, whatever the length.
    pub starts_only: bool,
}

impl BlockFilter {
    /// The filter in the words of Linux `Documentation/trace/events.rst`.
    pub(super) fn text(&self) -> String {
        let devices: Vec<String> = self
            .devices
            .iter()
            .map(|&number| format!("dev == {}", kernel_number(number)))
            .collect();
        let direction = match self.direction {
            Direction::Read => READS,
            Direction::Write => WRITES,
        };
        let devices = devices.join(" || ");
        // The kernel tries from the left and stops at the first that does not hold. A mask tells
        // most apart, as most operations fit, and costs less than letters.
        match self.off_bytes.map(|bytes| bytes / SECTOR_BYTES) {
            None => format!("({devices}) && {direction} && nr_sector > 0"),
            // A mask of nothing is refused by the kernel; nothing starts off a sector.
            Some(0 | 1) => format!("({devices}) && nr_sector < 0"),
            Some(sectors) => {
                let mask = sectors - 1;
                let off = match self.starts_only {
                    true => format!("sector & {mask}"),
                    false => format!("sector & {mask} || nr_sector & {mask}"),
                };
                format!("({off}) && ({devices}) && {direction} && nr_sector > 0")
            }
        }
    }
}

/// The number of a device as its `dev_t` is in records.
pub(super) fn kernel_number((major, minor): (u32, u32)) -> u32 {
    major << MINOR_BITS | minor & ((1 << MINOR_BITS) - 1)
}

/// The opposite of [`kernel_number`].
pub(super) fn device_number(number: u32) -> (u32, u32) {
    (number >> MINOR_BITS, number & ((1 << MINOR_BITS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_names_devices_direction_and_mask() {
        let filter = |off_bytes| BlockFilter {
            devices: vec![(7, 1), (259, 3)],
            level: BlockLevel::Requests,
            direction: Direction::Write,
            off_bytes,
            starts_only: false,
        };
        let devices = "(dev == 7340033 || dev == 271581187)";
        let writes = "(rwbs ~ \"W*\" || rwbs ~ \"FW*\") && nr_sector > 0";
        assert_eq!(filter(None).text(), format!("{devices} && {writes}"));
        let off = "(sector & 7 || nr_sector & 7)";
        assert_eq!(filter(Some(4096)).text(), format!("{off} && {devices} && {writes}"));
        let starts = BlockFilter { starts_only: true, ..filter(Some(16384)) };
        assert_eq!(starts.text(), format!("(sector & 31) && {devices} && {writes}"));
        assert_eq!(filter(Some(512)).text(), format!("{devices} && nr_sector < 0"));
        assert_eq!(device_number(kernel_number((259, 3))), (259, 3));
    }
}
