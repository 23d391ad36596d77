//! Lengths of pages, as the first page of a database's file tells them.
//!
//! Sources: MySQL `storage/innobase/include/{fil0fil,fsp0fsp,fsp0types}.h`; MariaDB
//! `storage/innobase/include/fsp0types.h` (full_crc32); PostgreSQL `src/include/storage/bufpage.h`;
//! SQLite "Database File Format", 1.3.2.

/// Bytes of a file's start that are needed.
pub const HEAD_BYTES: usize = 64;

fn be16(head: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(head.get(at..at + 2)?.try_into().ok()?))
}

fn be32(head: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?))
}

/// Returns the length in bytes in which InnoDB writes the pages of a tablespace that starts with
/// `head`: that of the compressed page where the table is compressed; `None` for other files.
#[must_use]
pub fn innodb(head: &[u8]) -> Option<u64> {
    const SPACE_HEADER: u16 = 8;
    let is_first = be32(head, 4)? == 0 && be16(head, 24)? == SPACE_HEADER;
    // The tablespace's number stands in the page's header and in its own.
    if !is_first || be32(head, 34)? != be32(head, 38)? {
        return None;
    }
    let flags = be32(head, 54)?;
    let is_full_crc32 = flags & 0x10 != 0;
    let (compressed, page) = match is_full_crc32 {
        true => (0, flags & 0xf),
        false => (flags >> 1 & 0xf, flags >> 6 & 0xf),
    };
    match (compressed, page) {
        (1..=5, _) => Some(512 << compressed),
        (0, 0) if !is_full_crc32 => Some(16384),
        (0, 3..=7) => Some(512 << page),
        _ => None,
    }
}

/// Returns the page length in bytes of an SQLite database that starts with `head`; `None` for other
/// files.
#[must_use]
pub fn sqlite(head: &[u8]) -> Option<u64> {
    if !head.starts_with(b"SQLite format 3\0") {
        return None;
    }
    match be16(head, 16)? {
        1 => Some(65536),
        bytes if bytes >= 512 && bytes.is_power_of_two() => Some(bytes.into()),
        _ => None,
    }
}

/// Returns the page length in bytes of a relation of PostgreSQL that starts with `head`; `None` for
/// other files.
#[must_use]
pub fn postgresql(head: &[u8]) -> Option<u64> {
    const VERSIONS: std::ops::RangeInclusive<u16> = 3..=4;
    let stored = u16::from_le_bytes(head.get(18..20)?.try_into().ok()?);
    let (bytes, version) = (stored & 0xff00, stored & 0xff);
    let is_page = bytes >= 1024 && bytes.is_power_of_two() && VERSIONS.contains(&version);
    is_page.then_some(bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn innodb_head(flags: u32) -> Vec<u8> {
        let mut head = vec![0; HEAD_BYTES];
        head[24..26].copy_from_slice(&8_u16.to_be_bytes());
        head[34..38].copy_from_slice(&7_u32.to_be_bytes());
        head[38..42].copy_from_slice(&7_u32.to_be_bytes());
        head[54..58].copy_from_slice(&flags.to_be_bytes());
        head
    }

    #[test]
    fn innodbs_flags_tell_the_page_that_is_written() {
        for (flags, bytes) in [
            (0, Some(16384)),
            (0x4021, Some(16384)),
            (4 << 6, Some(8192)),
            (7 << 6, Some(65536)),
            (0x21 | 4 << 1, Some(8192)),
            (0x15, Some(16384)),
            (0x13, Some(4096)),
            (0x10, None),
            (15 << 6, None),
        ] {
            assert_eq!(innodb(&innodb_head(flags)), bytes, "{flags:#x}");
        }
        let mut other = innodb_head(0);
        other[34] = 1;
        assert_eq!(innodb(&other), None);
    }

    #[test]
    fn sqlite_and_postgresql_tell_their_pages() {
        let mut head = b"SQLite format 3\0".to_vec();
        head.resize(HEAD_BYTES, 0);
        for (stored, bytes) in [(4096_u16, Some(4096)), (1, Some(65536)), (513, None), (0, None)] {
            head[16..18].copy_from_slice(&stored.to_be_bytes());
            assert_eq!(sqlite(&head), bytes);
        }
        let mut page = vec![0; HEAD_BYTES];
        page[18..20].copy_from_slice(&0x2004_u16.to_le_bytes());
        assert_eq!((postgresql(&page), postgresql(&head)), (Some(8192), None));
    }

    #[test]
    fn nothing_is_read_past_the_end_of_a_short_or_hostile_head() {
        for length in 0..HEAD_BYTES {
            for byte in [0, 0xff] {
                let head = vec![byte; length];
                let found = [innodb(&head), sqlite(&head), postgresql(&head)];
                assert!(found[1..] == [None, None], "{length} {byte}");
            }
        }
    }
}
