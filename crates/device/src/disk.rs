//! Bytes at addresses, read only.

use thiserror::Error;

/// Why bytes could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadError {
    /// The range ends past the end of the disk.
    #[error("only {disk_bytes} bytes are there; {length_bytes} at byte {offset_bytes} are needed")]
    PastEnd {
        /// First byte asked for.
        offset_bytes: u64,
        /// Bytes asked for.
        length_bytes: u64,
        /// The disk's length.
        disk_bytes: u64,
    },
    /// The layer below said no.
    #[error("{length_bytes} bytes at byte {offset_bytes} cannot be read: {reason}")]
    Failed {
        /// First byte asked for.
        offset_bytes: u64,
        /// Bytes asked for.
        length_bytes: u64,
        /// The error text of the kernel or the format.
        reason: String,
    },
}

/// Something with a length whose bytes can be read at any address. Reading never changes it.
pub trait Disk {
    /// The length in bytes.
    fn length_bytes(&self) -> u64;

    /// Fills `buffer` with the bytes from `offset_bytes` on.
    ///
    /// # Errors
    /// [`ReadError::PastEnd`] when the range ends after [`Disk::length_bytes`];
    /// [`ReadError::Failed`] when the layer below cannot give the bytes. The buffer's content is
    /// then unspecified.
    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError>;

    /// The `N` bytes from `offset_bytes` on: a superblock, a header, an entry.
    ///
    /// # Errors
    /// Same as [`Disk::read_at`].
    fn read_array<const N: usize>(&self, offset_bytes: u64) -> Result<[u8; N], ReadError>
    where
        Self: Sized,
    {
        read_array(self, offset_bytes)
    }
}

/// The `N` bytes from `offset_bytes` of `disk` on.
///
/// # Errors
/// Same as [`Disk::read_at`].
pub fn read_array<const N: usize>(
    disk: &(impl Disk + ?Sized),
    offset_bytes: u64,
) -> Result<[u8; N], ReadError> {
    let mut bytes = [0; N];
    disk.read_at(offset_bytes, &mut bytes)?;
    Ok(bytes)
}

/// `length_bytes` bytes from `offset_bytes` of `disk` on. The length is checked against the disk's
/// before anything is allocated; callers still bound it, since a disk may be large.
///
/// # Errors
/// Same as [`Disk::read_at`].
pub fn read_vec(
    disk: &(impl Disk + ?Sized),
    offset_bytes: u64,
    length_bytes: u64,
) -> Result<Vec<u8>, ReadError> {
    check_bounds(disk.length_bytes(), offset_bytes, length_bytes)?;
    let length = usize::try_from(length_bytes).map_err(|_| ReadError::Failed {
        offset_bytes,
        length_bytes,
        reason: "more than this machine can address".to_owned(),
    })?;
    let mut bytes = vec![0; length];
    disk.read_at(offset_bytes, &mut bytes)?;
    Ok(bytes)
}

/// Returns whether `length_bytes` bytes from `offset_bytes` lie within `disk_bytes`.
///
/// # Errors
/// [`ReadError::PastEnd`] when they do not, overflow included.
pub fn check_bounds(
    disk_bytes: u64,
    offset_bytes: u64,
    length_bytes: u64,
) -> Result<(), ReadError> {
    match offset_bytes.checked_add(length_bytes) {
        Some(end) if end <= disk_bytes => Ok(()),
        _ => Err(ReadError::PastEnd { offset_bytes, length_bytes, disk_bytes }),
    }
}

/// The length of a buffer as a number of bytes on a disk.
#[must_use]
pub fn length_of(buffer: &[u8]) -> u64 {
    buffer.len().try_into().unwrap_or(u64::MAX)
}

/// True if each byte of `bytes` is `value`.
#[must_use]
pub fn is_filled_with(bytes: &[u8], value: u8) -> bool {
    let Some((first, rest)) = bytes.split_first() else { return true };
    // All are the same where each is as the one before it: one comparison of memory, which is
    // several times as quick as a loop over bytes.
    *first == value && *rest == bytes[..rest.len()]
}

impl<D: Disk + ?Sized> Disk for &D {
    fn length_bytes(&self) -> u64 {
        (**self).length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        (**self).read_at(offset_bytes, buffer)
    }
}

impl<D: Disk + ?Sized> Disk for std::rc::Rc<D> {
    fn length_bytes(&self) -> u64 {
        (**self).length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        (**self).read_at(offset_bytes, buffer)
    }
}

/// The bytes of a slice.
impl Disk for [u8] {
    fn length_bytes(&self) -> u64 {
        length_of(self)
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        check_bounds(self.length_bytes(), offset_bytes, length_of(buffer))?;
        let start = usize::try_from(offset_bytes).expect("within a slice, so it fits");
        buffer.copy_from_slice(&self[start..start + buffer.len()]);
        Ok(())
    }
}

/// The bytes of a vector.
impl Disk for Vec<u8> {
    fn length_bytes(&self) -> u64 {
        self.as_slice().length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.as_slice().read_at(offset_bytes, buffer)
    }
}
