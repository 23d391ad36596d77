//! Rules whose findings only tell, and why nothing is typed.

/// The rule, and why.
pub(crate) const TOLD: &[(&str, &str)] = &[
    ("ST103", "corrected by what is on it: there is nothing to do"),
    ("ST104", "rarely written: there is nothing to do"),
    ("ST306", "zpool is on no machine of ours; the words are those of ST303"),
    ("ST307", "firmware decides; the FAT on the partition has ST302, which is typed"),
    ("ST308", "members are bought, not typed"),
    ("ST402", "each format has a repair of its own, and none is safe in general"),
    ("ST404", "a person decides what is in use"),
    ("ST407", "root and the kernel's log decide"),
    ("ST408", "straddle does not read it; decryption is typed by the tests of check"),
    ("ST411", "members are given, not typed: `together` of the tests of check gives them"),
    ("ST412", "typed by the tests of plan, after each cut of a script"),
    ("ST413", "typed by the tests of check, on the copy that the fix makes"),
    ("ST601", "the member's own finding says what to do"),
    ("ST602", "the value is ignored"),
    ("ST603", "firmware, or --on"),
    ("ST505", "the file of an image cannot be put off its host's granule on every machine"),
    ("ST604", "a person recreates it at the sector that is said; no tool moves it"),
    ("ST605", "nothing to do for Linux"),
    ("ST606", "firmware, or --on"),
    ("ST607", "--on"),
    ("ST608", "nothing to do"),
    ("ST609", "nvme format erases a drive, and needs one"),
    ("ST610", "firmware"),
    ("ST611", "cryptsetup asks for a passphrase, and lvchange needs a pool with its volume group"),
];
