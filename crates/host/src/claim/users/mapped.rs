//! Files that a process has mapped into its memory for writing: also those that it closed since.

use std::io;
use std::path::{Path, PathBuf};

use crate::claim::forbidden_uses::{NodeFacts, Sought, Used, has_gone};

/// The first of `sought` that process `pid` has mapped and shares with others. What it may only
/// read it may be allowed to write at any time; so that is no difference.
///
/// # Errors
/// When its memory cannot be looked at, or it has gone.
pub(super) fn first(pid: u32, sought: &Sought) -> io::Result<Option<Used>> {
    let maps = std::fs::read(format!("/proc/{pid}/maps"))?;
    for range in maps.split(|&byte| byte == b'\n').filter_map(shared) {
        match NodeFacts::of(&place(pid, range)) {
            Ok(facts) => {
                if let Some(found) = sought.has(&facts) {
                    return Ok(Some(found));
                }
            }
            Err(error) => {
                let error = io::Error::from(error);
                // What is mapped may change while it is looked at.
                if !has_gone(&error) {
                    return Err(error);
                }
            }
        }
    }
    Ok(None)
}

fn place(pid: u32, range: &str) -> PathBuf {
    Path::new("/proc").join(pid.to_string()).join("map_files").join(range)
}

/// The range of a line of `maps` that shows a file, where what is written reaches the file.
fn shared(line: &[u8]) -> Option<&str> {
    let mut words = std::str::from_utf8(line.get(..line.len().min(100))?)
        .or_else(|error| std::str::from_utf8(&line[..error.valid_up_to()]))
        .ok()?
        .split_ascii_whitespace();
    let (range, rights) = (words.next()?, words.next()?);
    let inode = words.nth(2)?;
    (rights.ends_with('s') && inode != "0").then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shared_mappings_of_files_are_looked_at() {
        let range = "7f0000000000-7f0000001000";
        let line = |rights: &str, rest: &str| format!("{range} {rights} 00000000 {rest}");
        let disk = "00:06 345                        /dev/loop0";
        assert_eq!(shared(line("rw-s", disk).as_bytes()), Some(range));
        assert_eq!(shared(line("r--s", disk).as_bytes()), Some(range));
        assert_eq!(shared(line("rw-p", disk).as_bytes()), None);
        assert_eq!(shared(line("rw-s", "00:00 0").as_bytes()), None);
        assert_eq!(shared(b""), None);
        let odd = [line("rw-s", "00:06 345 /").as_bytes(), b"\xff\xfe"].concat();
        assert_eq!(shared(&odd), Some(range));
    }
}
