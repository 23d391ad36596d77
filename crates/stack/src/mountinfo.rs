//! `/proc/PID/mountinfo`: what is mounted where, from which device.
//!
//! Source: proc_pid_mountinfo(5).

use units::DiskText;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountLine {
    /// The device's number: `8:1`.
    pub device: String,
    /// Where it is mounted.
    pub point: DiskText,
    /// The file system's type, escaped.
    pub kind: String,
}

/// The lines of a table that can be read, in its order.
pub fn lines(table: &str) -> impl Iterator<Item = MountLine> + '_ {
    table.lines().filter_map(line)
}

fn line(line: &str) -> Option<MountLine> {
    let mut fields = line.split(' ');
    let device = fields.nth(2)?.to_owned();
    let point = DiskText::from_bytes(&unescaped(fields.nth(1)?));
    let kind = line.split(" - ").nth(1)?.split(' ').next()?;
    Some(MountLine { device, point, kind: units::text::escape(kind.as_bytes()) })
}

/// Blanks, tabs, newlines and backslashes are written as `\\` and three octal digits.
fn unescaped(field: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = field.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let octal = tail.get(..3).filter(|_| first == b'\\');
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_in_mount_points_and_optional_fields_are_understood() {
        let table = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
                     2 1 8:2 / /my\\040data rw shared:1 - xfs /dev/sda2 rw\nbroken line";
        let found: Vec<MountLine> = lines(table).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].device, "8:2");
        assert_eq!(found[1].point.to_string(), "/my data");
        assert_eq!(found[1].kind, "xfs");
    }
}
