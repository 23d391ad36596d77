//! Version of a Linux kernel.

/// The first two numbers of a kernel's release: 6 and 12 of `6.12.117+deb12-amd64`. The later of
/// two is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelVersion {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl KernelVersion {
    /// Returns the version of a kernel whose `/proc/sys/kernel/osrelease` is `release`; `None`
    /// where that does not begin with two numbers.
    #[must_use]
    pub fn of_release(release: &str) -> Option<KernelVersion> {
        let (major, rest) = release.trim().split_once('.')?;
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        Some(KernelVersion { major: major.parse().ok()?, minor: rest[..end].parse().ok()? })
    }
}

impl std::fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_its_version_whatever_stands_behind() {
        let version = |major, minor| Some(KernelVersion { major, minor });
        assert_eq!(KernelVersion::of_release("6.12.117+deb12-amd64\n"), version(6, 12));
        assert_eq!(KernelVersion::of_release("6.19-rc1"), version(6, 19));
        assert_eq!(KernelVersion::of_release("7.0"), version(7, 0));
        for none in ["", "6", "6.", "six.one", "99999999999.1"] {
            assert_eq!(KernelVersion::of_release(none), None);
        }
        assert!(version(6, 9) < version(6, 12));
    }
}
