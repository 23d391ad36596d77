//! mount(8)'s options, as mount(2) wants them: some are flags, the rest is the file system's.

use rustix::mount::MountFlags;

/// Options that are flags of the kernel. Source: mount(2), mount(8).
const FLAGS: [(&str, MountFlags); 11] = [
    ("ro", MountFlags::RDONLY),
    ("noatime", MountFlags::NOATIME),
    ("nodiratime", MountFlags::NODIRATIME),
    ("relatime", MountFlags::RELATIME),
    ("strictatime", MountFlags::STRICTATIME),
    ("lazytime", MountFlags::LAZYTIME),
    ("sync", MountFlags::SYNCHRONOUS),
    ("dirsync", MountFlags::DIRSYNC),
    ("noexec", MountFlags::NOEXEC),
    ("nosuid", MountFlags::NOSUID),
    ("nodev", MountFlags::NODEV),
];
/// Options that ask for what is so anyway.
const NOTHING: [&str; 4] = ["", "defaults", "rw", "loop"];

/// The flags among `options`, and what is left for the file system, with commas.
pub(super) fn split(options: &str) -> (MountFlags, String) {
    let mut flags = MountFlags::empty();
    let mut rest: Vec<&str> = Vec::new();
    for option in options.split(',').filter(|option| !NOTHING.contains(option)) {
        match FLAGS.iter().find(|(name, _)| *name == option) {
            Some((_, flag)) => flags |= *flag,
            None => rest.push(option),
        }
    }
    (flags, rest.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_told_from_what_the_file_system_reads() {
        let (flags, rest) = split("noatime,commit=5,ro,defaults,data=ordered");
        assert_eq!(flags, MountFlags::NOATIME | MountFlags::RDONLY);
        assert_eq!(rest, "commit=5,data=ordered");
        assert_eq!(split(""), (MountFlags::empty(), String::new()));
    }
}
