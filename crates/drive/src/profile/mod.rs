//! A drive as a data file: each value with its source, and with how it came to be.
//!
//! `profiles/NAME.toml` are the built-in ones; a user copies one and edits it. `docs/drives.md`
//! describes the form.
//!
//! | file | what it is |
//! |---|---|
//! | `described` | a drive, described: [`DriveProfile`] |
//! | `value`, `quantity` | one value with its label and source; how it is written |
//! | `field` | a row in the table of a kind's values, and where in a plan it goes |
//! | `hard_disk`, `flash`, `memory`, `cloud`, `array` | those tables |
//! | `kind` | the kinds of drive |
//! | `texts` | the built-in profiles' texts |
//! | `reader` | from text to a profile |
//! | `built` | from a profile to a drive, and the built-in profiles |

mod array;
mod built;
mod cloud;
mod described;
mod field;
mod flash;
mod hard_disk;
mod kind;
mod memory;
mod quantity;
mod reader;
mod texts;
mod value;

pub use built::{built_in, called, text};
pub use described::DriveProfile;
pub use kind::Kind;
pub use quantity::Quantity;
pub use value::{Label, Value};

#[cfg(test)]
mod tests;
