//! The texts of the built-in profiles.

use std::sync::LazyLock;

use super::drive_profile::DriveProfile;
use super::reader;
use crate::sheet::DataSheet;

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

macro_rules! sheets {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../sheets/", $name, ".toml")))),*]
    };
}

/// The data sheets of the other built-in drives, whose profiles are made of them.
const SHEETS: &[(&str, &str)] = sheets! {
    "ultrastar-hc310"
    "ultrastar-hc550"
    "exos-x18"
    "toshiba-mg08"
    "wd-red-plus-4tb"
    "ironwolf-4tb"
    "barracuda-8tb-smr"
    "samsung-870-evo"
    "samsung-870-qvo"
    "crucial-mx500"
    "samsung-970-evo-plus"
    "samsung-980"
    "samsung-980-pro"
    "samsung-990-pro"
    "kingston-kc3000"
    "crucial-t500"
    "wd-sn850x"
    "wd-sn770"
    "wd-sn570"
    "sk-hynix-p41"
    "firecuda-530"
    "samsung-pm9a3"
    "micron-7450-pro"
    "micron-9300-pro"
    "solidigm-p5336"
    "solidigm-p5520"
    "gp3"
    "io2"
    "pd-ssd"
    "azure-premium-v2"
    "azure-p30"
};

/// The profiles that the sheets give.
static FITTED: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let fitted = |sheet: &DataSheet| sheet.profile_text();
    SHEETS.iter().zip(PARSED.iter()).map(|((name, _), sheet)| (*name, fitted(sheet))).collect()
});

static PARSED: LazyLock<Vec<DataSheet>> = LazyLock::new(|| parsed(SHEETS));

fn parsed(sheets: &[(&str, &str)]) -> Vec<DataSheet> {
    let read = |(name, text): &(&str, &str)| {
        DataSheet::parse(name, text).expect("a test reads every built-in sheet")
    };
    sheets.iter().map(read).collect()
}

static BASES: LazyLock<Vec<DriveProfile>> = LazyLock::new(|| {
    let read = |&(name, text): &(&str, &str)| reader::of_text(name, text);
    BUILT_IN.iter().filter_map(read).collect()
});

/// The sheets of drives whose profiles are files of their own, to be checked.
const CHECKED: &[(&str, &str)] = sheets! {
    "ultrastar-7k8"
    "micron-7300-pro"
    "samsung-pm883"
};

/// The data sheets of built-in drives: those that profiles are made of, and others.
pub fn checked_sheets() -> impl Iterator<Item = &'static DataSheet> {
    static OTHERS: LazyLock<Vec<DataSheet>> = LazyLock::new(|| parsed(CHECKED));
    OTHERS.iter().chain(PARSED.iter())
}

/// The built-in profile called `name`, where it is no sheet's.
pub(crate) fn built_in_base(name: &str) -> Option<&'static DriveProfile> {
    BASES.iter().find(|base| base.name == name)
}

/// All built-in profiles: their names and texts, in the order in which they are listed.
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let fitted = FITTED.iter().map(|(name, text)| (*name, text.as_str()));
    BUILT_IN.iter().copied().chain(fitted)
}

/// The text of the built-in profile called `name`, to be copied and edited.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    let own = BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    if own.is_some() || !SHEETS.iter().any(|(known, _)| *known == name) {
        return own;
    }
    FITTED.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str())
}

/// The data sheet of the built-in drive called `name`, where there is one.
#[must_use]
pub fn sheet_text(name: &str) -> Option<&'static str> {
    SHEETS.iter().chain(CHECKED).find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The names of the built-in profiles, in the order in which they are listed.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().chain(SHEETS).map(|(name, _)| *name)
}
