//! `/proc/PID/mountinfo`: what is mounted where, from which device.
//!
//! Source: proc_pid_mountinfo(5).

use units::DiskText;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountLine {
    /// The mount's number, which statx gives too.
    pub id: u64,
    /// The device's number: `8:1`.
    pub device: String,
    /// Where it is mounted.
    pub point: DiskText,
    /// The file system's type, escaped.
    pub kind: String,
    /// What was mounted, as the file system sees it: a device, a server, a word.
    pub source: DiskText,
    /// The file system's own options: `rw`, `upperdir=/b`, escaped as in the table.
    pub options: Vec<String>,
}

impl MountLine {
    /// The value of an option of the file system, without the table's escapes; `None` when it is
    /// not there.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<Vec<u8>> {
        let found = self.options.iter().find_map(|option| option.strip_prefix(name));
        found.and_then(|rest| rest.strip_prefix('=')).map(|value| unescaped(value.as_bytes()))
    }
}

/// The lines of a table that can be read, in its order. Paths are bytes: they need not be UTF-8.
pub fn lines(table: &[u8]) -> impl Iterator<Item = MountLine> + '_ {
    table.split(|&byte| byte == b'\n').filter_map(line)
}

fn line(line: &[u8]) -> Option<MountLine> {
    let mut fields = line.split(|&byte| byte == b' ');
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let id = text(fields.next()?).parse().ok()?;
    let device = text(fields.nth(1)?);
    let point = DiskText::from_bytes(&unescaped(fields.nth(1)?));
    // Optional fields end with a lone hyphen.
    let kind = fields.by_ref().skip_while(|field| *field != b"-").nth(1)?;
    let source = DiskText::from_bytes(&unescaped(fields.next().unwrap_or_default()));
    let options = fields.next().unwrap_or_default().split(|&byte| byte == b',').map(text).collect();
    Some(MountLine { id, device, point, kind: units::text::escape(kind), source, options })
}

/// Blanks, tabs, newlines and backslashes are written as `\\` and three octal digits.
pub(crate) fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = field;
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
        let table = b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
                     2 1 8:2 / /my\\040data rw shared:1 - xfs /dev/sda2 rw\nbroken line";
        let found: Vec<MountLine> = lines(table).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].device, "8:2");
        assert_eq!(found[1].point.to_string(), "/my data");
        assert_eq!(found[1].kind, "xfs");
        assert_eq!((found[1].id, found[1].source.to_string()), (2, "/dev/sda2".to_owned()));
    }

    #[test]
    fn options_of_the_file_system_are_found_by_name_without_escapes() {
        let table = b"9 1 0:40 / /m rw - overlay overlay rw,lowerdir=/a\\040b:/c,upperdir=/u";
        let found = lines(table).next().unwrap();
        assert_eq!(found.option("lowerdir").unwrap(), b"/a b:/c");
        assert_eq!(found.option("upper"), None);
    }
}
