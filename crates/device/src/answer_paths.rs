//! Answers of the kernel and of drives that are no files, with the paths under which a
//! [`KernelTree`](crate::KernelTree) gives them all the same.
//!
//! A live tree asks the kernel when such a path is read; a captured tree holds what was answered.
//! So everything above reads paths, and a capture is complete without a second kind of content.

use serde::Serialize;

/// The directory of all answers.
pub const ROOT: &str = "/straddle";

/// Every device-mapper table, as `dmsetup table` prints it without keys: a line for each target,
/// `NAME: START LENGTH TYPE PARAMETERS`, in 512-byte units.
///
/// Source: Linux `include/uapi/linux/dm-ioctl.h` (`DM_TABLE_STATUS`); dmsetup(8).
pub const DM_TABLES: &str = "/straddle/dm-tables";

/// The state of every device-mapper target, as `dmsetup status` prints it, in lines of the same
/// form. It changes with every write, so captures do not hold it.
pub const DM_STATUS: &str = "/straddle/dm-status";

/// A question to a drive in its own language; its word ends the path of the answer. That is text:
/// hexadecimal digits, with white space anywhere between two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// NVMe Identify Namespace (CNS 0), 4096 bytes.
    NvmeNamespace,
    /// NVMe Identify Namespace of the NVM command set (CNS 5, CSI 0), 4096 bytes.
    NvmeNvmNamespace,
    /// NVMe Identify Controller (CNS 1), 4096 bytes.
    NvmeController,
    /// SCSI READ CAPACITY (16), 32 bytes.
    ScsiCapacity,
    /// SCSI VPD page B0h, block limits.
    ScsiBlockLimits,
    /// SCSI VPD page B1h, block device characteristics.
    ScsiCharacteristics,
    /// ATA IDENTIFY DEVICE, 512 bytes; behind a SCSI bridge by ATA PASS-THROUGH.
    AtaIdentify,
    /// The NVMe log page 02h, health, 512 bytes.
    NvmeHealth,
    /// ATA SMART READ DATA, 512 bytes.
    AtaHealth,
    /// OCP's log page C0h, extended health, 512 bytes: only where the drive says that it has it.
    NvmeOcpHealth,
    /// ATA's Device Statistics log: its pages 01h and 07h, 1024 bytes, of solid state drives only.
    AtaStatistics,
}

units::words!(Question);

impl Question {
    /// Every question.
    pub const ALL: [Question; 11] = [
        Question::NvmeNamespace,
        Question::NvmeNvmNamespace,
        Question::NvmeController,
        Question::ScsiCapacity,
        Question::ScsiBlockLimits,
        Question::ScsiCharacteristics,
        Question::AtaIdentify,
        Question::NvmeHealth,
        Question::AtaHealth,
        Question::NvmeOcpHealth,
        Question::AtaStatistics,
    ];

    /// Returns whether a capture holds its answer: all but SMART READ DATA, whose attributes are
    /// each maker's own and have no part in what `check` shows.
    #[must_use]
    pub fn is_captured(self) -> bool {
        self != Question::AtaHealth
    }
}

/// The path of the answer of the disk that the kernel calls `disk`: `/straddle/drive/sda/…`.
#[must_use]
pub fn of_drive(disk: &str, question: Question) -> String {
    format!("{ROOT}/drive/{disk}/{}", question.word())
}

/// The question and the disk of a path that [`of_drive`] gave; `None` for any other path.
#[must_use]
pub fn asked(path: &str) -> Option<(&str, Question)> {
    let (disk, word) = path.strip_prefix(ROOT)?.strip_prefix("/drive/")?.split_once('/')?;
    Some((disk, Question::ALL.into_iter().find(|question| question.word() == word)?))
}

/// `bytes` as an answer's text: 32 bytes a line.
#[must_use]
pub fn to_text(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2 + bytes.len().div_ceil(32));
    for line in bytes.chunks(32) {
        for byte in line {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
    }
    text
}

/// The bytes of an answer's text; `None` when it holds anything but pairs of hexadecimal digits and
/// white space, or more than 64 KiB.
#[must_use]
pub fn to_bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if !digits.len().is_multiple_of(2) || digits.len() > 128 << 10 {
        return None;
    }
    let value =
        |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    digits.chunks_exact(2).map(|pair| Some(value(pair[0])? << 4 | value(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_comes_back_as_it_was_written() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(to_bytes(&to_text(&bytes)), Some(bytes));
        assert_eq!(to_bytes("0g"), None);
        assert_eq!(to_bytes("012"), None);
    }

    #[test]
    fn the_path_of_an_answer_says_what_was_asked() {
        for question in Question::ALL {
            assert_eq!(asked(&of_drive("nvme0n1", question)), Some(("nvme0n1", question)));
        }
        assert_eq!(asked("/straddle/drive/sda/other"), None);
        assert_eq!(asked("/sys/block/sda"), None);
    }
}
