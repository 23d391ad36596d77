//! The name of a scratch file that must have one: `.straddle-scratch-BOOT-PROCESS-NUMBER`.
//!
//! It says which boot of which machine made the file, so that a later run can tell one that nobody
//! uses any more. `BOOT` is the kernel's `random/boot_id` without its hyphens (random(4)). Where
//! that cannot be read, or the file cannot be locked, it is `unmarked`, and no run takes such a
//! name for one of ours.

use std::fmt;

const PREFIX: &str = ".straddle-scratch-";
const UNMARKED: &str = "unmarked";
/// The hexadecimal digits of a boot's number.
const DIGITS: usize = 32;

/// A boot of a machine: 32 hexadecimal digits in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Boot(String);

impl Boot {
    /// The one that runs; `None` where the kernel does not tell.
    pub(super) fn now() -> Option<Boot> {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Boot::parse(&text.trim_end().replace('-', ""))
    }

    fn parse(text: &str) -> Option<Boot> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_one = text.len() == DIGITS && text.bytes().all(is_digit);
        is_one.then(|| Boot(text.to_owned()))
    }
}

/// The name of a scratch file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScratchName {
    /// `None` where no later run may take it for one of ours.
    pub(super) boot: Option<Boot>,
    pub(super) process: u32,
    pub(super) number: u64,
}

impl ScratchName {
    /// A name of this process that a later run knows.
    pub(super) fn marked(number: u64) -> ScratchName {
        ScratchName { boot: Boot::now(), ..ScratchName::unmarked(number) }
    }

    /// A name of this process that no run takes for one of ours.
    pub(super) fn unmarked(number: u64) -> ScratchName {
        ScratchName { boot: None, process: std::process::id(), number }
    }

    /// The boot that made the file called `name`; `None` where the name is not exactly one that
    /// [`Label::marked`] gives.
    pub(super) fn boot_of(name: &str) -> Option<Boot> {
        let mut words = name.strip_prefix(PREFIX)?.split('-');
        let label = ScratchName {
            boot: Some(Boot::parse(words.next()?)?),
            process: words.next()?.parse().ok()?,
            number: words.next()?.parse().ok()?,
        };
        // Signs and leading zeros are not ours, and nothing may follow.
        (label.to_string() == name).then_some(label.boot).flatten()
    }
}

impl fmt::Display for ScratchName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let boot = self.boot.as_ref().map_or(UNMARKED, |boot| &boot.0);
        write!(formatter, "{PREFIX}{boot}-{}-{}", self.process, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exactly_a_name_of_ours_is_taken_for_one() {
        let boot = "0123456789abcdef0123456789abcdef";
        let ours = format!(".straddle-scratch-{boot}-12-34");
        assert_eq!(ScratchName::boot_of(&ours), Some(Boot(boot.to_owned())));
        let zero = ours.replace("-12-", "-012-");
        let plus = ours.replace("-34", "-+34");
        let upper = ours.replace('a', "A").replace(".strAddle-scrAtch", ".straddle-scratch");
        let short = ours.replace("0123456789", "123456789");
        let huge = format!(".straddle-scratch-{boot}-4294967296-1");
        for name in [
            "",
            ".straddle-scratch-",
            ".straddle-scratch-12-34",
            ".straddle-scratch-unmarked-12-34",
            &ours[1..],
            &format!("x{ours}"),
            &format!("{ours}-5"),
            &format!("{ours} "),
            &format!("{ours}~"),
            &format!("{ours}\n"),
            &zero,
            &plus,
            &upper,
            &short,
            &huge,
        ] {
            assert_eq!(ScratchName::boot_of(name), None, "{name:?}");
        }
    }

    #[test]
    fn a_name_of_this_boot_is_known_again_and_an_unmarked_one_is_not() {
        let marked = ScratchName::marked(u64::MAX);
        assert!(marked.boot.is_some(), "Linux tells it");
        assert_eq!(ScratchName::boot_of(&marked.to_string()), Boot::now());
        assert_eq!(ScratchName::boot_of(&ScratchName::unmarked(1).to_string()), None);
    }
}
