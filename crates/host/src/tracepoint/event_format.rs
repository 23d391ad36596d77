//! Form of one kind of event: its number, and where its fields stand in a raw record.
//!
//! Offsets differ between kernels, so they are always read and never assumed.
//!
//! Source: Linux `Documentation/trace/events.rst`, section "Event formats".

/// A record is never longer than this, in bytes (`PERF_MAX_TRACE_SIZE` of Linux).
const RECORD_BYTES_MAX: usize = 8192;

/// Form of one kind of event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFormat {
    /// Name with its group: `block/block_rq_issue`.
    pub name: String,
    /// Number by which perf_event_open(2) names it.
    pub id: u64,
    fields: Vec<EventField>,
}

/// Place of a field in a raw record, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EventField {
    name: String,
    offset: usize,
    length: usize,
}

impl EventFormat {
    /// Parses the text of a `format` file.
    ///
    /// # Errors
    /// When it has no number, or a field without a place; the text says which.
    pub(super) fn parse(name: &str, text: &str) -> Result<EventFormat, String> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"));
        let id = id.and_then(|id| id.trim().parse().ok()).ok_or("its description has no number")?;
        let lines = text.lines().map(str::trim).filter(|line| line.starts_with("field:"));
        let fields = lines
            .map(|line| field(line).ok_or_else(|| format!("a field has no place: {line}")))
            .collect::<Result<_, _>>()?;
        Ok(EventFormat { name: name.to_owned(), id, fields })
    }

    /// Returns whether its records have a field of this name.
    #[must_use]
    pub fn has(&self, field: &str) -> bool {
        self.fields.iter().any(|one| one.name == field)
    }

    /// The whole number in `field` of `record`; `None` where there is no such field or the record
    /// ends before it.
    #[must_use]
    pub fn number(&self, record: &[u8], field: &str) -> Option<u64> {
        let bytes = self.bytes(record, field)?;
        let mut wide = [0; 8];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        // Records have the machine's own byte order; every target that is built for is
        // little-endian or has its low bytes last.
        match cfg!(target_endian = "little") {
            true => Some(u64::from_le_bytes(wide)),
            false => {
                wide.rotate_right(8 - bytes.len());
                Some(u64::from_be_bytes(wide))
            }
        }
    }

    /// The text in `field` of `record`, up to its first NUL; `None` as for [`number`].
    ///
    /// [`number`]: EventFormat::number
    #[must_use]
    pub fn text<'a>(&self, record: &'a [u8], field: &str) -> Option<&'a [u8]> {
        let bytes = self.bytes(record, field)?;
        bytes.split(|&byte| byte == 0).next()
    }

    fn bytes<'a>(&self, record: &'a [u8], field: &str) -> Option<&'a [u8]> {
        let field = self.fields.iter().find(|one| one.name == field)?;
        record.get(field.offset..field.offset.checked_add(field.length)?)
    }
}

/// Parses a line such as `field:char rwbs[10]; offset:28; size:10; signed:0;`.
fn field(line: &str) -> Option<EventField> {
    let mut parts = line.split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?;
    let last = declared.split_whitespace().next_back()?;
    let name = last.split('[').next()?.trim_start_matches('*').to_owned();
    let number = |part: &str, key: &str| part.strip_prefix(key)?.parse::<usize>().ok();
    let (mut offset, mut length) = (None, None);
    for part in parts {
        offset = offset.or_else(|| number(part, "offset:"));
        length = length.or_else(|| number(part, "size:"));
    }
    let (offset, length) = (offset?, length?);
    let fits = offset <= RECORD_BYTES_MAX && length <= RECORD_BYTES_MAX;
    fits.then_some(EventField { name, offset, length })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name: block_bio_queue\nID: 2097\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:28;\tsize:10;\tsigned:0;\n\n\
        print fmt: \"%d\", REC->dev\n";

    #[test]
    fn numbers_and_texts_are_read_where_the_description_says() {
        let format = EventFormat::parse("block/block_bio_queue", TEXT).unwrap();
        assert_eq!(format.id, 2097);
        let mut record = [0; 38];
        record[8..12].copy_from_slice(&7_u32.to_ne_bytes());
        record[16..24].copy_from_slice(&0x1234_5678_9abc_u64.to_ne_bytes());
        record[28..31].copy_from_slice(b"WFS");
        assert_eq!(format.number(&record, "dev"), Some(7));
        assert_eq!(format.number(&record, "sector"), Some(0x1234_5678_9abc));
        assert_eq!(format.text(&record, "rwbs"), Some(&b"WFS"[..]));
        assert!(format.has("rwbs") && !format.has("comm"));
    }

    #[test]
    fn cut_records_unknown_fields_and_bad_descriptions_give_nothing() {
        let format = EventFormat::parse("x", TEXT).unwrap();
        assert_eq!(format.number(&[0; 20], "sector"), None);
        assert_eq!(format.number(&[0; 38], "nr_sector"), None);
        assert_eq!(format.number(&[0; 38], "rwbs"), None, "no number is ten bytes long");
        for bad in ["", "ID: x\n", "ID: 1\n\tfield:int a;\toffset:x;\tsize:4;\n"] {
            assert!(EventFormat::parse("x", bad).is_err(), "{bad}");
        }
        let far = "ID: 1\n\tfield:int a;\toffset:18446744073709551615;\tsize:4;\n";
        assert!(EventFormat::parse("x", far).is_err());
    }
}
