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
        let text = self.text(file).map_err(|error| error.to_string());
        let number = text.and_then(|text| {
            let shown = || units::text::escape(text.as_bytes());
            let wrong = |_| format!("{file} holds `{}`, which is no number", shown());
            text.trim().parse().map_err(wrong)
        });
        Known::of(number, Source::Sysfs)
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
        Known::of(self.text(file).map(|text| text.trim() == "1"), Source::Sysfs)
    }

    /// A word that is harmless to print.
    pub(super) fn word(&self, file: &str) -> Known<String> {
        let word = self.text(file).map(|text| units::text::escape(text.trim().as_bytes()));
        Known::of(word, Source::Sysfs)
    }

    /// Text that is there and not empty.
    pub(super) fn some_text(&self, file: &str) -> Option<DiskText> {
        let text = self.text(file).ok()?;
        Some(DiskText::from(text.trim())).filter(|text| !text.is_empty())
    }
}
