//! fio's job files: INI text with `[global]`, one section for each job, and `;` or `#` comments.
//!
//! The rules are those of fio 3.33 (`HOWTO`, section "Job file format"), read from its behavior:
//! `fio --parse-only` and `fio --debug=parse` are what the tests compare with. Options stand in one
//! table, [`option::OPTIONS`]; what is known to fio but not done here stands in
//! [`not_honored::NAMED`]. Where fio reads a number as another value than the one written (`bs= 4k`
//! is 4 bytes, `runtime=1min` is one microsecond), the value is refused rather than believed.

mod engine;
mod file;
mod model;
mod number;
mod page;
mod reader;
mod remark;
mod section;
mod settings;

pub mod not_honored;
pub mod option;

pub use engine::{ENGINES, Engine, EngineRow, EngineUse};
pub use file::JobFile;
pub use model::{Durability, JOBS_MAX, Job, JobDirection, JobLength, JobOrder};
pub use option::PACES;
pub use page::tables;
pub use remark::{Remark, RemarkKind, SettingPlace};
pub use section::{LINE_BYTES_MAX, TEXT_BYTES_MAX};

#[cfg(test)]
mod tests;
