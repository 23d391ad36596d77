//! A store below a file system, its room, and how much of it a scratch file may take.

use std::fmt;

use units::DiskText;

/// Room of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// All of it, in bytes; 0 where it has no limit of its own.
    pub total_bytes: u64,
    /// Free bytes.
    pub free_bytes: u64,
}

/// Kind and name of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StoreKind {
    /// A file system that has a file behind a loop device.
    FileSystem {
        /// Number of its device.
        device: (u32, u32),
        /// Its type: `tmpfs`.
        kind: String,
        /// Its mount point; `None` where no mount of it is visible.
        point: Option<DiskText>,
    },
    /// A pool of device-mapper.
    Pool {
        /// Its kind for people: `thin pool`.
        kind: &'static str,
        /// Its name in device-mapper.
        name: DiskText,
    },
}

impl StoreKind {
    pub(super) fn is_same(&self, other: &StoreKind) -> bool {
        match (self, other) {
            (
                StoreKind::FileSystem { device, .. },
                StoreKind::FileSystem { device: others, .. },
            ) => device == others,
            _ => self == other,
        }
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreKind::FileSystem { kind, point: Some(point), .. } => {
                write!(f, "{kind} on {point}")
            }
            StoreKind::FileSystem { kind, .. } => f.write_str(kind),
            StoreKind::Pool { kind, name } => write!(f, "{kind} {name}"),
        }
    }
}

/// A store that takes space when bytes above it are first written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreBelow {
    pub(super) kind: StoreKind,
    /// The first file in it by which it was found.
    file: Option<DiskText>,
    room: Result<Room, String>,
    /// Bytes that it may have to take of a scratch file, which is divided among several files in
    /// it, and bytes of whole copies.
    divided_bytes: u64,
    copied_bytes: u64,
}

impl StoreBelow {
    pub(super) fn new(
        kind: StoreKind,
        file: Option<DiskText>,
        room: Result<Room, String>,
    ) -> StoreBelow {
        StoreBelow { kind, file, room, divided_bytes: 0, copied_bytes: 0 }
    }

    /// Adds `bytes` of a scratch file of `length_bytes`.
    pub(super) fn take(&mut self, bytes: u64, is_copy: bool, length_bytes: u64) {
        match is_copy {
            true => self.copied_bytes = self.copied_bytes.saturating_add(bytes),
            false => {
                self.divided_bytes = self.divided_bytes.saturating_add(bytes).min(length_bytes);
            }
        }
    }

    /// The most bytes that it may have to take.
    #[must_use]
    pub fn needs_bytes(&self) -> u64 {
        self.divided_bytes.saturating_add(self.copied_bytes)
    }

    /// Its room; `None` where that is unknown, or has no limit.
    #[must_use]
    pub fn room(&self) -> Option<Room> {
        self.room.as_ref().ok().copied().filter(|room| room.total_bytes > 0)
    }

    /// Place where space can be freed: `in /low`.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.kind {
            StoreKind::FileSystem { point: Some(point), .. } => format!("in {point}"),
            store => format!("in {store}"),
        }
    }
}

impl fmt::Display for StoreBelow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}, which stores {file}", self.kind),
            None => write!(f, "{}", self.kind),
        }
    }
}
