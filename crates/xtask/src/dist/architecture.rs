//! Processors that packages are made for.

use anyhow::Context as _;

use super::project::{RELEASE, VERSION};

/// One kind of processor, with the name that each format has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Architecture {
    /// Name in Rust, rpm and file names.
    pub(super) name: &'static str,
    /// Rust's target: static, with musl.
    pub(super) target: &'static str,
    /// Name in Debian, Go and OCI.
    pub(super) debian: &'static str,
    /// Suffix of a provided name in rpm.
    pub(super) rpm_suffix: &'static str,
    /// Number in the first bytes of an rpm package.
    pub(super) rpm_number: u16,
}

impl Architecture {
    /// Name of the archive.
    pub(super) fn archive(self) -> String {
        format!("straddle-{VERSION}-{}.tar.gz", self.target)
    }

    /// Name of the Debian package.
    pub(super) fn debian_package(self) -> String {
        format!("straddle_{VERSION}_{}.deb", self.debian)
    }

    /// Name of the rpm package.
    pub(super) fn rpm_package(self) -> String {
        format!("straddle-{VERSION}-{RELEASE}.{}.rpm", self.name)
    }

    /// Name of the image for containers.
    pub(super) fn image(self) -> String {
        format!("straddle-{VERSION}-{}.oci.tar", self.name)
    }
}

/// All of them; the first is that of tests.
pub(super) const ALL: [Architecture; 2] = [
    Architecture {
        name: "x86_64",
        target: "x86_64-unknown-linux-musl",
        debian: "amd64",
        rpm_suffix: "x86-64",
        rpm_number: 1,
    },
    Architecture {
        name: "aarch64",
        target: "aarch64-unknown-linux-musl",
        debian: "arm64",
        rpm_suffix: "aarch-64",
        rpm_number: 19,
    },
];

/// Returns the architecture called `name`.
///
/// # Errors
/// When packages are not made for it.
pub(super) fn named(name: &str) -> anyhow::Result<Architecture> {
    let found = ALL.into_iter().find(|one| one.name == name);
    found.with_context(|| format!("no packages are made for {name}; known are x86_64 and aarch64"))
}
