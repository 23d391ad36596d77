//! Events at an operation: what goes wrong, or who wants the command to end.

/// The kernel's number of an input/output error.
pub(super) const EIO: i32 = 5;

/// Something that happens at an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// That operation fails with this number of the kernel; those after it do not.
    Error(i32),
    /// The drive is gone: it and all after it fail.
    Gone,
    /// The file system is full: it and all after it find no room.
    Full,
    /// The process gets this signal.
    Signal(i32),
}
