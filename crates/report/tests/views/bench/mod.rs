//! Results of `straddle bench`, as people and programs read them.

mod picture;
mod sample;
mod table;
