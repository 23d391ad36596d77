//! Claims about reading traces: of each format, of what is refused, of pieces and of order.

use units::DiskText;

use super::{
    DEVICES_MAX, DeviceNumber, FILES_MAX, IologWriter, LINE_BYTES_MAX, NAME_BYTES_MAX, Notes,
    Skipped, Stage, StreamError, TraceAction, TraceEntry, TraceFormat, TraceReader, TraceStream,
    TraceTarget, Unwritable,
};
use crate::InputError;

const READ: TraceAction = TraceAction::Read;
const WRITE: TraceAction = TraceAction::Write { fua: false };
const FUA: TraceAction = TraceAction::Write { fua: true };

/// Result of reading a trace.
struct Read {
    entries: Vec<TraceEntry>,
    notes: Notes,
    end: Result<(), InputError>,
}

/// `bytes` as its beginning says, else as `format`.
fn read(format: TraceFormat, stage: Stage, bytes: &[u8]) -> Read {
    let mut reader = TraceReader::new(format, stage);
    let (mut entries, mut input) = (Vec::new(), bytes);
    let end = loop {
        let entry = match reader.next(&mut input) {
            Ok(None) => reader.finish(),
            other => other,
        };
        match entry {
            Ok(Some(entry)) => entries.push(entry),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    Read { entries, notes: reader.notes().clone(), end }
}

/// Checks that `lines` below the head of an iolog give `wanted`: time in us, action, file, offset
/// and length.
fn check_iolog(version: u8, lines: &str, wanted: &[(Option<u64>, TraceAction, u16, u64, u32)]) {
    let text = format!("fio version {version} iolog\n{lines}\n");
    let format = TraceFormat::of(text.as_bytes()).unwrap();
    let read = read(format, Stage::default(), text.as_bytes());
    let wanted =
        wanted.iter().map(|&(at_us, action, file, offset_bytes, length_bytes)| TraceEntry {
            at_ns: at_us.map(|at_us| at_us * 1000),
            action,
            target: TraceTarget::File(file),
            offset_bytes,
            length_bytes,
        });
    assert_eq!((read.entries, read.end), (wanted.collect(), Ok(())), "{lines}");
}

/// Returns what is said of `lines` below the head of an iolog.
fn iolog_error(version: u8, lines: &str) -> String {
    let text = format!("fio version {version} iolog\n{lines}");
    let format = TraceFormat::of(text.as_bytes()).unwrap();
    read(format, Stage::default(), text.as_bytes()).end.unwrap_err().to_string()
}

#[test]
fn version_3_has_microseconds_and_any_number_of_files() {
    let lines = "1 a add\n1 /dev/sd b add\n2 a open\n3 a write 0 4096\n4 /dev/sd b read 512 7\n\
                 5 a sync 0 0\n6 a datasync 99 0\n7 a trim 65536 4294967295\n8 a close\n";
    let wanted = [
        (Some(3), WRITE, 0, 0, 4096),
        (Some(4), READ, 1, 512, 7),
        (Some(5), TraceAction::Fsync, 0, 0, 0),
        (Some(6), TraceAction::Fdatasync, 0, 0, 0),
        (Some(7), TraceAction::Discard, 0, 65536, u32::MAX),
    ];
    check_iolog(3, lines, &wanted);
    check_iolog(3, &lines.replace('\n', "\r\n"), &wanted);
}

#[test]
fn version_2_has_no_time_before_its_first_wait() {
    let lines = "a add\na open\na write 0 1\na wait 300 0\na read 0 2\na wait 200 0\na write 0 3\n";
    let late = Some(300_000);
    let wanted = [(None, WRITE, 0, 0, 1), (late, READ, 0, 0, 2), (late, WRITE, 0, 0, 3)];
    check_iolog(2, lines, &wanted);
}

#[test]
fn what_an_iolog_says_and_no_disk_does_is_counted() {
    let text = "fio version 3 iolog\n0 a add\n0 a open\n1 a wait 5 0\n2 a sync_file_range 0 9\n\
                3 a write 0 0\n4 a write 0 9\n\n3 a read 0 9\n4 a close\n";
    let Read { entries, notes, end } = read(TraceFormat::Iolog3, Stage::default(), text.as_bytes());
    assert_eq!((entries.len(), end, notes.entries, notes.unsorted), (2, Ok(()), 2, 1));
    let counts = Skipped::ALL.map(|reason| notes.skipped(reason));
    assert_eq!(counts, [0, 0, 0, 1, 3, 1, 1, 0]);
    assert!(!notes.cut && notes.devices().is_empty());
}

#[test]
fn a_damaged_iolog_is_refused_with_its_line() {
    let said = |lines: &str| iolog_error(3, lines);
    let check = |lines: &str, words: &str| {
        let said = said(lines);
        assert!(said.starts_with("cannot read the trace: line ") && said.contains(words), "{said}");
    };
    check("0 a add\n1 a write 0 4096 x\n", "line 3: the length is `x`, not a number below 2^32");
    check("0 a add\n1 a write 0\n", "line 3: the offset is `write`");
    check("0 a add\n1 a write\n", "the length is `write`");
    check("0 a add\n1 7\n", "has no offset and length");
    check("0 a add\n1 0 7\n", "has no action");
    check("0 a add\n1\n", "has no action");
    check("0 add\n", "has no file name");
    check("0 a add\n1 a write 0 4294967296\n", "the length is `4294967296`");
    check("0 a add\n1 a write 18446744073709551616 1\n", "the offset is `18446744073709551616`");
    check("0 a add\n1 a write 9223372036854775807 1\n", "1 bytes at 9223372036854775807 end");
    check("0 a add\n1 a write -1 1\n", "the offset is `-1`");
    check("0 a add\n18446744073709552 a write 0 1\n", "the time is `18446744073709552`");
    check("x a add\n", "the time is `x`");
    check("0 a add\n1 b write 0 1\n", "line 3: file `b` was not added before");
    check("0 a open\n", "line 2: file `a` was not added before");
    check("0 a add\n1 a scribble 0 1\n", "line 3: `scribble` is not an action of an iolog");
    check("0 a add\nfio version 3 iolog\n", "line 3: a second trace begins");
    check("0 \u{1b}[31m open\n", "file `\\u{1b}[31m` was");
    check(&format!("0 {} add\n", "x".repeat(NAME_BYTES_MAX + 1)), "name is longer than 256");
    check(&format!("0 a add\n{}", "x".repeat(LINE_BYTES_MAX + 1)), "line 3: the line is longer");
    assert!(
        iolog_error(2, "a add\na wait 18446744073710 0\n")
            .contains("a wait until 18446744073710 ms")
    );
    let added = |count: usize| (0..count).map(|n| format!("0 {n} add\n")).collect::<String>();
    check(&added(FILES_MAX + 1), "line 4098: the trace names more than 4096 files");
    check_iolog(3, &added(FILES_MAX), &[]);
}

/// Entries of device 8,16: nanoseconds, action, sector and count.
fn of_device(wanted: &[(u64, TraceAction, u64, u32)]) -> Vec<TraceEntry> {
    let entry = |&(at_ns, action, sector, count): &(u64, TraceAction, u64, u32)| TraceEntry {
        at_ns: Some(at_ns),
        action,
        target: TraceTarget::Device(DeviceNumber { major: 8, minor: 16 }),
        offset_bytes: sector * 512,
        length_bytes: count * 512,
    };
    wanted.iter().map(entry).collect()
}

/// Checks that blkparse's line with these words behind the process is `wanted`, in any stage.
fn check_blkparse(words: &str, wanted: &[(TraceAction, u64, u32)]) {
    for (stage, tail) in [
        (Stage::Queued, "[fio]"),
        (Stage::Issued, "[kworker/0:1]"),
        (Stage::Completed, "[0]"),
        (Stage::Issued, "(    1234) [fio]"),
    ] {
        // A completion without data has its sector all the same.
        let no_data = stage == Stage::Completed && !words.contains('+');
        let sector = if no_data { " 7" } else { "" };
        let letter = stage.letter();
        let line =
            format!("  8,16   1  42     1.000000002   77  {letter} {words}{sector} {tail}\n");
        let read = read(TraceFormat::Blkparse, stage, line.as_bytes());
        let wanted: Vec<_> = wanted.iter().map(|&(a, s, c)| (1_000_000_002, a, s, c)).collect();
        assert_eq!((read.entries, read.end), (of_device(&wanted), Ok(())), "{line}");
    }
}

#[test]
fn the_letters_of_rwbs_say_what_is_asked() {
    check_blkparse("R 8 + 8", &[(READ, 8, 8)]);
    check_blkparse("RAM 8 + 8", &[(READ, 8, 8)]);
    check_blkparse("W 8 + 8", &[(WRITE, 8, 8)]);
    check_blkparse("WS 8 + 8", &[(WRITE, 8, 8)]);
    check_blkparse("WBS 8 + 8", &[(WRITE, 8, 8)]);
    check_blkparse("WFS 8 + 8", &[(FUA, 8, 8)]);
    check_blkparse("WFSM 8 + 8", &[(FUA, 8, 8)]);
    check_blkparse("D 8 + 8", &[(TraceAction::Discard, 8, 8)]);
    check_blkparse("DS 8 + 8", &[(TraceAction::Discard, 8, 8)]);
    check_blkparse("DE 8 + 8", &[(TraceAction::Discard, 8, 8)]);
}

#[test]
fn a_flush_before_data_is_an_entry_of_its_own() {
    check_blkparse("FWS 8 + 8", &[(TraceAction::Flush, 0, 0), (WRITE, 8, 8)]);
    check_blkparse("FWFS 8 + 8", &[(TraceAction::Flush, 0, 0), (FUA, 8, 8)]);
    for flush in ["FN", "FWS", "FF", "F", "FFS", "FWS 0 + 0"] {
        check_blkparse(flush, &[(TraceAction::Flush, 0, 0)]);
    }
    check_blkparse("N", &[]);
    check_blkparse("W", &[]);
}

/// A small text of blkparse with all that it prints beside requests.
const TEXT: &str = "\
Input file sdb.blktrace.0 added
  8,16   0        1     0.000000000    77  A   W 2056 + 8 <- (8,17) 8
  8,16   0        2     0.000000100    77  Q   W 2056 + 8 [fio]
  8,16   0        3     0.000000200    77  G   W 2056 + 8 [fio]
  8,16   0        4     0.000000300    77  I   W 2056 + 8 [fio]
  8,16   0        5     0.000000400    77  D   W 2056 + 8 [fio]
  8,16   0        0     0.000000450     0  m   N a message, (D) W 9 + 9
  8,16   0        6     0.000000500     0  C   W 2056 + 8 [0]
  8,16   1        1     0.000000600    78  D   R 36 (12 00 00 00 24 00 ..) [sg]
  8,16   1        2     0.000000550    78  D   R 0 + 16 [sg]
259,3    1        3     0.000000700    78  Q   N [x]
CPU0 (sdb):
 Reads Queued:           0,        0KiB\t Writes Queued:           1,        4KiB

Throughput (R/W): 0KiB/s / 0KiB/s
";

#[test]
fn each_stage_is_one_view_of_the_same_requests() {
    let view =
        |stage: Stage| read(TraceFormat::of(TEXT.as_bytes()).unwrap(), stage, TEXT.as_bytes());
    let queued = view(Stage::Queued);
    assert_eq!((queued.entries, queued.end), (of_device(&[(100, WRITE, 2056, 8)]), Ok(())));
    let issued = view(Stage::Issued);
    assert_eq!(issued.entries, of_device(&[(400, WRITE, 2056, 8), (550, READ, 0, 16)]));
    let completed = view(Stage::Completed);
    assert_eq!(completed.entries, of_device(&[(500, WRITE, 2056, 8)]));
    let notes = issued.notes;
    assert_eq!((notes.queued, notes.issued, notes.completed), (2, 3, 1));
    let counts = Skipped::ALL.map(|reason| notes.skipped(reason));
    assert_eq!(counts, [6, 1, 1, 0, 0, 0, 0, 4]);
    assert_eq!(notes.devices(), [(DeviceNumber { major: 8, minor: 16 }, 2)]);
    assert_eq!(queued.notes.skipped(Skipped::NoData), 1);
}

/// Returns what is said of `line` behind a good one.
fn blkparse_error(line: &str) -> String {
    let text = format!("  8,16   0   1   0.000000000    77  D   W 8 + 8 [fio]\n{line}");
    let read = read(TraceFormat::Blkparse, Stage::Issued, text.as_bytes());
    assert_eq!(read.entries, of_device(&[(0, WRITE, 8, 8)]), "{line}");
    read.end.unwrap_err().to_string()
}

#[test]
fn damaged_text_of_blkparse_is_refused_with_its_line() {
    let check = |line: &str, words: &str| {
        let said = blkparse_error(line);
        assert!(said.contains("line 2: ") && said.contains(words), "{line}: {said}");
    };
    check("8,16 0 2 0.000000001 77 D W 8 + 80", "has no process or error in brackets");
    check("8,16 0 2 0.000000001 77 D W 8 +", "has no count of sectors");
    check("8,16 0 2 0.000000001 77 D W 8", "has no process or error in brackets");
    check("8,16 0 2 0.000000001 77 D W", "has no sector and process");
    check("8,16 0 2 0.000000001 77 D", "has no RWBS");
    check("8,16 0 2 0.00", "the time is `0.00`, not seconds with nine digits");
    check("8,16 0 2 18446744074.000000000 7 D W 8 + 8 [x]", "the time is `18446744074.000000000`");
    check("8,16 0 2 0.000000001 77 D X 8 + 8 [x]", "RWBS is `X`");
    check("8,16 0 2 0.000000001 77 D RX 8 + 8 [x]", "RWBS is `RX`");
    check("8,16 0 2 0.000000001 77 D W y + 8 [x]", "the sector is `y`");
    check("8,16 0 2 0.000000001 77 D W 8 + 8388608 [x]", "the count of sectors is `8388608`");
    check("8,16 0 2 0.000000001 77 D W 18014398509481984 + 1 [x]", "512 bytes at 922337203685477");
    check(
        "8,16 0 2 0.000000001 77 D W 36028797018963968 + 1 [x]",
        "sector 36028797018963968 is past",
    );
    check("4294967296,0 0 2 0.000000001 77 D W 8 + 8 [x]", "`4294967296,0 0 2");
    check("\u{1b}c", "`\\u{1b}c` is not an event in blkparse's default format");
    let second = "CPU0 (sdb):\n8,16 0 1 0.000000000 77 D W 8 + 8 [fio]\n";
    assert!(blkparse_error(second).contains("line 3: a second trace begins"));
}

#[test]
fn a_last_line_without_an_end_is_read_and_said() {
    let text = "fio version 3 iolog\n0 a add\n1 a write 0 40";
    let read = read(TraceFormat::Iolog3, Stage::default(), text.as_bytes());
    assert!(read.notes.cut && read.end.is_ok() && read.entries.len() == 1);
}

/// A record: time, sector, bytes, action and categories, of device 8,16 and CPU 0.
struct Record {
    sequence: u32,
    at_ns: u64,
    sector: u64,
    length_bytes: u32,
    action: u32,
    behind: &'static [u8],
}

impl Record {
    fn bytes(&self, big: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |number: u64, bytes: usize| {
            let (little, large) = (number.to_le_bytes(), number.to_be_bytes());
            out.extend_from_slice(if big { &large[8 - bytes..] } else { &little[..bytes] });
        };
        put(0x6561_7407, 4);
        put(self.sequence.into(), 4);
        put(self.at_ns, 8);
        put(self.sector, 8);
        put(self.length_bytes.into(), 4);
        put(self.action.into(), 4);
        put(77, 4);
        put(8 << 20 | 16, 4);
        put(0, 4);
        put(0, 2);
        put(self.behind.len() as u64, 2);
        out.extend_from_slice(self.behind);
        out
    }
}

const QUEUE: u32 = 1 | 1 << 20;
const ISSUE: u32 = 7 | 1 << 22;
const NOTICE: u32 = 1 << 26;

fn record(sequence: u32, sector: u64, length_bytes: u32, action: u32) -> Record {
    let at_ns = 5_000_000_000 + u64::from(sequence);
    Record { sequence, at_ns, sector, length_bytes, action, behind: b"" }
}

/// Records of a name, a queued and an issued write, a flush, a discard, a passthrough command, one
/// of a control group, and a gap of three before the last.
fn records(big: bool) -> Vec<u8> {
    let records = [
        Record { behind: b"fio\0............", ..record(0, 0, 0, NOTICE) },
        record(1, 8, 4096, QUEUE | 1 << 17),
        record(2, 8, 4096, ISSUE | 1 << 17 | 1 << 31),
        record(3, 0, 0, ISSUE | 1 << 18),
        record(4, 64, 512, ISSUE | 1 << 17 | 1 << 29),
        Record { behind: &[0x12; 6], ..record(5, 0, 36, ISSUE | 1 << 25) },
        Record { behind: &[9; 8], ..record(6, 16, 512, ISSUE | 1 << 8) },
        record(10, 24, 512, ISSUE),
    ];
    records.iter().flat_map(|record| record.bytes(big)).collect()
}

#[test]
fn records_of_either_byte_order_say_the_same() {
    let base_ns = 5_000_000_000;
    let wanted = of_device(&[
        (base_ns + 2, FUA, 8, 8),
        (base_ns + 3, TraceAction::Flush, 0, 0),
        (base_ns + 4, TraceAction::Discard, 64, 1),
        (base_ns + 6, READ, 16, 1),
        (base_ns + 10, READ, 24, 1),
    ]);
    for big in [false, true] {
        let bytes = records(big);
        assert_eq!(TraceFormat::of(&bytes), Ok(TraceFormat::Blktrace));
        let Read { entries, notes, end } = read(TraceFormat::Blktrace, Stage::Issued, &bytes);
        assert_eq!((&entries, end), (&wanted, Ok(())), "big-endian: {big}");
        assert_eq!((notes.queued, notes.issued, notes.lost), (1, 6, 3));
        let counts = Skipped::ALL.map(|reason| notes.skipped(reason));
        assert_eq!(counts, [1, 1, 1, 0, 0, 0, 0, 0]);
    }
}

#[test]
fn damaged_records_are_refused_with_their_byte() {
    let whole = records(false);
    let said = |bytes: &[u8]| {
        let error = read(TraceFormat::Blktrace, Stage::Issued, bytes).end.unwrap_err();
        error.to_string().replace("cannot read the trace: ", "")
    };
    let cut = &whole[..whole.len() - 5];
    assert_eq!(said(cut), "the last record is cut: 5 bytes are missing");
    assert_eq!(said(&whole[..60]), "the last record is cut: 4 bytes are missing");
    let mut other = whole.clone();
    other[64] = 6;
    assert_eq!(
        said(&other),
        "byte 64: the file holds blktrace records of version 6; only version 7 can be read"
    );
    other[66] = 0;
    assert_eq!(said(&other), "byte 64: a record begins with 0x65007406, not with 0x65617407");
    let mixed = [records(false), records(true)].concat();
    let at = whole.len();
    assert!(said(&mixed).starts_with(&format!("byte {at}: a record begins with 0x07746165, not")));
    let far = record(1, u64::MAX, 512, ISSUE).bytes(false);
    assert!(said(&far).starts_with("byte 0: sector 18446744073709551615 is past"));
    // A flush has no place, whatever its record says.
    let flush = record(1, u64::MAX, 0, ISSUE | 1 << 18).bytes(false);
    assert!(read(TraceFormat::Blktrace, Stage::Issued, &flush).end.is_ok());
}

#[test]
fn what_a_file_begins_with_tells_its_kind() {
    let kind = |head: &[u8]| TraceFormat::of(head).map_err(|error| error.to_string());
    let refused = |head: &[u8], words: &str| {
        let error = TraceFormat::of(head).unwrap_err();
        let said = format!("{error}; {}", error.hint());
        assert!(said.contains(words), "{said}");
    };
    assert_eq!(kind(b"fio version 2 iolog\n"), Ok(TraceFormat::Iolog2));
    assert_eq!(kind(b"fio version 3 iolog\r\n0 a add"), Ok(TraceFormat::Iolog3));
    assert_eq!(kind(b"\n  8,0    1  1 0.0"), Ok(TraceFormat::Blkparse));
    assert_eq!(kind(TEXT.as_bytes()), Ok(TraceFormat::Blkparse));
    assert_eq!(kind(&records(true)[..4]), Ok(TraceFormat::Blktrace));
    refused(b"", "the file is empty");
    refused(b" \n\n", "the file is empty");
    refused(b"\x1f\x8b\x08\0rest", "compressed with gzip; unpack it first: gunzip");
    refused(b"\x28\xb5\x2f\xfd", "compressed with zstd");
    refused(b"fio version 1 iolog\n", "begins with `fio version 1 iolog`");
    refused(b"\x08\x74\x61\x65", "records of version 8");
    refused(b"5, 1, 0, 4096, 0\n", "begins with `5, 1, 0");
    refused(b"Input file a added\n", "begins with `Input file");
    refused(b"\x7fELF\x02\x01", "begins with `\\u{7f}ELF");
}

#[test]
fn nothing_is_empty_in_every_format() {
    for format in [TraceFormat::Iolog2, TraceFormat::Iolog3, TraceFormat::Blkparse] {
        let end = read(format, Stage::Issued, b"").end;
        assert_eq!(end.unwrap_err().to_string(), "cannot read the trace: the file is empty");
    }
    assert!(read(TraceFormat::Blktrace, Stage::Issued, b"").end.is_err());
    // A log of a job that did nothing is a log.
    assert!(read(TraceFormat::Iolog3, Stage::Issued, b"fio version 3 iolog\n").end.is_ok());
}

#[test]
fn an_error_is_said_again_and_again() {
    let mut reader = TraceReader::new(TraceFormat::Iolog3, Stage::default());
    let mut input: &[u8] = b"junk\n0 a add\n";
    let error = reader.next(&mut input).unwrap_err();
    assert_eq!(reader.next(&mut input), Err(error.clone()));
    assert_eq!(reader.finish(), Err(error));
}

#[test]
fn more_devices_than_are_kept_are_refused() {
    let line = |minor: usize| format!("8,{minor} 0 1 0.000000000 7 D W 8 + 8 [x]\n");
    let text = |count: usize| (0..count).chain(0..9).map(line).collect::<String>();
    let read = |count: usize| read(TraceFormat::Blkparse, Stage::Issued, text(count).as_bytes());
    let most = read(DEVICES_MAX);
    assert!(most.end.is_ok() && most.notes.devices().len() == DEVICES_MAX);
    assert_eq!(most.notes.devices()[0].1, 2);
    let error = read(DEVICES_MAX + 1).end.unwrap_err();
    assert_eq!(error.to_string(), "cannot read the trace: the trace names more than 1024 devices");
}

/// A feed of `bytes`, at most `step` at a time.
fn feed(bytes: &[u8], step: usize) -> impl FnMut(&mut [u8]) -> Result<usize, &'static str> {
    let mut rest = bytes;
    move |buffer| {
        let (piece, behind) = rest.split_at(step.min(rest.len()).min(buffer.len()));
        buffer[..piece.len()].copy_from_slice(piece);
        rest = behind;
        Ok(piece.len())
    }
}

#[test]
fn a_stream_in_single_bytes_is_the_stream_at_once() {
    for bytes in [TEXT.as_bytes().to_vec(), records(true), records(false)] {
        let wanted = read(TraceFormat::of(&bytes).unwrap(), Stage::Issued, &bytes);
        for step in [1, 7, 48, 1 << 20] {
            let mut stream = TraceStream::open(feed(&bytes, step), Stage::Issued).unwrap();
            let entries: Vec<TraceEntry> = stream.by_ref().map(Result::unwrap).collect();
            assert_eq!(entries, wanted.entries, "{step} bytes at a time");
            assert_eq!(stream.reader().notes(), &wanted.notes);
            assert!(stream.next().is_none());
        }
    }
}

#[test]
fn a_stream_ends_behind_an_error() {
    let broken = |_: &mut [u8]| Err("the cable is out");
    assert_eq!(
        TraceStream::open(broken, Stage::Issued).err(),
        Some(StreamError::Feed("the cable is out"))
    );
    let text = format!("{TEXT}8,16 0 1 0.000000000 77 D W 8 + 8 [fio]\n");
    let stream = TraceStream::open(feed(text.as_bytes(), 100), Stage::Issued).unwrap();
    let given: Vec<_> = stream.collect();
    assert_eq!(given.len(), 3);
    assert!(given[..2].iter().all(Result::is_ok) && given[2].is_err());
}

#[test]
fn what_an_iolog_cannot_say_is_not_written() {
    let names = |names: &[&str]| names.iter().map(|name| DiskText::from(*name)).collect::<Vec<_>>();
    let begin = |given: &[&str]| IologWriter::begin(TraceFormat::Iolog3, &names(given)).map(|_| ());
    assert_eq!(begin(&["a", "/dev/sdb"]), Ok(()));
    assert_eq!(begin(&[]), Err(Unwritable::Count { count: 0 }));
    for name in ["", "a b", "a\n", &"x".repeat(NAME_BYTES_MAX + 1)] {
        assert_eq!(begin(&[name]), Err(Unwritable::Name { name: name.into() }));
    }
    let (mut writer, mut text) = IologWriter::begin(TraceFormat::Iolog3, &names(&["a"])).unwrap();
    let before = text.clone();
    let device = of_device(&[(0, READ, 0, 1)])[0];
    let file = TraceEntry { target: TraceTarget::File(0), ..device };
    for entry in [
        device,
        TraceEntry { target: TraceTarget::File(1), ..file },
        TraceEntry { action: FUA, ..file },
        TraceEntry { action: TraceAction::Flush, ..file },
        TraceEntry { at_ns: None, ..file },
    ] {
        assert!(writer.line(&entry, &mut text).is_err() && text == before, "{entry:?}");
    }
    writer.line(&file, &mut text).unwrap();
    assert_eq!(text + &writer.end(), before + "0 a read 0 512\n0 a close\n");
}

#[test]
fn an_error_shows_a_beginning_that_fits_a_line_whatever_stands_there() {
    let said = |head: &[u8]| TraceFormat::of(head).unwrap_err().to_string();
    let rest = ": not an iolog, blkparse text or blktrace records";
    for (head, shown) in [
        (&[0xff; 4096][..], r"\xff\xff\xff\xff\xff\xff\xff\xff"),
        (&[0; 4096], r"\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0", r"\u{7f}ELF\u{2}\u{1}\u{1}\u{0}"),
        (b"\n\n  dear reader\nno trace is here\n", "dear reader"),
        (&[b'x'; 4096], &"x".repeat(60)),
    ] {
        assert_eq!(
            said(head),
            format!("cannot read the trace: the file begins with `{shown}`{rest}")
        );
    }
    let junk = [b"fio version 2 iolog\ndisk add\ndisk open\ndisk ", &[0xfe; 90][..]].concat();
    let end = read(TraceFormat::Iolog2, Stage::default(), &junk).end.unwrap_err();
    let length = r"the length is `\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe`, not a number below 2^32";
    assert_eq!(end.to_string(), format!("cannot read the trace: line 4: {length}"));
}
