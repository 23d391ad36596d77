//! Databases' guards against torn pages, and which untorn writes make them needless.

use serde::Serialize;
use units::Known;

/// A setting of a database that guards against torn pages; its word is its name in the database's
/// configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardSetting {
    /// Of InnoDB.
    InnodbDoublewrite,
    /// Of PostgreSQL.
    FullPageWrites,
}

units::words!(GuardSetting);

/// Consequence of untorn writes for one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornPageGuard {
    /// Setting that it is about.
    pub setting: GuardSetting,
    /// True if what is below keeps the database's page whole, where the database asks for that.
    pub is_allowed_off: bool,
    /// Why, and what has to be true besides.
    pub reason: String,
}

/// A database's guard and the page that it guards.
struct GuardedPage {
    setting: GuardSetting,
    page_bytes: u64,
    /// True if a release of the database is known that asks for untorn writes.
    asks: bool,
    besides: &'static str,
}

/// Source: MySQL reference manual, `innodb_doublewrite` and `innodb_page_size` (16 KiB by default);
/// PostgreSQL manual, `full_page_writes` and `block_size` (8 KiB by default); Linux `pwritev2(2)`,
/// `RWF_ATOMIC`: a write without it may be split.
const PAGES: [GuardedPage; 2] = [
    GuardedPage {
        setting: GuardSetting::InnodbDoublewrite,
        page_bytes: 16384,
        asks: true,
        besides: "make sure that your InnoDB asks for it before you switch the guard off",
    },
    GuardedPage {
        setting: GuardSetting::FullPageWrites,
        page_bytes: 8192,
        asks: false,
        besides: "PostgreSQL does not ask for it as of version 18, so nothing is won by that",
    },
];

/// Returns the consequence of untorn writes of `largest` bytes. Unknown means no, and so does a
/// database that does not ask for them.
#[must_use]
pub fn guards(largest: &Known<u64>) -> Vec<TornPageGuard> {
    let guard = |page: &GuardedPage| {
        let (whole, reason) = match largest {
            Known::Yes(fact) if fact.value >= page.page_bytes => {
                let (least, most) = (page.page_bytes, fact.value);
                let besides = page.besides;
                let text = "bytes with RWF_ATOMIC is never torn";
                (true, format!("a write of {least} to {most} {text}; {besides}"))
            }
            Known::Yes(fact) if fact.value == 0 => {
                (false, "no atomic write size is guaranteed".to_owned())
            }
            Known::Yes(fact) => {
                let (most, least) = (fact.value, page.page_bytes);
                (false, format!("only {most} bytes are atomic; a page has {least}"))
            }
            Known::No(reason) => (false, reason.clone()),
        };
        TornPageGuard { setting: page.setting, is_allowed_off: whole && page.asks, reason }
    };
    PAGES.iter().map(guard).collect()
}
