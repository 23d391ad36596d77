//! A drive as a data file: each value with its source, and with how it came to be.
//!
//! `profiles/NAME.toml` are the built-in ones; a user copies one and edits it. `docs/drives.md`
//! describes the form.
//!
//! | file | what it is |
//! |---|---|
//! | `drive_profile` | a drive, described: [`DriveProfile`] |
//! | `value`, `quantity` | one value with its label and source; how it is written |
//! | `field` | a row in the table of a kind's values, and where in a plan it goes |
//! | `hard_disk`, `flash`, `memory`, `cloud`, `array` | those tables |
//! | `kind` | the kinds of drive |
//! | `built_in_texts` | the built-in profiles' texts |
//! | `reader` | from text to a profile |
//! | `construction` | from a profile to a drive, and the built-in profiles |

mod array;
mod built_in_texts;
mod cloud;
mod construction;
mod drive_profile;
mod field;
mod flash;
mod hard_disk;
mod kind;
mod memory;
mod quantity;
mod reader;
mod value;

pub(crate) use built_in_texts::built_in_base;
pub use built_in_texts::{checked_sheets, sheet_text, text};
pub use construction::{built_in, called};
pub use drive_profile::DriveProfile;
pub use kind::DriveKind;
pub use quantity::Quantity;
pub(crate) use quantity::YES_NO;
pub(crate) use reader::RawValues;
pub use value::{Value, ValueLabel};

#[cfg(test)]
mod tests;
