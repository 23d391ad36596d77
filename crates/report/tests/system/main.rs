//! Views of documents made by hand, as a browser and the tools of others take them.

#![expect(clippy::disallowed_methods, reason = "these tests run programs")]

mod emit;
mod fio;
mod html;
mod junit;
#[expect(dead_code, reason = "the tests of logic use the rest")]
#[path = "../made/mod.rs"]
mod made;
mod textfile;
