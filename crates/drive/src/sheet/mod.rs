//! A drive's data sheet, and the profile that is made of it: each value with the line of the sheet
//! that decided it.
//!
//! | file | what it is |
//! |---|---|
//! | `keys` | what a sheet may say, and how it is written |
//! | `data_sheet` | a sheet, read |
//! | `fitted_value` | a value of the profile, and the lines that it came from |
//! | `hard_disk`, `flash`, `cloud` | from a sheet's lines to a kind's values |
//! | `fitted_profile` | the profile's text |
//! | `checks` | each line beside what the profile does |
//!
//! A sheet says what a drive does from outside, and a profile what it has within. Each number of
//! the sheet decides one value, in closed form, so that the same sheet gives the same profile on
//! any machine. What no line decides is that of a similar drive, the base, and labeled as assumed.

mod checks;
mod cloud;
mod data_sheet;
mod fitted_profile;
mod fitted_value;
mod flash;
mod hard_disk;
mod keys;

#[cfg(test)]
mod tests;

pub use checks::SheetCheck;
pub use data_sheet::DataSheet;
pub(crate) use data_sheet::NOT_CONFIRMED;
