//! The texts of the built-in profiles.

macro_rules! built_in {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../profiles/", $name, ".toml")))),*]
    };
}

/// The built-in profiles, in the order in which they are listed.
pub(super) const BUILT_IN: &[(&str, &str)] = built_in! {
    "hdd-7200-512e"
    "hdd-7200-512n"
    "wd10ears"
    "ultrastar-7k8"
    "st2000dm006"
    "m4-256"
    "dc-s3700"
    "dc-p3700"
    "cloud-nvme-2019"
    "950-pro"
    "970-evo-500"
    "micron-7300-pro"
    "samsung-pm883"
    "optane-p4800x"
    "gp2-100"
    "raid0-2x16k"
    "raid5-5x64k"
    "raid6-6x64k"
    "raid5-bbu"
};

/// The text of the built-in profile called `name`, to be copied and edited.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The names of the built-in profiles, in the order in which they are listed.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}
