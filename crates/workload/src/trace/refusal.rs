//! Why a trace is refused, and where.

use units::DiskText;
use units::text::escape;

use crate::InputError;

/// Most bytes of plain text that an error shows of what was found.
const FOUND_BYTES_MAX: usize = 60;
/// Number of characters it shows where some of them are escapes, which are hard to read.
const ESCAPED_MAX: usize = 32;

/// Beginnings of files that must be unpacked first: kind, bytes, the program that unpacks it.
const COMPRESSED: [(&str, &[u8], &str); 4] = [
    ("gzip", &[0x1f, 0x8b], "gunzip"),
    ("zstd", &[0x28, 0xb5, 0x2f, 0xfd], "unzstd"),
    ("xz", &[0xfd, b'7', b'z', b'X', b'Z', 0], "unxz"),
    ("bzip2", b"BZh", "bunzip2"),
];

/// The error that the file must be unpacked first; `None` where its `head` is not a compressed one.
pub(super) fn compressed(head: &[u8]) -> Option<InputError> {
    let (kind, _, unpack) = COMPRESSED.iter().find(|(_, magic, _)| head.starts_with(magic))?;
    let problem = format!("the file is compressed with {kind}");
    Some(InputError::new(problem, format!("unpack it first: {unpack}")))
}

/// The error that a trace holds what its writer would not have written.
pub(super) fn damaged(problem: impl Into<String>) -> InputError {
    InputError::new(
        problem,
        "check that the file is complete and unchanged since fio or blktrace wrote it",
    )
}

/// The error that there is nothing in the trace.
pub(super) fn nothing() -> InputError {
    InputError::new("the file is empty", "record again: blktrace needs debugfs and root")
}

/// The error that a second trace follows the first.
pub(super) fn second_trace() -> InputError {
    let hint = "split the file at that line: fio appends to an existing iolog";
    InputError::new("a second trace begins", hint)
}

/// The error with the line it is on, from 1.
pub(super) fn on_line(problem: InputError, number: u64) -> InputError {
    problem.within(format_args!("cannot read the trace: line {number}: "))
}

/// The error with the first byte of the record it is in, from 0.
pub(super) fn at_byte(problem: InputError, at: u64) -> InputError {
    problem.within(format_args!("cannot read the trace: byte {at}: "))
}

/// The error of the file as a whole.
pub(super) fn of_file(problem: InputError) -> InputError {
    problem.within("cannot read the trace: ")
}

/// The beginning of `found`, for an error: short enough to be read, whatever stands there.
pub(super) fn shown(found: &[u8]) -> DiskText {
    let head = &found[..found.len().min(FOUND_BYTES_MAX)];
    if escape(head).as_bytes() == head {
        return DiskText::from_bytes(head);
    }
    let fits = |&length: &usize| escape(&head[..length]).chars().count() <= ESCAPED_MAX;
    let length = (0..=head.len()).rev().find(fits).unwrap_or(0);
    DiskText::from_bytes(&head[..length])
}
