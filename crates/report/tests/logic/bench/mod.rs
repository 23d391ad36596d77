//! Results of `straddle bench`, as people and programs read them.

mod dry_run;
mod fio;
mod json;
mod picture;
pub(crate) mod schema;
mod table;
mod ugly;
