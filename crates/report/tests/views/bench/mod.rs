//! Results of `straddle bench`, as people and programs read them.

mod compare;
mod dry_run;
mod fio;
mod json;
mod picture;
mod sample;
pub(crate) mod schema;
mod table;
mod ugly;
