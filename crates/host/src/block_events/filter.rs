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

/// Shape of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockShape {
    /// All that move data.
    Any,
    /// Those that start or end off multiples of this many bytes, a power of two; none where it is
    /// no more than a sector of 512 bytes.
    Off(u64),
    /// Those that start off multiples of this many bytes, as above.
    StartOff(u64),
    /// Those of at most this many bytes.
    UpTo(u64),
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
    /// Shape of those that count.
    pub shape: BlockShape,
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
        let mask = |bytes: u64| (bytes / SECTOR_BYTES).saturating_sub(1);
        let shape = match self.shape {
            BlockShape::Any => return format!("({devices}) && {direction} && nr_sector > 0"),
            // A mask of nothing is refused by the kernel; nothing starts off a sector.
            BlockShape::Off(bytes) | BlockShape::StartOff(bytes) if mask(bytes) == 0 => {
                return format!("({devices}) && nr_sector < 0");
            }
            BlockShape::Off(bytes) => {
                format!("sector & {mask} || nr_sector & {mask}", mask = mask(bytes))
            }
            BlockShape::StartOff(bytes) => format!("sector & {}", mask(bytes)),
            BlockShape::UpTo(bytes) => format!("nr_sector <= {}", bytes / SECTOR_BYTES),
        };
        format!("({shape}) && ({devices}) && {direction} && nr_sector > 0")
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
        let filter = |shape| BlockFilter {
            devices: vec![(7, 1), (259, 3)],
            level: BlockLevel::Requests,
            direction: Direction::Write,
            shape,
        };
        let devices = "(dev == 7340033 || dev == 271581187)";
        let writes = "(rwbs ~ \"W*\" || rwbs ~ \"FW*\") && nr_sector > 0";
        assert_eq!(filter(BlockShape::Any).text(), format!("{devices} && {writes}"));
        let off = "(sector & 7 || nr_sector & 7)";
        let text = |shape| filter(shape).text();
        let of = |shape: &str| format!("{shape} && {devices} && {writes}");
        assert_eq!(text(BlockShape::Off(4096)), of(off));
        assert_eq!(text(BlockShape::StartOff(16384)), of("(sector & 31)"));
        assert_eq!(text(BlockShape::UpTo(16384)), of("(nr_sector <= 32)"));
        assert_eq!(text(BlockShape::Off(512)), format!("{devices} && nr_sector < 0"));
        assert_eq!(device_number(kernel_number((259, 3))), (259, 3));
    }
}
