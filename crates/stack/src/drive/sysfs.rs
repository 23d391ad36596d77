//! Reading the files of one block device.

use device::{KernelTree, TreeError};
use units::{DiskText, Known, Source};

/// The files below `/sys/block/NAME`.
pub(crate) struct SysfsFiles<'a> {
    pub(crate) tree: &'a dyn KernelTree,
    pub(crate) base: String,
}

impl SysfsFiles<'_> {
    pub(super) fn of<'a>(tree: &'a dyn KernelTree, name: &str) -> SysfsFiles<'a> {
        SysfsFiles { tree, base: format!("/sys/block/{name}") }
    }

    pub(crate) fn text(&self, file: &str) -> Result<String, TreeError> {
        self.tree.read(&format!("{}/{file}", self.base))
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, file: &str) -> Known<T> {
        match self.text(file) {
            Ok(text) => match text.trim().parse() {
                Ok(value) => Known::yes(value, Source::Sysfs),
                Err(_) => {
                    let shown = units::text::escape(text.as_bytes());
                    Known::no(format!("{file} holds `{shown}`, which is no number"))
                }
            },
            Err(error) => Known::no(error.to_string()),
        }
    }

    /// A number that counts `unit_bytes`, in bytes.
    pub(crate) fn scaled(&self, file: &str, unit_bytes: u64) -> Known<u64> {
        match self.number::<u64>(file) {
            Known::Yes(fact) => match fact.value.checked_mul(unit_bytes) {
                Some(bytes) => Known::yes(bytes, fact.source),
                None => Known::no(format!("{file} counts more bytes than 64 bits hold")),
            },
            unknown @ Known::No(_) => unknown,
        }
    }

    pub(crate) fn flag(&self, file: &str) -> Known<bool> {
        match self.text(file) {
            Ok(text) => Known::yes(text.trim() == "1", Source::Sysfs),
            Err(error) => Known::no(error.to_string()),
        }
    }

    /// A word that is harmless to print.
    pub(super) fn word(&self, file: &str) -> Known<String> {
        match self.text(file) {
            Ok(text) => Known::yes(units::text::escape(text.trim().as_bytes()), Source::Sysfs),
            Err(error) => Known::no(error.to_string()),
        }
    }

    /// Text that is there and not empty.
    pub(super) fn some_text(&self, file: &str) -> Option<DiskText> {
        let text = self.text(file).ok()?;
        Some(DiskText::from(text.trim())).filter(|text| !text.is_empty())
    }
}
