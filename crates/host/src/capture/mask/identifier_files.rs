//! Files and directories that hold identifiers.

/// Files of `/sys` that are nothing but an identifier.
pub(super) const IDENTIFIERS: [&str; 12] = [
    "cid",
    "date",
    "eui",
    "hostid",
    "hostnqn",
    "nguid",
    "serial",
    "subsysnqn",
    "unique_id",
    "uuid",
    "wwid",
    "wwn",
];

/// Prefixes of identifiers that name their kind.
pub(super) const KINDS: [&str; 6] = ["naa.", "eui.", "t10.", "nvme.", "uuid.", "0x"];

/// Directories of the system, and how many parts of a path below each are kept. Of others none is.
pub(super) const SYSTEM: [(&str, usize); 23] = [
    ("bin", 9),
    ("boot", 9),
    ("dev", 9),
    ("efi", 9),
    ("etc", 2),
    ("home", 1),
    ("lib", 9),
    ("lib64", 9),
    ("lost+found", 1),
    ("media", 1),
    ("mnt", 1),
    ("opt", 1),
    ("proc", 9),
    ("root", 1),
    ("run", 2),
    ("sbin", 9),
    ("snap", 1),
    ("srv", 1),
    ("sys", 9),
    ("sysroot", 1),
    ("tmp", 1),
    ("usr", 9),
    ("var", 3),
];
