//! `/proc/PID/mountinfo`: what is mounted where, from which device.
//!
//! Source: proc_pid_mountinfo(5).

use units::DiskText;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountLine {
    /// The mount's number, which statx gives too.
    pub id: u64,
    /// The device's number: `8:1`; btrfs has one of its own here.
    pub device: String,
    /// The mount point.
    pub point: DiskText,
    /// The file system's type, escaped.
    pub kind: String,
    /// The source of the mount, as the file system sees it: a device, a server, a word.
    pub source: DiskText,
    /// The options of this mount alone: `ro`, `relatime`; a bind mount has its own.
    pub flags: Vec<String>,
    /// The file system's own options: `rw`, `upperdir=/b`, escaped as in the table.
    pub options: Vec<String>,
}

impl MountLine {
    /// Returns whether nothing can be written by way of this mount, though it may be by another of
    /// the same file system.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.flags.iter().chain(&self.options).any(|option| option == "ro")
    }

    /// All options that hold here, as `mount` lists them: whether it is written to, those of this
    /// mount, those of the file system. Escaped as in the table.
    pub fn all_options(&self) -> impl Iterator<Item = &str> {
        let is_other = |option: &&String| !matches!(option.as_str(), "ro" | "rw");
        let others = self.flags.iter().chain(&self.options).filter(is_other);
        let first = if self.is_read_only() { "ro" } else { "rw" };
        std::iter::once(first).chain(others.map(String::as_str))
    }

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
    let listed = |field: &[u8]| field.split(|&byte| byte == b',').map(text).collect();
    let flags = listed(fields.next()?);
    // Optional fields end with a lone hyphen.
    let kind = fields.by_ref().skip_while(|field| *field != b"-").nth(1)?;
    let source = DiskText::from_bytes(&unescaped(fields.next().unwrap_or_default()));
    let options = listed(fields.next().unwrap_or_default());
    Some(MountLine { id, device, point, kind: units::text::escape(kind), source, flags, options })
}

/// Returns a path of a table of the kernel, which writes blanks, tabs, newlines and backslashes as
/// `\\` and three octal digits.
#[must_use]
pub fn unescaped(field: &[u8]) -> Vec<u8> {
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
    fn a_bind_mount_may_be_read_only_where_its_file_system_is_not() {
        let check = |flags: &str, options: &str, expected: &[&str]| {
            let table = format!("9 1 8:1 / /m {flags} shared:1 - ext4 /dev/sda1 {options}");
            let found = lines(table.as_bytes()).next().unwrap();
            assert_eq!(found.is_read_only(), expected[0] == "ro", "{table}");
            assert_eq!(found.all_options().collect::<Vec<_>>(), expected, "{table}");
        };
        check("ro,relatime", "rw,discard", &["ro", "relatime", "discard"]);
        check("rw,relatime", "rw,barrier=0", &["rw", "relatime", "barrier=0"]);
        check("rw", "ro,errors=remount-ro", &["ro", "errors=remount-ro"]);
    }

    #[test]
    fn options_of_the_file_system_are_found_by_name_without_escapes() {
        let table = b"9 1 0:40 / /m rw - overlay overlay rw,lowerdir=/a\\040b:/c,upperdir=/u";
        let found = lines(table).next().unwrap();
        assert_eq!(found.option("lowerdir").unwrap(), b"/a b:/c");
        assert_eq!(found.option("upper"), None);
    }
}
